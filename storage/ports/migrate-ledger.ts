/**
 * Migrates a ledger of an earlier version to the format of this one, in place. It may be interrupted at any moment and
 * called again: each item moves in one transaction, and the format is written last. Until then, this version does nothing
 * else with the ledger.
 */

import { keyOfToday, MOVED_PARTITIONS, type MovedValue, movedRange } from '../records/format-3.ts';
import { FORMAT_KEY, LEDGER_FORMAT, OLDEST_FORMAT } from '../records/formats.ts';
import { removed } from './changes.ts';
import { checkIsKnown, claimFormat, type FormatDependencies } from './format.ts';
import { type Change, type Item, MAX_TRANSACT_CHANGES, type PutChange } from './ledger.ts';
import { readPage } from './paging.ts';

/** `current`: the ledger had this format, or was empty. `unfinished`: the time was too short; call it again. */
export type MigrationOutcome = 'current' | 'migrated' | 'unfinished';

/** Moving an item takes two changes. */
const ITEMS_AT_ONCE = MAX_TRANSACT_CHANGES / 2;

/**
 * @param hasTime asked before each transaction
 * @throws FormatTooNew, FormatTooOld: this version does not know the format. StorageUnavailable: call it again
 */
export async function migrateLedger(
  dependencies: FormatDependencies,
  hasTime: () => boolean = () => true,
): Promise<MigrationOutcome> {
  const format = await checkIsKnown(dependencies.ledger);
  if (format === null || format === LEDGER_FORMAT) {
    await claimFormat(dependencies);
    return 'current';
  }
  if (!(await moveItems(dependencies, hasTime))) return 'unfinished';
  const { ledger, newAttemptId } = dependencies;
  const value = { format: LEDGER_FORMAT };
  const asRead = { kind: 'revision-is', revision: OLDEST_FORMAT } as const;
  const put = { kind: 'put', key: FORMAT_KEY, revision: LEDGER_FORMAT, value, if: asRead } as const;
  // If it is refused, another migration has finished.
  await ledger.transact([put], { attemptId: newAttemptId() });
  return 'migrated';
}

/**
 * Moves items of format 3 to their present keys; returns whether all of them have moved. It also moves items that a
 * function of the previous version wrote late: if both keys have an item, the later revision stays.
 */
export async function moveItems(
  { ledger, newAttemptId }: FormatDependencies,
  hasTime: () => boolean,
): Promise<boolean> {
  const move = async (changes: readonly Change[]) =>
    (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
  for (const partition of MOVED_PARTITIONS) {
    for (;;) {
      const { items } = await readPage(ledger, movedRange(partition), { limit: ITEMS_AT_ONCE });
      if (items.length === 0) break;
      if (!hasTime()) return false;
      if (await move(items.flatMap((item) => [removed(item), putToday(item)]))) continue;
      for (const item of items) {
        const there = await ledger.get(keyOfToday(item, item.value));
        const isLater = there !== null && there.revision >= item.revision;
        // If it is refused, the item has changed, and is read again.
        await move([removed(item), ...(isLater ? [] : [{ ...putToday(item), if: { kind: 'any' } as const }])]);
      }
    }
  }
  return true;
}

function putToday(item: Item<MovedValue>): PutChange<MovedValue> {
  const { revision, value, expiresAtMs } = item;
  const expiry = expiresAtMs === null ? {} : { expiresAtMs };
  return { kind: 'put', key: keyOfToday(item, value), revision, value, ...expiry, if: { kind: 'absent' } };
}
