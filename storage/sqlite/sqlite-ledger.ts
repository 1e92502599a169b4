/** The ledger in one SQLite file: DynamoDB's model of partitions and sort keys in one table (docs/decisions/003). */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { makeFolderSync } from '../directory/durable-files.ts';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import type {
  Change,
  Condition,
  Item,
  ItemKey,
  ItemsOf,
  Ledger,
  LedgerReader,
  QueryOptions,
  QueryPage,
  Refusal,
  TransactResult,
} from '../ports/ledger.ts';
import {
  checkAppendOnly,
  checkGetMany,
  checkKey,
  checkQuery,
  checkRemoval,
  checkTransact,
  countHolds,
  countOf,
  describeKey,
} from '../ports/ledger-rules.ts';
import { packValue, unpackValue } from '../ports/packed-value.ts';
import { COLUMNS, querySql } from './query-sql.ts';
import { type CopyProgress, copyDatabase, findDamage, openImmutable } from './sqlite-copy.ts';
import { PART, prepareFile, REMEDY, rewriteHeader, translateError, WHOLE } from './sqlite-file.ts';

/** How long a process waits for another process's transaction. */
const SHARED_WAIT_MS = 5_000;
/** An owner keeps its lock until it ends. So waiting only helps while an owner is shutting down. */
const EXCLUSIVE_WAIT_MS = 500;

/** A page of a query ends early at this size, as DynamoDB's pages do, so that memory is bounded. */
const MAX_PAGE_CHARACTERS = 1024 * 1024;

export interface SqliteLedgerOptions {
  /**
   * Locks out every other process until this process ends, even by `kill -9`: the lock belongs to the operating system. The
   * lock ends when any descriptor of the file is closed, so never open the file by other means. Without this option,
   * several processes may share the file, and writers wait for one another.
   */
  readonly exclusive?: boolean;
  /** For a new file that is discarded unless it is filled: everything is one transaction, which `close` commits. */
  readonly isBulk?: boolean;
}

export interface SqliteLedger extends Ledger {
  /**
   * Removes items that expired before this moment (milliseconds since the epoch), oldest expiry first, at most `limit` of
   * them. Returns the number of removed items. SQLite does not remove them by itself.
   *
   * @throws RangeError for an invalid moment or limit; StorageUnavailable and StorageCorrupt like the other methods
   */
  removeExpired(beforeMs: number, limit: number): number;
  /** Moves the write-ahead log into the file and empties it. After that, the disk has no copy of deleted items. */
  emptyLog(): void;
  /** For a dry run: from now on, only this ledger sees its changes, and `close` discards them. A failure closes it. */
  discardChanges(): void;
  /**
   * Commits a change of the file that no reader sees, for health checks.
   *
   * @throws StorageUnavailable if the file cannot be written, or is no longer at its path: commits would be lost
   */
  checkWritable(): void;
  /** Copies the ledger, at one moment, into an empty file: see `copyDatabase`. Throws the same errors as the other methods. */
  copyTo(path: string, progress: CopyProgress): Promise<void>;
  /** SQLite's report of damage; empty if the file is right. Blocks this process while it reads the whole file. */
  findDamage(): readonly string[];
  /** Closes the file. A second call does nothing; every other method then fails. */
  close(): void;
}

/** An item without its key, because the reader knows the key. Listings know the partition. */
type Row = {
  revision: number;
  attempt_id: string;
  expires_at_ms: number | null;
  value: string;
};

/**
 * Opens the ledger at `path`. A missing file and a missing folder are created. `:memory:` gives a ledger in memory.
 *
 * @throws StorageUnavailable if the file cannot be opened, or another process has locked it
 * @throws StorageCorrupt if it is damaged, or not a ledger that this version can read
 */
export function openSqliteLedger(path: string, options: SqliteLedgerOptions = {}): SqliteLedger {
  let database: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') makeFolderSync(dirname(path));
    database = new DatabaseSync(path, { timeout: options.exclusive ? EXCLUSIVE_WAIT_MS : SHARED_WAIT_MS });
    prepareFile(database, path, options.exclusive ?? false);
    if (options.isBulk) database.exec('BEGIN IMMEDIATE');
    return new OpenSqliteLedger(database, path, options.isBulk ? PART : WHOLE);
  } catch (error) {
    database?.close();
    throw translateError(error, path);
  }
}

/** A copy of a ledger, which nothing writes. The file is only read, and no file is created beside it. */
export type LedgerCopy = LedgerReader & Pick<SqliteLedger, 'findDamage' | 'close'>;

