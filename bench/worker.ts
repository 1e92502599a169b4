/** Several workers on one queue, on a ledger that is as far away as DynamoDB. */
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import type { BenchOptions } from './benchmark.ts';
import { READ_MS, TRANSACT_MS } from './modelled-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { number } from './table.ts';
import { type WorkLoad, workOff } from './work-load.ts';

const WORKERS = [1, 5, 12];
const SUBJECTS = 12;
const BATCH_ROWS = 1_000;
/** As many as in a usual file of prices by date. */
const MARKETS = 41;

export async function benchWorker({ quick, section }: BenchOptions): Promise<void> {
  section.say(
    `Workers that begin at once, on a modelled ledger: ${TRANSACT_MS} ms a transaction, ${READ_MS} ms a read. Transactions that meet on`,
    'an item conflict, and are tried again as the DynamoDB adapter does. Processor time is not part of the model: a row takes 25 to 50 µs of it.',
    `Batches, and parts of uploads, are of ${number(BATCH_ROWS)} rows by date, over ${MARKETS} markets.`,
    'Workers that begin together meet once, in the first second. A test counts the same',
    '([`many-workers.test.ts`](../test/ingest/many-workers.test.ts)).',
  );
  const table: string[][] = [];
  for (const load of await loads(quick ? 1 : 8)) {
    let rateOfOne = 0;
    for (const workers of WORKERS) {
      const { rows, seconds, counts } = await workOff(load, workers);
      const rate = rows / seconds;
      if (workers === 1) rateOfOne = rate;
      table.push([
        load.name,
        number(workers),
        number(rate),
        number(rate / rateOfOne, 2),
        number((1_000 * counts.transactions) / rows, 1),
        number(counts.conflicts),
      ]);
    }
  }
  const columns = ['workers', 'rows/s', 'times one worker', 'transactions tried per 1,000 rows', 'conflicts'];
  section.table(['queue', ...columns], table);
}

async function loads(parts: number): Promise<readonly WorkLoad[]> {
  const sample = await readSample();
  const marketsOf = (subject: number) =>
    Array.from({ length: MARKETS }, (_, index) => syntheticMarket(sample, subject * MARKETS + index));
  const subjects = Array.from({ length: SUBJECTS }, (_, index) => index);
  const batch = (subject: number, records: readonly IngestRecordInput[]) => ({ subject: `user:${subject}`, records });
  const rowsOf = (subject: number) => byDate(marketsOf(subject), parts);
  const all = subjects.flatMap(marketsOf);
  return [
    {
      name: 'batches of one subject',
      markets: marketsOf(0).map(({ market }) => market),
      batches: rowsOf(0).map((records) => batch(0, records)),
    },
    {
      name: `batches of ${SUBJECTS} subjects, each for markets of its own`,
      markets: all.map(({ market }) => market),
      batches: subjects.flatMap((subject) => rowsOf(subject).map((records) => batch(subject, records))),
    },
    {
      name: `batches of ${SUBJECTS} subjects, all for the same markets`,
      markets: marketsOf(0).map(({ market }) => market),
      batches: byDate(marketsOf(0), parts * SUBJECTS).map((records, index) => batch(index % SUBJECTS, records)),
    },
    { name: 'one upload', markets: marketsOf(0).map(({ market }) => market), uploads: [rowsOf(0).flat()] },
    {
      name: 'five uploads',
      markets: all.map(({ market }) => market),
      uploads: [0, 1, 2, 3, 4].map((subject) => rowsOf(subject).flat()),
    },
  ];
}

/** This many batches of rows: each has one hour, with one row of each market. */
function byDate(markets: readonly SampleMarket[], batches: number): readonly (readonly IngestRecordInput[])[] {
  return Array.from({ length: batches }, (_, batch) =>
    Array.from({ length: BATCH_ROWS }, (_, row) => {
      const place = batch * BATCH_ROWS + row;
      return laterObservation(
        markets[place % markets.length] as SampleMarket,
        (1 + Math.floor(place / markets.length)) / 24,
      );
    }),
  );
}
