/** The file of the SQLite ledger: its schema, its settings, and its errors. */
import type { DatabaseSync } from 'node:sqlite';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';

/** Increase it when the form of the table or of its values changes. Stored in the file's `user_version`. */
const SCHEMA_VERSION = 3;

/**
 * Rows are stored apart from the index of keys. So a changed value does not move its neighbours, and rows that were written
 * together are stored together. One observation for each of many markets then writes half as many bytes as into a table
 * WITHOUT ROWID. The cost is in reading a long history that was written one by one: each row may be on a different page.
 */
const SCHEMA = `
  CREATE TABLE items (
    partition TEXT NOT NULL,
    sort TEXT NOT NULL,
    revision INTEGER NOT NULL,
    attempt_id TEXT NOT NULL,
    expires_at_ms INTEGER,
    value TEXT NOT NULL,
    PRIMARY KEY (partition, sort)
  ) STRICT;
  CREATE INDEX items_by_expiry ON items (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Large enough for the record of a market with one metric, about 1 KB, to stay on one page. */
const PAGE_BYTES = 8192;
/** Pages of the file in memory. SQLite's default of 2 MB would hold little more than the pages of one batch. */
const CACHE_KIB = 32 * 1024;
/** At this many pages, 64 MB, the write-ahead log moves into the file. So a page that changes often moves less often. */
const CHECKPOINT_PAGES = 8_000;

/** The statements around a transaction. */
export const WHOLE = { begin: 'BEGIN IMMEDIATE', read: 'BEGIN', commit: 'COMMIT', undo: ['ROLLBACK'] };
/** The statements for a part of a transaction that is committed later. */
export const PART = {
  ...{ begin: 'SAVEPOINT part', read: 'SAVEPOINT part', commit: 'RELEASE part' },
  undo: ['ROLLBACK TO part', 'RELEASE part'],
};

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** The lower eight bits of an extended code are the primary code. */
const codeOf = (error: object) => ('errcode' in error ? Number(error.errcode) & 0xff : undefined);

/** Whether another process has the file locked. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === SQLITE_BUSY;
}

/**
 * Makes a new file a ledger, in one transaction.
 *
 * @throws StorageCorrupt if the file is not a ledger, or is of another version
 */
export function prepareFile(database: DatabaseSync, path: string, exclusive: boolean): void {
  // Before the first access: WAL then keeps its index in memory, and the first access locks the file until the process
  // ends.
  if (exclusive) database.exec('PRAGMA locking_mode = EXCLUSIVE');
  // Applies to a new file only; an existing file keeps its page size.
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal' && path !== ':memory:') {
    throw new StorageUnavailable(
      `${path} cannot use a write-ahead log (its file system gave ${mode}): use a local disk`,
    );
  }
  // FULL: each commit is synced before it is acknowledged. fullfsync: on macOS a plain fsync stops at the drive's
  // cache.
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  // Deleted content is overwritten: after an erasure, no text may remain in unused pages.
  database.exec('PRAGMA secure_delete = ON');
  // If several processes open a new file at once, the first one creates the table, and the others see it.
  database.exec('BEGIN IMMEDIATE');
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  const tables = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables;
  if (version === 0 && tables === 0) {
    database.exec(SCHEMA);
  } else checkSchema(database, path);
  database.exec('COMMIT');
}

/** @throws StorageCorrupt if the file is not a ledger, or of another schema */
export function checkSchema(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version === SCHEMA_VERSION) return;
  throw new StorageCorrupt(
    version === 0
      ? `${path} is a database, but not a Tidemark ledger: choose another data folder, or move that file away`
      : `${path} has schema ${version}, and this version of Tidemark reads ${SCHEMA_VERSION}: use the version that wrote it`,
  );
}

/** The smallest durable write. SQLite writes the page even if it is unchanged. */
export function rewriteHeader(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

/** The remedy for a damaged file. */
export const REMEDY =
  'stop every process that uses it and put back a copy of the whole data folder, or move the folder away and ingest again';

/** Turns errors of SQLite and of the system into errors of the port. */
export function translateError(error: unknown, path: string): unknown {
  // An error without a code is already an error of the port, or a bug in this file.
  if (!(error instanceof Error && 'code' in error)) return error;
  const cause = error as NodeJS.ErrnoException;
  const code = codeOf(cause);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
    return new StorageCorrupt(`${path} is damaged (${cause.message}): ${REMEDY}`, { cause });
  }
  if (code === SQLITE_BUSY) {
    return new StorageUnavailable(`${path} is in use by another process: stop it, or choose another data folder`, {
      cause,
    });
  }
  return new StorageUnavailable(
    `${path} cannot be used (${cause.message}): check its folder, permissions and free space, and that its disk is writable`,
    {
      cause,
    },
  );
}
