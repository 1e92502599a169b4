/** A ledger on which a rival commits first. */
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';

/**
 * Runs `by` once, just before the first transaction. With `at`: before the first transaction with such a change.
 */
export function overtakenLedger(
  ledger: Ledger,
  by: () => Promise<unknown>,
  at: (change: Change) => boolean = () => true,
): Ledger {
  let isOvertaken = false;
  return wrappedLedger(ledger, {
    async transact(changes, options) {
      if (!isOvertaken && changes.some(at)) {
        isOvertaken = true;
        await by();
      }
      return await ledger.transact(changes, options);
    },
  });
}
