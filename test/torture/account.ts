/** The harness's own account of what it sent, what was acknowledged, and what must therefore be public. */
import { createHash } from 'node:crypto';
import { SOURCE } from '../scenario/records.ts';
import type { Random } from '../simulator/random.ts';

/** `unknown`: there was no answer, or one that says so. Then it is wholly there or not at all. */
export type Standing = 'unknown' | 'acknowledged';

/** One price of one market on one day. No two have the same market and day. */
export interface Row {
  readonly market: string;
  readonly day: string;
  readonly amountMinor: number;
}

/** Rows that were sent together, in a batch or in a file. */
export interface SentRows {
  readonly name: string;
  readonly rows: readonly Row[];
  standing: Standing;
}

/** A write that was acknowledged, and the answer that its key must give again. */
export interface AcknowledgedWrite {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly status: number;
  readonly text: string;
}

export interface WatchlistState {
  readonly name: string;
  readonly markets: readonly string[];
}

export interface SentWatchlist {
  readonly id: string;
  /** As it was last acknowledged. */
  readonly shown: WatchlistState;
  readonly revision: number;
}

export interface Account {
  readonly rows: SentRows[];
  /** All acknowledged writes, oldest first. */
  readonly writes: AcknowledgedWrite[];
  readonly watchlists: Map<string, SentWatchlist>;
  /** Ids of uploads whose file was acknowledged, with the number of their records. */
  readonly uploads: Map<string, number>;
  /** Slugs of markets whose removal was acknowledged. */
  readonly removed: Set<string>;
  /** Ids of takedowns that were acknowledged. */
  readonly takedowns: Set<string>;
  /** Markets of batches, each defined by every batch that has rows of it. */
  readonly markets: string[];
  /** Rows with a next day of the market each. */
  nextRows(market: string, count: number): readonly Row[];
}

const FIRST_DAY_MS = Date.UTC(2000, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;

export function openAccount(markets: number): Account {
  const days = new Map<string, number>();
  let amounts = 100;
  return {
    rows: [],
    writes: [],
    watchlists: new Map(),
    uploads: new Map(),
    removed: new Set(),
    takedowns: new Set(),
    markets: Array.from({ length: markets }, (_, index) => `shop-${String(index).padStart(3, '0')}`),
    nextRows(market, count) {
      return Array.from({ length: count }, () => {
        const day = days.get(market) ?? 0;
        days.set(market, day + 1);
        return {
          market,
          day: new Date(FIRST_DAY_MS + day * DAY_MS).toISOString().slice(0, 10),
          amountMinor: amounts++,
        };
      });
    },
  };
}

/** The ingest records of some rows: the definition of each market, then its prices. */
export function recordsOf(rows: readonly Row[]): readonly object[] {
  const markets = [...new Set(rows.map(({ market }) => market))];
  return [
    ...markets.map((slug) => ({
      type: 'market',
      slug,
      name: `Market ${slug}`,
      kind: 'food',
      nativeCurrency: 'EUR',
      unit: { quantity: 1, of: 'kilogram' },
      sources: [SOURCE],
    })),
    ...rows.map(({ market, day, amountMinor }) => ({
      type: 'observation',
      market,
      metric: 'price',
      amountMinor,
      currency: 'EUR',
      sourceValue: null,
      rounded: false,
      unknownReason: null,
      sourceLabel: SOURCE.label,
      sourceUrl: `${SOURCE.url}/${market}/${day}.json`,
      observedAt: `${day}T00:00:00Z`,
      confidence: 'high',
      status: 'final',
    })),
  ];
}

/** A UUID that follows from the seed, as an Idempotency-Key. */
export function keyOf(random: Random): string {
  const hex = createHash('sha256').update(random.bytes(16)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
