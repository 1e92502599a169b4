/** One round, its summary, and its exit code. */
import { existsSync, writeFileSync } from 'node:fs';
import { TidemarkError } from '../../clients/typescript/tidemark-error.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { RUN_FAULTS_MAX } from '../../contract/operations/sources.ts';
import { type RunReport, runRound, type SourceEnd } from '../../server/run/round.ts';
import { FolderInUse, SettingError, StartError } from '../../server/service/start-error.ts';
import { counted } from '../../server/terminal/words.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { localClient } from '../http/client.ts';
import type { GitPast } from '../ingest/git-options.ts';
import { type FileSummary, notStored, shownIds, stopNote } from '../ingest/ingest-files.ts';
import { withheldNote } from '../ingest/ingest-run.ts';
import { CommandError, type Exit, endWith } from '../program/exit-codes.ts';
import { note, printFields, printJson, progressOf } from '../program/output.ts';
import { checkedRecipe, readRecipe } from '../sources/recipe-file.ts';
import { askForRun, namedSource } from './ask-for-run.ts';
import { type RunFiles, type RunFlags, sendAll } from './send-all.ts';

/** The outcomes of a round, with their exit codes. */
const OUTCOMES = {
  published: 'done',
  unchanged: 'unchanged',
  examined: 'done',
  'sources-failed': 'sources-failed',
  'rows-refused': 'set-aside',
  'withdrawals-held-back': 'set-aside',
  faulty: 'findings',
} as const satisfies Record<string, Exit>;

type Outcome = keyof typeof OUTCOMES;

/**
 * @param git the past versions of a list, with their recipe
 * @throws CommandError `busy`, `refused`, and for files that cannot be read
 */
export async function runOnce(
  options: RunFlags,
  environment: NodeJS.ProcessEnv,
  files: RunFiles,
  git: GitPast | null,
): Promise<void> {
  const {
    source = [],
    remove = [],
    replacedBy = null,
    publicReason: reason = '',
    messageFile,
    dryRun = false,
  } = options;
  const sources = dryRun ? [] : source;
  const missing = [...files.ofFolder, ...files.named].find(({ path }) => path !== '-' && !existsSync(path));
  if (missing !== undefined) throw new CommandError('usage', `There is no file ${missing.path}.`);
  const progress = progressOf(options);
  const startedMs = performance.now();
  let ingested: readonly FileSummary[] = [];
  const removed: string[] = [];
  const report = await runRound(environment, {
    ...{ isUnsigned: options.unsigned === true, fromLog: options.fromLog ?? null, git },
    ...{ isStateInTarget: options.state !== undefined, waitSeconds: options.wait, isDryRun: dryRun },
    check: ({ isFresh }) => {
      for (const place of git === null ? sources : [...sources, git.recipe]) {
        if (isFresh || existsSync(place)) checkedRecipe(place, readRecipe(place));
      }
    },
    takeIn: async (api) => {
      const client = localClient(options, api);
      // Done first: an unknown source ends the run before it changes anything.
      const named = await Promise.all(sources.map((place) => askForRun(client, place, options.unconditional === true)));
      const past = git === null ? null : await namedSource(client, git.recipe);
      for (const slug of remove) if (await removeOnce(client, slug, { reason, replacedBy })) removed.push(slug);
      ingested = await sendAll(client, files, options);
      return {
        sources: named.length === 0 && past === null ? null : new Set(named.map(({ name }) => name)),
        past: git && past && { source: past.name, file: git },
        isNews: removed.length > 0 || [past, ...named].some((source) => source?.isStored) || ingested.some(hasNews),
        isNothingStored: ingested.length > 0 && ingested.every(({ accepted, unchanged }) => accepted + unchanged === 0),
      };
    },
    step: (name) => progress.at(name, { share: null }),
  })
    .catch((error: unknown) => tellRefusal(error, options.json === true))
    .finally(progress.clear);

  const outcome = outcomeOf(report, ingested, dryRun);
  // Written in any case, because a killed run may have left files to commit.
  if (messageFile !== undefined && !dryRun) writeFileSync(messageFile, messageOf({ ...report, removed }, ingested));
  const durationMs = Math.round(performance.now() - startedMs);
  if (options.json) {
    const { files: publicFiles, ...rest } = report;
    await printJson({ outcome, ...rest, publicFiles, removed, ingested, durationMs });
  } else await printReport({ ...report, removed }, ingested, outcome, options.fromLog === undefined);
  for (const file of ingested) if (file.stoppedAtLine !== null) note(stopNote(file));
  for (const { source, reason } of report.sources.filter(hasFailed)) {
    note(`${source}: ${reason?.code}: ${reason?.detail}`);
  }
  for (const end of report.sources) {
    if (end.firstWithheld) note(withheldNote(end.source, end.counts?.withheld ?? 1, end.firstWithheld));
    const faults = faultsOf(end);
    for (const fault of faults.slice(0, FAULTS_SHOWN)) note(`${end.source}: ${fault}`);
    const more = refusedBy(end) - FAULTS_SHOWN;
    if (more > 0) note(`${end.source}: and ${more} more; --json names the first ${RUN_FAULTS_MAX} of each kind`);
  }
  for (const { version, detail } of report.past?.faults ?? []) note(`${version} is skipped: ${detail}`);
  for (const text of [...report.faults, ...report.warnings]) note(text);
  endWith(OUTCOMES[outcome]);
}

