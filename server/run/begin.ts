/** Begins the ledger of a run that has none: of a job without a disk of its own. */
import { publicPath } from '../../contract/files/public-objects.ts';
import { readDue } from '../../publisher/kernel/marks.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { verifyLog } from '../../publisher/verify/verify-log.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { beginFromLog, isLedgerMissing } from '../from-log/begin-from-log.ts';
import { filesReader, namedFilesReader } from '../from-log/published-files.ts';
import { StartError } from '../service/start-error.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { signingKeys } from '../settings/log-key.ts';
import { openTarget } from '../target/open-target.ts';
import type { PublicTarget } from '../target/target.ts';

/** Below a target. The checkpoint is put first. */
const [CHECKPOINT, SNAPSHOT] = (['log-checkpoint', 'snapshot'] as const).map((kind) =>
  publicPath({ kind }).slice(1),
) as [string, string];

/**
 * - `present`: the folder has a ledger.
 * - `empty`: the target publishes no log yet, so this is the first run.
 * - `begun`: the ledger has the facts of the log. Everything that it makes is in the target already.
 * - `copied`: the same, and the log is that of another place.
 */
export type Beginning = 'present' | 'empty' | 'begun' | 'copied';

/**
 * @param fromLog a URL or a folder; true: the target
 * @throws StartError if it cannot be begun; then nothing was changed
 */
export async function beginIfMissing(
  { dataFolder, target, logKey, projections }: EmbeddedConfig,
  fromLog: string | true,
  step: (name: string) => void,
): Promise<Beginning> {
  if (!isLedgerMissing(dataFolder)) return 'present';
  const source = fromLog === true ? target : fromLog;
  if (source === null) {
    throw new StartError('--from-log alone means the target: name it with --to, or say --from-log URL.');
  }
  const published = fromLog === true ? await openTarget(dataFolder, source) : null;
  if (published !== null && (await published.read(CHECKPOINT)) === null) {
    if ((await published.read(SNAPSHOT)) === null) return 'empty';
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
  await beginFromLog({ dataFolder, reader, source, keys, projections, target, nowMs: nowMs(), progress });
  return source === target ? 'begun' : 'copied';
}

/** Whether this run has brought something. What else is due then is in the target, if the ledger has `begun` from it. */
export async function hasNews(ledger: Ledger): Promise<boolean> {
  const { markets } = await readDue(ledger, '', 1, new Set());
  return markets.some(({ isRefresh }) => !isRefresh);
}

/** Whether the files are those of their log. A run that was killed may have left files that the log does not have. */
export async function isWhole({ read }: PublicTarget, vkeys: readonly string[]): Promise<boolean> {
  const reader = filesReader(read);
  const { findings } = await verifyLog(reader, { vkeys, seen: null });
  return findings.length === 0 && (await verify(reader, { settled: true })).findings.length === 0;
}
