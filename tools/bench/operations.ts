/**
 * Counts of operations on storage, for the market list and for everything else. Only the list may grow with the number
 * of markets.
 */

const NONE = {
  /** Calls of `get`, `getMany` and `query` together. */
  ledgerReads: 0,
  itemsRead: 0,
  /** In DynamoDB's units for billing. */
  readUnits: 0,
  /** A call that changes only records of the list counts for the list. Any other call does not. */
  transactions: 0,
  /** Puts, deletes, counts, and checks of an item that stays unchanged. */
  itemsChanged: 0,
  writeUnits: 0,
  /** The growth of the ledger, without items that expire. */
  bytesKept: 0,
  objectReads: 0,
  objectStats: 0,
  objectPuts: 0,
  objectDeletes: 0,
  objectLists: 0,
  /** The bytes of bodies; bundles and layouts count in compressed form. */
  bytesRead: 0,
  bytesPut: 0,
};
const NAMES = Object.keys(NONE) as (keyof typeof NONE)[];

export type OperationCounts = typeof NONE;

/** The storage operations of some work. */
export interface Operations {
  readonly list: OperationCounts;
  readonly other: OperationCounts;
}

export class OperationCounter {
  #operations: Operations = { list: { ...NONE }, other: { ...NONE } };

  /** Returns the counts, and starts again at 0. */
  take(): Operations {
    const taken = this.#operations;
    this.#operations = { list: { ...NONE }, other: { ...NONE } };
    return taken;
  }

  of(isList: boolean): OperationCounts {
    return isList ? this.#operations.list : this.#operations.other;
  }
}

export function sumOf(...all: readonly OperationCounts[]): OperationCounts {
  const sum = { ...NONE };
  for (const counts of all) for (const name of NAMES) sum[name] += counts[name];
  return sum;
}

export function timesOf(counts: OperationCounts, factor: number): OperationCounts {
  return Object.fromEntries(NAMES.map((name) => [name, counts[name] * factor])) as OperationCounts;
}

/**
 * The differences between two counts of the same work. Bytes and units are left out, because they depend on the number of
 * digits in slugs, revisions and generations.
 */
export function differences(left: OperationCounts, right: OperationCounts): readonly string[] {
  const names = NAMES.filter((name) => !/^bytes|Units$/.test(name));
  return names.filter((name) => left[name] !== right[name]).map((name) => `${name}: ${left[name]} and ${right[name]}`);
}
