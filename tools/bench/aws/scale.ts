/**
 * The limits of a deployment on AWS: the throughput of each step, and the write units of each partition of the ledger,
 * counted on a service in memory; and what it costs. Writes the tables of docs/scale.md.
 */
import { DEFAULT_PROJECTIONS, type Projection } from '../../../contract/files/projections.ts';
import { defaultListEverySeconds } from '../../../publisher/dependencies.ts';
import { FRESH_MARKS } from '../../../storage/records/publication.ts';
import { readSample, syntheticMarket } from '../synthetic-markets.ts';
import { markdownTable, number } from '../table.ts';
import { countCosts, dollarsOfCopy, dollarsOfMonth, type UnitCosts } from './costs.ts';
import { type CountedService, openCountedService } from './counted-service.ts';

/** DynamoDB's limit on one partition key, in write units a second. */
const UNITS_PER_SECOND = 1_000;
/**
 * Measured by `npm run bench -- aws`. On a quiet machine, the publisher did 335 markets a second; with the SDK's processor
 * time for five PUTs a market, one processor does 200 (docs/decisions/101-requests-in-flight.md). The worker did 397
 * batches on a busy machine.
 */
const MEASURED = { workerBatches: 390, publisherMarkets: 200 };
/** Changes within this time become one generation: PUBLISHER_COALESCE of infra/stacks/api.ts. */
const COALESCE_SECONDS = 5;
/** Seconds for a generation without markets, for a batch, and for the edge's cache. */
const SECONDS = { generation: 1, batch: 1, edge: 15 };
const MONTH_SECONDS = 30 * 24 * 60 * 60;
const BATCHES = 200;
/** The kinds of files whose number drives the cost. */
const SWITCHED_OFF: ReadonlySet<Projection> = new Set(['history-files', 'market-pages']);
/** The suffix of a range that several partitions share, and the number of these partitions. */
const SHARED = '/{shard}';
const SHARDS = FRESH_MARKS.shards.length;

interface Load {
  readonly name: string;
  readonly markets: number;
  /** Batches of one row each, all about different markets. */
  readonly writesPerSecond: number;
  readonly reads: number;
  readonly shards: number;
}

const LOADS: readonly Load[] = [
  { name: '200 markets, a write a minute', markets: 200, writesPerSecond: 1 / 60, reads: 1e6, shards: 1 },
  { name: '20,000 markets, 10 writes/s', markets: 20_000, writesPerSecond: 10, reads: 1e8, shards: 1 },
  { name: '200,000 markets, 50 writes/s', markets: 200_000, writesPerSecond: 50, reads: 1e9, shards: 1 },
  {
    name: '1,000,000 markets, 1,000 writes/s, 64 shards',
    markets: 1e6,
    writesPerSecond: 1_000,
    reads: 1e9,
    shards: 64,
  },
];

/** A step, or partitions that all writes share, with the number of one-row writes that it can do in a second. */
interface Limit {
  readonly name: string;
  readonly unitsPerWrite: number | null;
  readonly writesPerSecond: number;
}

/** The tables of loads and limits. */
export async function benchScale(): Promise<string> {
  const limits = await limitsOf();
  const costs = await countCosts(DEFAULT_PROJECTIONS);
  const fewer = await countCosts(new Set([...DEFAULT_PROJECTIONS].filter((name) => !SWITCHED_OFF.has(name))));
  const loads = LOADS.map((load) => rowOf(load, limits, costs, fewer));
  const rows = limits.map(({ name, unitsPerWrite, writesPerSecond }) => [
    name,
    unitsPerWrite === null ? '' : number(unitsPerWrite),
    number(writesPerSecond),
  ]);
  return [
    markdownTable(
      ['load', 'public after', 'first limit', 'used', '$ a month', 'with fewer files', 'a second region, besides'],
      loads,
    ),
    markdownTable(['limit', 'write units of a write', 'writes a second'], rows),
  ].join('\n\n');
}

