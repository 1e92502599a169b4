/** Random sequences of calls to a ledger, compared step by step with the simplest thing that could be right: a Map. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type {
  Change,
  Condition,
  CountChange,
  Item,
  Ledger,
  QueryOptions,
  TransactResult,
} from '../../storage/ports/ledger.ts';

type Step =
  | { readonly do: 'transact'; readonly changes: readonly Change[]; readonly attemptId: string }
  | { readonly do: 'query'; readonly options: QueryOptions };

// Few, so that steps meet; and awkward, for order and prefixes.
const sorts = fc.constantFrom('a', 'a/', 'a/b', 'b', '\uffff', '\u{10000}', '😀');
const attemptIds = fc.constantFrom('one', 'two', 'three');
const small = fc.integer({ min: 0, max: 3 });

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.constant<Condition>({ kind: 'any' }),
  fc.constant<Condition>({ kind: 'absent' }),
  fc.constant<Condition>({ kind: 'present' }),
  fc.record({ kind: fc.constant('revision-is' as const), revision: small }),
  fc.record({ kind: fc.constant('written-by' as const), attemptId: attemptIds }),
  fc.record({ kind: fc.constant('absent-or-expired' as const), atMs: small }),
);
const key = (partition: string) => sorts.map((sort) => ({ partition, sort }));

const change = (partition: string): fc.Arbitrary<Change> =>
  fc.oneof(
    fc.record(
      {
        kind: fc.constant('put' as const),
        key: key(partition),
        revision: small,
        value: small,
        expiresAtMs: small,
        if: condition,
      },
      { requiredKeys: ['kind', 'key', 'revision', 'value', 'if'] },
    ) as fc.Arbitrary<Change>,
    fc.record({ kind: fc.constantFrom('delete' as const, 'check' as const), key: key(partition), if: condition }),
    fc.record({
      kind: fc.constant('count' as const),
      key: key(partition),
      by: fc.integer({ min: -2, max: 2 }),
      atLeast: fc.constant(0),
      atMost: small,
    }),
  );

const step = (partition: string): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.record({
      do: fc.constant('transact' as const),
      changes: fc.uniqueArray(change(partition), { minLength: 1, maxLength: 4, selector: ({ key }) => key.sort }),
      attemptId: attemptIds,
    }),
    fc.record({
      do: fc.constant('query' as const),
      options: fc.record(
        { prefix: sorts, after: sorts, descending: fc.boolean(), limit: fc.integer({ min: 1, max: 8 }) },
        { requiredKeys: ['limit'] },
      ) as fc.Arbitrary<QueryOptions>,
    }),
  );

export function ledgerModelTest(ledger: () => Ledger): void {
  test('behaves as a Map, for any sequence of calls', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step('model'), { maxLength: 25 }), async (steps) => {
        // A partition of its own for each run: the ledger outlives it.
        const partition = `model-${++runs}`;
        const model = new Map<string, Item>();
        for (const planned of steps) {
          if (planned.do === 'transact') {
            const changes = planned.changes.map((change) => ({ ...change, key: { ...change.key, partition } }));
            const result = await ledger().transact(changes, { attemptId: planned.attemptId });
            expect(result).toEqual(transactModel(model, changes, planned.attemptId));
          } else {
            const { items, next } = await ledger().query(partition, planned.options);
            const expected = queryModel(model, planned.options);
            expect(items).toEqual(expected.slice(0, planned.options.limit));
            expect(next).toBe(expected.length > items.length ? items.at(-1)?.sort : null);
          }
        }
        const keys = ['b', 'a', '😀', '\u{10000}', 'a/b'].map((sort) => ({ partition, sort }));
        expect(await ledger().getMany(keys)).toEqual(keys.map((key) => model.get(key.sort) ?? null));
      }),
    );
  });
}

function transactModel(model: Map<string, Item>, changes: readonly Change[], attemptId: string): TransactResult {
  const refusals = changes.flatMap((change, index) => {
    const found = model.get(change.key.sort) ?? null;
    const holds = change.kind === 'count' ? countHoldsInModel(change, found) : holdsInModel(change.if, found);
    return holds ? [] : [{ index, found }];
  });
  if (refusals.some((refusal) => refusal.found?.attemptId === attemptId)) return { committed: true };
  if (refusals.length > 0) return { committed: false, refusals };
  for (const change of changes) {
    if (change.kind === 'count') {
      const { key, by, expiresAtMs = null } = change;
      const value = Number(model.get(key.sort)?.value ?? 0) + by;
      model.set(key.sort, { ...key, revision: 0, attemptId, expiresAtMs, value });
    }
    if (change.kind === 'delete') model.delete(change.key.sort);
    if (change.kind === 'put') {
      const { key, revision, value, expiresAtMs = null } = change;
      model.set(key.sort, { ...key, revision, attemptId, expiresAtMs, value });
    }
  }
  return { committed: true };
}

function countHoldsInModel({ by, atLeast, atMost }: CountChange, found: Item | null): boolean {
  const count = Number(found?.value ?? 0) + by;
  return atLeast <= count && count <= atMost;
}

function holdsInModel(condition: Condition, found: Item | null): boolean {
  if (condition.kind === 'any') return true;
  if (condition.kind === 'present') return found !== null;
  if (found === null) return condition.kind !== 'revision-is' && condition.kind !== 'written-by';
  if (condition.kind === 'revision-is') return found.revision === condition.revision;
  if (condition.kind === 'written-by') return found.attemptId === condition.attemptId;
  if (condition.kind === 'absent-or-expired') return found.expiresAtMs !== null && found.expiresAtMs < condition.atMs;
  return false;
}

function queryModel(model: Map<string, Item>, { prefix = '', after, descending }: QueryOptions): Item[] {
  const direction = descending ? -1 : 1;
  const compare = (left: string, right: string) => direction * Buffer.compare(Buffer.from(left), Buffer.from(right));
  return [...model.values()]
    .filter(({ sort }) => sort.startsWith(prefix) && (after === undefined || compare(sort, after) > 0))
    .sort((left, right) => compare(left.sort, right.sort));
}
