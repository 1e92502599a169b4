/**
 * The ledger's records: where each kind of item lives and what it holds. The only place that spells a ledger key.
 *
 * | partition            | sort                              | holds                                             |
 * |----------------------|-----------------------------------|---------------------------------------------------|
 * | `market/<slug>`      | `record`                          | {@link MarketRecordValue}                         |
 * | `market/<slug>`      | `observation/<order>`             | {@link ObservationValue}, in the order of history |
 * | `markets`            | `<slug>`                          | nothing: lists the slugs in order                 |
 * | `dirty`              | `market/<slug>`                   | nothing: this market must be published again      |
 * | `dirty`              | `history/<slug>/<order>`          | nothing: and its closed pages from here on        |
 * | `dirty`              | `everything`                      | nothing: every market must be published again     |
 * | `awaiting-generation`| `<what>`                          | {@link AwaitingGenerationValue}                   |
 * | `generation-of`      | `<what>`                          | {@link GenerationOfValue}                         |
 * | `publication`        | `head`                            | {@link HeadValue}: the only commit point          |
 * | `publication`        | `generation/<n>`                  | {@link GenerationValue}                           |
 * | `published/list`     | `page/<index>`                    | {@link PublishedPage} of the market list          |
 * | `published/market/<slug>` | `heads`                           | {@link PublishedHeads} of one market              |
 * | `published/market/<slug>` | `page/<index>`                    | {@link PublishedPage} of its history              |
 * | `ingested-files`     | `<digest>`                        | {@link IngestedFileValue}: a file taken in whole  |
 * | `unlinked`           | `<object key>`                    | {@link UnlinkedValue}: page waiting to be swept   |
 * | `garbage`            | `walk`                            | {@link WalkValue}: where the next sweep goes on   |
 *
 * What the write API keeps beside these is in `account-records.ts` and `batch-records.ts`.
 */
import { hash } from 'node:crypto';
import { millisecondInstant } from '../contract/instants.ts';
import type { Market, Source, SourceVerification, Unit } from '../contract/market.ts';
import type { Metric, Observation } from '../contract/metric.ts';
import type { StaticKind } from '../contract/public-objects.ts';
import type { Item, ItemKey } from './ledger.ts';

/** A market as the ledger knows it: its definition, and what its observations add up to. Revision: the market's. */
export type MarketRecordValue = {
  name: string;
  kind: string;
  status: Market['status'];
  nativeCurrency: string;
  unit: Unit;
  sources: Source[];
  /** The newest observation of each metric, by its place in the history. */
  latest: { [metric: string]: { order: string; metric: Metric } };
  observations: number;
  unknownValues: number;
  firstObservedAt: string | null;
  lastObservedAt: string | null;
  /** The order key of the newest observation: what comes after it is an append. */
  lastOrder: string | null;
  /** What accepted claims and source verifications say of it; absent while there are none. */
  standing?: MarketStanding;
};

/**
 * See {@link MarketRecordValue}. Ids of claims and verifications stay in the ledger.
 *
 * A metric is disputed while an accepted claim disputes it, or while the latest comparison of what it shows with its
 * source is a mismatch. A claim is about the metric: its dispute is settled when the metric's latest observation is
 * corrected or retracted. A comparison is about one version of one observation: it is dropped as soon as another is the
 * metric's latest, a correction, a retraction or a newer observation; until then a later comparison takes its place. So
 * the same comparisons come to the same, in whatever order they arrive.
 */
export type MarketStanding = {
  /** The public name of who represents the market, and the claim that said so. */
  representedBy: { name: string; claim: string } | null;
  /** The newest accepted claim that disputes each metric. */
  disputes: { [metric: string]: string };
  /** The latest comparison, by `verifiedAt`, of each metric's latest observation with its source. */
  comparisons: { [metric: string]: { outcome: 'confirmed' | 'mismatch'; verifiedAt: string; verification: string } };
  /** The latest verification, by `verifiedAt`, of each of the sources that the market lists, by the source's URL. */
  verifications: { [sourceUrl: string]: SourceVerification };
};

