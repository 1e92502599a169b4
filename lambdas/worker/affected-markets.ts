/**
 * The markets that a piece of work writes to. Transactions on one market are serialised anyway, so a second worker would only
 * conflict with the first. This is a hint, not a lock: a missed overlap only costs time.
 */
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../contract/files/limits.ts';
import type { WorkValue } from '../../storage/records/batches.ts';

/** A batch with at most this many rows fits one transaction, so no worker needs to wait for it. */
const FEW_ROWS = 20;

/** With more markets than this, the work counts as writing to all markets. */
const MARKETS_NAMED = 50;
const MANY: readonly string[] = ['*'];

const SLUG = new RegExp(`^${SLUG_PATTERN}$`);

/** The markets that a batch of these records would write to. The records are not validated yet, so they may be anything. */
export function affectedMarkets(records: readonly unknown[]): Pick<WorkValue, 'touches'> {
  if (records.length <= FEW_ROWS) return {};
  return {
    touches: union([], slugsOf(records)),
  };
}

/** The markets that the records name. */
export function slugsOf(records: readonly unknown[]): readonly string[] {
  return [...new Set(records.map(slugOfAny).filter((slug) => slug !== null))];
}

function slugOfAny(record: unknown): string | null {
  const { market, slug } = (record ?? {}) as { readonly market?: unknown; readonly slug?: unknown };
  const name = market ?? slug;
  return typeof name === 'string' && name.length <= SLUG_MAX_LENGTH && SLUG.test(name) ? name : null;
}

export function union(left: readonly string[], right: readonly string[]): string[] {
  const all = [...new Set([...left, ...right])].sort();
  return all.length > MARKETS_NAMED || left[0] === MANY[0] ? [...MANY] : all;
}

/** Whether both may write to one market. */
export function overlap(left: readonly string[] = [], right: readonly string[] = []): boolean {
  if (left.length === 0 || right.length === 0) return false;
  return left[0] === MANY[0] || right[0] === MANY[0] || left.some((slug) => right.includes(slug));
}
