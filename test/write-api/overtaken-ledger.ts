/** A ledger on which somebody else is always a little faster. */
import type { Change, Ledger } from '../../storage/ledger.ts';

/**
 * The ledger as it is to somebody who has read, and now writes: `by` is done just before, once. With `at`, before the first
 * transaction that holds such a change.
 */
export function overtakenLedger(
  ledger: Ledger,
  by: () => Promise<unknown>,
  at: (change: Change) => boolean = () => true,
): Ledger {
  let isOvertaken = false;
  return {
    get: (key) => ledger.get(key),
    getMany: (keys) => ledger.getMany(keys),
    query: (partition, options) => ledger.query(partition, options),
    async transact(changes, options) {
      if (!isOvertaken && changes.some(at)) {
        isOvertaken = true;
        await by();
      }
      return await ledger.transact(changes, options);
    },
  };
}
