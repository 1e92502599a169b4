/** Taking batches in against bare SQLite inserts of the same rows, equally durable. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { interleave, median, ratios } from './rounds.ts';
import { fillLedger, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { number, withSpread } from './table.ts';

/** The largest batch that the contract admits. */
const BATCH_ROWS = 1_000;

type MakeBatch = (round: number, batch: number) => readonly IngestRecordInput[];

export async function benchIngest({ quick, rounds, workspace, section }: BenchOptions): Promise<void> {
  const rows = quick ? 100 : BATCH_ROWS;
  const batches = quick ? 1 : 10;
  const sample = await readSample();
  const folder = workspace.folder('ingest');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const bare = new BareTable(join(folder, 'bare.sqlite'));
  await fillLedger(ledger, rows);
  section.say(
    `Batches of ${number(rows)} rows, stored and applied in the SQLite ledger, against bare inserts of the same rows as`,
    'JSON, one transaction a batch; both sync each commit. Tidemark checks rows, reads markets, keeps revisions and marks.',
    'CPU-bound rows/s are rows by the processor time of this process, user and system, all threads.',
  );
  const table: string[][] = [];
  for (const [name, makeBatch] of batchKinds(sample, rows, batches, rounds)) {
    const spent: { tidemark: Spent[]; floor: Spent[] } = { tidemark: [], floor: [] };
    const batchesOf = (round: number) => Array.from({ length: batches }, (_, batch) => () => makeBatch(round, batch));
    const { tidemark, floor } = await interleave(rounds, {
      tidemark: async (round) => kept(spent.tidemark, await spend(batchesOf(round), (batch) => ingest(ledger, batch))),
      floor: async (round) => kept(spent.floor, await spend(batchesOf(round), (batch) => bare.insert(batch))),
    });
    const perSecond = (samples: readonly number[]) =>
      withSpread(
        samples.map((ms) => (batches * rows * 1000) / ms),
        0,
      );
    const perRow = (samples: readonly number[]) => number((median(samples) * 1000) / (batches * rows), 1);
    table.push([
      name,
      perSecond(tidemark),
      perRow(spent.tidemark.map(({ userMs }) => userMs)),
      perRow(spent.tidemark.map(({ systemMs }) => systemMs)),
      perSecond(floor),
      withSpread(ratios(tidemark, floor), 1),
      perSecond(spent.tidemark.map(({ wallMs }) => wallMs)),
    ]);
  }
  const columns = [
    'CPU-bound rows/s',
    'user µs/row',
    'system µs/row',
    "floor's CPU-bound rows/s",
    "times the floor's CPU",
  ];
  section.table(['batch', ...columns, 'rows/s'], table);
  ledger.close();
  bare.close();
}

interface Spent {
  userMs: number;
  systemMs: number;
  wallMs: number;
}

/** Its processor time. */
function kept(all: Spent[], spent: Spent): number {
  all.push(spent);
  return spent.userMs + spent.systemMs;
}

/** The cost of taking the batches in, without making them. */
async function spend(
  makers: readonly (() => readonly IngestRecordInput[])[],
  take: (batch: readonly IngestRecordInput[]) => unknown,
): Promise<Spent> {
  const spent: Spent = { userMs: 0, systemMs: 0, wallMs: 0 };
  for (const make of makers) {
    const batch = make();
    const before = { cpu: process.cpuUsage(), wallMs: performance.now() };
    await take(batch);
    const { user, system } = process.cpuUsage(before.cpu);
    spent.userMs += user / 1000;
    spent.systemMs += system / 1000;
    spent.wallMs += performance.now() - before.wallMs;
  }
  return spent;
}

/** Typical batches; each call gives new rows. */
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

/** The minimum that keeps the rows: a key and a text, in one table, as durably as the ledger. */
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
