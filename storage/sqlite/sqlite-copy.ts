/** Copies of a ledger's file, made while the ledger is in use; and whether a file is damaged. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { checkSchema, translateError } from './sqlite-file.ts';

/** Called while a copy is made. If it throws, the copy is given up and the error is passed on. */
export type CopyProgress = (copiedPages: number, allPages: number) => void;

/** Other work gets the database after each of these steps: about one megabyte. */
const PAGES_OF_A_STEP = 100;

/**
 * The last step syncs the copy while it holds the database. So the pages before are synced from time to time: then the
 * last step of a 500 MB copy holds the database for 0.1 s, not for 0.4 s.
 */
const PAGES_OF_A_SYNC = 4_000;

/**
 * Copies the database into a file, which must exist and be empty. The copy is of one moment, after the call began, and
 * durable on return. Writes by the same connection may go on meanwhile, and are part of it or not.
 */
export async function copyDatabase(database: DatabaseSync, path: string, progress: CopyProgress): Promise<void> {
  const file = await open(path, 'r');
  try {
    let syncedPages = 0;
    let syncing: Promise<void> | null = null;
    await backup(database, path, {
      rate: PAGES_OF_A_STEP,
      progress: ({ totalPages, remainingPages }) => {
        const copied = totalPages - remainingPages;
        progress(copied, totalPages);
        if (syncing !== null || copied - syncedPages < PAGES_OF_A_SYNC) return;
        syncedPages = copied;
        // A failure shows when SQLite syncs the file itself.
        syncing = file.datasync().catch(() => undefined);
        void syncing.then(() => {
          syncing = null;
        });
      },
    });
    await syncing;
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The first lines of what SQLite finds wrong in the file; empty if nothing is. Reads the whole file. */
export function findDamage(database: DatabaseSync): readonly string[] {
  const lines = database
    .prepare('PRAGMA integrity_check(5)')
    .all()
    .map((row) => String(row.integrity_check));
  return lines.length === 1 && lines[0] === 'ok' ? [] : lines;
}

/**
 * {@link findDamage} of a file as it is, without migrating it.
 *
 * @throws StorageUnavailable if a process has it open for itself; StorageCorrupt if it is no database
 */
export function examineLedgerFile(path: string): readonly string[] {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    return findDamage(database);
  } catch (error) {
    throw translateError(error, path);
  } finally {
    database?.close();
  }
}

/** Opens a file that has no writer any more, and makes no file beside it. Errors as of `openSqliteLedger`. */
export function openImmutable(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const url = pathToFileURL(resolve(path));
    url.search = '?immutable=1';
    database = new DatabaseSync(url, { readOnly: true });
    checkSchema(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw translateError(error, path);
  }
}

/** Each name by one look into the index: a plain DISTINCT would read every item. */
const PARTITIONS = `WITH RECURSIVE names(name) AS (
    SELECT min(partition) FROM items
    UNION ALL SELECT (SELECT min(partition) FROM items WHERE partition > name) FROM names WHERE name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL`;

/** The partitions of a copy, in order. Errors as of {@link openImmutable}. */
export function partitionsOf(path: string): readonly string[] {
  const database = openImmutable(path);
  try {
    return database
      .prepare(PARTITIONS)
      .all()
      .map(({ name }) => String(name));
  } finally {
    database.close();
  }
}
