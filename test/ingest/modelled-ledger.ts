/**
 * A ledger as far away as DynamoDB, in modelled time: nothing waits for a real clock, and a repeated run takes exactly
 * as long. Calls take a fixed time. Two transactions at once on one item conflict, and are retried as the adapter does.
 */
import { DynamoDbContention, retryContention } from '../../storage/dynamodb/dynamodb-failures.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

export const TRANSACT_MS = 60;
export const READ_MS = 10;

/** Time that passes only when every task waits for it. */
export class ModelledTime {
  #nowMs = 0;
  readonly #waiting: { readonly atMs: number; readonly go: () => void }[] = [];
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly pause = async (durationMs: number): Promise<void> => {
    await new Promise<void>((go) => this.#waiting.push({ atMs: this.#nowMs + durationMs, go }));
  };

  /** In [0, 1): the same numbers for the same seed. */
  readonly random = (): number => {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return this.#seed / 2_147_483_647;
  };

  /** Lets time pass until the work is done. */
  async pass(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const settle = () => {
      isDone = true;
    };
    work.then(settle, settle);
    for (;;) {
      // Everything that can run without waiting runs first.
      await new Promise((go) => setImmediate(go));
      if (isDone) break;
      this.#waiting.sort((left, right) => left.atMs - right.atMs);
      const next = this.#waiting.shift();
      if (next === undefined) throw new Error('the work waits for something that is not modelled');
      this.#nowMs = next.atMs;
      next.go();
    }
    await work;
  }
}

export interface ModelledLedger extends Ledger {
  /** Calls since it was opened. */
  readonly counts: { reads: number; transactions: number; conflicts: number };
}

/** A new one, empty. */
export function openModelledLedger(time: ModelledTime): ModelledLedger {
  const ledger = openSqliteLedger(':memory:');
  const counts = { reads: 0, transactions: 0, conflicts: 0 };
  const inFlight = new Set<string>();
  const nameOf = ({ key }: Change) => `${key.partition} ${key.sort}`;

  async function read<Result>(call: () => Promise<Result>): Promise<Result> {
    counts.reads++;
    await time.pause(READ_MS);
    return await call();
  }

  return {
    counts,
    transact: async (changes, options) =>
      await retryContention(time, async () => {
        counts.transactions++;
        const names = changes.map(nameOf);
        const isMet = names.some((name) => inFlight.has(name));
        if (!isMet) for (const name of names) inFlight.add(name);
        await time.pause(TRANSACT_MS);
        if (isMet) {
          counts.conflicts++;
          throw new DynamoDbContention('TransactionConflict');
        }
        for (const name of names) inFlight.delete(name);
        return await ledger.transact(changes, options);
      }),
    get: (key) => read(() => ledger.get(key)),
    getMany: (keys) => read(() => ledger.getMany(keys)),
    query: (partition, options) => read(() => ledger.query(partition, options)),
  };
}
