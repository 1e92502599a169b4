/** Storage that delays each request as AWS would, and limits the number of requests at once. */
import { concurrencyLimit } from '../../../storage/concurrency/concurrency-limit.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import type { OperationCounts } from '../operations.ts';

/** Waiting times within a region, in milliseconds. Assumed, not measured on an account. */
const WAIT_MS = { put: 35, head: 12, get: 18, transaction: 13, read: 4 } as const;

/** @param places the number of requests at once: a client has this many sockets */
function waiting(places: number) {
  const inTurn = concurrencyLimit(places);
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  return <Result>(kind: keyof typeof WAIT_MS, ask: () => Promise<Result>): Promise<Result> =>
    inTurn(() => pause(WAIT_MS[kind]).then(ask));
}

export function waitingLedger(ledger: Ledger, places: number): Ledger {
  const wait = waiting(places);
  return {
    transact: (...asked) => wait('transaction', () => ledger.transact(...asked)),
    get: (key) => wait('read', () => ledger.get(key)),
    getMany: (keys) => wait('read', () => ledger.getMany(keys)),
    query: (...asked) => wait('read', () => ledger.query(...asked)),
  };
}

export function waitingObjects(objects: ObjectStore, places: number): ObjectStore {
  const wait = waiting(places);
  return {
    get: (...asked) => wait('get', () => objects.get(...asked)),
    stat: (key) => wait('head', () => objects.stat(key)),
    put: (...asked) => wait('put', () => objects.put(...asked)),
    delete: (...asked) => wait('put', () => objects.delete(...asked)),
    list: (...asked) => wait('put', () => objects.list(...asked)),
    ...(objects.etagOf && { etagOf: objects.etagOf }),
  };
}

/** The total waiting time of these requests, in seconds. */
export function waitsOf(counts: OperationCounts): { readonly objects: number; readonly ledger: number } {
  const { put, head, get, transaction, read } = WAIT_MS;
  const puts = counts.objectPuts + counts.objectDeletes + counts.objectLists;
  return {
    objects: (puts * put + counts.objectStats * head + counts.objectReads * get) / 1000,
    ledger: (counts.transactions * transaction + counts.ledgerReads * read) / 1000,
  };
}