function outcomeOf(report: RunReport, ingested: readonly FileSummary[], isDryRun: boolean): Outcome {
  const { sources, deferred, faults } = report;
  if (faults.length > 0 || deferred.length > 0) return 'faulty';
  if (ingested.some(({ refused }) => refused > 0)) return 'rows-refused';
  if (ingested.some(({ isHeldBack }) => isHeldBack)) return 'withdrawals-held-back';
  if (sources.some(hasFailed)) return 'sources-failed';
  if (sources.some((end) => refusedBy(end) > 0)) return 'rows-refused';
  if (isDryRun) return 'examined';
  return hasPublished(report) ? 'published' : 'unchanged';
}

const hasNews = ({ accepted, refused, withdrawn }: FileSummary) => accepted + refused + (withdrawn ?? 0) > 0;
const hasPublished = ({ files }: RunReport) => files.written + files.removed > 0;
const hasFailed = ({ outcome }: SourceEnd) => outcome === 'failed';
const refusedBy = ({ counts, refusedRows }: SourceEnd) => (counts?.refused ?? 0) + refusedRows;
/** The number of faults that are shown for each source. */
const FAULTS_SHOWN = 5;

/** The rows that gave no record, and the records that the service refused. */
function faultsOf({ reason, faults, refused }: SourceEnd): readonly string[] {
  return [
    // The reason `no-records` already contains the first fault.
    ...faults
      .slice(reason?.code === 'no-records' ? 1 : 0)
      .map(({ line, code, detail }) => `line ${line}: ${code}: ${detail}`),
    ...refused.map(({ market, metric, observedAt, code, detail }) => {
      const record = [market, metric, observedAt].filter((part) => part !== null).join(' ');
      return `${record}: ${code}: ${detail}`;
    }),
  ];
}

const EXITS = [
  [FolderInUse, 'busy'],
  [SettingError, 'usage'],
  [StartError, 'refused'],
  [StorageUnavailable, 'findings'],
] as const;

/** False: the market was already removed, perhaps by the run before. */
async function removeOnce(
  client: ReturnType<typeof localClient>,
  slug: string,
  why: { readonly reason: string; readonly replacedBy: string | null },
): Promise<boolean> {
  try {
    await client.call({ method: 'POST', path: `${marketUrl(slug)}/removal`, body: JSON.stringify(why) });
    return true;
  } catch (error) {
    const cause = error instanceof CommandError ? error.cause : error;
    if (!(cause instanceof TidemarkError)) throw error;
    if (cause.code === 'not-found') {
      const hint = 'The slugs of all markets are in api/v1/markets.json of the target.';
      throw new CommandError('refused', `There is no market ${slug} to remove.`, hint, { cause });
    }
    if (cause.code !== 'conflict') throw error;
    note(`${slug} is removed already.`);
    return false;
  }
}

/** Prints the outcome of a refusal in the form that a job reads. */
async function tellRefusal(error: unknown, asJson: boolean): Promise<never> {
  const exit = EXITS.find(([kind]) => error instanceof kind)?.[1] ?? null;
  if (exit === null) throw error;
  const { message } = error as Error;
  if (asJson) await printJson({ outcome: exit, detail: message });
  throw new CommandError(exit, message, null, { cause: error });
}

interface WithRemoved {
  /** The slugs of markets that this run removed. */
  readonly removed: readonly string[];
}

/** @param isKept whether the ledger is kept after the run: only then can a batch be named to undo it */
async function printReport(
  report: RunReport & WithRemoved,
  ingested: readonly FileSummary[],
  outcome: Outcome,
  isKept: boolean,
): Promise<void> {
  const { generation, markets, observations, log, target, files, state, sources, past, deferred } = report;
  await printFields([
    ['outcome', outcome],
    ...ingested.flatMap((file) => [
      ['file', `${countsOfFile(file)}${isKept ? sentAsOf(file) : ''}`] as const,
      ...(showsFirst(file) ? [['first', file.first] as const] : []),
    ]),
    ...ingested.flatMap((file) =>
      file.missing === undefined ? [] : [['missing rows', inWordsOfMissing(file)] as const],
    ),
    ...report.removed.map((slug) => ['removed', slug] as const),
    ...sources.map((end) => ['source', inWords(end)] as const),
    ...(past === null ? [] : [['past', inWordsOfPast(past)] as const]),
    ['generation', generation],
    ['public', `${counted(markets, 'market')}, ${counted(observations, 'observation')}`],
    ['log', log === null ? 'none' : `${log.origin}, ${counted(log.size, 'entry', 'entries')}`],
    ['target', inWordsOfTarget(target)],
    ['files', `${files.written} written, ${files.removed} removed`],
    ...(state === null ? [] : [['state', state] as const]),
    ...(deferred.length === 0 ? [] : [['not published', deferred.join(', ')] as const]),
  ]);
}

