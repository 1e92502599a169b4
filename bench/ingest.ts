/** Taking batches in against bare SQLite inserts of the same rows, equally durable. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { cpuMs, elapsedMs, interleave, median, ratios } from './rounds.ts';
import { fillLedger, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { number, printHeading, printTable, withSpread } from './table.ts';

/** The largest batch that the contract admits. */
const BATCH_ROWS = 1_000;

type MakeBatch = (round: number, batch: number) => readonly IngestRecordInput[];

/** See the head of this file. */
export async function benchIngest({ quick, rounds, workspace }: BenchOptions): Promise<void> {
  const rows = quick ? 100 : BATCH_ROWS;
  const batches = quick ? 1 : 10;
  const sample = await readSample();
  const folder = workspace.folder('ingest');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const bare = new BareTable(join(folder, 'bare.sqlite'));
  await fillLedger(ledger, rows);
  printHeading(
    'ingest',
    `Batches of ${number(rows)} rows through applyBatch into the SQLite ledger, against bare inserts of the same rows as`,
    'JSON, one transaction a batch; both sync each commit. Tidemark checks rows, reads markets, keeps revisions and marks.',
    'CPU is that of this process; the rows per second are those that one processor would take if it never waited.',
  );
  const table: string[][] = [];
  for (const [name, makeBatch] of batchKinds(sample, rows, batches, rounds)) {
    const cpu: number[] = [];
    const batchesOf = (round: number) => Array.from({ length: batches }, (_, batch) => makeBatch(round, batch));
    const { tidemark, floor } = await interleave(rounds, {
      tidemark: async (round) => {
        const work = batchesOf(round);
        let wallMs = 0;
        cpu.push(
          await cpuMs(async () => {
            wallMs = await elapsedMs(async () => {
              for (const batch of work) await ingest(ledger, batch);
            });
          }),
        );
        return wallMs;
      },
      floor: (round) => {
        const work = batchesOf(round);
        return elapsedMs(() => {
          for (const batch of work) bare.insert(batch);
        });
      },
    });
    const perSecond = (ms: number) => (batches * rows * 1000) / ms;
    table.push([
      name,
      withSpread(tidemark.map(perSecond), 0),
      withSpread(floor.map(perSecond), 0),
      withSpread(ratios(tidemark, floor), 1),
      withSpread(cpu.map(perSecond), 0),
      number((median(cpu) * 1000) / (batches * rows), 0),
    ]);
  }
  printTable(['batch', 'Tidemark, rows/s', 'floor, rows/s', 'times the floor', 'CPU, rows/s', 'CPU, µs/row'], table);
  ledger.close();
  bare.close();
}

/** What batches are like in practice; each call gives rows that were never given before. */
function batchKinds(
  sample: readonly SampleMarket[],
  rows: number,
  batches: number,
  rounds: number,
): readonly [string, MakeBatch][] {
  const place = (round: number, batch: number) => round * batches + batch;
  const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);
  return [
    [
      'new markets, a definition and 3 observations each',
      (round, batch) => {
        const markets = Math.ceil(rows / 4);
        return indexes(markets)
          .map((index) => syntheticMarket(sample, (place(round, batch) + 1) * rows + index))
          .flatMap(({ market, observations }) => [market, ...observations.slice(-3)])
          .slice(0, rows);
      },
    ],
    [
      'one newer observation for each of many markets',
      (round, batch) =>
        indexes(rows).map((index) => laterObservation(syntheticMarket(sample, index), place(round, batch) + 1)),
    ],
    [
      'many newer observations for one market',
      (round, batch) => {
        const market = syntheticMarket(sample, place(round, batch));
        return indexes(rows).map((index) => laterObservation(market, rounds * batches + 1 + index));
      },
    ],
  ];
}

/** The least that keeps the rows: a key and a text, in one table, as durably as the ledger. */
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
