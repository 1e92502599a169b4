/**
 * Markets that are put off, since when, and why. The publisher decides that anew in each generation; what is kept here is for
 * people: a market that stays put off needs a repair.
 */
import { readAll } from '../../storage/paging.ts';
import { PUT_OFF, putOffKey } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';

/** After so long, somebody is told. */
const PUT_OFF_TOO_LONG_SECONDS = 5 * 60;

export interface PutOffMarket {
  readonly slug: string;
  readonly sinceMs: number;
  readonly reason: string;
}

export function isPutOffTooLong({ sinceMs }: Pick<PutOffMarket, 'sinceMs'>, nowMs: number): boolean {
  return nowMs - sinceMs > PUT_OFF_TOO_LONG_SECONDS * 1000;
}

export async function readPutOff({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly PutOffMarket[]> {
  return (await readAll(ledger, PUT_OFF)).map(({ sort, value }) => ({ slug: sort, ...value }));
}

/** Remembers those that a generation has put off, and forgets those that it has planned. Returns all that are put off now. */
export async function settlePutOff(
  { ledger, nowMs, newAttemptId }: PublisherStorage,
  before: readonly PutOffMarket[],
  { planned, putOff }: { readonly planned: ReadonlyMap<string, unknown>; readonly putOff: ReadonlyMap<string, string> },
): Promise<readonly PutOffMarket[]> {
  const known = new Set(before.map(({ slug }) => slug));
  const now = before.filter(({ slug }) => !planned.has(slug));
  for (const [slug, reason] of putOff) {
    if (known.has(slug)) continue;
    const value = { sinceMs: nowMs(), reason };
    now.push({ slug, ...value });
    const put = { kind: 'put', key: putOffKey(slug), revision: 0, value, if: { kind: 'absent' } } as const;
    await ledger.transact([put], { attemptId: newAttemptId() });
  }
  for (const { slug } of before) {
    if (!planned.has(slug)) continue;
    await ledger.transact([{ kind: 'delete', key: putOffKey(slug), if: { kind: 'any' } }], {
      attemptId: newAttemptId(),
    });
  }
  return now;
}
