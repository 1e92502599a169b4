/** A ledger in memory. Stricter than any real one: it never answers at once, and its pages of a query are short. */
import type { Change, Condition, Item, ItemKey, ItemsOf, Ledger, Refusal } from '../../storage/ports/ledger.ts';
import {
  checkGetMany,
  checkKey,
  checkQuery,
  checkTransact,
  countHolds,
  countOf,
  describeKey,
  parseValue,
} from '../../storage/ports/ledger-rules.ts';

type Stored = Omit<Item, 'value'> & { readonly text: string };

const PAGE_CHARACTERS = 4 * 1024;

export function openMemoryLedger(): Ledger {
  const items = new Map<string, Stored>();

  const read = <Value>(key: ItemKey<Value>): Item<Value> | null => {
    const stored = items.get(describeKey(key));
    if (stored === undefined) return null;
    const { text, ...item } = stored;
    return { ...item, value: parseValue(text) } as Item<Value>;
  };

  const refusalsOf = (changes: readonly Change[]): Refusal[] =>
    changes.flatMap((change, index) => {
      const found = read(change.key);
      const holds = change.kind === 'count' ? countHolds(change, found) : conditionHolds(change.if, found);
      return holds ? [] : [{ index, found }];
    });

  const apply = (change: Change, text: string | null, attemptId: string): void => {
    const { kind, key } = change;
    const write = (revision: number, written: string, expiresAtMs: number | null = null) =>
      items.set(describeKey(key), { ...key, revision, attemptId, expiresAtMs, text: written });
    if (kind === 'put') write(change.revision, text as string, change.expiresAtMs);
    else if (kind === 'count') write(0, String(countOf(read(key)) + change.by), change.expiresAtMs);
    else if (kind === 'delete') items.delete(describeKey(key));
  };

  return {
    async transact(changes, { attemptId }) {
      const texts = checkTransact(changes, attemptId);
      await elsewhere();
      const refusals = refusalsOf(changes);
      const isOurs = refusals.some(({ found }) => found?.attemptId === attemptId);
      if (refusals.length === 0) {
        for (const [index, change] of changes.entries()) apply(change, texts[index] ?? null, attemptId);
      }
      await elsewhere();
      return refusals.length === 0 || isOurs ? { committed: true } : { committed: false, refusals };
    },
    async get(key) {
      checkKey(key);
      await elsewhere();
      const item = read(key);
      await elsewhere();
      return item;
    },
    async getMany<const Keys extends readonly ItemKey[]>(keys: Keys) {
      checkGetMany(keys);
      await elsewhere();
      const found = keys.map((key) => read(key)) as ItemsOf<Keys>;
      await elsewhere();
      return found;
    },
    async query(partition, options) {
      checkQuery(partition, options);
      await elsewhere();
      const { prefix = '', after, descending = false, limit } = options;
      const direction = descending ? -1 : 1;
      const follows = ({ sort }: Stored) => after === undefined || direction * byBytes(sort, after) > 0;
      const fitting = [...items.values()]
        .filter((item) => item.partition === partition && item.sort.startsWith(prefix) && follows(item))
        .sort((left, right) => direction * byBytes(left.sort, right.sort));
      let characters = 0;
      const end = fitting.findIndex(({ text }, index) => {
        const isFull = index === limit || characters > PAGE_CHARACTERS;
        characters += text.length;
        return isFull;
      });
      const page = fitting.slice(0, end === -1 ? fitting.length : end);
      return { items: page.map((item) => read(item) as Item), next: end === -1 ? null : (page.at(-1)?.sort ?? null) };
    },
  };
}

/** Others run in between: no caller may rely on an answer that comes at once. */
async function elsewhere(): Promise<void> {}

export function conditionHolds(condition: Condition, found: Item | null): boolean {
  switch (condition.kind) {
    case 'any':
      return true;
    case 'absent':
      return found === null;
    case 'present':
      return found !== null;
    case 'revision-is':
      return found?.revision === condition.revision;
    case 'written-by':
      return found?.attemptId === condition.attemptId;
    case 'absent-or-expired':
      return found === null || (found.expiresAtMs !== null && found.expiresAtMs < condition.atMs);
  }
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
