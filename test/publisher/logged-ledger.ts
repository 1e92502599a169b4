/** A ledger that remembers its transactions, so that a test can make an older copy without the last of them. */
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';

export interface LoggedLedger extends Ledger {
  /** The committed transactions, in order. */
  readonly transactions: readonly (readonly Change[])[];
}

export function openLoggedLedger(): LoggedLedger {
  const ledger = openSqliteLedger(':memory:');
  const transactions: (readonly Change[])[] = [];
  const logged = wrappedLedger(ledger, {
    async transact(changes, options) {
      const result = await ledger.transact(changes, options);
      if (result.committed) transactions.push(structuredClone(changes));
      return result;
    },
  });
  return { ...logged, transactions };
}

/** Whether the copy has this change of the torn transaction. */
export type Tear = (index: number, changes: readonly Change[]) => boolean;

/** A copy with the first transactions and a part of the next one. */
export async function olderCopy(
  { transactions }: LoggedLedger,
  count: number,
  tear: Tear = () => false,
): Promise<LoggedLedger> {
  const copy = openLoggedLedger();
  for (const [number, changes] of transactions.slice(0, count).entries()) await replay(copy, changes, number);
  const torn = transactions[count] ?? [];
  const left = torn.filter((_, index) => tear(index, torn));
  if (left.length > 0) await replay(copy, left, count);
  return copy;
}

/** The conditions held at the commit, so they hold again. New items keep theirs: audit records may only be created. */
async function replay(ledger: Ledger, changes: readonly Change[], number: number): Promise<void> {
  const any = { kind: 'any' } as const;
  const free = changes.map((change) =>
    'if' in change && change.if.kind !== 'absent' ? { ...change, if: any } : change,
  );
  const { committed } = await ledger.transact(free, { attemptId: `copy-${number}` });
  if (!committed) throw new Error(`transaction ${number} could not be done again`);
}
