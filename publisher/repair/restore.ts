/**
 * Continues with an older copy of the ledger, in place: the store is later than the ledger, and may hold objects that the
 * copy does not know. During the restore, readers see no 404 and no empty list.
 */
import { removed } from '../../storage/ports/changes.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readEach } from '../../storage/ports/paging.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { AWAITING_GENERATION } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { commit } from '../kernel/change-many.ts';
import { type RepairOutcome, repairMarkets } from './repair-market.ts';
import { type ResumeOptions, resume } from './resume.ts';

export interface RestoreOutcome {
  /** The repaired markets, each with its outcome. */
  readonly repaired: ReadonlyMap<string, RepairOutcome>;
  /** Call again with this `after`. Null: HEAD is raised, and publishing continues by itself. */
  readonly next: string | null;
  /** The generation to which HEAD was raised. Null: not raised yet, or nothing was ever published. */
  readonly generation: number | null;
}

export interface RestoreOptions extends Omit<ResumeOptions, 'isRestored'> {
  readonly after?: string;
  readonly hasTime?: () => boolean;
}

/** May be repeated, even after it has finished. Throws the errors of `repairMarket` and `resume`. */
export async function restore(
  storage: PublisherStorage,
  { after = '', hasTime = () => true, ...resuming }: RestoreOptions = {},
): Promise<RestoreOutcome> {
  const { outcomes, next } = await repairMarkets(storage, { after, hasTime });
  if (next !== null) return { repaired: outcomes, next, generation: null };
  await forgetTorn(storage);
  return { repaired: outcomes, next, generation: await resume(storage, { ...resuming, isRestored: true }) };
}

/**
 * Deletes items that wait for a later revision than the market has. Such an item is written together with that revision or
 * after it. So it belongs to a torn transaction whose other part is lost. If it stayed, a later write that brings the
 * market to that revision would report the lost batch as public.
 *
 * Safety: the deletion has the condition that the market's revision is unchanged. So an item stays if the rest of its
 * transaction only becomes visible later.
 */
async function forgetTorn(storage: PublisherStorage): Promise<void> {
  const { ledger } = storage;
  for await (const items of queryPages(ledger, AWAITING_GENERATION)) {
    for (const item of items) {
      const isBehind = await checkOfBehind(ledger, item.value?.revisions ?? {});
      if (isBehind !== null) await commit(storage, [removed(item), isBehind]);
    }
  }
}

/**
 * A check that a market is behind the awaited revision; null if no market is. A market without a record counts as behind: a
 * removal keeps the record, so only a torn transaction leaves none. If a later write created the market again, its
 * revisions would begin below the awaited one.
 */
async function checkOfBehind(ledger: Ledger, revisions: { readonly [slug: string]: number }): Promise<Change | null> {
  const records = await readEach(ledger, Object.entries(revisions), ([slug]) => marketKey(slug));
  for (const [[slug, revision], record] of records) {
    if (record !== null && record.revision >= revision) continue;
    const { partition, sort } = marketKey(slug);
    const asRead =
      record === null ? ({ kind: 'absent' } as const) : ({ kind: 'revision-is', revision: record.revision } as const);
    return { kind: 'check', key: { partition, sort }, if: asRead };
  }
  return null;
}
