/**
 * Appending one observation to a short history and to a long one: taking it in, and publishing it. Both must cost the
 * same, operation by operation. The cost of correcting the first observation is printed beside it: it grows with the
 * history.
 */
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { countLedger, countObjects } from './counting-storage.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { differences, OperationCounter, type OperationCounts, sumOf } from './operations.ts';
import { printOperations } from './operations-table.ts';
import { publishMarked } from './publish-due.ts';
import { dependenciesOn, ingest } from './synthetic-ledger.ts';
import { readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { number } from './table.ts';

/** Both leave the same number of observations on the newest page. */
const SHORT = 300;
const LONG = 100_012;
const LONG_QUICK = 1_004;
const BATCH_ROWS = 1_000;
const FIRST_MS = Date.UTC(2015, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

interface Costs {
  readonly takingIn: OperationCounts;
  readonly publishing: OperationCounts;
  readonly correcting: OperationCounts;
}

export async function benchLongHistory({ quick, section }: BenchOptions): Promise<void> {
  const lengths = [SHORT, quick ? LONG_QUICK : LONG] as const;
  section.say(
    'One observation appended to a history: ledger in SQLite, objects in memory, operations counted.',
    `Promise: the same for ${lengths.map((length) => number(length)).join(' and for ')} observations.`,
  );
  const [market] = await readSample();
  const [short, long] = [
    await costsOf(market as SampleMarket, lengths[0]),
    await costsOf(market as SampleMarket, lengths[1]),
  ];
  const rows = (part: keyof Costs) =>
    [short, long].map((costs, place) => [`after ${number(lengths[place] ?? 0)}`, costs[part]] as const);
  printOperations(section, 'taking it in', rows('takingIn'));
  printOperations(section, 'publishing it', rows('publishing'));
  printOperations(section, 'publishing a correction of the first', rows('correcting'));
  const other = [...differences(short.takingIn, long.takingIn), ...differences(short.publishing, long.publishing)];
  section.say(
    `Appending: ${other.length === 0 ? 'the same operations' : `NOT the same operations (${other.join('; ')})`}.`,
  );
}

async function costsOf(sample: SampleMarket, length: number): Promise<Costs> {
  const { market, observations } = syntheticMarket([sample], 0);
  const observationAt = (hour: number): IngestRecordInput => ({
    ...(observations[0] as (typeof observations)[number]),
    observedAt: new Date(FIRST_MS + hour * HOUR_MS).toISOString(),
  });
  const file = openSqliteLedger(':memory:');
  const counter = new OperationCounter();
  const ledger = countLedger(file, counter);
  const dependencies: PublisherDependencies = {
    ...dependenciesOn(ledger),
    objects: countObjects(openMemoryObjects(), counter),
    ...DEPLOYMENT,
  };
  const counted = async (work: () => Promise<unknown>): Promise<OperationCounts> => {
    counter.take();
    await work();
    const { list, other } = counter.take();
    return sumOf(list, other);
  };
  await ingest(file, [market]);
  for (let start = 0; start < length; start += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, length - start) }, (_, index) =>
      observationAt(start + index),
    );
    await ingest(file, rows);
  }
  await publishMarked(dependencies);
  const takingIn = await counted(() => ingest(ledger, [observationAt(length)]));
  const publishing = await counted(() => publishMarked(dependencies));
  await ingest(file, [{ ...observationAt(0), sourceLabel: 'a correction' } as IngestRecordInput], 'correct');
  const correcting = await counted(() => publishMarked(dependencies));
  file.close();
  return { takingIn, publishing, correcting };
}
