/** A ledger that records its calls, and delays them or loses their answers as a test wants. */
import { expect } from 'vitest';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Item, ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import { describeKey } from '../../storage/ports/ledger-rules.ts';

export type Method = keyof Ledger;

/** The fate of a call: done; lost before it was done; done, with a lost answer. */
export type Fate = 'answered' | 'lost-request' | 'lost-answer';

export interface Commit {
  readonly changes: readonly Change[];
  readonly attemptId: string;
}

export interface WatchedLedger extends Ledger {
  /** Every call, in order. */
  readonly calls: Method[];
  /** The transactions that changed something, in the order of their commits. */
  readonly commits: readonly Commit[];
  /** All items that a transaction has ever touched and that are there, by key. */
  everything(): Promise<ReadonlyMap<string, Item>>;
}

export interface WatchOptions {
  readonly fateOf?: (method: Method) => Fate;
  /** Waited for before a call takes effect, and again before it is answered. */
  readonly delay?: (what: string) => Promise<unknown>;
  /** Commits of all processes on the ledger, in one list. */
  readonly commits?: Commit[];
}

export function watchLedger(ledger: Ledger, options: WatchOptions = {}): WatchedLedger {
  const { fateOf = () => 'answered', delay = async () => {}, commits = [] } = options;
  const calls: Method[] = [];
  const attempts = new Map<string, readonly Change[]>();

  async function through<Result>(method: Method, run: () => Promise<Result>): Promise<Result> {
    calls.push(method);
    const fate = fateOf(method);
    await delay(`${method} arrives`);
    if (fate === 'lost-request') throw new StorageUnavailable(`${method}: the request was lost`);
    const result = await run();
    await delay(`${method} is answered`);
    if (fate === 'lost-answer') throw new StorageUnavailable(`${method}: the answer was lost`);
    return result;
  }

  return {
    calls,
    commits,
    transact: (changes, { attemptId }) =>
      through('transact', async () => {
        // One attempt is one set of changes, however often it is made.
        const before = attempts.get(attemptId);
        if (before !== undefined) expect(changes).toEqual(before);
        attempts.set(attemptId, changes);
        const result = await ledger.transact(changes, { attemptId });
        const isNew = !commits.some((commit) => commit.attemptId === attemptId);
        if (result.committed && isNew) commits.push({ changes, attemptId });
        return result;
      }),
    get: (key) => through('get', () => ledger.get(key)),
    getMany: (keys) => through('getMany', () => ledger.getMany(keys)),
    query: (partition, query) => through('query', () => ledger.query(partition, query)),
    async everything() {
      const keys = new Map<string, ItemKey>();
      for (const { changes } of commits) for (const { key } of changes) keys.set(describeKey(key), key);
      const items = await Promise.all([...keys.values()].map((key) => ledger.get(key)));
      return new Map(items.flatMap((item) => (item === null ? [] : [[describeKey(item), item]])));
    },
  };
}
