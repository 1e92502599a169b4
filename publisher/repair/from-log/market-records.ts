/**
 * The ledger's records of one market from the facts of the log. Pure.
 *
 * The log does not state which claim or which comparison disputes a metric. So each disputed metric gets a dispute without
 * a claim. Like a dispute by a claim, it ends with a correction or a retraction.
 */

import { historyFilesDue } from '../../../contract/bodies/history-files.ts';
import type { Removal } from '../../../contract/files/removed-market.ts';
import { put } from '../../../storage/ports/changes.ts';
import type { Change } from '../../../storage/ports/ledger.ts';
import { nextEffectiveAt } from '../../../storage/records/announced-values.ts';
import { EMPTY_SUM } from '../../../storage/records/history-sum.ts';
import {
  announcedMarketKey,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  observationKey,
} from '../../../storage/records/markets.ts';
import {
  type PublishedFile,
  type PublishedHeads,
  publishedHeadsKey,
  publishedYearKey,
  refreshMark,
} from '../../../storage/records/publication.ts';
import type { FoldedMarket, PublicRepresentative } from '../../core/log/folded-market.ts';
import { marketEntries } from '../../core/log/market-entries.ts';

const NO_HISTORY = {
  ...{ latest: {}, observations: 0, unknownValues: 0, sum: EMPTY_SUM },
  ...{ firstObservedAt: null, lastObservedAt: null, lastOrder: null },
};
/** Placeholder: the refresh reads the real digests from the store. */
const UNKNOWN_FILE: PublishedFile = { rows: 0, csv: '', ndjson: '' };
const YEAR_DIGITS = 4;

/** The digest of no standing, so the next generation states the standing again. */
const FORGOTTEN = 'forgotten';

export interface RecordsOptions {
  /** The generation of HEAD. */
  readonly generation: number;
  /** Null: the market has no representative, or the name is lost. */
  readonly representative: PublicRepresentative | null;
  /**
   * Whether the log has the digest of a name that is lost. Then the next generation states that the market has no
   * representative.
   */
  readonly isNameLost: boolean;
}

/** The records of a market that is shown. */
export function recordsOfShown(
  slug: string,
  folded: FoldedMarket,
  { generation, representative, isNameLost }: RecordsOptions,
): { readonly value: MarketRecordValue; readonly changes: () => Generator<Change> } {
  const value = withoutEmptyStanding(folded.record(representative));
  const logged = loggedOf(slug, folded.revision, value);
  const revision = isNameLost ? folded.revision + 1 : folded.revision;
  const loggedParts = isNameLost ? { ...logged.loggedParts, standing: FORGOTTEN } : logged.loggedParts;
  function* changes(): Generator<Change> {
    yield* recordsOf(slug, revision, value, generation, {
      ...{ revision: folded.revision, logged: folded.revision, loggedParts },
      ...{ observations: value.observations, unknownValues: value.unknownValues },
    });
    for (const { order, observation, revision: written } of folded.observations) {
      yield put(observationKey(slug, order), written, observation);
    }
    const dueAt = nextEffectiveAt(value);
    if (dueAt !== null) yield put(announcedMarketKey(dueAt, slug), revision, null);
  }
  return { value, changes };
}

/**
 * The records of a market that is removed. Its observations stay in the log alone: nothing public is rendered from them,
 * except the problem documents in place of its files.
 *
 * @param before the market as it was last shown; null: the log no longer states it
 */
export function* recordsOfRemoved(
  slug: string,
  revision: number,
  removal: Removal,
  before: FoldedMarket | null,
  { generation, pageSize }: { readonly generation: number; readonly pageSize: number },
): Generator<Change> {
  const { announced, ...definition } = before === null ? { ...nameless(slug), announced: null } : before.record(null);
  const value: MarketRecordValue = { ...definition, ...NO_HISTORY, updatedAt: removal.removedAt, removal };
  const observations = before?.observations ?? [];
  const closedPages = Math.max(0, Math.ceil(observations.length / pageSize) - 1);
  // The number of removed texts is unknown. One problem document too many does no harm.
  const { hasWhole, hasYears } = historyFilesDue(before === null ? Infinity : observations.length, closedPages);
  const files = { sum: '', all: hasWhole ? UNKNOWN_FILE : null, index: hasYears ? '' : null };
  yield* recordsOf(slug, revision, value, generation, {
    ...loggedOf(slug, revision, value),
    ...{ revision, observations: 0, unknownValues: 0, isRemoved: true, files },
  });
  if (!hasYears) return;
  const years = new Set(observations.map(({ order }) => order.slice(0, YEAR_DIGITS)));
  for (const year of years) yield put(publishedYearKey(slug, year), generation, UNKNOWN_FILE);
}

function* recordsOf(
  slug: string,
  revision: number,
  value: MarketRecordValue,
  generation: number,
  published: Omit<PublishedHeads, 'marketDigest' | 'historyDigest' | 'closedPages' | 'joined'>,
): Generator<Change> {
  yield put(marketKey(slug), revision, value);
  yield put(marketIndexKey(slug), revision, null);
  // The refresh renders everything, and compares it with the stored bodies.
  const unknown = { marketDigest: '', historyDigest: '', closedPages: 0, joined: generation };
  yield put(publishedHeadsKey(slug), generation, { ...unknown, ...published });
  yield refreshMark(slug);
}

/** The record of the stated facts, so the next generation does not state them again. */
function loggedOf(slug: string, revision: number, value: MarketRecordValue) {
  const record = { ...marketKey(slug), revision, attemptId: '', expiresAtMs: null, value };
  return marketEntries({ slug, record, published: null, isReset: false }).logged;
}

function withoutEmptyStanding({ standing, ...record }: MarketRecordValue): MarketRecordValue {
  const { representedBy = null, disputes = {}, verifications = {} } = standing ?? {};
  const isEmpty = representedBy === null && Object.keys({ ...disputes, ...verifications }).length === 0;
  return isEmpty || standing === undefined ? record : { ...record, standing };
}

/** The definition of a removed market may have been taken down. No body shows these values. */
function nameless(slug: string): Omit<MarketRecordValue, keyof typeof NO_HISTORY | 'updatedAt'> {
  const unit = { of: 'unit', quantity: 1 };
  return { name: slug, kind: 'removed', status: 'retired', nativeCurrency: 'XXX', unit, sources: [] };
}
