/** Key changes, erasures and takedowns in the ledgers that this restore, or an interrupted one, moves aside. */
import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findRevivedKeys, type KnownAccounts, readAccounts } from '../../lambdas/accounts/carry-over.ts';
import { parseApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { keyStateOf } from '../../lambdas/credentials/operator-key.ts';
import { type KnownRemovals, readRemovals } from '../../lambdas/ingest/carry-takedowns.ts';
import { putFileSync } from '../../storage/directory/durable-files.ts';
import { FormatTooNew, FormatTooOld, StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkIsKnown } from '../../storage/ports/format.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { type LedgerCopy, openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { LEDGER_FILE, RESTORING_FILE } from '../folder/data-folder.ts';
import { SettingError } from '../service/start-error.ts';
import { readSecretFile } from '../settings/secret-files.ts';
import { ASIDE } from './put-back.ts';
import type { ChosenBackup } from './read-backup.ts';

/** What a ledger knows, and an earlier one does not. */
export type LaterChanges = KnownAccounts & KnownRemovals;

/** Call it when no process has the folder open. A ledger that cannot be read is left out. */
export async function readLedgersAside(dataFolder: string): Promise<readonly LaterChanges[]> {
  const isInterrupted = existsSync(join(dataFolder, RESTORING_FILE));
  const aside = isInterrupted ? await foldersAside(dataFolder) : [];
  const known: LaterChanges[] = [];
  for (const folder of ['', ...aside]) {
    const changes = await readOne(join(dataFolder, folder, LEDGER_FILE));
    if (changes !== null) known.push(changes);
  }
  return known;
}

/** Newest first. */
async function foldersAside(dataFolder: string): Promise<readonly string[]> {
  return (await readdir(dataFolder))
    .filter((name) => name.startsWith(ASIDE))
    .sort()
    .reverse();
}

/** If the operator's key was rotated after the backup, the key in the backup's file is void. The one that was moved aside is not. */
export async function takeOperatorKeyOver(ledger: LedgerReader, dataFolder: string, nowMs: number): Promise<void> {
  for (const folder of await foldersAside(dataFolder)) {
    const text = readSecretFile(join(dataFolder, folder), 'operator-key');
    const key = parseApiKey(text ?? '');
    if (key === null || (await keyStateOf(ledger, key, nowMs)) !== 'valid') continue;
    putFileSync(join(dataFolder, 'operator-key'), `${text}\n`);
    return;
  }
}

const UNREADABLE = [StorageCorrupt, StorageUnavailable, FormatTooNew, FormatTooOld];

async function readOne(path: string): Promise<LaterChanges | null> {
  // The write-ahead log may hold the revocation, if it could not be merged into the file, e.g. because the disk is full.
  if (!existsSync(path) || (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return null;
  let copy: LedgerCopy | undefined;
  try {
    copy = openLedgerCopy(path);
    await checkIsKnown(copy);
    return { ...(await readAccounts(copy)), ...(await readRemovals(copy)) };
  } catch (error) {
    if (UNREADABLE.some((kind) => error instanceof kind)) return null;
    throw error;
  } finally {
    copy?.close();
  }
}

/**
 * Keys that were revoked or rotated after the backup must not become valid again unnoticed.
 *
 * @throws SettingError with the valid keys of the backup whose later state is in none of these ledgers
 */
export async function checkNoKeyIsRevived(
  { dir, name }: ChosenBackup,
  aside: readonly KnownAccounts[],
  nowMs: number,
): Promise<void> {
  const copy = openLedgerCopy(join(dir, name, LEDGER_FILE));
  const keys = await findRevivedKeys(copy, aside, nowMs).finally(() => copy.close());
  if (keys.length === 0) return;
  const lines = keys.map(
    ({ sort: id, value: { label, subject, createdAt } }) => `  ${id}  ${label}, of ${subject}, issued ${createdAt}`,
  );
  throw new SettingError(
    `These API keys of the backup would work again, and no ledger says whether they were revoked or rotated since:
${lines.join('\n')}
Nothing was changed. Repeat with --keep-keys if none of them was revoked or rotated, otherwise with --revoke-keys.`,
  );
}