function rowOf(load: Load, limits: readonly Limit[], costs: UnitCosts, fewer: UnitCosts): readonly string[] {
  const { name, shards } = load;
  const [markets, writesPerSecond] = [load.markets / shards, load.writesPerSecond / shards];
  const [first] = limits as [Limit, ...Limit[]];
  const used = writesPerSecond / first.writesPerSecond;
  const everySeconds = Math.max(COALESCE_SECONDS + SECONDS.generation, 1 / writesPerSecond);
  const changed = Math.min(markets, Math.max(1, writesPerSecond * everySeconds));
  const publishSeconds = SECONDS.generation + changed / MEASURED.publisherMarkets;
  const generations = MONTH_SECONDS / Math.max(everySeconds, publishSeconds);
  const lists = Math.min(generations, MONTH_SECONDS / Math.max(1, defaultListEverySeconds(markets)));
  const batches = writesPerSecond * MONTH_SECONDS;
  const traffic = { markets, reads: load.reads / shards, batches, generations, changed, lists };
  const dollars = [dollarsOfMonth(traffic, costs), dollarsOfMonth(traffic, fewer), dollarsOfCopy(traffic, costs)];
  const publicSeconds = SECONDS.batch + COALESCE_SECONDS + publishSeconds;
  const after = `${number(publicSeconds)} s, and ${SECONDS.edge} s in caches`;
  const isPublic = used > 1 ? 'never: it falls behind' : after;
  const months = dollars.map((each) => number(shards * each));
  return [name, isPublic, first.name, `${number(used * 100)} %`, ...months];
}

/** The lowest limit first. */
async function limitsOf(): Promise<readonly Limit[]> {
  const units = await unitsOfAWrite();
  const partitions = [...units].map(([range, unitsPerWrite]) => {
    const shards = range.endsWith(SHARED) ? SHARDS : 1;
    const name = `${shards === 1 ? 'partition' : `${shards} partitions`} \`${range}\``;
    return { name, unitsPerWrite, writesPerSecond: (shards * UNITS_PER_SECOND) / unitsPerWrite };
  });
  return [
    { name: 'worker, batches of one row', unitsPerWrite: null, writesPerSecond: MEASURED.workerBatches },
    { name: 'publisher, changed markets', unitsPerWrite: null, writesPerSecond: MEASURED.publisherMarkets },
    ...partitions,
  ].sort((one, other) => about(one) - about(other) || (one.name < other.name ? -1 : 1));
}

/** Rounded: a retry on a busy machine adds a unit or two, which must not change the order. */
const about = ({ writesPerSecond }: Limit): number => Number(writesPerSecond.toPrecision(2));

/**
 * The write units of one write, from the request to the list, for the partitions that all writes share. Partitions of one
 * sender have their own limits, and are left out. The batches of this model have one sender, so they are in one lane of the
 * queue; many senders use all partitions of the queue.
 */
async function unitsOfAWrite(): Promise<ReadonlyMap<string, number>> {
  const sample = await readSample();
  const service = await openCountedService(DEFAULT_PROJECTIONS);
  const markets = Array.from({ length: BATCHES }, (_, index) => syntheticMarket(sample, index));
  await service.accept(markets.map(({ market }) => market));
  await service.work();
  await service.publish();
  service.written.clear();
  for (const { observations } of markets)
    await service.accept([{ ...observations.at(-1), observedAt: '2026-01-01T00:00:00Z' }]);
  await service.work();
  // First without a list, as between two lists: then the records of list changes count too.
  await service.publish('not-due');
  await service.publish();
  return shared(service);
}

function shared({ written }: CountedService): ReadonlyMap<string, number> {
  const units = new Map<string, number>();
  for (const [partition, items] of written) {
    const sum = [...items.values()].reduce((all, each) => all + each, 0);
    const isOfOneSender = /^(usage|entitlements|idempotency|audit\/actor)\//.test(partition);
    const range = partition.replace(/\/\d{4}-\d\d-\d\d/, '/{day}').replace(/\/\d$/, SHARED);
    if (!isOfOneSender) units.set(range, (units.get(range) ?? 0) + sum / BATCHES);
  }
  // Partitions of one market or batch have fewer units.
  return new Map([...units].filter(([, unitsPerWrite]) => unitsPerWrite >= 1));
}
