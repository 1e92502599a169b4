/**
 * The index of a directory store: the digest and the metadata of each object, beside the files with the bytes. It is a
 * SQLite file, which other threads may read. If it is lost, it is made again from the files (open-index.ts).
 *
 * While an object is being replaced, its entry names both versions, and the digest of the file shows which one is in place.
 */
import { closeSync, fdatasync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { sharedRuns } from '../concurrency/key-queue.ts';
import { etagOfDigest } from '../ports/object-rules.ts';
import type { ObjectHead, ObjectMetadata } from '../ports/object-store.ts';

/** One version of an object. */
export interface IndexedObject {
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string;
  readonly sizeBytes: number;
  readonly metadata: ObjectMetadata;
}

export interface IndexEntry {
  /** Null: there was no object before `next`. */
  readonly current: IndexedObject | null;
  /** The version that is being put in place. */
  readonly next: IndexedObject | null;
}

/** The `user_version` of an index that has an entry for each object. */
const WHOLE = 2;
const BUSY_MS = 5_000;

export class ObjectIndex {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #get: StatementSync;
  readonly #keys: StatementSync;
  #put: StatementSync | null = null;
  #delete: StatementSync | null = null;
  /** The descriptor of SQLite's write-ahead log. */
  #log: number | null = null;
  readonly #shared = sharedRuns();
  #syncFault: unknown = null;

  /** @throws an error of SQLite if the file cannot be used, or, with `isReadOnly`, does not exist */
  constructor(path: string, { isReadOnly = false } = {}) {
    this.#path = path;
    this.#database = new DatabaseSync(path, { readOnly: isReadOnly, timeout: BUSY_MS });
    try {
      if (!isReadOnly) {
        // NORMAL: `sync` makes entries durable, in another thread and for many puts at once.
        this.#database.exec(
          'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;' +
            'CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, current TEXT, next TEXT) WITHOUT ROWID;' +
            'CREATE INDEX IF NOT EXISTS unsettled ON objects (key) WHERE next IS NOT NULL;',
        );
        this.#put = this.#database.prepare('REPLACE INTO objects VALUES (?, ?, ?)');
        this.#delete = this.#database.prepare('DELETE FROM objects WHERE key = ?');
      }
      this.#get = this.#database.prepare('SELECT current, next FROM objects WHERE key = ?');
      this.#keys = this.#database.prepare('SELECT key FROM objects WHERE key > ? AND key >= ? ORDER BY key LIMIT ?');
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** False: the index is new, and may lack entries for existing files. */
  isWhole(): boolean {
    return (this.#database.prepare('PRAGMA user_version').get()?.user_version as number) >= WHOLE;
  }

  markWhole(): void {
    this.#database.exec(`PRAGMA user_version = ${WHOLE}`);
  }

  /** Runs the work as one transaction, for an index that is being made again. */
  async atOnce(work: () => Promise<void>): Promise<void> {
    this.#database.exec('BEGIN');
    try {
      await work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  count(): number {
    return this.#database.prepare('SELECT count(*) AS count FROM objects').get()?.count as number;
  }

  get(key: string): IndexEntry | null {
    const row = this.#get.get(key) as { current: string | null; next: string | null } | undefined;
    return row === undefined ? null : { current: decoded(row.current), next: decoded(row.next) };
  }

  put(key: string, { current, next }: IndexEntry): void {
    this.#put?.run(key, encoded(current), encoded(next));
  }

  delete(key: string): void {
    this.#delete?.run(key);
  }

  /** Keys after `after` that begin with `prefix`, in order. */
  keys(prefix: string, after: string, limit: number): readonly string[] {
    const keys = this.#keys.all(after, prefix, limit).map(({ key }) => key as string);
    const end = keys.findIndex((key) => !key.startsWith(prefix));
    return end < 0 ? keys : keys.slice(0, end);
  }

  /** Whether there is a public object that was put and not deleted. */
  hasPublic(): boolean {
    const key = this.keys(`${PUBLIC_PREFIX}/`, '', 1)[0];
    return key !== undefined && this.get(key)?.current != null;
  }

  /** Removes all entries of public objects, because their files are gone. */
  forgetPublic(): void {
    this.#database.prepare('DELETE FROM objects WHERE key LIKE ?').run(`${PUBLIC_PREFIX}/%`);
  }

  /** Objects whose replacement has begun but not ended. */
  unsettled(): readonly string[] {
    const rows = this.#database.prepare('SELECT key FROM objects WHERE next IS NOT NULL ORDER BY key').all();
    return rows.map(({ key }) => key as string);
  }

  /**
   * Makes every entry durable that was put before this call. After a fault of the disk, all calls reject until the next start:
   * Linux reports the loss of a page once only, and recovery of the log would end at that page.
   */
  sync(): Promise<void> {
    return this.#shared(this.#path, async () => {
      if (this.#syncFault !== null) throw this.#syncFault;
      try {
        this.#log ??= openSync(`${this.#path}-wal`, 'r+');
        await promisify(fdatasync)(this.#log);
      } catch (error) {
        this.#syncFault = error;
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#log !== null) {
      await this.sync().catch(() => undefined);
      closeSync(this.#log);
    }
    this.#database.close();
  }
}

export function headOf({ digest, sizeBytes, metadata }: IndexedObject): ObjectHead {
  return { etag: etagOfDigest(digest), sizeBytes, metadata };
}

function encoded(object: IndexedObject | null): string | null {
  if (object === null) return null;
  const { contentType, cacheControl, cacheTag, generation, nextCursor } = object.metadata;
  return JSON.stringify([object.digest, object.sizeBytes, generation, contentType, cacheControl, cacheTag, nextCursor]);
}

function decoded(text: string | null): IndexedObject | null {
  if (text === null) return null;
  const [digest, sizeBytes, generation, contentType, cacheControl, cacheTag, nextCursor] = JSON.parse(text);
  return {
    digest,
    sizeBytes,
    metadata: {
      contentType: shared(contentType),
      cacheControl: shared(cacheControl),
      cacheTag,
      generation,
      nextCursor,
    },
  };
}

/** One shared copy of a text that thousands of objects have, because a cache keeps their metadata. */
function shared(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined) return known;
  if (sharedTexts.size < MAX_SHARED_TEXTS) sharedTexts.set(text, text);
  return text;
}

const sharedTexts = new Map<string, string>();
const MAX_SHARED_TEXTS = 100;
