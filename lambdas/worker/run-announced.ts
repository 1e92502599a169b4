/**
 * Records that announced values are effective: their moment has come. Bodies hold no clock, so this is a write like any
 * other: one transaction a market, with the next revision, the next version of each value, and the mark.
 *
 * Any number of workers may do this at once, at any time: the market's revision decides who is first, and the others find
 * nothing left. A worker that comes late records its own time. Nothing is taken back if a clock is set back.
 */
import type { Runtime } from '../../storage/aws/runtime.ts';
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
  /** Receives each failure that is not a failure of storage, with the market's item. */
  readonly failed: (item: Pick<Item, 'sort'>, error: unknown) => void;
  /** Asked before each transaction; false leaves the rest for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
}

export interface AnnouncedDone {
  /** Values that became effective. */
  readonly effective: number;
  /** Markets whose failure was reported. */
  readonly failed: number;
  /** When the next value becomes effective; null: none is announced. */
  readonly nextAtMs: number | null;
}

/** Two changes each; beside them are the record, marks, an audit record, and the items of the next moment. */
const VALUES_AT_ONCE = 40;
/** A market is read again so often while other writers change it. */
const TRIES = 5;
const MARKETS_AT_ONCE = 100;

/**
 * Makes everything effective that is due, the earliest first.
 *
 * @throws StorageUnavailable if storage fails: the next run continues
 */
export async function runAnnounced(dependencies: AnnouncedDependencies): Promise<AnnouncedDone> {
  const { ledger, nowMs, failed, hasTime = () => true } = dependencies;
  const counts = { effective: 0, failed: 0 };
  for await (const items of queryPages(ledger, ANNOUNCED_MARKETS, { limit: MARKETS_AT_ONCE })) {
    for (const item of items) {
      const atMs = Date.parse(announcedMarketOf(item).at);
      if (atMs > nowMs()) return { ...counts, nextAtMs: atMs };
      if (!hasTime()) return { ...counts, nextAtMs: nowMs() };
      try {
        counts.effective += await settleMarket(dependencies, item);
      } catch (error) {
        if (error instanceof StorageUnavailable) throw error;
        // Other writers are faster, or their transaction is not completely visible. The next run tries again.
        if (isRetryable(error)) continue;
        counts.failed++;
        failed(item, error);
      }
    }
  }
  return { ...counts, nextAtMs: null };
}

/** Makes the due values of one market effective, or ends an item that leads nowhere. Returns how many values that were. */
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
  /** Under the condition that the market still has the revision that was read. */
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
    // The clock was set back.
    if (nextEffectiveAt({ announced: values }) === at) return null;
    if ((await ledger.get(announcedMarketKey(at, slug))) === null) return null;
    // A removal or a restored copy has left the item.
    const ended = { kind: 'delete', key: announcedMarketKey(at, slug), if: { kind: 'any' } } as const;
    return { effective: 0, changes: [unchangedMarket(slug, market), ended] };
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
      ...marketAudits(ANNOUNCED_ACTION, { id: item.sort }, decision.changes, Date.parse(now)),
    ],
  };
}

const ANNOUNCED_ACTION = 'system:announced';
