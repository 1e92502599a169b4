/**
 * Goes on with an older copy of the ledger, in place: the store is later than it, and may hold what the copy does not know.
 * Readers see no 404 and no empty list meanwhile.
 */
import type { PublisherStorage } from '../dependencies.ts';
import { forgetTorn } from './forget-torn.ts';
import { type RepairOutcome, repairMarkets } from './repair-market.ts';
import { resume } from './resume.ts';

export interface RestoreOutcome {
  /** Markets that did not add up, and what was done to them. */
  readonly repaired: ReadonlyMap<string, RepairOutcome>;
  /** Call again with this `after`; null when HEAD is raised, and publishing goes on by itself. */
  readonly next: string | null;
}

/** May be called again, also after it has come to its end. Errors as of `repairMarket` and `resume`. */
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
