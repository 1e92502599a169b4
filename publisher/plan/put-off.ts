/**
 * Markets that are put off, since when, and why. The publisher decides that anew in each generation; what is kept here is for
 * people: a market that stays put off needs a repair.
 */
import type { Change, ItemKey } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { marketMarkKey, PUT_OFF, putOffKey, refreshMarkKey } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';

/** After so long, somebody is told. */
const PUT_OFF_TOO_LONG_MS = 5 * 60 * 1000;

export interface PutOffMarket {
  readonly slug: string;
  readonly sinceMs: number;
  readonly reason: string;
}

/** Whether it needs a repair rather than time. */
export function isPutOffTooLong({ sinceMs }: Pick<PutOffMarket, 'sinceMs'>, nowMs: number): boolean {
  return nowMs - sinceMs > PUT_OFF_TOO_LONG_MS;
}

export async function readPutOff({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly PutOffMarket[]> {
  return (await readAll(ledger, PUT_OFF)).map(({ sort, value }) => ({ slug: sort, ...value }));
}

/**
 * Remembers those that a generation has put off, and forgets those that it has planned. Of two publishers one may put off what the
 * other has planned already: where no mark is left, nothing is put off. Returns all that are put off now.
 */
export async function settlePutOff(
  { ledger, nowMs, newAttemptId }: PublisherStorage,
  before: readonly PutOffMarket[],
  { planned, putOff }: { readonly planned: ReadonlyMap<string, unknown>; readonly putOff: ReadonlyMap<string, string> },
): Promise<readonly PutOffMarket[]> {
  const now: PutOffMarket[] = [];
  const transact = async (changes: readonly Change[]) =>
    (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
  const known = new Set(before.map(({ slug }) => slug));
  for (const market of before) {
    const { slug } = market;
    const forget: Change = { kind: 'delete', key: putOffKey(slug), if: { kind: 'any' } };
    const isAbsent = (key: ItemKey): Change => ({ kind: 'check', key, if: { kind: 'absent' } });
    const unmarked = planned.has(slug) ? [] : [isAbsent(marketMarkKey(slug)), isAbsent(refreshMarkKey(slug))];
    if (putOff.has(slug) || !(await transact([forget, ...unmarked]))) now.push(market);
  }
  for (const [slug, reason] of putOff) {
    if (known.has(slug)) continue;
    const value = { sinceMs: nowMs(), reason };
    now.push({ slug, ...value });
    await transact([{ kind: 'put', key: putOffKey(slug), revision: 0, value, if: { kind: 'absent' } }]);
  }
  return now;
}
