/**
 * Put-off markets: since when, and the reason. The publisher decides again in each generation. These records are for
 * operators: a market that stays put off needs a repair.
 */
import { readAll } from '../../storage/paging.ts';
import { PUT_OFF, putOffKey } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import type { Draft } from './plan-generation.ts';

/** After this time an alarm goes off. */
const PUT_OFF_TOO_LONG_MS = 5 * 60 * 1000;

export interface PutOffMarket {
  readonly slug: string;
  readonly sinceMs: number;
  readonly reason: string;
}

/** Whether the market needs a repair: waiting would not help any more. */
export function isPutOffTooLong({ sinceMs }: Pick<PutOffMarket, 'sinceMs'>, nowMs: number): boolean {
  return nowMs - sinceMs > PUT_OFF_TOO_LONG_MS;
}

export async function readPutOff({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly PutOffMarket[]> {
  return (await readAll(ledger, PUT_OFF)).map(({ sort, value }) => ({ slug: sort, ...value }));
}

/**
 * Remembers the markets that a generation has put off, and forgets those that it has planned. Returns all put-off
 * markets.
 *
 * @param before read before the marks: a market that has no mark any more was published by a rival, and is forgotten
 *   too
 */
export async function settlePutOff(
  { ledger, nowMs, newAttemptId }: PublisherStorage,
  before: readonly PutOffMarket[],
  { planned, putOff, isFreshLeft, isRefreshLeft }: Pick<Draft, 'planned' | 'putOff' | 'isFreshLeft' | 'isRefreshLeft'>,
): Promise<readonly PutOffMarket[]> {
  const known = new Set(before.map(({ slug }) => slug));
  const areAllRead = !isFreshLeft && !isRefreshLeft;
  const isDone = ({ slug }: PutOffMarket) => planned.has(slug) || (areAllRead && !putOff.has(slug));
  const now = before.filter((market) => !isDone(market));
  for (const [slug, reason] of putOff) {
    if (known.has(slug)) continue;
    const value = { sinceMs: nowMs(), reason };
    now.push({ slug, ...value });
    const put = { kind: 'put', key: putOffKey(slug), revision: 0, value, if: { kind: 'absent' } } as const;
    await ledger.transact([put], { attemptId: newAttemptId() });
  }
  for (const { slug } of before.filter(isDone)) {
    await ledger.transact([{ kind: 'delete', key: putOffKey(slug), if: { kind: 'any' } }], {
      attemptId: newAttemptId(),
    });
  }
  return now;
}
