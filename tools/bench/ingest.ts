/** Compares ingesting batches with bare SQLite inserts of the same rows, equally durable. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { cpuMs, elapsedMs, interleave, ratios } from './rounds.ts';
import { fillLedger, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { markdownTable, number, withSpread } from './table.ts';
import type { BenchOptions } from './workspace.ts';

/** The largest batch that the contract allows. */
const BATCH_ROWS = 1_000;

type Batch = readonly IngestRecordInput[];
/** `place` is a different number for each batch, from 0 on. */
type MakeBatch = (place: number) => Batch;

export async function benchIngest({ quick, rounds, workspace }: BenchOptions): Promise<string> {
  const rows = quick ? 100 : BATCH_ROWS;
  const batches = quick ? 1 : 10;
  const sample = await readSample();
  const folder = workspace.folder('ingest');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const bare = new BareTable(join(folder, 'bare.sqlite'));
  await fillLedger(ledger, rows);
  const table: string[][] = [];
  for (const [name, makeBatch] of kinds(sample, rows, batches * rounds)) {
    const wallMs: number[] = [];
    /** The processor time of ingesting the batches of a round. The batches are made before. */
    const taking = (take: (batch: Batch) => unknown) => async (round: number) => {
      const made = Array.from({ length: batches }, (_, batch) => makeBatch(round * batches + batch));
      return await cpuMs(async () => {
        wallMs.push(
          await elapsedMs(async () => {
            for (const batch of made) await take(batch);
          }),
        );
      });
    };
    const spent = await interleave(rounds, {
      tidemark: taking((batch) => ingest(ledger, batch)),
      floor: taking((batch) => bare.insert(batch)),
    });
    const perSecond = (samples: readonly number[]) =>
      withSpread(
        samples.map((ms) => (batches * rows * 1000) / ms),
        0,
      );
    const own = wallMs.filter((_, index) => index % 2 === 0);
    table.push([
      name,
      perSecond(own),
      perSecond(spent.tidemark),
      perSecond(spent.floor),
      withSpread(ratios(spent.tidemark, spent.floor), 1),
    ]);
  }
  ledger.close();
  bare.close();
  const header = ['batch', 'rows/s', 'rows/CPU s', "floor's rows/CPU s", "times the floor's CPU"];
  return `Batches of ${number(rows)} rows, stored and applied in the SQLite ledger, against bare inserts of the same rows as JSON, one transaction a batch.
Both sync each commit. Tidemark checks rows, reads markets, keeps revisions and marks.

${markdownTable(header, table)}`;
}

/** Typical batches; each call gives new rows. */
function kinds(sample: readonly SampleMarket[], rows: number, places: number): readonly [string, MakeBatch][] {
  const indexes = Array.from({ length: rows }, (_, index) => index);
  return [
    [
      'new markets, a definition and 3 observations each',
      (place) =>
        indexes
          .slice(0, Math.ceil(rows / 4))
          .map((index) => syntheticMarket(sample, (place + 1) * rows + index))
          .flatMap(({ market, observations }) => [market, ...observations.slice(-3)])
          .slice(0, rows),
    ],
    [
      'one newer observation for each of many markets',
      (place) => indexes.map((index) => laterObservation(syntheticMarket(sample, index), place + 1)),
    ],
    [
      'many newer observations for one market',
      (place) => {
        const market = syntheticMarket(sample, place);
        return indexes.map((index) => laterObservation(market, places + 1 + index));
      },
    ],
  ];
}

/** The lower bound: a key and a text in one table, as durable as the ledger. */
class BareTable {
  readonly #database: DatabaseSync;
  readonly #insert: ReturnType<DatabaseSync['prepare']>;
  #rows = 0;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    this.#database.exec('CREATE TABLE rows (market TEXT, number INTEGER, value TEXT, PRIMARY KEY (market, number))');
    this.#insert = this.#database.prepare('INSERT INTO rows VALUES (?, ?, ?)');
  }

  /** Inserts the records in one transaction. */
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
