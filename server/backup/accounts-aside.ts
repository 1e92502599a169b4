/** Key changes and erasures in the ledgers that this restore, or an interrupted one, moves aside. */
import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findRevivedKeys,
  type KnownAccounts,
  type RevivedKey,
  readAccounts,
} from '../../lambdas/accounts/carry-over.ts';
import { FormatTooNew, FormatTooOld, StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkIsKnown } from '../../storage/ports/format.ts';
import { type LedgerCopy, openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { LEDGER_FILE, RESTORING_FILE } from '../folder/data-folder.ts';
import { ASIDE } from './put-back.ts';
import type { ChosenBackup } from './read-backup.ts';

/** Call it when no process has the folder open. A ledger that cannot be read is left out. */
export async function readAccountsAside(dataFolder: string): Promise<readonly KnownAccounts[]> {
  const isInterrupted = existsSync(join(dataFolder, RESTORING_FILE));
  const aside = isInterrupted ? (await readdir(dataFolder)).filter((name) => name.startsWith(ASIDE)) : [];
  const known: KnownAccounts[] = [];
  for (const folder of ['', ...aside]) {
    const accounts = await readOne(join(dataFolder, folder, LEDGER_FILE));
    if (accounts !== null) known.push(accounts);
  }
  return known;
}

const UNREADABLE = [StorageCorrupt, StorageUnavailable, FormatTooNew, FormatTooOld];

async function readOne(path: string): Promise<KnownAccounts | null> {
  // The write-ahead log may hold the revocation, if it could not be merged into the file, e.g. because the disk is full.
  if (!existsSync(path) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return null;
  let copy: LedgerCopy | undefined;
  try {
    copy = openLedgerCopy(path);
    await checkIsKnown(copy);
    return await readAccounts(copy);
  } catch (error) {
    if (UNREADABLE.some((kind) => error instanceof kind)) return null;
    throw error;
  } finally {
    copy?.close();
  }
}

/** The keys that the backup would make valid again. It is unknown whether they were revoked or rotated after the backup. */
export async function keysRevivedBy(
  { dir, name }: ChosenBackup,
  aside: readonly KnownAccounts[],
  nowMs: number,
): Promise<readonly RevivedKey[]> {
  const copy = openLedgerCopy(join(dir, name, LEDGER_FILE));
  try {
    return await findRevivedKeys(copy, aside, nowMs);
  } finally {
    copy.close();
  }
}
