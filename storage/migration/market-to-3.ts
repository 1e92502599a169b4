/**
 * Gives a market's observations the fields of format 3, and its record the newest value of each source and the time of
 * its last change.
 *
 * Format 2 did not store when an observation was superseded, but its next version has that time. Nothing says when a
 * source released a value, or why one was taken back: both stay unknown.
 */
import { laterInstant } from '../../contract/instants.ts';
import type { Observation } from '../../contract/metric.ts';
import { isShowable } from '../../contract/showable.ts';
import { type Change, type Item, type Ledger, MAX_TRANSACT_CHANGES } from '../ledger.ts';
import { metricPart, withValue } from '../newest-values.ts';
import { queryPages, readPage } from '../paging.ts';
import { type MarketValue2, marketKey2, type Observation2, observationsOf2 } from '../records/format-2.ts';
import { firstOrderOf, type MarketRecordValue, orderOfObservation } from '../records/markets.ts';
import { claimKey, verificationsOfMarket } from '../records/review.ts';
import { changed, commit, type Migration } from './migration.ts';

/**
 * Many transactions. The record is written last: a market with `updatedAt` is done. An observation that an earlier try
 * has changed is left as it is.
 */
export async function migrateMarketTo3(migration: Migration, slug: string): Promise<void> {
  const { ledger } = migration;
  const record = await ledger.get(marketKey2(slug));
  if (record === null || record.value.updatedAt !== undefined) return;
  const latest: MarketRecordValue['latest'] = {};
  let updatedAt = await lastEffectOf(ledger, slug, record.value);
  let changes: Change[] = [];
  for await (const [item, next] of withNext(ledger, slug)) {
    const value = observation3(item.value, supersededAtOf(item, next));
    updatedAt = laterInstant(value.recordedAt, updatedAt);
    if (isShowable(value)) {
      const placed = { metric: metricPart(value), order: orderOfObservation(item) };
      latest[value.metric] = withValue(latest[value.metric], placed);
    }
    if (item.value.retraction === undefined) changes.push(changed(item, value));
    if (changes.length < MAX_TRANSACT_CHANGES) continue;
    await commit(migration, changes);
    changes = [];
  }
  if (changes.length > 0) await commit(migration, changes);
  await commit(migration, [changed<MarketRecordValue>(record, { ...record.value, latest, updatedAt })]);
}

type Stored = Item<Observation2>;

/** Each observation with the one after it, in the order of the history. */
async function* withNext(ledger: Ledger, slug: string): AsyncGenerator<readonly [Stored, Stored | null]> {
  let before: Stored | null = null;
  for await (const items of queryPages(ledger, observationsOf2(slug))) {
    for (const item of items) {
      if (before !== null) yield [before, item];
      before = item;
    }
  }
  if (before !== null) yield [before, null];
}

/** If the next version is lost, its time is lost too. Then this is the nearest known one, and `repair` mends the link. */
function supersededAtOf(item: Stored, next: Stored | null): string | null {
  if (item.value.supersededBy === null) return null;
  const objectFile = (stored: Stored) => firstOrderOf(orderOfObservation(stored));
  return next !== null && objectFile(next) === objectFile(item) ? next.value.recordedAt : item.value.recordedAt;
}

/** Members are in canonical order, as those of new observations. */
function observation3(old: Observation2, supersededAt: string | null): Observation {
  const members = Object.entries({ releasedAt: null, retraction: null, supersededAt, ...old });
  return Object.fromEntries(members.sort(([left], [right]) => (left < right ? -1 : 1))) as Observation;
}

/** When the last verification or accepted claim took effect that the market still shows; null without one. */
async function lastEffectOf(ledger: Ledger, slug: string, { standing }: MarketValue2): Promise<string | null> {
  if (standing === undefined) return null;
  let last: string | null = null;
  const { items } = await readPage(ledger, verificationsOfMarket(slug), { descending: true, limit: 1 });
  for (const { value } of items) last = laterInstant(value.createdAt, last);
  const claims = [standing.representedBy?.claim, ...Object.values(standing.disputes)];
  for (const id of claims) {
    const claim = id === undefined ? null : await ledger.get(claimKey(id));
    const decidedAt = claim?.value.decision?.decidedAt;
    if (decidedAt !== undefined) last = laterInstant(decidedAt, last);
  }
  return last;
}
