/**
 * `tidemark restore DIR`: puts a backup into the data folder of a stopped server. It prepares the ledger to publish everything
 * again in place, even if later generations have been published.
 */
import { join } from 'node:path';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseNote } from '../../contract/log/notes.ts';
import {
  type CarryOverDependencies,
  carryKeysOver,
  type KnownAccounts,
  repeatErasures,
  revokeAllKeys,
} from '../../lambdas/accounts/carry-over.ts';
import { type CarriedTakedowns, carryTakedownsOver } from '../../lambdas/ingest/carry-takedowns.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { leaveLastBackup } from '../backup/last-backup.ts';
import { checkNoKeyIsRevived, readLedgersAside, takeOperatorKeyOver } from '../backup/ledgers-aside.ts';
import { checkMayBeReplaced, copyBackup, finishRestore, replaceFiles } from '../backup/put-back.ts';
import { checkBackup, checkIsOfSameLog, chooseBackup } from '../backup/read-backup.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { readLogCheckpoint } from '../settings/log-key.ts';
import { forgetIndex } from '../target/folder-target.ts';
import { openStopped } from './stopped-server.ts';

export interface RestoreCommand {
  /** The folder of backups. */
  readonly dir: string;
  /** The name of a backup; null: the newest. */
  readonly from: string | null;
  readonly replace: boolean;
  /**
   * The API keys of the backup. `keep`: unchanged. `revoke`: all are revoked. Null: keys that were revoked or rotated after the
   * backup stay so, according to the ledger that is moved aside; if it does not know a key, the restore is refused.
   */
  readonly keys: 'keep' | 'revoke' | null;
  readonly progress: CopyStep;
}

export interface RestoreReport extends CarriedTakedowns {
  readonly dataFolder: string;
  readonly backup: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly generation: number | null;
  /** The folder with the replaced files; null: there were none. */
  readonly replaced: string | null;
  /** The number of keys that the restore revoked, or set to the state in the ledger that was moved aside. */
  readonly changedKeys: number;
  /** The number of erasures after the time of the backup. The next start repeats them. */
  readonly repeatedErasures: number;
  readonly repaired: Readonly<Record<string, string>>;
  /** The number of entries of the log in the backup; null: it had no log. */
  readonly logSize: number | null;
  /** Whether the store shows a longer log. The next start takes over the additional entries. */
  readonly isLongerLogShown: boolean;
}

/**
 * @throws StartError for a fault that an operator can correct. Then the folder is unchanged, or the next start reports its
 *   state
 */
export async function restoreBackup(environment: Environment, command: RestoreCommand): Promise<RestoreReport> {
  process.umask(0o077);
  const nowMs = Date.now();
  checkClock(nowMs);
  const { dataFolder } = readConfig(environment);
  const { dir, from, progress } = command;
  const backup = chooseBackup(dir, from);
  await checkBackup(backup, progress);
  await checkIsOfSameLog(dataFolder, backup);
  checkMayBeReplaced(dataFolder, command.replace);
  const aside = await readLedgersAside(dataFolder);
  if (command.keys === null) await checkNoKeyIsRevived(backup, aside, nowMs);
  const stage = (folder: string) => copyBackup(folder, backup, progress);
  const replaced = await replaceFiles({ dataFolder, nowMs, name: backup.name, stage });
  progress('Checking every market', 0, 1);
  const restored = await openStopped(dataFolder, { isRestoring: true }, async (storage) => {
    // Done while the folder is marked: nothing can be published or served yet with a key that must stay revoked.
    const dependencies = { ...storage, newId: systemRuntime.newId };
    const accounts = await settleAccounts(dependencies, command.keys, aside);
    await takeOperatorKeyOver(storage.ledger, dataFolder, nowMs);
    const { repaired } = await restore(storage);
    const takedowns = await carryTakedownsOver(dependencies, aside);
    const { size: logSize = null } = (await storage.ledger.get(HEAD_KEY))?.value.log ?? {};
    const shown = await shownLogSize(storage.objects);
    const settled = { ...accounts, ...takedowns, repaired: Object.fromEntries(repaired) };
    return { ...settled, logSize, isLongerLogShown: shown > (logSize ?? 0) };
  });
  // Before the start, an operator may put a newer log into the folder: files that the index knew otherwise would be put back.
  forgetIndex(dataFolder);
  await finishRestore(dataFolder);
  const { createdAt, generation } = backup.manifest;
  leaveLastBackup(dataFolder, { at: createdAt, backup: join(backup.dir, backup.name) });
  return { dataFolder, backup: backup.name, createdAt, generation, replaced, ...restored };
}

async function settleAccounts(
  storage: CarryOverDependencies,
  keys: RestoreCommand['keys'],
  aside: readonly KnownAccounts[],
): Promise<Pick<RestoreReport, 'changedKeys' | 'repeatedErasures'>> {
  const carried = keys === 'keep' ? 0 : await carryKeysOver(storage, aside);
  const changedKeys = keys === 'revoke' ? await revokeAllKeys(storage) : carried;
  // Erasures are repeated with `keep`, too: the law gives a right to erasure.
  return { changedKeys, repeatedErasures: await repeatErasures(storage, aside) };
}

/** The size in the published checkpoint, which is not verified here: the next start does that. 0: it cannot be read. */
async function shownLogSize(objects: ObjectStore): Promise<number> {
  try {
    return parseCheckpoint(parseNote((await readLogCheckpoint(objects)) ?? '').text).size;
  } catch (error) {
    if (error instanceof LogFaultError) return 0;
    throw error;
  }
}
