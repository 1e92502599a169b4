/**
 * The ledger of a simulated world: exactly as strong as the port promises. Transactions are serialised at the moment of
 * their commit, and conditions are checked against committed items. Until a transaction is acknowledged, reads see its items
 * one by one, in any order. As in DynamoDB, two transactions on one item cancel each other.
 */
import type {
  Change,
  CountChange,
  Item,
  ItemKey,
  ItemsOf,
  Ledger,
  QueryPage,
  Refusal,
  TransactResult,
} from '../../storage/ports/ledger.ts';
import {
  checkGetMany,
  checkKey,
  checkQuery,
  checkTransact,
  countHolds,
  countOf,
  parseValue,
} from '../../storage/ports/ledger-rules.ts';
import { conditionHolds } from '../storage/memory-ledger.ts';
import { frozen, type LedgerItems } from './ledger-items.ts';
import { CONTENDED, type Conditions, type Incarnation, type Performer } from './processes.ts';
import type { Random } from './random.ts';

/** Longer than the time from the visibility of a transaction to its acknowledgement. */
const ACKNOWLEDGED_AFTER_MS = 2;

export interface Committed {
  readonly by: string;
  readonly changes: readonly Change[];
}

export interface Logged {
  readonly changes: readonly Change[];
  readonly before: readonly (Item | null)[];
}

/** The changes that a point-in-time restore may leave of a transaction. */
export type Tear = (changes: readonly Change[]) => ReadonlySet<number> | null;

/** Guards that are switched off: conditions that always hold. */
export type LedgerGaps = (change: Change, process: string, changes: readonly Change[]) => boolean;

export class SimulatedLedger {
  readonly items: LedgerItems;
  readonly #operations: Performer;
  readonly #conditions: Conditions;
  readonly #random: Random;
  readonly #gaps: LedgerGaps;
  readonly #onCommit: (committed: Committed) => void;
  /** Decides for each transaction whether it is torn. That stops the whole world. */
  tear: Tear | null = null;
  onTorn: () => void = () => undefined;
  /** The number of transactions that reached the ledger, by process. */
  readonly attempts = new Map<string, number>();
  committed = 0;
  /** All transactions, with the previous items. Kept if the ledger will be restored. */
  log: Logged[] | null = null;

  constructor(
    items: LedgerItems,
    operations: Performer,
    conditions: Conditions,
    random: Random,
    onCommit: (committed: Committed) => void,
    gaps: LedgerGaps = () => false,
  ) {
    this.#gaps = gaps;
    this.items = items;
    this.#operations = operations;
    this.#conditions = conditions;
    this.#random = random;
    this.#onCommit = onCommit;
  }

  /** The port of one process. */
  portOf(caller: Incarnation): Ledger {
    const operations = this.#operations;
    const now = () => operations.elapsedMs;
    const { items } = this;
    return {
      transact: async (changes, { attemptId }) => {
        const texts = checkTransact(changes, attemptId);
        return await operations
          .perform(caller, {
            name: 'ledger.transact',
            key: () => changes.map(inShort).join(' '),
            isWrite: true,
            effect: () => this.#transact(caller, changes, texts, attemptId),
            answerAfterMs: ({ acknowledgedAtMs }) => Math.max(0, acknowledgedAtMs - now()),
            describe: ({ result }) =>
              result.committed ? 'committed' : `refused by ${result.refusals.map(({ index }) => index).join(', ')}`,
          })
          .then(({ result }) => result);
      },
      get: async <Value>(key: ItemKey<Value>) => {
        checkKey(key);
        return await operations.perform(caller, {
          name: 'ledger.get',
          key: () => `${key.partition} ${key.sort}`,
          isWrite: false,
          effect: () => items.visible(key, now()) as Item<Value> | null,
          describe: describeItem,
        });
      },
      getMany: async <const Keys extends readonly ItemKey[]>(keys: Keys) => {
        checkGetMany(keys);
        return await operations.perform(caller, {
          name: 'ledger.getMany',
          key: () => keys.map(({ partition, sort }) => `${partition} ${sort}`).join(', '),
          isWrite: false,
          effect: () => keys.map((key) => items.visible(key, now())) as ItemsOf<Keys>,
          describe: (found) => found.map(describeItem).join(', '),
        });
      },
      query: async (partition, options) => {
        checkQuery(partition, options);
        return await operations.perform(caller, {
          name: 'ledger.query',
          key: () => `${partition} ${JSON.stringify(options)}`,
          isWrite: false,
          effect: (): QueryPage => {
            const { prefix = '', after, descending = false } = options;
            const limit = Math.min(options.limit, this.#pageLimit());
            const page: Item[] = [];
            for (const item of items.visibleRange(partition, now(), { prefix, after, descending })) {
              if (page.length === limit) return { items: page, next: page.at(-1)?.sort ?? null };
              page.push(item);
            }
            return { items: page, next: null };
          },
          describe: (page) => `${page.items.map(describeItem).join(', ') || 'nothing'}${page.next ? ' …' : ''}`,
        });
      },
    };
  }

  /**
   * Undoes the last transactions, as a restore does. A part of the first of them stays.
   *
   * @returns that transaction
   */
  goBack(transactions: number, isKept: (index: number) => boolean): readonly Change[] {
    const { log, items } = this;
    if (log === null) throw new Error('no log is kept of this ledger');
    let torn: readonly Change[] = [];
    for (const [step, { changes, before }] of log.splice(-transactions).reverse().entries()) {
      const isLast = step === transactions - 1;
      for (const [index, { key }] of changes.entries()) {
        if (!isLast || !isKept(index)) items.undo(key, before[index] ?? null);
      }
      torn = changes;
    }
    items.settle();
    return torn;
  }

  #pageLimit(): number {
    const { shortPageRate } = this.#conditions;
    const isShort = shortPageRate > 0 && this.#random.chance(shortPageRate);
    return isShort ? this.#random.int(1, 3) : Number.POSITIVE_INFINITY;
  }

