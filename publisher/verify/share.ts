/** Which markets one run of `verify` looks at, where one invocation has not the time for all of them. */
import * as z from 'zod';
import { OBSERVATIONS_PAGE_SIZE } from '../../contract/limits.ts';
import { type Snapshot, snapshotSchema } from '../../contract/market.ts';
import { SNAPSHOT_URL } from '../../contract/routes.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import type { PublicReader } from './reader.ts';

/** The markets of share `index`, of `of` shares: 0 ≤ index < of. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const ALL_MARKETS: Share = { index: 0, of: 1 };

/**
 * GETs for the markets and histories of one share. Eight at a time and through a CDN that has to ask its origin for most
 * of them (75 ms) they take three minutes of Lambda's fifteen; a second look after findings takes three more.
 *
 * Meanwhile the list is walked whole, one page after another, since each names the next: of a million markets 10,000 pages,
 * ten minutes at 50 ms for an answer and 10 ms for checking it. That is the walk's length then, and leaves no time for a
 * second look; from 90 ms a page on it would not come to its end.
 */
export const READS_PER_RUN = 20_000;

/** When nobody knows how many markets there are, few are looked at: that nobody knows is a finding already. */
const SHARES_OF_THE_UNKNOWN = 1_024;

const HOUR_MS = 60 * 60 * 1000;

/**
 * By its slug and not by its place in the list, which moves with every market that comes before it: one that keeps pace
 * with the clock would never be looked at, and a second look would not be at the same markets.
 */
export function isInShare(slug: string, { index, of }: Share): boolean {
  return Number.parseInt(sha256Hex(slug).slice(0, 12), 16) % of === index;
}

/** @throws RangeError unless both are whole numbers and 0 ≤ index < of. */
export function assertShare({ index, of }: Share): void {
  if (Number.isSafeInteger(index) && Number.isSafeInteger(of) && 0 <= index && index < of) return;
  throw new RangeError(`there is no share ${index} of ${of}: give whole numbers, 0 ≤ index < of`);
}

/** How many shares there are: a power of two, so that growth seldom deals the markets out anew. */
export function sharesFor({ markets, observations }: Snapshot['counts']): number {
  const reads = 2 * markets + observations / OBSERVATIONS_PAGE_SIZE;
  return 2 ** Math.max(0, Math.ceil(Math.log2(reads / READS_PER_RUN)));
}

/**
 * The share that is due: each in its turn, so that as many runs in a row as there are shares look at every market. Rejects
 * only when the reader does.
 *
 * @param everyHours how often `verify` runs
 */
export async function shareDue(reader: PublicReader, nowMs: number, everyHours: number): Promise<Share> {
  const counts = await readCounts(reader);
  const of = counts === null ? SHARES_OF_THE_UNKNOWN : sharesFor(counts);
  return { index: Math.floor(nowMs / (everyHours * HOUR_MS)) % of, of };
}

/** What the snapshot counts; null when there is none, or none that can be read: what is wrong is for `verify` to say. */
async function readCounts(reader: PublicReader): Promise<Snapshot['counts'] | null> {
  const { status, body } = await reader(SNAPSHOT_URL);
  if (status !== 200) return null;
  try {
    return snapshotSchema.parse(JSON.parse(Buffer.from(body).toString('utf8'))).counts;
  } catch {
    return null;
  }
}

const eventSchema = z.strictObject({ share: z.strictObject({ index: z.int(), of: z.int() }).optional() });

/**
 * The share that an invocation by hand asks for, such as `{ "share": { "index": 0, "of": 1 } }`; null when it asks for none,
 * as a schedule does.
 *
 * @throws TypeError or RangeError for anything else: what was mistyped is not to pass for a run of the share that is due.
 */
export function shareAsked(event: unknown): Share | null {
  const isScheduled = typeof event === 'object' && event !== null && 'detail-type' in event;
  if (isScheduled || event === null || event === undefined) return null;
  const asked = eventSchema.safeParse(event);
  if (!asked.success) {
    throw new TypeError(`give {} or {"share":{"index":0,"of":1}}, not ${JSON.stringify(event)}`);
  }
  const { share = null } = asked.data;
  if (share !== null) assertShare(share);
  return share;
}
