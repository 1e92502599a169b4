/** Reads what a batch's rows are decided on. */
import type { IngestRecord } from '../../contract/ingest-records.ts';
import type { Observation } from '../../contract/metric.ts';
import { type Item, type ItemKey, type Ledger, MAX_GET_KEYS } from '../../storage/ledger.ts';
import { marketKey, marketPartition, OBSERVATION_PREFIX, observationKey, orderKey } from '../../storage/records.ts';
import type { KnownObservation, MarketInput, Row } from './decide.ts';

/** The rows of one market: its definition first, the others in the order of the batch. */
export interface MarketRows {
  readonly slug: string;
  readonly rows: readonly Row[];
}

/** Groups rows by market; markets come in the order of their first row. */
export function groupByMarket(rows: readonly Row[]): readonly MarketRows[] {
  const groups = Map.groupBy(rows, ({ record }) => slugOf(record));
  return [...groups].map(([slug, rows]) => ({ slug, rows: [...rows.filter(isDefinition), ...rows.filter(isOther)] }));
}

function isDefinition({ record }: Row): boolean {
  return record.type === 'market';
}

function isOther(row: Row): boolean {
  return !isDefinition(row);
}

/** The market that a record is about. */
export function slugOf(record: IngestRecord): string {
  return record.type === 'market' ? record.slug : record.market;
}

export type MarketState = Pick<MarketInput, 'slug' | 'rows' | 'market' | 'known'>;

/** Reads, for every group, the market's record and the observations that its rows identify. */
export async function readMarkets(ledger: Ledger, groups: readonly MarketRows[]): Promise<readonly MarketState[]> {
  const markets = await getAll(
    ledger,
    groups.map(({ slug }) => marketKey(slug)),
  );
  const firsts = groups.map(({ slug, rows }) => ({ slug, orders: [...new Set(rows.flatMap(firstOrder))] }));
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
    states.push({ slug, rows, market: markets[index] ?? null, known });
  }
  return states;
}

/** The place of the first version of a row's observation. */
function firstOrder({ record }: Row): string[] {
  return record.type === 'market' ? [] : [orderKey({ ...record, ordinal: 0 })];
}

async function knownObservation(ledger: Ledger, slug: string, order: string, item: Item): Promise<KnownObservation> {
  const first = item.value as Observation;
  if (first.supersededBy === null) return { first, newest: first, ordinal: 0 };
  const prefix = OBSERVATION_PREFIX + order.slice(0, order.lastIndexOf('/') + 1);
  const { items } = await ledger.query(marketPartition(slug), { prefix, descending: true, limit: 1 });
  const newest = items[0] ?? item;
  const ordinal = Number(newest.sort.slice(newest.sort.lastIndexOf('/') + 1));
  return { first, newest: newest.value as Observation, ordinal };
}

async function getAll(ledger: Ledger, keys: readonly ItemKey[]): Promise<readonly (Item | null)[]> {
  const found: (Item | null)[] = [];
  for (let start = 0; start < keys.length; start += MAX_GET_KEYS) {
    found.push(...(await ledger.getMany(keys.slice(start, start + MAX_GET_KEYS))));
  }
  return found;
}
