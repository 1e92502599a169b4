/** Reads the state for the decision on a batch's rows. */
import type { Observation } from '../../contract/values/metric.ts';
import { isShowable } from '../../contract/values/showable.ts';
import type { Item, LedgerReader } from '../../storage/ports/ledger.ts';
import { queryPages, readMany, readPage } from '../../storage/ports/paging.ts';
import { HistorySum } from '../../storage/records/history-sum.ts';
import {
  firstOrderOf,
  type MarketRecordValue,
  marketKey,
  type NewestValues,
  observationKey,
  observationsOf,
  orderOfObservation,
  ordinalOf,
  versionOrder,
  versionsOf,
} from '../../storage/records/markets.ts';
import { metricPart, valuesIn, withValue } from '../../storage/records/newest-values.ts';
import { Contended } from '../worker/contended.ts';
import { readNextAnnounced } from './announced.ts';
import type { KnownObservation, MarketInput } from './market-decision.ts';
import type { MarketRows, Row } from './rows.ts';

export type MarketState = Pick<MarketInput, 'slug' | 'rows' | 'market' | 'known' | 'otherValues' | 'announced'>;

/** The records of markets, by slug; null for an unknown market. */
export type MarketItems = ReadonlyMap<string, Item<MarketRecordValue> | null>;

export async function readMarketItems(ledger: LedgerReader, slugs: Iterable<string>): Promise<MarketItems> {
  const distinct = [...new Set(slugs)];
  const items = await readMany(ledger, distinct.map(marketKey));
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
  markets?: MarketItems,
): Promise<readonly MarketState[]> {
  const items =
    markets ??
    (await readMarketItems(
      ledger,
      groups.map(({ slug }) => slug),
    ));
  const firsts = groups.map(({ slug, rows }) => ({ slug, orders: ordersToRead(rows, items.get(slug) ?? null) }));
  const observations = await readMany(
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
    const state = { slug, rows, market: items.get(slug) ?? null, known };
    const announced = await readNextAnnounced(ledger, slug, state.market, new Set(known.keys()));
    states.push({ ...state, announced, otherValues: await readOtherValues(ledger, state) });
  }
  return states;
}

/** Leaves out reads that cannot find anything: those of a new market, and those after the last order in the market's record. */
function ordersToRead(rows: readonly Row[], market: Item<MarketRecordValue> | null): readonly string[] {
  const lastOrder = market?.value.lastOrder ?? null;
  if (lastOrder === null) return [];
  return rows.flatMap(({ order }) => (order === null || order > lastOrder ? [] : [order]));
}

async function knownObservation(
  ledger: LedgerReader,
  slug: string,
  order: string,
  item: Item<Observation>,
): Promise<KnownObservation> {
  const first = item.value;
  if (first.supersededBy === null) return { first, newest: first, stated: first, ordinal: 0, revision: item.revision };
  const versions = versionsOf(slug, order);
  const newest = (await readPage(ledger, versions, { descending: true, limit: 1 })).items[0] ?? item;
  const ordinal = ordinalOf(orderOfObservation(newest));
  const known = { first, newest: newest.value, ordinal, revision: newest.revision };
  if (newest.value.retraction === null) return { ...known, stated: newest.value };
  for await (const items of queryPages(ledger, versions, { descending: true, limit: VERSIONS_A_PAGE })) {
    const stated = items.find(({ value }) => value.retraction === null);
    if (stated !== undefined) return { ...known, stated: stated.value };
  }
  return { ...known, stated: first };
}

/** A retraction usually follows a value. It may follow another retraction, with another kind or public reason. */
const VERSIONS_A_PAGE = 8;

/**
 * By metric: the newest standing values, as a market shows them, without the observations that rows identify.
 *
 * Nearly all batches need no read for this. Otherwise it reads the whole history, a part at a time. The previous transaction
 * may not be completely visible yet, and only the sum of all observations shows that no value is missing.
 *
 * @throws Contended if the observations do not add up to the record's sum: retry later
 */
async function readOtherValues(
  ledger: LedgerReader,
  { slug, market, known, rows }: Pick<MarketInput, 'slug' | 'market' | 'known' | 'rows'>,
): Promise<NonNullable<MarketInput['otherValues']>> {
  const found = new Map<string, NewestValues | null>();
  if (market === null) return new Map();
  for (const name of metricsToRead(market.value, known, rows)) found.set(name, null);
  if (found.size === 0) return new Map();
  const sum = new HistorySum();
  for await (const items of queryPages(ledger, observationsOf(slug))) {
    for (const item of items) {
      // The decision is about the market's revision that was read. Its commit is refused if there is a later one.
      if (item.revision > market.revision) continue;
      const order = orderOfObservation(item);
      sum.add(order, item.revision);
      const { value } = item;
      const values = found.get(value.metric);
      if (values === undefined || !isShowable(value) || known.has(firstOrderOf(order))) continue;
      found.set(value.metric, withValue(values ?? undefined, { metric: metricPart(value), order }));
    }
  }
  if (sum.text !== market.value.sum) {
    throw new Contended(`${slug}: its observations do not come to the sum of revision ${market.revision} yet`);
  }
  return new Map([...found].map(([name, values]) => [name, values === null ? [] : valuesIn(values)]));
}

/** The metrics of which a row may supersede a shown value. */
function metricsToRead(
  { latest }: MarketRecordValue,
  known: MarketInput['known'],
  rows: MarketInput['rows'],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { record, order } of rows) {
    const before = order === null ? undefined : known.get(order);
    if (order === null || before === undefined || record.type === 'market') continue;
    const { newest, ordinal } = before;
    const isTaken =
      record.type === 'retraction'
        ? record.kind === 'mistake'
        : record.sourceLabel !== newest.sourceLabel || record.announced !== undefined;
    const shown = latest[newest.metric];
    if (!isTaken || shown === undefined) continue;
    const place = versionOrder(order, ordinal);
    if (valuesIn(shown).some((value) => value.order === place)) names.add(newest.metric);
  }
  return names;
}
