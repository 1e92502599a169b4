/**
 * Continues with an older copy of the ledger, in place: the store is later than the ledger, and may hold objects that
 * the copy does not know. Meanwhile readers see no 404 and no empty list.
 */
import type { PublisherStorage } from '../dependencies.ts';
import { forgetTorn } from './forget-torn.ts';
import { type RepairOutcome, repairMarkets } from './repair-market.ts';
import { resume } from './resume.ts';

export interface RestoreOutcome {
  /** The repaired markets, and what was done to each. */
  readonly repaired: ReadonlyMap<string, RepairOutcome>;
  /** Call again with this `after`. Null: HEAD is raised, and publishing continues by itself. */
  readonly next: string | null;
}

/** May be repeated, also after it has finished. Errors as of `repairMarket` and `resume`. */
export async function restore(
  storage: PublisherStorage,
  { after = '', hasTime = () => true }: { readonly after?: string; readonly hasTime?: () => boolean } = {},
): Promise<RestoreOutcome> {
  const { outcomes, next } = await repairMarkets(storage, { after, hasTime });
  if (next === null) {
    await forgetTorn(storage);
    await resume(storage);
  }
  return { repaired: outcomes, next };
}
