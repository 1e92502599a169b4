/** Begins the ledger of a run that has none, or an empty one: of a job without a disk of its own. */
import { EXPORT_PART_ENTRIES } from '../../contract/bodies/export-tables.ts';
import { publicPath } from '../../contract/files/public-objects.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { readDue } from '../../publisher/kernel/marks.ts';
import { isRaised } from '../../publisher/kernel/swap-head.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { ProvenLog } from '../../publisher/repair/from-log/ledger-from-log.ts';
import { passOver } from '../../publisher/verify/log/log-pass.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { beginFromLog, isLedgerEmpty } from '../from-log/begin-from-log.ts';
import { StartError } from '../service/start-error.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { signingKeys } from '../settings/log-key.ts';
import { openTarget } from '../target/open-target.ts';
import { filesReader, namedFilesReader } from '../target/static-host.ts';
import type { PublicTarget } from '../target/target.ts';

/** Below a target. The checkpoint is put first. */
export const [CHECKPOINT, SNAPSHOT] = (['log-checkpoint', 'snapshot'] as const).map((kind) =>
  publicPath({ kind }).slice(1),
) as [string, string];

/**
 * @param fromLog a URL or a folder; true: the target
 * @returns the log, if the ledger was begun from that of the target: then everything that the ledger makes is there already.
 *   Otherwise null
 * @throws StartError if it cannot be begun; then nothing was changed
 */
export async function beginIfEmpty(
  { dataFolder, target, logKey, projections, readBaseUrl }: EmbeddedConfig,
  fromLog: string | true,
  step: (name: string) => void,
): Promise<ProvenLog | null> {
  if (!(await isLedgerEmpty(dataFolder))) return null;
  const source = fromLog === true ? target : fromLog;
  if (source === null) {
    throw new StartError('--from-log without a value uses the target. Set --to, or give --from-log URL.');
  }
  const published = fromLog === true ? await openTarget(dataFolder, source) : null;
  if (published !== null && (await published.read(CHECKPOINT)) === null) {
    if ((await published.read(SNAPSHOT)) === null) return null;
    // A new log under the same key would be a fork of the one that was there.
    throw new StartError(
      `${source} has published markets, and no checkpoint of a log: put ${CHECKPOINT} back, or say --from-log URL.`,
    );
  }
  const keys = signingKeys(dataFolder, logKey);
  if (keys === null) {
    throw new StartError('There is no key to go on with the log: set TIDEMARK_LOG_KEY to the one that has signed it.');
  }
  const { nowMs } = systemRuntime;
  const reader = published === null ? namedFilesReader(source) : filesReader(published.read);
  const progress = () => step('Reading the log');
  const isOfTarget = source === target;
  const options = {
    dataFolder,
    reader,
    source,
    keys,
    projections,
    readBaseUrl,
    target,
    isOfTarget,
    nowMs: nowMs(),
    progress,
  };
  const { proven } = await beginFromLog(options);
  return isOfTarget ? proven : null;
}

/** Whether the ledger has published nothing itself since it was begun from a log, or restored. */
export async function isUnused(ledger: Ledger): Promise<boolean> {
  const head = await ledger.get(HEAD_KEY);
  return head !== null && isRaised(head.value);
}

/** Whether this run has brought something. What else is due then is in the target, if the ledger was begun from its log. */
export async function hasNews(ledger: Ledger): Promise<boolean> {
  const { markets } = await readDue(ledger, '', 1, new Set());
  return markets.some(({ isRefresh }) => !isRefresh);
}

/**
 * Whether the files are those of the log, as the oracles judge them. A run that was killed may have left files that the log
 * does not have.
 *
 * @param log of the target. Null: it was not read yet
 */
export async function isWhole({ read }: PublicTarget, ledger: Ledger, log: ProvenLog | null): Promise<boolean> {
  const reader = filesReader(read);
  if (log === null) {
    const { size = 0, vkeys = [] } = (await ledger.get(HEAD_KEY))?.value.log ?? {};
    const report = await verifyLog(reader, { vkeys, seen: null });
    const isOfLedger = size > 0 && report.size === size && report.findings.length === 0;
    return isOfLedger && (await verify(reader, { settled: true })).findings.length === 0;
  }
  const pass = { ...log, reader, pageSizes: DEFAULT_PAGE_SIZES, partEntries: EXPORT_PART_ENTRIES, nowMs: null };
  const { findings } = await passOver({ ...pass, projectors: PROJECTORS });
  if (findings.length > 0) return false;
  // Bodies of markets are those that the log gives, byte for byte.
  return (await verify(reader, { settled: true, withoutMarkets: true })).findings.length === 0;
}