export type ObservationValue = Observation;

/** HEAD. Revision: the generation. */
export type HeadValue = {
  generation: number;
  /** RFC 3339. */
  publishedAt: string;
  bundleKey: string;
  /** SHA-256 of the bundle's bytes, in hex. */
  bundleDigest: string;
  /** False from the swap until every head body of the generation is in place. */
  applied: boolean;
  /**
   * SHA-256 of the first list page, in hex. Null after a generation has been given up: how much of it is in place is
   * not known, and the next one covers everything.
   */
  listDigest: string | null;
  /**
   * SHA-256 of each static body, in hex. Empty after a generation has been given up. Absent where a version without it has
   * published, which rendered other things otherwise too: the next generation covers everything.
   */
  staticDigests?: { [Kind in StaticKind]?: string };
  counts: { markets: number; observations: number; unknownValues: number };
  /** The last slug whose mark it took, where it left others: the next goes on after it. Absent where it left none. */
  marksTakenTo?: string;
};

/** One generation, for garbage collection. Revision: the generation. */
export type GenerationValue = {
  generation: number;
  publishedAt: string;
  bundleKey: string;
  /** When its last head was put in place, milliseconds since the epoch: the one before stops being handed out. */
  appliedAtMs: number | null;
};

/** An immutable page of the newest generation. Revision: the generation that put it at this index. */
export type PublishedPage = {
  cursor: string;
  /** SHA-256 of its bytes, in hex. */
  digest: string;
  /** The keys it covers, inclusive: slugs in the list, order keys in a history. */
  first: string;
  last: string;
};

/** What is published of one market. Revision: the generation that last changed any of it. */
export type PublishedHeads = {
  /** SHA-256 of the bodies of the market and of the newest page of its history, in hex. */
  marketDigest: string;
  historyDigest: string;
  /** How many closed history pages there are. */
  closedPages: number;
  observations: number;
  unknownValues: number;
};

/** A page that no longer belongs to the newest generation. Revision: the generation that dropped it. */
export type UnlinkedValue = { generation: number };

const ORDINAL_DIGITS = 4;
const INDEX_DIGITS = 9;

/** What identifies an observation: (market, metric, observedAt, source), and which version of it. */
export interface ObservationIdentity {
  readonly market: string;
  readonly metric: string;
  readonly observedAt: string;
  readonly sourceUrl: string;
  /** 0 for the first; each correction counts one up. */
  readonly ordinal: number;
}

/**
 * The place of an observation in its market's history: by instant, then metric, then source, then version. Depends on
 * nothing but the identity, so the same observations give the same history in whatever order they arrived.
 */
export function orderKey(identity: ObservationIdentity): string {
  // Always with its milliseconds: "…00Z" and "…00.000Z" are one instant, and "…00.500Z" must sort after both.
  const instant = millisecondInstant(identity.observedAt);
  const source = sha256Hex(identity.sourceUrl).slice(0, 16);
  return `${instant}/${identity.metric}/${source}/${String(identity.ordinal).padStart(ORDINAL_DIGITS, '0')}`;
}

/** Which version of its observation is at that place: see {@link ObservationIdentity}. */
export function ordinalOf(order: string): number {
  return Number(order.slice(order.lastIndexOf('/') + 1));
}

/** The observation's public id: 96 bits of the digest of its identity. */
export function observationId(identity: ObservationIdentity): string {
  return observationIdAt(identity.market, orderKey(identity));
}

/** The same, by the observation's {@link orderKey}. */
export function observationIdAt(market: string, order: string): string {
  return `obs_${sha256Hex(`${market}\n${order}`).slice(0, 24)}`;
}

