/**
 * `tidemark restore DIR`: puts a backup into a data folder whose server is stopped, and prepares its ledger to publish
 * everything again in place, although later generations may have been published.
 */
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseNote } from '../../contract/log/notes.ts';
import {
  type CarryOverDependencies,
  carryKeysOver,
  type KnownAccounts,
  type RevivedKey,
  repeatErasures,
  revokeAllKeys,
} from '../../lambdas/accounts/carry-over.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { keysRevivedBy, readAccountsAside } from '../backup/accounts-aside.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { checkMayBeReplaced, finishRestore, putBack } from '../backup/put-back.ts';
import { checkBackup, checkIsOfSameLog, chooseBackup } from '../backup/read-backup.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { readLogCheckpoint } from '../settings/log-key.ts';
import { openStopped } from './stopped-server.ts';

export interface RestoreCommand {
  /** The folder of backups. */
  readonly dir: string;
  /** The name of a backup; null: the newest. */
  readonly from: string | null;
  readonly replace: boolean;
  /**
   * The API keys of the backup. `keep`: as they are in it. `revoke`: all of them are revoked. Null: those that were revoked
   * or rotated since stay so, as the ledger says that is moved aside.
   */
  readonly keys: 'keep' | 'revoke' | null;
  /**
   * Asked if `keys` is null, and no ledger says what became of these keys. Nothing is changed yet. Rejects if they must
   * not be revived.
   */
  readonly confirm: (keys: readonly RevivedKey[]) => Promise<void>;
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
  /** The keys that were changed: revoked or rotated as in the ledger that was moved aside; or all of them, revoked. */
  readonly changedKeys: number;
  /** Erasures of after the backup, which the next start does again. */
  readonly repeatedErasures: number;
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
  checkMayBeReplaced(dataFolder, command.replace);
  const aside = await readAccountsAside(dataFolder);
  const revived = command.keys === null ? await keysRevivedBy(backup, aside, nowMs) : [];
  if (revived.length > 0) await command.confirm(revived);
  const replaced = await putBack({ progress, dataFolder, backup, nowMs });
  progress('Checking every market', 0, 1);
  const restored = await openStopped(dataFolder, { isRestoring: true }, async (storage) => {
    // Before anything can be published or served with a revived key: the folder is still marked.
    const accounts = await settleAccounts({ ...storage, newId: systemRuntime.newId }, command.keys, aside);
    const { repaired } = await restore(storage);
    const { size: logSize = null } = (await storage.ledger.get(HEAD_KEY))?.value.log ?? {};
    const shown = await shownLogSize(storage.objects);
    return { ...accounts, repaired: Object.fromEntries(repaired), logSize, isLongerLogShown: shown > (logSize ?? 0) };
  });
  await finishRestore(dataFolder);
  const { createdAt, generation } = backup.manifest;
  return { dataFolder, backup: backup.name, createdAt, generation, replaced, ...restored };
}

async function settleAccounts(
  storage: CarryOverDependencies,
  keys: RestoreCommand['keys'],
  aside: readonly KnownAccounts[],
): Promise<Pick<RestoreReport, 'changedKeys' | 'repeatedErasures'>> {
  const carried = keys === 'keep' ? 0 : await carryKeysOver(storage, aside);
  const changedKeys = keys === 'revoke' ? await revokeAllKeys(storage) : carried;
  // Also of kept keys: the law gives a right to it.
  return { changedKeys, repeatedErasures: await repeatErasures(storage, aside) };
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
