/** `tidemark restore --from-log URL|FOLDER`: the last resort after a ledger and its backups are lost. */
import { join } from 'node:path';
import { checkMayBeReplaced } from '../backup/put-back.ts';
import { type BeginFromLog, beginFromLog } from '../from-log/begin-from-log.ts';
import { StartError } from '../service/start-error.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { signingKeys } from '../settings/log-key.ts';
import { namedFilesReader } from '../target/static-host.ts';

/** `source`: a base URL, or a folder of published files. */
export interface RestoreFromLogCommand extends Pick<BeginFromLog, 'source' | 'seen' | 'forgetNames' | 'progress'> {
  readonly replace: boolean;
  readonly timeoutSeconds: number;
}

/**
 * @throws StartError for a fault that an operator can correct. Then the folder is unchanged, or the next start reports its
 *   state
 */
export async function restoreFromLog(
  environment: Environment,
  { replace, timeoutSeconds, ...asked }: RestoreFromLogCommand,
) {
  process.umask(0o077);
  const nowMs = Date.now();
  checkClock(nowMs);
  const { dataFolder, projections, readBaseUrl, logKey } = readConfig(environment);
  checkMayBeReplaced(dataFolder, replace);
  const keys = signingKeys(dataFolder, logKey);
  if (keys === null) {
    throw new StartError(
      `${join(dataFolder, 'log-key')} is missing: put the key there that signs this log, with mode 600, or set TIDEMARK_LOG_KEY. Only the holder of its key can continue a log. Nothing was changed.`,
    );
  }
  const reader = namedFilesReader(asked.source, timeoutSeconds * 1000);
  const options = { ...asked, dataFolder, reader, keys, projections, readBaseUrl, nowMs };
  const { proven: _, ...begun } = await beginFromLog(options);
  return { dataFolder, source: asked.source, ...begun };
}
