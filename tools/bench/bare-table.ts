/** The floor of writes: a key and a text, in one table, as durably as the ledger. */
import { DatabaseSync } from 'node:sqlite';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';

export class BareTable {
  readonly #database: DatabaseSync;
  readonly #insert: ReturnType<DatabaseSync['prepare']>;
  #rows = 0;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    this.#database.exec('CREATE TABLE rows (market TEXT, number INTEGER, value TEXT, PRIMARY KEY (market, number))');
    this.#insert = this.#database.prepare('INSERT INTO rows VALUES (?, ?, ?)');
  }

  /** In one transaction. */
  insert(records: readonly IngestRecordInput[]): void {
    this.#database.exec('BEGIN IMMEDIATE');
    for (const record of records) {
      const market = record.type === 'market' ? record.slug : record.market;
      this.#insert.run(market, ++this.#rows, JSON.stringify(record));
    }
    this.#database.exec('COMMIT');
  }

  close(): void {
    this.#database.close();
  }
}
