/** Reads the state that a batch's rows are decided on. */

import type { IngestRecord } from '../../contract/ingest-records.ts';
import { isUnknown, type Metric, type Observation } from '../../contract/metric.ts';
import type { LedgerReader } from '../../storage/ledger.ts';
import { type Item, type ItemKey, MAX_GET_KEYS } from '../../storage/ledger.ts';
import {
  type MarketRecordValue,
  marketKey,
  marketPartition,
  OBSERVATION_PREFIX,
  observationKey,
} from '../../storage/records/markets.ts';
import type { KnownObservation, MarketInput, Row } from './decide.ts';

/** The rows of one market, in the order in which they are decided. */
export interface MarketRows {
  readonly slug: string;
  readonly rows: readonly Row[];
}

/**
 * Groups rows by market, in an order that does not depend on other rows: markets by slug; in each market the
 * definition, then observations from the oldest on.
 */
export function groupByMarket(rows: readonly Row[]): readonly MarketRows[] {
  const groups = Map.groupBy(rows, ({ record }) => slugOf(record));
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([slug, rows]) => ({ slug, rows: rows.sort(byOrder) }));
}

function byOrder({ order: left }: Row, { order: right }: Row): number {
  if (left === right) return 0;
  return left === null || (right !== null && left < right) ? -1 : 1;
}

/** The market that a record is about. */
export function slugOf(record: IngestRecord): string {
  return record.type === 'market' ? record.slug : record.market;
}

export type MarketState = Pick<MarketInput, 'slug' | 'rows' | 'market' | 'known'>;

/** The records of markets, by slug; null for an unknown market. */
export async function readMarketItems(
  ledger: LedgerReader,
  slugs: Iterable<string>,
): Promise<ReadonlyMap<string, Item | null>> {
  const distinct = [...new Set(slugs)];
  const items = await getAll(ledger, distinct.map(marketKey));
  return new Map(distinct.map((slug, index) => [slug, items[index] ?? null]));
}

/**
 * Reads, for every group, the market's record and the observations that its rows identify. A decision on them is valid
 * only while the market has the same revision, because every writer of its observations changes it.
 *
 * @param markets the markets' records, if they have been read already
 */
export async function readMarkets(
  ledger: LedgerReader,
  groups: readonly MarketRows[],
  markets?: ReadonlyMap<string, Item | null>,
): Promise<readonly MarketState[]> {
  const items =
    markets ??
    (await readMarketItems(
      ledger,
      groups.map(({ slug }) => slug),
    ));
  const firsts = groups.map(({ slug, rows }) => ({ slug, orders: ordersToRead(rows, items.get(slug) ?? null) }));
  const observations = await getAll(
    ledger,
    firsts.flatMap(({ slug, orders }) => orders.map((order) => observationKey(slug, order))),
  );
  let position = 0;
  const states: MarketState[] = [];
  for (const [index, { slug, rows }] of groups.entries()) {
    const known = new Map<string, KnownObservation>();
    for (const order of firsts[index]?.orders ?? []) {
      const found = observations[position++];
      if (found) known.set(order, await knownObservation(ledger, slug, order, found));
    }
    states.push({ slug, rows, market: items.get(slug) ?? null, known });
  }
  return states;
}

/** Leaves out reads that cannot find anything: for a new market, and after the last order of the market's record. */
function ordersToRead(rows: readonly Row[], market: Item | null): readonly string[] {
  const lastOrder = (market?.value as MarketRecordValue | undefined)?.lastOrder ?? null;
  if (lastOrder === null) return [];
  return rows.flatMap(({ order }) => (order === null || order > lastOrder ? [] : [order]));
}

async function knownObservation(
  ledger: LedgerReader,
  slug: string,
  order: string,
  item: Item,
): Promise<KnownObservation> {
  const first = item.value as Observation;
  if (first.supersededBy === null) return { first, newest: first, ordinal: 0, revision: item.revision };
  const prefix = OBSERVATION_PREFIX + order.slice(0, order.lastIndexOf('/') + 1);
  const { items } = await ledger.query(marketPartition(slug), { prefix, descending: true, limit: 1 });
  const newest = items[0] ?? item;
  const ordinal = Number(newest.sort.slice(newest.sort.lastIndexOf('/') + 1));
  return { first, newest: newest.value as Observation, ordinal, revision: newest.revision };
}

/** How many observations to read back if the latest ones have no value. */
const LOOK_BACK = 100;

/**
 * The latest known value of each metric of a market: from the market's record, or from an earlier observation if that
 * value is unknown.
 */
export async function readLastKnown(
  ledger: LedgerReader,
  { slug, rows, market }: MarketState,
): Promise<ReadonlyMap<string, Metric>> {
  const { latest = {} } = (market?.value ?? {}) as Partial<MarketRecordValue>;
  const known = new Map<string, Metric>();
  const missing = new Set<string>();
  for (const { record } of rows) {
    if (record.type !== 'observation' || known.has(record.metric)) continue;
    const metric = latest[record.metric]?.metric;
    if (metric === undefined) continue;
    if (isUnknown(metric)) missing.add(record.metric);
    else known.set(record.metric, metric);
  }
  if (missing.size === 0) return known;
  const options = { prefix: OBSERVATION_PREFIX, descending: true, limit: LOOK_BACK };
  for (const { value } of (await ledger.query(marketPartition(slug), options)).items) {
    const observation = value as Observation;
    if (!missing.has(observation.metric) || isUnknown(observation) || observation.supersededBy !== null) continue;
    missing.delete(observation.metric);
    known.set(observation.metric, observation);
  }
  return known;
}

async function getAll(ledger: LedgerReader, keys: readonly ItemKey[]): Promise<readonly (Item | null)[]> {
  const starts = Array.from({ length: Math.ceil(keys.length / MAX_GET_KEYS) }, (_, call) => call * MAX_GET_KEYS);
  const found = starts.map((start) => ledger.getMany(keys.slice(start, start + MAX_GET_KEYS)));
  return (await Promise.all(found)).flat();
}
