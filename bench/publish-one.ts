/**
 * Publishing one changed market among few and among many. All but the list must cost the same: that is counted, operation by
 * operation. List pages are rendered up to the one that shows the market, so the first and the last market of the list are the
 * two ends of what that can cost; and they cost objects alone, nothing in the ledger.
 */
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { countLedger, countObjects } from './counting-storage.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { differences, OperationCounter, type Operations } from './operations.ts';
import { printOperations } from './operations-table.ts';
import { cpuMs, interleave } from './rounds.ts';
import { copyOfFilledLedger, dependenciesOn, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, syntheticMarket } from './synthetic-markets.ts';
import { number, withSpread } from './table.ts';

interface World {
  /** Appends one observation to the market of this index and publishes it; gives the processor time of the latter. */
  publishOne(index: number, listEverySeconds: () => number): Promise<number>;
  /** The operations of the newest publication. */
  readonly operations: Operations;
  close(): void;
}

const MANY_TIMES = 100;
const UNMEASURED_ROUNDS = 2;
const WITH_EVERY_GENERATION = () => 0;
const HELD_BACK = () => Number.POSITIVE_INFINITY;

export async function benchPublishOne(options: BenchOptions): Promise<void> {
  const { markets: many, section } = options;
  const few = Math.max(150, Math.round(many / MANY_TIMES));
  const [small, large] = [await createWorld(options, few), await createWorld(options, many)];
  const cases = [
    { market: `first of ${number(few)}`, world: small, index: 0, list: WITH_EVERY_GENERATION },
    { market: `first of ${number(many)}`, world: large, index: 0, list: WITH_EVERY_GENERATION },
    { market: `last of ${number(few)}`, world: small, index: few - 1, list: WITH_EVERY_GENERATION },
    { market: `last of ${number(many)}`, world: large, index: many - 1, list: WITH_EVERY_GENERATION },
    { market: `last but one of ${number(many)}, list not due`, world: large, index: many - 2, list: HELD_BACK },
  ];
  section.say(
    'One observation appended and published: ledger in SQLite, objects in memory, operations counted. The list is published',
    'with it, or not due: then one record remembers that the market has changed.',
    'Promise: the same with few and with many markets, except for the list, which costs objects alone; its cadence bounds how',
    'often.',
  );
  const operations: Operations[] = [];
  const measure = (rounds: number) =>
    interleave(
      rounds,
      Object.fromEntries(
        cases.map(({ market, world, index, list }, place) => [
          market,
          async () => {
            const spentMs = await world.publishOne(index, list);
            operations[place] = world.operations;
            return spentMs;
          },
        ]),
      ),
    );
  await measure(UNMEASURED_ROUNDS);
  const spent = await measure(options.rounds);
  for (const part of ['other', 'list'] as const) {
    printOperations(
      section,
      part === 'other' ? 'all but the list' : 'the list',
      cases.map(({ market }, place) => [market, (operations[place] as Operations)[part]]),
    );
  }
  section.table(
    ['processor time of everything', 'ms'],
    cases.map(({ market }) => [market, withSpread(spent[market] ?? [], 1)]),
  );
  const [firstOfFew, firstOfMany, lastOfFew, lastOfMany] = operations as [
    Operations,
    Operations,
    Operations,
    Operations,
  ];
  const other = [
    ...differences(firstOfFew.other, firstOfMany.other),
    ...differences(lastOfFew.other, lastOfMany.other),
  ];
  section.say(
    `All but the list: ${other.length === 0 ? 'the same operations' : `NOT the same operations (${other.join('; ')})`} with few and many.`,
  );
  const inLedger = firstOfMany.list.itemsChanged + lastOfMany.list.itemsChanged;
  section.say(`The list: ${inLedger === 0 ? 'no change' : `NOT none but ${inLedger} changes`} in the ledger.`);
  small.close();
  large.close();
}

async function createWorld({ workspace }: BenchOptions, markets: number): Promise<World> {
  const sample = await readSample();
  const file = openSqliteLedger(await copyOfFilledLedger(workspace, markets), { exclusive: true });
  const counter = new OperationCounter();
  const dependencies: PublisherDependencies = {
    ...dependenciesOn(countLedger(file, counter)),
    objects: countObjects(openMemoryObjects(), counter),
    ...DEPLOYMENT,
  };
  while ((await publish(dependencies)).isMoreDue);
  let operations = counter.take();
  let days = 0;
  return {
    async publishOne(index, listEverySeconds) {
      // So that the list, where it is due, has this market to show and no other.
      await publish({ ...dependencies, listEverySeconds: WITH_EVERY_GENERATION });
      await ingest(file, [laterObservation(syntheticMarket(sample, index), ++days)]);
      counter.take();
      const spentMs = await cpuMs(() => publish({ ...dependencies, listEverySeconds }));
      operations = counter.take();
      return spentMs;
    },
    get operations() {
      return operations;
    },
    close: () => file.close(),
  };
}
