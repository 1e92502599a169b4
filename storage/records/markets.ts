/**
 * The records of markets and their observations.
 *
 * | partition       | sort                  | holds                                             |
 * |-----------------|-----------------------|---------------------------------------------------|
 * | `market/<slug>` | `record`              | {@link MarketRecordValue}                         |
 * | `market/<slug>` | `observation/<order>` | {@link ObservationValue}, in the order of history |
 * | `markets`       | `<slug>`              | nothing: lists the slugs in order                 |
 * | `announced`     | `<moment>/<slug>`     | nothing: when each market's next announced value becomes effective |
 *
 * Ledger keys are spelled only in this folder.
 */

import type { Removal } from '../../contract/files/removed-market.ts';
import { millisecondInstant } from '../../contract/values/instants.ts';
import type {
  Market,
  MarketAttributes,
  OutlierRule,
  Source,
  SourceVerification,
  Unit,
} from '../../contract/values/market.ts';
import type { Metric, Observation } from '../../contract/values/metric.ts';
import type { Item, ItemKey } from '../ports/ledger.ts';
import type { KeyRange, PrefixRange } from '../ports/paging.ts';
import { sha256Hex } from '../ports/sha256.ts';
import { keyIn, keyOf } from './keys.ts';

/** A market in the ledger: its definition, and values that follow from its observations. Revision: the market's. */
export type MarketRecordValue = {
  name: string;
  kind: string;
  status: Market['status'];
  nativeCurrency: string;
  unit: Unit;
  sources: Source[];
  /** Facts that are not numbers. Absent: the market has none. */
  attributes?: MarketAttributes;
  /** The market's own rule for outliers, with the reason. Absent: the service's rule applies. */
  outliers?: OutlierRule;
  outliersReason?: string;
  /** The standing values of each metric that the market shows. A metric without values has no entry. */
  latest: { [metric: string]: NewestValues };
  /** The standing announced values of each metric. Absent: the market has none. A removed market may keep some. */
  announced?: { [metric: string]: AnnouncedValues };
  observations: number;
  unknownValues: number;
  firstObservedAt: string | null;
  lastObservedAt: string | null;
  /** The order key of the newest observation. An observation with a greater key is an append. */
  lastOrder: string | null;
  /** The sum of its observations, each with the revision of its item: see `history-sum.ts`. */
  sum: string;
  /**
   * When one of these fields or an observation was last changed. It never goes back, and no observation has a later
   * `recordedAt`. Null: unknown, for a market without observations that is older than format 3.
   */
  updatedAt: string | null;
  /** Effects of accepted claims and source verifications; absent if there are no effects. */
  standing?: MarketStanding;
  /** The revision of the last repair. A repair may change published values, so the log states the market again. */
  repairedRevision?: number;
  /** Absent unless the market is removed. A removed market keeps its record, and never changes again. */
  removal?: Removal;
};

/** A metric, and the place of its observation in the history. */
export type PlacedMetric = { readonly order: string; readonly metric: Metric };

/**
 * The newest standing value of a metric. `others`: the newest value of each other source, newest first; absent if there is
 * only one source.
 */
export type NewestValues = PlacedMetric & { readonly others?: readonly PlacedMetric[] };

/** The first announced value of a metric. `later`: the places of further ones; absent if there are none. */
export type AnnouncedValues = PlacedMetric & { readonly later?: readonly string[] };

/**
 * See {@link MarketRecordValue}. Ids of claims and verifications are never published.
 *
 * A metric is disputed while an accepted claim disputes it, or while the latest comparison of its shown observation with
 * the source is a mismatch. A claim is about the metric: its dispute ends when the metric's latest observation is corrected
 * or retracted. A comparison is about one version of one observation. It is dropped as soon as the metric shows another
 * one: a correction, a retraction or a newer observation. Until then a later comparison replaces it. So the same
 * comparisons give the same result in any order of arrival.
 */
export type MarketStanding = {
  /**
   * The public name of the organisation that represents the market, and the id of its claim. `salt`: see {@link
   * newRepresentationSalt}; absent in standings that are older than the log.
   */
  representedBy: { name: string; claim: string; salt?: string } | null;
  /** The newest accepted claim that disputes each metric. */
  disputes: { [metric: string]: string };
  /** The latest comparison, by `verifiedAt`, of each metric's latest observation with its source. */
  comparisons: { [metric: string]: { outcome: 'confirmed' | 'mismatch'; verifiedAt: string; verification: string } };
  /** The latest verification, by `verifiedAt`, of each source that the market lists, by the source's URL. */
  verifications: { [sourceUrl: string]: SourceVerification };
};