/** Once, so that a person notices a price that is a hundred times too large before readers keep it. */
function showsFirst(file: FileSummary): file is FileSummary & { readonly first: string } {
  return file.first !== undefined && (file.dryRun || file.newMarkets > 0);
}

/** Only stored records and withdrawals can be undone. */
function sentAsOf({ accepted, withdrawn, sentAs }: FileSummary): string {
  return accepted + (withdrawn ?? 0) === 0 || sentAs.length === 0 ? '' : `; sent as ${shownIds(sentAs)}`;
}

/** A row is one of the file; of one row, several records may be refused by the service. */
function refusedInWords(rows: number, records: number): string {
  const counts = [
    [rows, 'row'],
    [records, 'record'],
  ] as const;
  return counts.flatMap(([count, what]) => (count === 0 ? [] : [`${counted(count, what)} refused`])).join(', ');
}

/** The counts that are not zero. */
function countsOfFile(summary: FileSummary): string {
  const { file, newMarkets, changedMarkets, newValues, corrected, reinstated, retractions } = summary;
  const { unchanged, retracted, refused, withoutRecord } = summary;
  const others = notStored(summary);
  const rows = [
    [newMarkets, `${counted(newMarkets, 'market')} new`],
    [changedMarkets, `${counted(changedMarkets, 'market')} changed`],
    [newValues, `${counted(newValues, 'value')} new`],
    [corrected, `${counted(corrected, 'value')} corrected${ofThem(reinstated, 'retracted before')}`],
    [retractions, `${counted(retractions, 'value')} retracted`],
    [unchanged, `${counted(unchanged, 'record')} known${ofThem(retracted, 'retracted earlier, and still retracted')}`],
    [refused, refusedInWords(withoutRecord, refused - withoutRecord)],
    [others, `${counted(others, 'record')} not stored because of a refused one`],
  ] as const;
  const texts = rows.flatMap(([count, text]) => (count === 0 ? [] : [text]));
  return `${file}: ${texts.length === 0 ? 'no records' : texts.join(', ')}`;
}

const ofThem = (count: number, what: string) => (count === 0 ? '' : ` (${count} of them ${what})`);

function inWordsOfMissing({ missing, withdrawn, returned, dryRun }: FileSummary): string {
  const withdrawals = dryRun ? 'would be withdrawn' : 'withdrawn';
  return `${missing} published and missing, ${withdrawn ?? 0} ${withdrawals}, ${returned} withdrawn earlier and in the files again`;
}

function inWordsOfPast({ source, versions, unchanged, passedOver, counts }: NonNullable<RunReport['past']>): string {
  const { accepted, refused } = counts;
  const read = `${source}: ${counted(versions, 'version')}, ${unchanged} without news, ${passedOver} skipped`;
  return `${read}, ${accepted} new, ${counts.unchanged} known, ${counted(refused, 'record')} refused`;
}

function inWordsOfTarget({ name, conditions }: RunReport['target']): string {
  if (conditions === null) return name;
  const missing = Object.entries(conditions).flatMap(([condition, isEvaluated]) => (isEvaluated ? [] : [condition]));
  return missing.length === 0
    ? `${name}, which evaluates conditions`
    : `${name}, without conditions to ${missing.join(', ')}: let one process publish at a time`;
}

function inWords(end: SourceEnd): string {
  const { source, outcome, counts } = end;
  const { accepted = 0, unchanged = 0 } = counts ?? {};
  const refused = refusedBy(end) === 0 ? '' : `, ${refusedInWords(end.refusedRows, counts?.refused ?? 0)}`;
  return `${source}: ${outcome}${counts === null ? '' : `, ${accepted} new, ${unchanged} known`}${refused}`;
}

/** The commit message: one line, then the details. */
function messageOf(
  { generation, markets, observations, log, sources, past, removed }: RunReport & WithRemoved,
  ingested: readonly FileSummary[],
): string {
  const lines = [
    ...ingested.filter(hasNews).map(countsOfFile),
    ...ingested.filter(({ withdrawn }) => (withdrawn ?? 0) > 0).map(inWordsOfMissing),
    ...removed.map((slug) => `removed ${slug}`),
    ...sources.map(inWords),
    ...(past === null ? [] : [inWordsOfPast(past)]),
    ...(log === null ? [] : [`Log ${log.origin}: ${counted(log.size, 'entry', 'entries')}`]),
  ];
  const title = `data: generation ${generation}, ${counted(markets, 'market')}, ${counted(observations, 'observation')}`;
  return [title, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n').concat('\n');
}
