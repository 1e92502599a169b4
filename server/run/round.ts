/**
 * One round of a service without a server: ingest, publish, sweep, end. It does the work of the server's loops once. A kill at
 * any point loses nothing: the next run continues.
 */

import { lstatSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import type { ShownWithheld } from '../../contract/ingest/row-counts.ts';
import { createAuditSealer } from '../../lambdas/review/seal-audit.ts';
import { type PastTakenIn, takeInPast } from '../../lambdas/sources/past/take-in-past.ts';
import { NotTakenIn } from '../../lambdas/sources/past/version-reader.ts';
import type { SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { NO_CACHES } from '../../publisher/notify/purge.ts';
import type { ProvenLog } from '../../publisher/verify/log/log-pass.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { PUBLIC_FOLDER } from '../../storage/directory/object-places.ts';
import { diskFault } from '../../storage/ports/disk-fault.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { uploadKey } from '../../storage/records/batches.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import type { RunValue } from '../../storage/records/sources.ts';
import type { Conditions } from '../../storage/s3/s3-objects.ts';
import { ingestSample } from '../commands/sample.ts';
import { watchDamage } from '../folder/damaged-objects.ts';
import { type DataFolder, openDataFolder } from '../folder/data-folder.ts';
import { watchLostObjects } from '../folder/lost-objects.ts';
import { isLedgerMissing } from '../from-log/begin-from-log.ts';
import { checkGitFile, type GitFile, openGitVersions } from '../git/git-versions.ts';
import { openUploads } from '../http/write-api.ts';
import { makeDailyFiles } from '../loops/daily-loop.ts';
import { expire, removeOldUploads } from '../loops/expiry-loop.ts';
import { sourceAsker, sourceRuns } from '../loops/source-loop.ts';
import { openWitness } from '../loops/witness-client.ts';
import { startWitnessLoop } from '../loops/witness-loop.ts';
import { createWorkRound } from '../loops/work-loop.ts';
import { openCore, refusedStart } from '../service/core.ts';
import { FolderInUse, StartError } from '../service/start-error.ts';
import { checkClock, type EmbeddedConfig, type Environment, readConfig } from '../settings/config.ts';
import { signingKeys } from '../settings/log-key.ts';
import { misspeltSettings } from '../settings/settings-help.ts';
import type { TargetState } from '../state/target-state.ts';
import { openTarget } from '../target/open-target.ts';
import { CHECKPOINT } from '../target/target.ts';
import { beginIfEmpty, hasNews, isUnused, isWhole } from './begin.ts';
import { fitsNote, isRenderedOtherwise, leaveNote, readNote } from './files-note.ts';
import { openLocalApi } from './local-api.ts';
import { firstRefused, type RefusedRecord } from './refused-records.ts';
import { countFiles, endSourceRuns, type FileCounts, publishAll } from './round-steps.ts';

export interface RoundOptions {
  /** Whether to publish without a log, even if there is a key. */
  readonly isUnsigned: boolean;
  /** The longest wait for another process that has the data folder or the target. */
  readonly waitSeconds: number;
  /** If there is no ledger, or an empty one, a ledger is begun from this log: see `beginIfEmpty`. Null: from nothing. */
  readonly fromLog: string | true | null;
  /** Whether the target keeps a sealed copy of the ledger: see server/state/target-state.ts. */
  readonly isStateInTarget: boolean;
  /** Called before anything is made. Throws if the run cannot succeed. `isFresh`: there is no ledger, so no source is known. */
  readonly check: (folder: { readonly isFresh: boolean }) => void;
  /** The file whose past versions will be ingested. Null: none. */
  readonly git: GitFile | null;
  /** Ends before anything is fetched or published. The write API of `takeIn` is used for dry runs only. */
  readonly isDryRun: boolean;
  /** Sends files and recipes to the write API. */
  readonly takeIn: (api: typeof fetch) => Promise<TakenIn>;
  readonly step: Step;
}

type Step = (name: string) => void;

export interface TakenIn {
  /** The sources that must run now; null: those that are due. */
  readonly sources: ReadonlySet<string> | null;
  /** Whether the ledger has new data. A note that all data was known before is not news. */
  readonly isNews: boolean;
  /** Whether files were named, and the ledger stored none of their records. */
  readonly isNothingStored: boolean;
  /** Past versions of a source's list to ingest. Null: none. */
  readonly past: { readonly source: string; readonly file: GitFile } | null;
}

export interface SourceEnd
  extends Pick<RunValue, 'outcome' | 'reason' | 'records' | 'refusedRows' | 'faults' | 'counts'> {
  readonly source: string;
  /** The first records that the service refused. */
  readonly refused: readonly RefusedRecord[];
  readonly firstWithheld?: ShownWithheld;
}

export interface RunReport {
  readonly generation: number;
  readonly markets: number;
  readonly observations: number;
  /** The log and its number of entries; null: no log is published. */
  readonly log: { readonly origin: string; readonly size: number } | null;
  /** The target, and the conditions that its bucket evaluates; null for a folder, or if nothing was written. */
  readonly target: { readonly name: string; readonly conditions: Conditions | null };
  /** The number of changed public files. */
  readonly files: FileCounts;
  readonly sources: readonly SourceEnd[];
  readonly past: PastTakenIn | null;
  /** Whether this run wrote the copy of the ledger in the target. Null: the target keeps no copy. */
  readonly state: 'written' | 'unchanged' | null;
  /** The markets and projections that could not be published. */
  readonly deferred: readonly string[];
  /** Other failures. The next run tries these steps again. */
  readonly faults: readonly string[];
  /** Problems that do not prevent publishing, such as a witness that does not answer. */
  readonly warnings: readonly string[];
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Runs one round.
 *
 * @param environment the settings of `tidemark start` that apply to a run
 * @throws FolderInUse if another process keeps the folder for longer than `waitSeconds`; StartError for a fault that a person
 *   can correct. Then nothing was published
 */
export async function runRound(environment: Environment, options: RoundOptions): Promise<RunReport> {
  checkClock(Date.now());
  // The ledger holds personal data, so only the owner may read the files that this process makes.
  process.umask(0o077);
  const config = readConfig(environment);
  if (options.git !== null) checkGitFile(options.git);
  options.check({ isFresh: !options.isStateInTarget && isLedgerMissing(config.dataFolder) });
  const projections = await signedProjections(config, options.isUnsigned);
  const state = options.isStateInTarget ? await openState(config, environment) : null;
  const opened = await openInTime(config, state, options).catch((error: unknown) => {
    throw error instanceof StartError ? error : withDisk(error, config.dataFolder, config.target ?? config.dataFolder);
  });
  const { data } = opened;
  try {
    const report = await runOn(opened, state, { ...config, projections }, options);
    return { ...report, warnings: [...misspeltSettings(environment), ...report.warnings] };
  } catch (error) {
    // A storage failure is not the fault of the folder: the next run continues.
    const failure = withDisk(error, config.dataFolder, data.target.name);
    throw failure instanceof StorageUnavailable ? failure : refusedStart(config.dataFolder, failure);
  } finally {
    await data.target.release();
    data.close();
    opened.unlock();
  }
}

/** Names the disk that has failed. `public` of the data folder may be a link to the target, whose disk is another one. */
function withDisk(error: unknown, dataFolder: string, named: string): unknown {
  const { message } = error as Error;
  const link = resolve(dataFolder, PUBLIC_FOLDER);
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const isOfTarget = isLink && message.includes(link);
  // A run that has not named its target keeps that of the run before.
  const target = isLink && resolve(named) === link ? readlinkSync(link) : named;
  const words = diskFault(error, isOfTarget ? `the target ${target}` : `the data folder ${dataFolder}`);
  if (words === null) return error;
  const text = `${words} Correct this, then run it again: it continues. (${message.replaceAll(link, target)})`;
  return new StorageUnavailable(text, { cause: error });
}

interface Opened {
  readonly data: DataFolder;
  /** The result of {@link beginIfEmpty}. */
  readonly begunFrom: ProvenLog | null;
  /** The folder with a ledger that was moved aside; null: none. */
  readonly replaced: string | null;
  /** Releases the lock of the target. */
  readonly unlock: () => void;
}

/** Loads the code of sealed copies only when it is needed. */
async function openState(config: EmbeddedConfig, environment: Environment): Promise<TargetState> {
  if (config.target === null) throw new StartError('--state in-target needs the target: name it with --to.');
  const [{ openTargetState }, { readStateKey }] = await Promise.all([
    import('../state/target-state.ts'),
    import('../state/state-key.ts'),
  ]);
  return openTargetState(config, await readStateKey(environment));
}

async function openInTime(
  config: EmbeddedConfig,
  state: TargetState | null,
  { fromLog, waitSeconds, step }: RoundOptions,
): Promise<Opened> {
  const deadlineMs = performance.now() + waitSeconds * 1000;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    let unlock = () => {};
    try {
      // Locked before the target is read, because the ledger may begin from the files that another process is still writing.
      unlock = await (await openTarget(config.dataFolder, config.target)).lock();
      let begunFrom: ProvenLog | null = null;
      const begin = async () => {
        if (fromLog !== null) begunFrom = await beginIfEmpty(config, fromLog, step);
      };
      if (state !== null) return { ...(await state.open(begin)), begunFrom, unlock };
      await begin();
      return { data: await openDataFolder(config.dataFolder, config), begunFrom, replaced: null, unlock };
    } catch (error) {
      unlock();
      if (!(error instanceof FolderInUse) || performance.now() + pauseMs > deadlineMs) throw error;
      step('Waiting for another run');
      await systemRuntime.pause(pauseMs);
    }
  }
}

async function runOn(
  opened: Opened,
  state: TargetState | null,
  config: EmbeddedConfig,
  { fromLog, takeIn, step, isDryRun }: RoundOptions,
): Promise<RunReport> {
  // Even the work that a killed run left is done for the comparison only. Only its partial uploads are removed for good.
  if (isDryRun) opened.data.discardChanges();
  const round = await openRound(opened, state, config, step);
  const { data, ledger, target, logKeys, counts, faults, warnings } = round;
  step('Taking in');
  // Finishes the work that a killed run left.
  await round.work();
  const takenIn = await takeIn(
    openLocalApi({ ...round, objects: round.dependencies.objects, onCommitted: round.work }),
  );
  step('Fetching');
  const { past, sources, isNews } = isDryRun ? NOT_FETCHED : await fetchSources(round, takenIn);
  // Publishes nothing after a first run without records: a mistake must not become a public service without markets.
  const isEmpty = takenIn.isNothingStored && (await ledger.get(HEAD_KEY)) === null && !(await hasNews(ledger));
  const isIdle = isDryRun || isEmpty || (await isAllPublished(round, opened.begunFrom));
  const deferred = isIdle ? [] : await publishAndSweep(round);
  if (fromLog !== null && !isIdle && deferred.length + faults.length === 0)
    await leaveNote(target, round.dependencies, logKeys?.signers ?? []);
  if (
    state !== null &&
    !isDryRun &&
    !isEmpty &&
    (isNews || state.isSaved || state.isMissing || (await state.isBehind(data)))
  )
    await state.save(data);
  const { generation = 0, log = null, counts: shown } = (await ledger.get(HEAD_KEY))?.value ?? {};
  return {
    ...{ generation, markets: shown?.markets ?? 0, observations: shown?.observations ?? 0 },
    log: logKeys === null ? null : { origin: logKeys.origin, size: log?.size ?? 0 },
    target: { name: target.name, conditions: target.conditions() },
    files: { ...counts },
    state: state === null ? null : state.isSaved ? 'written' : 'unchanged',
    ...{ sources, past, deferred, faults, warnings },
  };
}

const NOT_FETCHED = { past: null, sources: [], isNews: false };

type Round = Awaited<ReturnType<typeof openRound>>;

/** Opens all that the steps use, and collects their faults and warnings. */
async function openRound({ data, replaced }: Opened, state: TargetState | null, config: EmbeddedConfig, step: Step) {
  const { ledger, target } = data;
  const [faults, warnings]: [string[], string[]] = [[], []];
  const damage = watchDamage(data.objects, target.isRemote ? null : config.dataFolder);
  const { objects, counts } = countFiles(damage.objects, (key) => key.startsWith(`${PUBLIC_PREFIX}/`));
  const { logKeys, ...core } = await openCore({ ledger, objects, target, caches: NO_CACHES }, config, {
    hasWriteApi: false,
  });
  const dependencies = { ...core.dependencies, beforeApply: async () => await state?.save(data) };
  if (logKeys?.warning) warnings.push(logKeys.warning);
  if (replaced !== null)
    warnings.push(`The state in the target is newer than the data folder, whose files are in ${replaced}.`);
  const { secrets, uploads } = openUploads(config.dataFolder);
  await uploads.removePartial();
  if (config.sample !== 'no' && config.sample !== 'unsaid')
    await ingestSample(dependencies, config, { ingesting: () => {}, ingested: () => {} });
  const reporting = { report: addTo(faults), info: () => {} };
  const onErased = () => data.emptyLog();
  const workRound = createWorkRound({ ...dependencies, ...systemRuntime, uploads }, { onErased, ...reporting });
  const work = async () => void (await workRound());
  const kept = { data, ledger, target, config, step, logKeys, dependencies, damage, counts, secrets, uploads };
  return { ...kept, work, faults, warnings, ...reporting };
}

const addTo = (texts: string[]) => (what: string, cause: unknown) => {
  texts.push(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`);
};

/** Runs the sources to their end, and first the past of a list, if one is asked for. */
async function fetchSources(round: Round, takenIn: TakenIn) {
  const { ledger, uploads, config, report, info, work, warnings } = round;
  const runs = sourceRuns({
    ...systemRuntime,
    ...{ ledger, uploads, report, info, dataFolder: config.dataFolder },
    ask: sourceAsker(config),
  });
  const past = takenIn.past && (await takePast(round, runs, takenIn.past));
  const sources: (Omit<SourceEnd, 'refused' | 'firstWithheld'> & { readonly upload: string | null })[] = [];
  let isNews = takenIn.isNews || (past?.counts.accepted ?? 0) > 0;
  const wants = (source: string) => takenIn.sources?.has(source) ?? true;
  const ended = (source: string, _: string, run: RunValue) => {
    const { outcome, reason, records, refusedRows, faults, counts: rows, listed, upload } = run;
    const telling = rows !== null && rows.refused + (rows.withheld ?? 0) > 0 ? upload : null;
    sources.push({ source, outcome, reason, records, refusedRows, faults, counts: rows, upload: telling });
    const isBlind = listed?.length === 0 && (rows?.unchanged ?? 0) > 0;
    // Without its earlier answers, a list is ingested completely each time. If every row was known, this is not news.
    isNews ||= outcome === 'taken-in' && !(isBlind && rows?.accepted === 0 && rows.refused === 0);
    if (isBlind)
      warnings.push(
        `${source}: this data folder has no earlier copy of the list, so rows that have left it are not noticed. Keep the data folder between runs.`,
      );
  };
  await endSourceRuns({ ...runs, wants, ended }, work, systemRuntime.pause);
  const ends = sources.map(async ({ upload, ...end }): Promise<SourceEnd> => {
    if (upload === null) return { ...end, refused: [] };
    const firstWithheld = (await ledger.get(uploadKey(upload)))?.value.firstWithheld;
    return { ...end, refused: await firstRefused(round, upload), ...(firstWithheld && { firstWithheld }) };
  });
  return { past, sources: await Promise.all(ends), isNews };
}

async function takePast(
  { config, work, step }: Round,
  runs: SourceDependencies,
  { source, file }: NonNullable<TakenIn['past']>,
): Promise<PastTakenIn> {
  const folder = join(config.dataFolder, 'git');
  const versions = await openGitVersions(file, { folder, nowMs: systemRuntime.nowMs() });
  const progress = (done: number, of: number) => step(`Reading version ${done + 1} of ${of}`);
  return await takeInPast(runs, source, versions, { work, progress }).catch((error: unknown) => {
    throw error instanceof NotTakenIn ? new StartError(error.message, { cause: error }) : error;
  });
}

/** Whether the ledger was begun from a log, has nothing new, and the files are those of the log. */
async function isAllPublished({ ledger, target, dependencies, logKeys }: Round, begunFrom: ProvenLog | null) {
  if (!(await isUnused(ledger)) || (await hasNews(ledger))) return false;
  const noted = await readNote(target, logKeys?.signers ?? []);
  if (isRenderedOtherwise(noted, dependencies)) return false;
  return (await fitsNote(noted, dependencies, begunFrom === null)) || (await isWhole(target, ledger, begunFrom));
}

/** Returns markets and projections that could not be published. */
async function publishAndSweep(round: Round): Promise<readonly string[]> {
  const { data, config, step, dependencies, damage, uploads, report, info } = round;
  step('Publishing');
  const lost = watchLostObjects(dependencies, (_, cause) => step((cause as Error).message), damage);
  const deferred = await publishAll(dependencies, lost, round.work);
  if (round.logKeys !== null && config.witnesses.length > 0)
    await cosignOnce(dependencies, config, addTo(round.warnings));
  const later = async (what: string, does: () => Promise<unknown>) => {
    step(what);
    await does().catch((cause: unknown) => report(`${what} failed`, cause));
  };
  await later('Making the daily files', () =>
    makeDailyFiles({ storage: dependencies, yieldToEventLoop: async () => {}, info }),
  );
  // Only a generation leaves superseded objects.
  if (round.counts.written > 0) await later('Sweeping', () => collectGarbage(dependencies, { dryRun: false }));
  await later('Removing what has expired', () =>
    expire({
      removeExpired: data.removeExpired,
      removeFiles: () => removeOldUploads({ ...dependencies, uploads, keptDays: config.uploadsKeptDays }),
      sealAudit: createAuditSealer(dependencies),
      nowMs: systemRuntime.nowMs,
    }),
  );
  return deferred;
}

/** Asks each witness once. The next run asks again. */
async function cosignOnce(
  storage: PublisherDependencies,
  { witnesses }: EmbeddedConfig,
  report: (what: string, cause: unknown) => void,
): Promise<void> {
  const cosigning = startWitnessLoop({ storage, witnesses: witnesses.map(openWitness), report, info: () => {} });
  cosigning.wake();
  await cosigning.settled();
  await cosigning.stop();
}

/** @throws StartError if there is no key to sign the log, or if an unsigned run would end a published log */
async function signedProjections(
  { projections, dataFolder, target, logKey }: EmbeddedConfig,
  isUnsigned: boolean,
): Promise<EmbeddedConfig['projections']> {
  const isKeyless = projections.has('log') && signingKeys(dataFolder, logKey) === null;
  if (!isUnsigned && !isKeyless) return projections;
  const { name, read } = await openTarget(dataFolder, target);
  if ((await read(CHECKPOINT)) !== null) {
    throw new StartError(
      `${name} has a signed log, which must continue: set TIDEMARK_LOG_KEY to its key${isUnsigned ? ', without --unsigned' : ''}. Or name another target.`,
    );
  }
  if (isUnsigned) return new Set([...projections].filter((kind) => kind !== 'log'));
  throw new StartError(
    'There is no key to sign the log with: set TIDEMARK_LOG_KEY to one that `tidemark log keys new` has made. Or publish without a log: --unsigned.',
  );
}