export const marketPartition = (slug: string): string => `market/${slug}`;
export const OBSERVATION_PREFIX = 'observation/';
export const marketKey = (slug: string): ItemKey => ({ partition: marketPartition(slug), sort: 'record' });
export const observationKey = (slug: string, order: string): ItemKey => ({
  partition: marketPartition(slug),
  sort: OBSERVATION_PREFIX + order,
});

export const MARKETS_PARTITION = 'markets';
export const marketIndexKey = (slug: string): ItemKey => ({ partition: MARKETS_PARTITION, sort: slug });

export const DIRTY_PARTITION = 'dirty';
/** Marks everything that shows the market: its body, the newest page of its history, its list page. */
export const dirtyMarketKey = (slug: string): ItemKey => ({ partition: DIRTY_PARTITION, sort: `market/${slug}` });
/** Marks the closed pages of a history from this place on: needed unless the observation was appended. */
export const dirtyHistoryKey = (slug: string, order: string): ItemKey => ({
  partition: DIRTY_PARTITION,
  sort: `history/${slug}/${order}`,
});

/** Marks every market, however many: set by an operator who wants all of them published again. */
export const DIRTY_EVERYTHING_KEY: ItemKey = { partition: DIRTY_PARTITION, sort: 'everything' };

/**
 * What waits to be told in which generation it became public: `batch/<id>` or `publication/<id>`. Written in the
 * transaction that sets the last of its dirty marks, or later. The publisher reads these before it reads the marks, so
 * whatever it publishes next covers them.
 */
export type AwaitingGenerationValue = null;
/** The answer: the first generation that is known to show all of it. */
export type GenerationOfValue = { generation: number; publishedAt: string };

export const AWAITING_GENERATION_PARTITION = 'awaiting-generation';
export const awaitingGenerationKey = (what: string): ItemKey => ({
  partition: AWAITING_GENERATION_PARTITION,
  sort: what,
});
export const generationOfKey = (what: string): ItemKey => ({ partition: 'generation-of', sort: what });

/** Reads a dirty mark's key back: the market, and for closed history pages the place from which to render. */
export function parseDirtyMark(mark: Item): { readonly slug: string; readonly fromOrder: string | null } {
  const [kind, slug, ...order] = mark.sort.split('/');
  if (slug === undefined || (kind !== 'market' && kind !== 'history')) {
    throw new RangeError(`not a dirty mark: ${mark.sort}`);
  }
  return { slug, fromOrder: kind === 'history' ? order.join('/') : null };
}

export const PUBLICATION_PARTITION = 'publication';
export const HEAD_KEY: ItemKey = { partition: PUBLICATION_PARTITION, sort: 'head' };
export const GENERATION_PREFIX = 'generation/';
export const generationKey = (generation: number): ItemKey => ({
  partition: PUBLICATION_PARTITION,
  sort: `${GENERATION_PREFIX}${String(generation).padStart(15, '0')}`,
});

export const PAGE_PREFIX = 'page/';
export const LIST_PARTITION = 'published/list';
export const publishedPartition = (slug: string): string => `published/market/${slug}`;
export const publishedHeadsKey = (slug: string): ItemKey => ({ partition: publishedPartition(slug), sort: 'heads' });
export const pageKey = (partition: string, index: number): ItemKey => ({
  partition,
  sort: PAGE_PREFIX + String(index).padStart(INDEX_DIGITS, '0'),
});

export const UNLINKED_PARTITION = 'unlinked';
export const unlinkedKey = (objectKey: string): ItemKey => ({ partition: UNLINKED_PARTITION, sort: objectKey });

/** A file that has been taken in to its last row, by the digest of its bytes and of its mapping. */
export type IngestedFileValue = { ingestedAt: string; accepted: number; unchanged: number };

export const ingestedFileKey = (digest: string): ItemKey => ({ partition: 'ingested-files', sort: digest });

/** SHA-256 in lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** Revision 0. */
export const WALK_KEY: ItemKey = { partition: 'garbage', sort: 'walk' };

/** All object keys up to this one have been looked at by a sweep; '' when it begins anew. */
export type WalkValue = { after: string };
