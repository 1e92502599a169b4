/** One round, its summary, and its exit code. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type RunReport, runRound, type SourceEnd } from '../../server/run/round.ts';
import { FolderInUse, StartError } from '../../server/service/start-error.ts';
import { counted } from '../../server/terminal/words.ts';
import { localClient } from '../http/client.ts';
import { type FileSummary, type NamedFile, sendFiles } from '../ingest/ingest-files.ts';
import { CommandError, type Exit, endWith } from '../program/exit-codes.ts';
import { note, printFields, printJson, progressOf } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { askForRun } from './ask-for-run.ts';

export interface RunAsked {
  readonly files: readonly NamedFile[];
  /** Names, or places of recipes. Empty: those that are due. */
  readonly sources: readonly string[];
  readonly mode: 'append' | 'correct';
  readonly isUnsigned: boolean;
  readonly waitSeconds: number;
  readonly messageFile: string | null;
}

type Outcome = 'published' | 'unchanged' | 'sources-failed' | 'set-aside' | 'findings';

/** @throws CommandError `busy`, `refused`, and for files that cannot be read */
export async function runOnce(options: GlobalOptions, environment: NodeJS.ProcessEnv, asked: RunAsked): Promise<void> {
  const { files, sources, mode, isUnsigned, waitSeconds } = asked;
  const progress = progressOf(options);
  const startedMs = performance.now();
  let ingested: readonly FileSummary[] = [];
  const report = await runRound(environment, {
    ...{ isUnsigned, waitSeconds },
    takeIn: async (api) => {
      const client = localClient(options, api);
      const runId = randomBytes(6).toString('hex');
      const how = {
        mode,
        partial: false,
        dryRun: false,
        asserted: [],
        complete: false,
        retractMissing: false,
      } as const;
      if (files.length > 0) ingested = await sendFiles(client, files, { ...how, runId, wait: 0 }, options);
      return sources.length === 0 ? null : new Set(await Promise.all(sources.map((place) => askForRun(client, place))));
    },
    step: (name) => progress.at(name, { share: null }),
  })
    .catch(refusalOf)
    .finally(progress.clear);

  const outcome = outcomeOf(report, ingested);
  const published = report.files.written + report.files.removed > 0;
  if (asked.messageFile !== null && published) writeFileSync(asked.messageFile, messageOf(report));
  const durationMs = Math.round(performance.now() - startedMs);
  if (options.json) {
    const { files: publicFiles, ...rest } = report;
    await printJson({ outcome, ...rest, publicFiles, ingested, durationMs });
  } else await printReport(report, ingested, outcome);
  for (const { source, reason } of report.sources.filter(hasFailed))
    note(`${source}: ${reason?.code}: ${reason?.detail}`);
  for (const fault of report.faults) note(fault);
  if (outcome !== 'published') endWith(outcome);
}

function outcomeOf({ files, sources, deferred, faults }: RunReport, ingested: readonly FileSummary[]): Outcome {
  if (ingested.some(({ refused }) => refused > 0)) return 'set-aside';
  if (faults.length > 0 || deferred.length > 0) return 'findings';
  if (sources.some(hasFailed)) return 'sources-failed';
  return files.written + files.removed > 0 ? 'published' : 'unchanged';
}

const hasFailed = ({ outcome }: SourceEnd) => outcome === 'failed';

function refusalOf(error: unknown): never {
  const refuse = (exit: Exit, hint: string | null) => {
    throw new CommandError(exit, (error as Error).message, hint, { cause: error });
  };
  if (error instanceof FolderInUse) refuse('busy', null);
  if (error instanceof StartError) refuse('refused', 'Nothing was published.');
  throw error;
}

async function printReport(report: RunReport, ingested: readonly FileSummary[], outcome: Outcome): Promise<void> {
  const { generation, markets, observations, log, files, sources, deferred } = report;
  await printFields([
    ['outcome', outcome],
    ...ingested.map(({ file, accepted, unchanged, refused }) => {
      return ['file', `${file}: ${accepted} new, ${unchanged} known, ${refused} refused`] as const;
    }),
    ...sources.map((end) => ['source', inWords(end)] as const),
    ['generation', generation],
    ['public', `${counted(markets, 'market')}, ${counted(observations, 'observation')}`],
    ['log', log === null ? 'none' : `${log.origin}, ${counted(log.size, 'entry', 'entries')}`],
    ['files', `${files.written} written, ${files.removed} removed`],
    ...(deferred.length === 0 ? [] : [['not published', deferred.join(', ')] as const]),
  ]);
}

function inWords({ source, outcome, counts, refusedRows }: SourceEnd): string {
  const { accepted = 0, unchanged = 0, refused = 0 } = counts ?? {};
  const rows = refused + refusedRows;
  return `${source}: ${outcome}${counts === null ? '' : `, ${accepted} new, ${unchanged} known`}${rows === 0 ? '' : `, ${rows} refused`}`;
}

/** The message of a commit: one line, and what led to it. */
function messageOf({ generation, markets, observations, log, sources }: RunReport): string {
  const lines = [
    ...sources.map(inWords),
    ...(log === null ? [] : [`Log ${log.origin}: ${counted(log.size, 'entry', 'entries')}`]),
  ];
  const title = `data: generation ${generation}, ${counted(markets, 'market')}, ${counted(observations, 'observation')}`;
  return [title, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n').concat('\n');
}
