/**
 * Counts of operations on storage, for the market list and for everything else. Only the list may grow with the number
 * of markets.
 */

export interface OperationCounts {
  /** Calls of `get`, `getMany` and `query` together. */
  ledgerReads: number;
  itemsRead: number;
  /** As DynamoDB bills them: see `dynamodb-units.ts`. */
  readUnits: number;
  /** A call that changes only records of the list counts for the list, any other does not. */
  transactions: number;
  /** Puts, deletes, counts, and checks of an item that is left as it is. */
  itemsChanged: number;
  writeUnits: number;
  objectReads: number;
  objectStats: number;
  objectPuts: number;
  objectDeletes: number;
  objectLists: number;
  /** Of bodies; those of bundles and layouts are compressed. */
  bytesRead: number;
  bytesPut: number;
}

/** The operations of some work. */
export interface Operations {
  readonly list: OperationCounts;
  readonly other: OperationCounts;
}

export class OperationCounter {
  #operations: Operations = { list: noOperations(), other: noOperations() };

  /** Returns the counts, and starts again at 0. */
  take(): Operations {
    const taken = this.#operations;
    this.#operations = { list: noOperations(), other: noOperations() };
    return taken;
  }

  of(isList: boolean): OperationCounts {
    return isList ? this.#operations.list : this.#operations.other;
  }
}

export function noOperations(): OperationCounts {
  return {
    ledgerReads: 0,
    itemsRead: 0,
    readUnits: 0,
    transactions: 0,
    itemsChanged: 0,
    writeUnits: 0,
    objectReads: 0,
    objectStats: 0,
    objectPuts: 0,
    objectDeletes: 0,
    objectLists: 0,
    bytesRead: 0,
    bytesPut: 0,
  };
}

export function sumOf(...all: readonly OperationCounts[]): OperationCounts {
  const sum = noOperations();
  for (const counts of all) for (const name of Object.keys(sum) as (keyof OperationCounts)[]) sum[name] += counts[name];
  return sum;
}

/**
 * The differences between two counts of the same work. Bytes and units are left out, because slugs, revisions and
 * generations have digits.
 */
export function differences(left: OperationCounts, right: OperationCounts): readonly string[] {
  const names = (Object.keys(left) as (keyof OperationCounts)[]).filter((name) => !/^bytes|Units$/.test(name));
  return names.filter((name) => left[name] !== right[name]).map((name) => `${name}: ${left[name]} and ${right[name]}`);
}