/**
 * Revision: the revision of the market's record after the same transaction.
 *
 * `firstRevision`: if a later transaction has changed the item, the revision of the transaction that wrote this version. It
 * is never public. Versions that were superseded before there was a log do not have it.
 */
export type ObservationValue = Observation & { firstRevision?: number };

const ORDINAL_DIGITS = 4;

/** The identity of an observation: (market, metric, observedAt, source), and its version. */
export interface ObservationIdentity {
  readonly market: string;
  readonly metric: string;
  readonly observedAt: string;
  readonly sourceUrl: string;
  /** 0 for the first version; each correction adds one. */
  readonly ordinal: number;
}

/**
 * The place of an observation in its market's history: by instant, then metric, then source, then version. It depends only
 * on the identity, so the same observations give the same history in any order of arrival.
 */
export function orderKey(identity: ObservationIdentity): string {
  // Always with milliseconds: "…00Z" and "…00.000Z" are one instant, and "…00.500Z" must sort after both.
  const instant = millisecondInstant(identity.observedAt);
  const source = sha256Hex(identity.sourceUrl).slice(0, 16);
  return `${instant}/${identity.metric}/${source}/${String(identity.ordinal).padStart(ORDINAL_DIGITS, '0')}`;
}

/** The place of another version of the observation at this place. */
export function versionOrder(order: string, ordinal: number): string {
  return order.slice(0, -ORDINAL_DIGITS) + String(ordinal).padStart(ORDINAL_DIGITS, '0');
}

/** The version at this place: see {@link ObservationIdentity}. */
export function ordinalOf(order: string): number {
  return Number(order.slice(order.lastIndexOf('/') + 1));
}

/** The place of the first version of the observation at this place. */
export function firstOrderOf(order: string): string {
  return versionOrder(order, 0);
}

/** The observation's public id: 96 bits of the digest of its identity. */
export function observationId(identity: ObservationIdentity): string {
  return observationIdAt(identity.market, orderKey(identity));
}

/** {@link observationId}, from the observation's {@link orderKey}. */
export function observationIdAt(market: string, order: string): string {
  return `obs_${sha256Hex(`${market}\n${order}`).slice(0, 24)}`;
}

export const marketPartition = (slug: string): string => `market/${slug}`;
export const OBSERVATION_PREFIX = 'observation/';
export const marketKey = (slug: string) => keyOf<MarketRecordValue>(marketPartition(slug), 'record');
/** A market as the target of audit records. */
export const marketTarget = marketPartition;
/** The market whose record or observation has this key; null for any other key. */
export const slugOfMarketKey = ({ partition }: ItemKey): string | null =>
  partition.startsWith('market/') ? partition.slice('market/'.length) : null;
/** The slug, if this is the key of a market's record; otherwise empty. */
export const slugOfRecordKey = (key: ItemKey): readonly string[] => {
  const slug = key.sort === 'record' ? slugOfMarketKey(key) : null;
  return slug === null ? [] : [slug];
};
export const observationKey = (slug: string, order: string) => keyIn(observationsOf(slug), order);

/** A market's history, oldest first. */
export const observationsOf = (slug: string): PrefixRange<ObservationValue> => ({
  partition: marketPartition(slug),
  prefix: OBSERVATION_PREFIX,
});
/** The versions of the observation at this place, oldest first. */
export const versionsOf = (slug: string, order: string): PrefixRange<ObservationValue> => ({
  partition: marketPartition(slug),
  prefix: OBSERVATION_PREFIX + order.slice(0, order.lastIndexOf('/') + 1),
});
/** The place of a stored observation in its market's history. */
export const orderOfObservation = ({ sort }: Pick<Item, 'sort'>): string => sort.slice(OBSERVATION_PREFIX.length);

/** The slugs of all markets, in order. Revision: the market's first revision, which nothing reads. */
export const MARKET_INDEX: KeyRange<null> = { partition: 'markets' };
export const marketIndexKey = (slug: string) => keyIn(MARKET_INDEX, slug);

/** The markets with announced values, by the moment of the first value. Revision: the market's revision at that time. */
export const ANNOUNCED_MARKETS: KeyRange<null> = { partition: 'announced' };
/** @param at with milliseconds */
export const announcedMarketKey = (at: string, slug: string) => keyIn(ANNOUNCED_MARKETS, `${at}/${slug}`);
export const announcedMarketOf = ({ sort }: Pick<Item, 'sort'>): { readonly at: string; readonly slug: string } => {
  const [at = '', slug = ''] = sort.split('/');
  return { at, slug };
};
