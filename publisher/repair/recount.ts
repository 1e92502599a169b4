/** The values of a market's record that follow from its observations, and the links between their versions. Pure. */
import { laterInstant } from '../../contract/values/instants.ts';
import { isUnknown } from '../../contract/values/metric.ts';
import { isAnnouncement, isShowable } from '../../contract/values/showable.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { announce } from '../../storage/records/announced-values.ts';
import { HistorySum } from '../../storage/records/history-sum.ts';
import {
  type MarketRecordValue,
  type ObservationValue,
  observationIdAt,
  observationKey,
  orderOfObservation,
  versionOrder,
} from '../../storage/records/markets.ts';
import { metricPart, withValue } from '../../storage/records/newest-values.ts';

export type StoredObservation = Item<ObservationValue>;

/** The part of a market's record that its observations determine. */
export type Recount = Pick<
  MarketRecordValue,
  'announced' | 'firstObservedAt' | 'lastObservedAt' | 'lastOrder' | 'latest' | 'observations' | 'sum' | 'unknownValues'
>;

/** @param observations all observations of the market, in the order of the history */
export function recountOf(observations: readonly Pick<StoredObservation, 'sort' | 'revision' | 'value'>[]): Recount {
  const sum = new HistorySum();
  const latest: MarketRecordValue['latest'] = {};
  const announcing: Pick<MarketRecordValue, 'announced'> = {};
  for (const item of observations) {
    const order = orderOfObservation(item);
    sum.add(order, item.revision);
    const { value } = item;
    if (isAnnouncement(value)) announce(announcing, value.metric, { metric: metricPart(value), order });
    if (!isShowable(value)) continue;
    latest[value.metric] = withValue(latest[value.metric], { metric: metricPart(value), order });
  }
  const [first, last] = [observations[0], observations.at(-1)];
  return {
    ...announcing,
    firstObservedAt: first?.value.observedAt ?? null,
    lastObservedAt: last?.value.observedAt ?? null,
    lastOrder: last === undefined ? null : orderOfObservation(last),
    latest,
    observations: observations.length,
    sum: sum.text,
    unknownValues: observations.filter(({ value }) => isUnknown(value)).length,
  };
}

/**
 * Observations whose links to earlier and later versions are wrong, or whose version number leaves a gap: each with the key
 * under which it is stored, and with its right content. A copy of the ledger may hold one half of a correction: the new
 * version, or the old one with its link to the new one. A replica may lack a version between two others; then the later
 * ones move up, because the version number is a part of the id. The repair changes the items' revisions, so each item keeps
 * the revision at which its version was written.
 */
export function mendedVersions(slug: string, observations: readonly StoredObservation[]): readonly MendedVersion[] {
  let ordinal = 0;
  const placed = observations.map((item, index) => {
    const before = observations[index - 1];
    ordinal = before !== undefined && isSameIdentity(before, item) ? ordinal + 1 : 0;
    const order = versionOrder(orderOfObservation(item), ordinal);
    const { sort } = observationKey(slug, order);
    // Only a version that moves gets a new id.
    return { item, sort, id: sort === item.sort ? item.value.id : observationIdAt(slug, order) };
  });
  const mended: MendedVersion[] = [];
  for (const [index, { item, sort, id }] of placed.entries()) {
    const [before, after] = [placed[index - 1], placed[index + 1]];
    const supersedes = before && isSameIdentity(before.item, item) ? before.id : null;
    const next = after && isSameIdentity(after.item, item) ? after : null;
    const links = { id, supersededAt: next?.item.value.recordedAt ?? null, supersededBy: next?.id ?? null, supersedes };
    const names = Object.keys(links) as (keyof typeof links)[];
    if (names.every((name) => item.value[name] === links[name])) continue;
    const firstRevision = item.value.firstRevision ?? item.revision;
    mended.push({ from: item.sort, item: { ...item, sort, value: { ...item.value, ...links, firstRevision } } });
  }
  return mended;
}

export interface MendedVersion {
  /** The sort key of the stored item. */
  readonly from: string;
  readonly item: StoredObservation;
}

/** Versions of one observation differ only in the last part of their order, so they are adjacent. */
function isSameIdentity(one: StoredObservation, other: StoredObservation): boolean {
  const identityOf = ({ sort }: StoredObservation) => sort.slice(0, sort.lastIndexOf('/'));
  return identityOf(one) === identityOf(other);
}

/** The time of the last change of a market that has these observations; `known` if that is later. */
export function lastChangeOf(observations: readonly StoredObservation[], known: string | null): string | null {
  return observations.reduce((latest, { value }) => laterInstant(value.recordedAt, latest), known);
}
