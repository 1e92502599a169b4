/** Copies a ledger's file while the ledger is in use, and checks whether a file is damaged. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { checkSchema, translateError } from './sqlite-file.ts';

/** Called while a copy is made. If it throws, the copy stops with that error. */
export type CopyProgress = (copiedPages: number, allPages: number) => void;

/** Other work can use the database after each step of this many pages: about one megabyte. */
const PAGES_OF_A_STEP = 100;

/**
 * The last step syncs the copy while it locks the database. So earlier pages are synced from time to time: then the last
 * step of a 500 MB copy locks the database for 0.1 s, not for 0.4 s.
 */
const PAGES_OF_A_SYNC = 4_000;

/** Node.js rejects with a success of SQLite if the connection is within a transaction at the first step. Nothing is copied then. */
const isNoError = (error: unknown) => error instanceof Error && 'errcode' in error && error.errcode === 0;
/** A transaction takes milliseconds. */
const MOST_TRIES = 500;

/**
 * Copies the database into a file, which must exist and be empty. The copy shows one moment after the call began, and is
 * durable on return. The same connection may write meanwhile; such writes may or may not be in the copy.
 */
export async function copyDatabase(database: DatabaseSync, path: string, progress: CopyProgress): Promise<void> {
  const file = await open(path, 'r');
  try {
    let syncedPages = 0;
    let syncing: Promise<void> | null = null;
    const copy = () =>
      backup(database, path, {
        rate: PAGES_OF_A_STEP,
        progress: ({ totalPages, remainingPages }) => {
          const copied = totalPages - remainingPages;
          progress(copied, totalPages);
          if (syncing !== null || copied - syncedPages < PAGES_OF_A_SYNC) return;
          syncedPages = copied;
          // If this fails, SQLite's own sync of the file reports the failure.
          syncing = file.datasync().catch(() => undefined);
          void syncing.then(() => {
            syncing = null;
          });
        },
      });
    for (let tries = 1; ; tries++) {
      try {
        await copy();
        break;
      } catch (error) {
        if (!isNoError(error) || tries === MOST_TRIES) throw error;
        await setTimeout(10);
      }
    }
    await syncing;
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The first lines of SQLite's report of damage; empty if the file is right. Reads the whole file. */
export function findDamage(database: DatabaseSync): readonly string[] {
  const lines = database
    .prepare('PRAGMA integrity_check(5)')
    .all()
    .map((row) => String(row.integrity_check));
  return lines.length === 1 && lines[0] === 'ok' ? [] : lines;
}

/**
 * {@link findDamage} of a file, without migrating it.
 *
 * @throws StorageUnavailable if a process has locked it; StorageCorrupt if it is not a database
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

/** Opens a file that nothing writes any more, without creating a file beside it. Throws the errors of `openSqliteLedger`. */
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

/** Finds each name by one index lookup: a plain DISTINCT would read every item. */
const PARTITIONS = `WITH RECURSIVE names(name) AS (
    SELECT min(partition) FROM items
    UNION ALL SELECT (SELECT min(partition) FROM items WHERE partition > name) FROM names WHERE name IS NOT NULL
  ) SELECT name FROM names WHERE name IS NOT NULL`;

/** The partitions of a copy, in order. Throws the errors of {@link openImmutable}. */
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