/** Throws the errors of {@link openSqliteLedger}. Only the reading methods work. */
export function openLedgerCopy(path: string): LedgerCopy {
  return new OpenSqliteLedger(openImmutable(path), path);
}

const SELECT = `SELECT ${COLUMNS} FROM items WHERE partition = ? AND sort = ?`;
const INSERT = 'INSERT INTO items VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING';
const SET = 'SET revision = ?3, attempt_id = ?4, expires_at_ms = ?5, value = ?6';
const UPSERT = `INSERT INTO items VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE ${SET}`;
const UPDATE_REVISION = `UPDATE items ${SET} WHERE partition = ?1 AND sort = ?2 AND revision = ?7`;

const REMOVE_EXPIRED = `DELETE FROM items WHERE rowid IN
  (SELECT rowid FROM items WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?)`;

class OpenSqliteLedger implements SqliteLedger {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();
  readonly #inode: number | null;
  #frame: typeof WHOLE;
  #isDiscarded = false;

  constructor(database: DatabaseSync, path: string, frame = WHOLE) {
    this.#database = database;
    this.#path = path;
    this.#inode = inodeOf(path);
    this.#frame = frame;
  }

  async transact(changes: readonly Change[], options: { readonly attemptId: string }): Promise<TransactResult> {
    const { attemptId } = options;
    checkAppendOnly(changes);
    const texts = checkTransact(changes, attemptId);
    const values = changes.map((change, index) => storedText(change, texts[index] ?? null));
    const { begin, read, commit, undo } = this.#frame;
    return this.#guard(() => {
      this.#checkIsInPlace();
      for (;;) {
        this.#run(begin);
        if (changes.every((change, index) => this.#apply(change, values[index] ?? null, attemptId))) {
          this.#run(commit);
          return { committed: true };
        }
        for (const sql of undo) this.#run(sql);
        // One snapshot for all of the reads. Few transactions are refused, so a second read is cheap enough.
        this.#run(read);
        const refusals = this.#findRefusals(changes);
        for (const sql of undo) this.#run(sql);
        // The keys of one transaction are distinct, so only an earlier attempt of this transaction can have written its id
        // there.
        if (refusals.some((refusal) => refusal.found?.attemptId === attemptId)) return { committed: true };
        if (refusals.length > 0) return { committed: false, refusals };
        // Another process has changed the refusing item in the meantime: try again.
      }
    });
  }

  async get<Value>(key: ItemKey<Value>): Promise<Item<Value> | null> {
    checkKey(key);
    return this.#guard(() => this.#read(key));
  }

  async getMany<const Keys extends readonly ItemKey[]>(keys: Keys): Promise<ItemsOf<Keys>> {
    checkGetMany(keys);
    return this.#guard(() => keys.map((key) => this.#read(key)) as ItemsOf<Keys>);
  }

  async query(partition: string, options: QueryOptions): Promise<QueryPage> {
    checkQuery(partition, options);
    return this.#guard(() => {
      const { text, parameters } = querySql(partition, options);
      const items: Item[] = [];
      let characters = 0;
      for (const row of this.#statement(text).iterate(...parameters) as Iterable<Row & { sort: string }>) {
        if (items.length === options.limit || characters > MAX_PAGE_CHARACTERS) {
          return { items, next: items.at(-1)?.sort ?? null };
        }
        items.push(this.#toItem({ partition, sort: row.sort }, row));
        characters += row.value.length;
      }
      return { items, next: null };
    });
  }

  removeExpired(beforeMs: number, limit: number): number {
    checkRemoval(beforeMs, limit);
    return this.#guard(() => Number(this.#statement(REMOVE_EXPIRED).run(beforeMs, limit).changes));
  }

  emptyLog(): void {
    if (this.#isDiscarded) return;
    this.#guard(() => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  discardChanges(): void {
    this.#guard(() => this.#run(WHOLE.begin));
    this.#frame = PART;
    this.#isDiscarded = true;
  }

  checkWritable(): void {
    this.#guard(() => {
      this.#checkIsInPlace();
      rewriteHeader(this.#database);
    });
  }

  /** A commit into a file that was removed is acknowledged, and lost with this process. */
  #checkIsInPlace(): void {
    if (inodeOf(this.#path) === this.#inode) return;
    throw new StorageUnavailable(`${this.#path} was removed or replaced: stop this process, and put the file back`);
  }

  async copyTo(path: string, progress: CopyProgress): Promise<void> {
    try {
      await copyDatabase(this.#database, path, progress);
    } catch (error) {
      throw translateError(error, path);
    }
  }

  findDamage(): readonly string[] {
    return this.#guard(() => findDamage(this.#database));
  }

  close(): void {
    if (!this.#database.isOpen) return;
    try {
      if (this.#database.isTransaction) this.#guard(() => this.#run(this.#isDiscarded ? 'ROLLBACK' : 'COMMIT'));
    } finally {
      this.#database.close();
    }
  }

  #findRefusals(changes: readonly Change[]): Refusal[] {
    const refusals: Refusal[] = [];
    changes.forEach((change, index) => {
      if (change.kind === 'count') {
        const found = this.#read(change.key);
        if (!countHolds(change, found)) refusals.push({ index, found });
        return;
      }
      if (change.if.kind === 'any') return;
      const row = this.#readRow(change.key);
      if (!holds(change.if, row)) refusals.push({ index, found: row && this.#toItem(change.key, row) });
    });
    return refusals;
  }

  /**
   * Makes the change if its condition holds, and returns whether it did. Common conditions are part of the statement, so
   * the stored item need not be read first.
   */
  #apply(change: Change, text: string | null, attemptId: string): boolean {
    const { partition, sort } = change.key;
    if (change.kind === 'put') {
      const row = [partition, sort, change.revision, attemptId, change.expiresAtMs ?? null, text];
      const condition = change.if;
      if (condition.kind === 'any') return this.#changes(UPSERT, row);
      if (condition.kind === 'absent') return this.#changes(INSERT, row);
      if (condition.kind === 'revision-is') return this.#changes(UPDATE_REVISION, [...row, condition.revision]);
      if (!holds(condition, this.#readRow(change.key))) return false;
      return this.#changes(UPSERT, row);
    }
    if (change.kind === 'count') {
      const found = this.#read(change.key);
      if (!countHolds(change, found)) return false;
      const count = String(countOf(found) + change.by);
      return this.#changes(UPSERT, [partition, sort, 0, attemptId, change.expiresAtMs ?? null, count]);
    }
    if (change.if.kind !== 'any' && !holds(change.if, this.#readRow(change.key))) return false;
    if (change.kind === 'delete')
      this.#changes('DELETE FROM items WHERE partition = ? AND sort = ?', [partition, sort]);
    return true;
  }

  /** Whether the statement has changed a row. */
  #changes(sql: string, parameters: readonly SQLInputValue[]): boolean {
    return this.#statement(sql).run(...parameters).changes !== 0;
  }

  #run(sql: string): void {
    this.#statement(sql).run();
  }

  #read<Value>(key: ItemKey<Value>): Item<Value> | null {
    const row = this.#readRow(key);
    return row && (this.#toItem(key, row) as Item<Value>);
  }

  #readRow(key: ItemKey<unknown>): Row | null {
    return (this.#statement(SELECT).get(key.partition, key.sort) as Row | undefined) ?? null;
  }

  #toItem(key: ItemKey<unknown>, { revision, attempt_id, expires_at_ms, value: text }: Row): Item {
    try {
      const { partition, sort } = key;
      return { partition, sort, revision, attemptId: attempt_id, expiresAtMs: expires_at_ms, value: unpackValue(text) };
    } catch (cause) {
      throw new StorageCorrupt(`${this.#path}: the item ${describeKey(key)} is not JSON: ${REMEDY}`, { cause });
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      this.#rollBack();
      throw translateError(error, this.#path);
    }
  }

  /**
   * Ends the transaction in every case. After some failures SQLite has rolled back by itself; after others ROLLBACK may
   * fail.
   */
  #rollBack(): void {
    try {
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // Report the earlier failure. Without a COMMIT nothing becomes visible.
    }
    // Without its transaction, later changes would be stored.
    if (this.#isDiscarded) this.#database.close();
  }
}

function storedText(change: Change, text: string | null): string | null {
  return change.kind === 'put' && text !== null ? packValue(change.value, text) : text;
}

/**
 * The inode of the file at this path; null if there is no file. It reads only the name, because opening the file would end
 * the lock.
 */
function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

function holds(condition: Condition, row: Row | null): boolean {
  switch (condition.kind) {
    case 'any':
      return true;
    case 'absent':
      return row === null;
    case 'present':
      return row !== null;
    case 'revision-is':
      return row?.revision === condition.revision;
    case 'written-by':
      return row?.attempt_id === condition.attemptId;
    case 'absent-or-expired':
      return row === null || (row.expires_at_ms !== null && row.expires_at_ms < condition.atMs);
  }
}
