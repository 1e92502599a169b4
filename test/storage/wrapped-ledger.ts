/** A ledger with other methods in the place of some: how tests watch, delay and break one. */
import type { Ledger } from '../../storage/ports/ledger.ts';

export function wrappedLedger(ledger: Ledger, methods: Partial<Ledger>): Ledger {
  return {
    get: (key) => ledger.get(key),
    getMany: (keys) => ledger.getMany(keys),
    query: (partition, options) => ledger.query(partition, options),
    transact: (changes, options) => ledger.transact(changes, options),
    ...methods,
  };
}
