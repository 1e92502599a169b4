import * as z from 'zod';
import { OBSERVATIONS_PAGE_SIZE } from '../../../contract/files/limits.ts';
import { type Snapshot, slugSchema } from '../../../contract/values/market.ts';
import { PROJECTORS } from '../../projections.ts';
import { readSnapshot } from '../check-body.ts';
import type { PublicReader } from './reader.ts';
import { assertShare, type Share } from './share.ts';

/**
 * GETs for the markets and histories of one share. Eight at a time, through a CDN that mostly has to ask its origin (75
 * ms), they take three of Lambda's fifteen minutes; a second walk after findings takes three more.
 *
 * Meanwhile the whole list is walked, one page after another, because each page names the next. For a million markets
 * that is 10,000 pages: ten minutes at 50 ms for an answer and 10 ms for checking it. The list then decides the length
 * of the walk, and leaves no time for a second one. From 90 ms a page on, the walk would not finish.
 */
export const READS_PER_RUN = 20_000;

/** If the number of markets is unknown, the share is small. The unknown number is itself a finding. */
const SHARES_OF_THE_UNKNOWN = 1_024;

const HOUR_MS = 60 * 60 * 1000;

/** The number of shares: a power of two, so that growth seldom moves a market to another share. */
export function sharesFor({ counts, projections = [] }: Pick<Snapshot, 'counts' | 'projections'>): number {
  const { markets, observations } = counts;
  const named = PROJECTORS.filter(({ name }) => projections.some((projection) => projection === name));
  const files = named.reduce((sum, { filesOfMarket = 0 }) => sum + filesOfMarket, 0);
  const reads = (2 + files) * markets + observations / OBSERVATIONS_PAGE_SIZE;
  return 2 ** Math.max(0, Math.ceil(Math.log2(reads / READS_PER_RUN)));
}

/**
 * The share that is due now. Shares take turns: as many runs as there are shares check every market. Rejects only if the
 * reader rejects.
 *
 * @param everyHours the interval at which `verify` runs
 */
export async function shareDue(reader: PublicReader, nowMs: number, everyHours: number): Promise<Share> {
  // If there is no readable snapshot, `verify` itself reports that fault.
  const snapshot = await readSnapshot(reader);
  const of = snapshot === null ? SHARES_OF_THE_UNKNOWN : sharesFor(snapshot.value);
  return { index: Math.floor(nowMs / (everyHours * HOUR_MS)) % of, of };
}

const eventSchema = z.strictObject({
  share: z.strictObject({ index: z.int(), of: z.int() }).optional(),
  removed: z.array(slugSchema).max(1_000).default([]),
});

/** The input of a manual invocation: a share, or null for the share that is due; and removed markets to check. */
export interface Asked {
  readonly share: Share | null;
  readonly removed: readonly string[];
}

/**
 * Reads an event such as `{ "share": { "index": 0, "of": 1 }, "removed": ["gold-usd"] }`. The event of the schedule names
 * neither.
 *
 * @throws TypeError or RangeError for any other event: a mistyped event must not run the share that is due
 */
export function askedOf(event: unknown): Asked {
  const isScheduled = typeof event === 'object' && event !== null && 'detail-type' in event;
  if (isScheduled || event === null || event === undefined) return { share: null, removed: [] };
  const asked = eventSchema.safeParse(event);
  if (!asked.success) {
    throw new TypeError(`give {}, {"share":{"index":0,"of":1}} or {"removed":["slug"]}, not ${JSON.stringify(event)}`);
  }
  const { share = null, removed } = asked.data;
  if (share !== null) assertShare(share);
  return { share, removed };
}
