/** Begins the ledger of a run that has none, or an empty one. A job without a disk of its own is such a run. */
import { EXPORT_PART_ENTRIES } from '../../contract/bodies/export-tables.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { readDue } from '../../publisher/kernel/marks.ts';
import { isRaised } from '../../publisher/kernel/swap-head.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { ProvenLog } from '../../publisher/verify/log/log-pass.ts';
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
import { CHECKPOINT, type PublicTarget, SNAPSHOT } from '../target/target.ts';

/**
 * @param fromLog a URL or a folder; true: the target
 * @returns the log, if the ledger was begun from the target's own log: then the target has everything that the ledger
 *   publishes. Otherwise null
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
    // A new log under the same key would fork the published log.
    throw new StartError(
      `${source} has published markets, and no checkpoint of a log: restore ${CHECKPOINT}, or use --from-log URL.`,
    );
  }
  const keys = signingKeys(dataFolder, logKey);
  if (keys === null) {
    throw new StartError('There is no key to continue the log: set TIDEMARK_LOG_KEY to the one that has signed it.');
  }
  const { nowMs } = systemRuntime;
  const reader = published === null ? namedFilesReader(source) : filesReader(published.read);
  const isOfTarget = source === target;
  const options = { dataFolder, reader, source, keys, projections, readBaseUrl, target, isOfTarget };
  const progress = () => step('Reading the log');
  const { proven } = await beginFromLog({ ...options, nowMs: nowMs(), progress });
  return isOfTarget ? proven : null;
}

/** Whether the ledger was begun from a log, or restored, and has published nothing since. */
export async function isUnused(ledger: Ledger): Promise<boolean> {
  const head = await ledger.get(HEAD_KEY);
  return head !== null && isRaised(head.value);
}

/** Whether this run has added data. If the ledger was begun from the target's log, the target already has everything else. */
export async function hasNews(ledger: Ledger): Promise<boolean> {
  const { markets } = await readDue(ledger, '', 1, new Set());
  return markets.some(({ isRefresh }) => !isRefresh);
}

/**
 * Whether the files are those of the log, by the checks of `verify`. A run that was killed may have left files that the log
 * does not have.
 *
 * @param log the log of the target; null: it has not been read yet
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
  // Markets are skipped: their bodies were compared with the log, byte for byte.
  return (await verify(reader, { settled: true, withoutMarkets: true })).findings.length === 0;
}
