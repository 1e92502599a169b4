/**
 * Publishing one changed market among few and among many. All but list pages must cost the same: that is counted,
 * operation by operation. List pages are rendered up to the one that shows the market, so the first and the last market
 * of the list are the two ends of what that can cost.
 */
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import {
  countLedger,
  OperationCounter,
  type OperationCounts,
  type Operations,
  openCountingObjects,
} from './counting-storage.ts';
import { DEPLOYMENT } from './deployment.ts';
import { cpuMs, interleave } from './rounds.ts';
import { copyOfFilledLedger, dependenciesOn, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, syntheticMarket } from './synthetic-markets.ts';
import { bytes, number, printHeading, printTable, withSpread } from './table.ts';

interface World {
  /** Appends one observation to the market of this index and publishes it; gives the processor time of the latter. */
  publishOne(index: number): Promise<number>;
  /** What the newest publication asked of storage. */
  readonly operations: Operations;
  close(): void;
}

const MANY_TIMES = 100;
const UNMEASURED_ROUNDS = 2;

/** See the head of this file. */
export async function benchPublishOne(options: BenchOptions): Promise<void> {
  const many = options.markets;
  const few = Math.max(150, Math.round(many / MANY_TIMES));
  const [small, large] = [await createWorld(options, few), await createWorld(options, many)];
  const cases = [
    { market: `first of ${number(few)}`, world: small, index: 0 },
    { market: `first of ${number(many)}`, world: large, index: 0 },
    { market: `last of ${number(few)}`, world: small, index: few - 1 },
    { market: `last of ${number(many)}`, world: large, index: many - 1 },
  ];
  printHeading(
    'publish-one',
    'One observation appended and published: ledger in SQLite, objects in memory, operations counted.',
    'Promise: the same with few and with many markets, except for list pages.',
  );
  const operations: Operations[] = [];
  const measure = (rounds: number) =>
    interleave(
      rounds,
      Object.fromEntries(
        cases.map(({ market, world, index }, place) => [
          market,
          async () => {
            const spentMs = await world.publishOne(index);
            operations[place] = world.operations;
            return spentMs;
          },
        ]),
      ),
    );
  await measure(UNMEASURED_ROUNDS);
  const spent = await measure(options.rounds);
  for (const part of ['other', 'list'] as const) {
    printTable(
      [part === 'other' ? 'all but list pages' : 'list pages', ...COUNTS.map(([, title]) => title)],
      cases.map(({ market }, place) => [
        market,
        ...COUNTS.map(([name]) => {
          const value = operations[place]?.[part][name] ?? 0;
          return name.startsWith('bytes') ? bytes(value) : number(value);
        }),
      ]),
    );
  }
  printTable(
    ['processor time of everything', 'ms'],
    cases.map(({ market }) => [market, withSpread(spent[market] ?? [], 1)]),
  );
  const isSame =
    sameCounts(operations[0]?.other, operations[1]?.other) && sameCounts(operations[2]?.other, operations[3]?.other);
  console.log(`  All but list pages: ${isSame ? 'the same operations' : 'NOT the same operations'} with few and many.`);
  small.close();
  large.close();
}

const COUNTS: readonly [keyof OperationCounts, string][] = [
  ['ledgerReads', 'ledger reads'],
  ['itemsRead', 'items'],
  ['transactions', 'transactions'],
  ['itemsChanged', 'changes'],
  ['objectReads', 'gets'],
  ['objectStats', 'stats'],
  ['objectPuts', 'puts'],
  ['bytesRead', 'read'],
  ['bytesPut', 'put'],
];

/** Bytes apart: the digits of slugs, revisions and generations differ. */
function sameCounts(left: OperationCounts | undefined, right: OperationCounts | undefined): boolean {
  return COUNTS.every(([name]) => name.startsWith('bytes') || left?.[name] === right?.[name]);
}

async function createWorld({ workspace }: BenchOptions, markets: number): Promise<World> {
  const sample = await readSample();
  const file = openSqliteLedger(await copyOfFilledLedger(workspace, markets), { exclusive: true });
  const counter = new OperationCounter();
  const objects = openCountingObjects(counter);
  const ledger = countLedger(file, counter);
  const dependencies: PublisherDependencies = {
    ...dependenciesOn(ledger),
    objects,
    ...DEPLOYMENT,
  };
  await publish(dependencies);
  objects.dropBundles();
  let operations = counter.take();
  let days = 0;
  return {
    async publishOne(index) {
      await ingest(file, [laterObservation(syntheticMarket(sample, index), ++days)]);
      counter.take();
      const spentMs = await cpuMs(() => publish(dependencies));
      operations = counter.take();
      objects.dropBundles();
      return spentMs;
    },
    get operations() {
      return operations;
    },
    close: () => file.close(),
  };
}
