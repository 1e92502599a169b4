/**
 * Makes announced values effective when their moment has come. Bodies contain no clock, so this is a write: one transaction for
 * each market, with the next revision, the next version of each value, and the mark.
 *
 * Any number of workers may do this at any time. The market's revision decides which one is first, and the others find nothing
 * left. A late worker records its own time. If a clock is set back, nothing is undone.
 */
import pMap from 'p-map';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { dropped } from '../../storage/ports/changes.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Item, Ledger } from '../../storage/ports/ledger.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import { announcedPlaces, isEffectiveAt, nextEffectiveAt } from '../../storage/records/announced-values.ts';
import {
  ANNOUNCED_MARKETS,
  announcedMarketKey,
  announcedMarketOf,
  firstOrderOf,
  marketKey,
  ordinalOf,
} from '../../storage/records/markets.ts';
import { readAnnounced, readNextAnnounced } from '../markets/announced.ts';
import { decideEffective } from '../markets/decide.ts';
import type { KnownObservation } from '../markets/market-decision.ts';
import { unchangedMarket } from '../markets/rules/standing.ts';
import { marketAudits } from '../review/audit-changes.ts';
import { Contended, isRetryable } from './contended.ts';

export interface AnnouncedDependencies extends Pick<Runtime, 'newAttemptId' | 'nowMs'> {
  readonly ledger: Ledger;
  /** Receives each failure that is not a failure of storage, with the item of the market. */
  readonly failed: (item: Pick<Item, 'sort'>, error: unknown) => void;
  /** Called before each transaction; false leaves the rest for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  /** The number of concurrent transactions. Default: 1. */
  readonly transactionsAtOnce?: number;
}

export interface AnnouncedDone {
  /** The number of values that became effective. */
  readonly effective: number;
  /** The number of markets with a reported failure. */
  readonly failed: number;
  /** The time when the next value becomes effective; null: none is announced. */
  readonly nextAtMs: number | null;
}

/** Two changes each. The rest of a transaction has record, marks, an audit record, and the items of the next moment. */
const VALUES_AT_ONCE = 40;
/** The limit of tries for a market while other writers change it. */
const TRIES = 5;
const MARKETS_AT_ONCE = 100;

/**
 * Makes all due values effective, the earliest first.
 *
 * @throws StorageUnavailable if storage fails: the next run continues
 */
export async function runAnnounced(dependencies: AnnouncedDependencies): Promise<AnnouncedDone> {
  const { ledger, nowMs, failed, hasTime = () => true, transactionsAtOnce: concurrency = 1 } = dependencies;
  const counts = { effective: 0, failed: 0 };
  const settle = async (item: Item<null>): Promise<void> => {
    if (!hasTime()) return;
    try {
      counts.effective += await settleMarket(dependencies, item);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      // Another writer is faster, or its transaction is not completely visible. The next run tries again.
      if (isRetryable(error)) return;
      counts.failed++;
      failed(item, error);
    }
  };
  const momentOf = (item: Item<null>) => Date.parse(announcedMarketOf(item).at);
  for await (const items of queryPages(ledger, ANNOUNCED_MARKETS, { limit: MARKETS_AT_ONCE })) {
    const due = items.filter((item) => momentOf(item) <= nowMs());
    await pMap(due, settle, { concurrency });
    if (due.length > 0 && !hasTime()) return { ...counts, nextAtMs: nowMs() };
    const later = items[due.length];
    if (later !== undefined) return { ...counts, nextAtMs: momentOf(later) };
  }
  return { ...counts, nextAtMs: null };
}

/** Makes the due values of one market effective, or removes an item without such values. Returns the number of values. */
async function settleMarket(dependencies: AnnouncedDependencies, item: Item<null>): Promise<number> {
  const { ledger, newAttemptId, nowMs } = dependencies;
  let effective = 0;
  let failures = 0;
  while (failures < TRIES) {
    const step = await nextStep(ledger, item, new Date(nowMs()).toISOString());
    if (step === null) return effective;
    const { committed } = await ledger.transact(step.changes, { attemptId: newAttemptId() });
    failures = committed ? 0 : failures + 1;
    if (committed) effective += step.effective;
  }
  throw new Contended(`${item.sort}: other writers changed the market in each try`);
}

interface Step {
  readonly effective: number;
  /** Changes under the condition that the market still has the revision that was read. */
  readonly changes: readonly Change[];
}

/** Null: nothing is left to do. @param now RFC 3339 */
async function nextStep(ledger: Ledger, item: Item<null>, now: string): Promise<Step | null> {
  const { at, slug } = announcedMarketOf(item);
  const market = await ledger.get(marketKey(slug));
  const { announced: values = {} } = market !== null && market.value.removal === undefined ? market.value : {};
  const places = Object.values(values).flatMap(announcedPlaces).sort();
  const due = places.filter((place) => isEffectiveAt(place, now)).slice(0, VALUES_AT_ONCE);
  if (market === null || due.length === 0) {
    // The clock was set back: the moment has not come yet.
    if (nextEffectiveAt({ announced: values }) === at) return null;
    if ((await ledger.get(announcedMarketKey(at, slug))) === null) return null;
    // The item is left over from a removal or a restored copy.
    return { effective: 0, changes: [unchangedMarket(slug, market), dropped(announcedMarketKey(at, slug))] };
  }
  const versions = await readAnnounced(ledger, slug, due);
  const known = versions.map(({ value, revision }, index): [string, KnownObservation] => {
    const place = due[index] as string;
    return [firstOrderOf(place), { first: value, newest: value, stated: value, ordinal: ordinalOf(place), revision }];
  });
  const announced = await readNextAnnounced(ledger, slug, market, new Set(due.map(firstOrderOf)));
  const decision = decideEffective({ slug, market, known: new Map(known), announced, recordedAt: now });
  return {
    effective: due.length,
    changes: [
      ...decision.changes,
      ...marketAudits({ id: item.sort }, decision.changes, Date.parse(now), 'system:announced'),
    ],
  };
}
