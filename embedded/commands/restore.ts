/**
 * `tidemark restore DIR`: puts a backup into a data folder whose server is stopped, and prepares its ledger to publish
 * everything again in place, although later generations may have been published.
 */
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseNote } from '../../contract/log/notes.ts';
import { restore } from '../../publisher/repair/restore.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { finishRestore, putBack } from '../backup/put-back.ts';
import { checkBackup, chooseBackup } from '../backup/read-backup.ts';
import { checkIsOfSameLog } from '../backup/same-log.ts';
import { checkClock, type Environment, readConfig } from '../config.ts';
import { readLogCheckpoint } from '../log-key.ts';
import { openStopped } from './stopped-server.ts';

export interface RestoreCommand {
  /** The folder of backups. */
  readonly dir: string;
  /** The name of a backup; null: the newest. */
  readonly from: string | null;
  readonly replace: boolean;
  readonly progress: CopyStep;
}

export interface RestoreReport {
  readonly dataFolder: string;
  readonly backup: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly generation: number | null;
  /** The folder with the files that were there before; null: there were none. */
  readonly replaced: string | null;
  /** The markets that did not add up, and what was done to each. */
  readonly repaired: Readonly<Record<string, string>>;
  /** The number of entries of the log in the backup; null: it had no log. */
  readonly logSize: number | null;
  /** Whether the store shows a longer log. The next start takes its entries over. */
  readonly isLongerLogShown: boolean;
}

/** @throws StartError for a fault that an operator can correct; then the folder is as it was, or says so at the next start */
export async function restoreBackup(environment: Environment, command: RestoreCommand): Promise<RestoreReport> {
  process.umask(0o077);
  const nowMs = Date.now();
  checkClock(nowMs);
  const { dataFolder } = readConfig(environment);
  const { dir, from, progress } = command;
  const backup = chooseBackup(dir, from);
  await checkBackup(backup, progress);
  await checkIsOfSameLog(dataFolder, backup);
  const replaced = await putBack({ ...command, dataFolder, backup, nowMs });
  progress('Checking every market', 0, 1);
  const restored = await openStopped(dataFolder, { isRestoring: true }, async (storage) => {
    const { repaired } = await restore(storage);
    const { size: logSize = null } = (await storage.ledger.get(HEAD_KEY))?.value.log ?? {};
    const shown = await shownLogSize(storage.objects);
    return { repaired: Object.fromEntries(repaired), logSize, isLongerLogShown: shown > (logSize ?? 0) };
  });
  await finishRestore(dataFolder);
  const { createdAt, generation } = backup.manifest;
  return { dataFolder, backup: backup.name, createdAt, generation, replaced, ...restored };
}

/** The size in the checkpoint of the store, which the next start verifies. 0: no checkpoint can be read. */
async function shownLogSize(objects: ObjectStore): Promise<number> {
  try {
    return parseCheckpoint(parseNote((await readLogCheckpoint(objects)) ?? '').text).size;
  } catch (error) {
    if (error instanceof LogFaultError) return 0;
    throw error;
  }
}