  #transact(
    caller: Incarnation,
    changes: readonly Change[],
    texts: readonly (string | null)[],
    attemptId: string,
  ): { result: TransactResult; acknowledgedAtMs: number } | typeof CONTENDED {
    const { items } = this;
    const nowMs = this.#operations.elapsedMs;
    this.attempts.set(caller.name, (this.attempts.get(caller.name) ?? 0) + 1);
    if (changes.some(({ key }) => items.isLocked(key, nowMs))) return CONTENDED;
    const refusals = changes.flatMap((change, index): Refusal[] => {
      const found = items.committed(change.key);
      const holds = change.kind === 'count' ? countHolds(change, found) : conditionHolds(change.if, found);
      return holds || this.#gaps(change, caller.name, changes) ? [] : [{ index, found }];
    });
    if (refusals.length > 0) {
      const isOurs = refusals.some(({ found }) => found?.attemptId === attemptId);
      return { result: isOurs ? { committed: true } : { committed: false, refusals }, acknowledgedAtMs: nowMs };
    }
    const staggerMs = this.#staggerMs(caller);
    const acknowledgedAtMs = nowMs + staggerMs + this.#random.unit() * ACKNOWLEDGED_AFTER_MS;
    const kept = this.tear?.(changes) ?? null;
    this.log?.push({ changes, before: changes.map(({ key }) => items.committed(key)) });
    for (const [index, change] of changes.entries()) {
      items.lock(change.key, acknowledgedAtMs);
      if (change.kind === 'check' || (kept !== null && !kept.has(index))) continue;
      const visibleAtMs = staggerMs === 0 ? nowMs : nowMs + this.#random.unit() * staggerMs;
      items.write(change.key, itemOf(change, texts[index] ?? null, attemptId, items), nowMs, visibleAtMs);
    }
    this.committed++;
    if (kept === null) this.#onCommit({ by: caller.name, changes });
    else this.onTorn();
    return { result: { committed: true }, acknowledgedAtMs };
  }

  #staggerMs({ name }: Incarnation): number {
    const { staggerRate, staggerMs, staggered } = this.#conditions;
    if (!name.startsWith(staggered)) return 0;
    return staggerRate > 0 && this.#random.chance(staggerRate) ? this.#random.spread(1, staggerMs) : 0;
  }
}

function itemOf(
  change: Exclude<Change, { kind: 'check' }>,
  text: string | null,
  attemptId: string,
  items: LedgerItems,
): Item | null {
  const { key } = change;
  if (change.kind === 'delete') return null;
  const value = change.kind === 'put' ? frozen(parseValue(text as string)) : counted(change, items);
  const revision = change.kind === 'put' ? change.revision : 0;
  return Object.freeze({ ...key, revision, attemptId, expiresAtMs: change.expiresAtMs ?? null, value });
}

function counted(change: CountChange, items: LedgerItems): number {
  return countOf(items.committed(change.key)) + change.by;
}

function inShort({ kind, key }: Change): string {
  return `${kind} ${key.partition}:${key.sort}`;
}

function describeItem(item: Pick<Item, 'sort' | 'revision'> | null): string {
  return item === null ? 'absent' : `${item.sort}@${item.revision}`;
}
