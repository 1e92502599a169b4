/** Every promise of the `Ledger` port, one sentence a row. Any adapter must pass. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import type { Change, Condition, Item, ItemKey, Ledger, QueryOptions } from '../../storage/ports/ledger.ts';
import { ledgerModelTest } from './ledger-model.ts';

export interface OpenLedger {
  /** Empty. */
  readonly ledger: Ledger;
  close(): Promise<void>;
  /** Closes the ledger and opens it again. A ledger in memory is returned unchanged. */
  reopen(): Promise<Ledger>;
}

const KEY: ItemKey = { partition: 'shelf', sort: 'item' };

const put = (sort: string, condition: Condition, value: Json = sort, revision = 1): Change => ({
  kind: 'put',
  key: { partition: 'shelf', sort },
  revision,
  value,
  if: condition,
});

export function ledgerContract(name: string, open: () => Promise<OpenLedger>): void {
  describe(`${name} keeps the promises of a ledger`, () => {
    let opened: OpenLedger;
    let ledger: Ledger;
    let attempts: number;

    beforeEach(async () => {
      opened = await open();
      ledger = opened.ledger;
      attempts = 0;
    });
    afterEach(() => opened.close());

    const transact = (changes: readonly Change[], attemptId = `attempt-${++attempts}`) =>
      ledger.transact(changes, { attemptId });
    const seed = async (...sorts: string[]) => {
      expect(await transact(sorts.map((sort) => put(sort, { kind: 'absent' })))).toEqual({ committed: true });
    };
    const shelf = async () => (await ledger.query('shelf', { limit: 1000 })).items;

    test('gives an item back as it was put', async () => {
      const value = { text: 'é\u0000😀', none: null, list: [1, -0.5, true, {}], '10': 1, ['__proto__']: 'own' };
      await transact(
        [{ kind: 'put', key: KEY, revision: 7, value, expiresAtMs: 1_800_000_000_000, if: { kind: 'any' } }],
        'a',
      );
      const item: Item = { ...KEY, revision: 7, attemptId: 'a', expiresAtMs: 1_800_000_000_000, value };
      const found = await ledger.get(KEY);
      expect(found).toEqual(item);
      expect(canonicalJson(found?.value ?? null)).toBe(canonicalJson(value));
    });

    test.each([null, true, 0, '', [], {}])('keeps the value %j', async (value) => {
      await transact([put('item', { kind: 'absent' }, value)]);
      expect(await ledger.get(KEY)).toMatchObject({ value, expiresAtMs: null });
    });

    test('gives null for absent items, and getMany in the order of its keys', async () => {
      await seed('a', 'b');
      const keys = ['b', 'none', 'a', 'b'].map((sort) => ({ partition: 'shelf', sort }));
      const sorts = (await ledger.getMany(keys)).map((item) => item?.sort ?? null);
      expect([await ledger.get(KEY), sorts, await ledger.getMany([])]).toEqual([null, ['b', null, 'a', 'b'], []]);
    });

    test('keeps partitions apart, also where one is the beginning of the other', async () => {
      await transact(
        ['p', 'p/q', 'P'].map((partition) => ({ ...put('s', { kind: 'absent' }), key: { partition, sort: 's' } })),
      );
      expect((await ledger.query('p', { limit: 10 })).items.map((item) => item.partition)).toEqual(['p']);
    });

    // The stored item: revision 5, written by "seeded", expires at 1000.
    test.each<[Condition, { present: boolean; absent: boolean }]>([
      [{ kind: 'any' }, { present: true, absent: true }],
      [{ kind: 'absent' }, { present: false, absent: true }],
      [
        { kind: 'revision-is', revision: 5 },
        { present: true, absent: false },
      ],
      [
        { kind: 'revision-is', revision: 4 },
        { present: false, absent: false },
      ],
      [
        { kind: 'written-by', attemptId: 'seeded' },
        { present: true, absent: false },
      ],
      [
        { kind: 'written-by', attemptId: 'other' },
        { present: false, absent: false },
      ],
      [{ kind: 'present' }, { present: true, absent: false }],
      [
        { kind: 'absent-or-expired', atMs: 1001 },
        { present: true, absent: true },
      ],
      [
        { kind: 'absent-or-expired', atMs: 1000 },
        { present: false, absent: true },
      ],
    ])('holds or refuses by %j for puts, deletes and checks alike', async (condition, expected) => {
      for (const [state, holds] of Object.entries(expected)) {
        for (const kind of ['put', 'delete', 'check'] as const) {
          const key = { partition: state, sort: kind };
          if (state === 'present') {
            await transact(
              [{ kind: 'put', key, revision: 5, value: 'old', expiresAtMs: 1000, if: { kind: 'any' } }],
              'seeded',
            );
          }
          const before = await ledger.get(key);
          const result = await transact([{ kind, key, revision: 6, value: 'new', if: condition }]);
          expect(result).toEqual(
            holds ? { committed: true } : { committed: false, refusals: [{ index: 0, found: before }] },
          );
          const after = await ledger.get(key);
          if (!holds || kind === 'check') expect(after).toEqual(before);
          else if (kind === 'delete') expect(after).toBeNull();
          else expect(after).toMatchObject({ revision: 6, value: 'new', expiresAtMs: null });
        }
      }
    });

    const count = (by: number, atMost = 3): Change => ({ kind: 'count', key: KEY, by, atLeast: 0, atMost });

    test('counts from zero, up to the bound, and back', async () => {
      const counted = async () => (await ledger.get(KEY))?.value;
      for (const [by, expected] of [
        [2, 2],
        [1, 3],
        [-3, 0],
      ] as const) {
        expect(await transact([count(by)])).toEqual({ committed: true });
        expect(await counted()).toBe(expected);
      }
    });

    test('refuses a count that would leave its bounds, and hands the counter back', async () => {
      expect(await transact([count(4)])).toEqual({ committed: false, refusals: [{ index: 0, found: null }] });
      await transact([count(2)], 'counted');
      const found: Item = { ...KEY, revision: 0, attemptId: 'counted', expiresAtMs: null, value: 2 };
      for (const by of [2, -3]) {
        expect(await transact([count(by)])).toEqual({ committed: false, refusals: [{ index: 0, found }] });
      }
      expect(await ledger.get(KEY)).toEqual(found);
    });

    test('gives a counter the expiry of the last count, or none', async () => {
      for (const [expiry, expiresAtMs] of [
        [{ expiresAtMs: 1_800_000_000_000 }, 1_800_000_000_000],
        [{}, null],
      ] as const) {
        expect(await transact([{ ...count(1), ...expiry }])).toEqual({ committed: true });
        expect(await ledger.get(KEY)).toMatchObject({ expiresAtMs });
      }
    });

    test('counts once when the answer was lost and the same attempt comes again', async () => {
      const changes = [put('once', { kind: 'absent' }), count(2)];
      for (let tries = 0; tries < 2; tries++) expect(await transact(changes, 'mine')).toEqual({ committed: true });
      expect((await ledger.get(KEY))?.value).toBe(2);
    });

    test('lets exactly as many through as the bound admits, however many come at once', async () => {
      const results = await Promise.all(Array.from({ length: 20 }, () => transact([count(1, 7)])));
      expect(results.filter(({ committed }) => committed)).toHaveLength(7);
      expect((await ledger.get(KEY))?.value).toBe(7);
    });

    test('never counts an item without expiry as expired', async () => {
      await seed('item');
      const late = Number.MAX_SAFE_INTEGER;
      expect(await transact([put('item', { kind: 'absent-or-expired', atMs: late })])).toMatchObject({
        committed: false,
      });
    });

    test('still returns an expired item', async () => {
      await transact([{ kind: 'put', key: KEY, revision: 1, value: 1, expiresAtMs: 1, if: { kind: 'absent' } }]);
      expect(await ledger.get(KEY)).toMatchObject({ expiresAtMs: 1 });
    });

    test('commits all the changes of a transaction at once', async () => {
      await seed('changed', 'deleted', 'checked');
      const changes: Change[] = [
        put('added', { kind: 'absent' }),
        put('changed', { kind: 'revision-is', revision: 1 }, 'new', 2),
        { kind: 'delete', key: { partition: 'shelf', sort: 'deleted' }, if: { kind: 'revision-is', revision: 1 } },
        { kind: 'check', key: { partition: 'shelf', sort: 'checked' }, if: { kind: 'revision-is', revision: 1 } },
      ];
      expect(await transact(changes, 'all')).toEqual({ committed: true });
      expect((await shelf()).map(({ sort, attemptId, value }) => [sort, attemptId, value])).toEqual([
        ['added', 'all', 'added'],
        ['changed', 'all', 'new'],
        ['checked', 'attempt-1', 'checked'],
      ]);
    });

    test('changes nothing if one change of many is refused, at any position', async () => {
      await seed('taken', 'doomed');
      const before = await shelf();
      const deletion: Change = { kind: 'delete', key: { partition: 'shelf', sort: 'doomed' }, if: { kind: 'any' } };
      const others = [put('a', { kind: 'absent' }), deletion, put('z', { kind: 'any' })];
      for (let place = 0; place <= others.length; place++) {
        const result = await transact(others.toSpliced(place, 0, put('taken', { kind: 'absent' })));
        expect(result).toMatchObject({ committed: false, refusals: [{ index: place }] });
      }
      expect(await shelf()).toEqual(before);
    });

    test('names each refused change by its position, with the found item', async () => {
      await seed('a', 'b');
      const result = await transact([
        put('a', { kind: 'absent' }),
        put('fresh', { kind: 'absent' }),
        put('missing', { kind: 'revision-is', revision: 1 }),
        put('b', { kind: 'revision-is', revision: 9 }),
      ]);
      const [a, b] = await shelf();
      expect(result).toEqual({
        committed: false,
        refusals: [
          { index: 0, found: a },
          { index: 2, found: null },
          { index: 3, found: b },
        ],
      });
    });

    test('recognises its own commit when the answer was lost and the same attempt comes again', async () => {
      await seed('doomed');
      const changes: Change[] = [
        put('item', { kind: 'absent' }),
        put('counter', { kind: 'any' }),
        { kind: 'delete', key: { partition: 'shelf', sort: 'doomed' }, if: { kind: 'revision-is', revision: 1 } },
      ];
      expect(await transact(changes, 'mine')).toEqual({ committed: true });
      const after = await shelf();
      expect(await transact(changes, 'mine')).toEqual({ committed: true });
      expect(await shelf()).toEqual(after);
      expect(await transact(changes, 'somebody else')).toMatchObject({ committed: false });
    });

    test('has no second effect if another writer has built on the lost commit', async () => {
      const increment = (from: number) => put('counter', { kind: 'revision-is', revision: from }, from + 1, from + 1);
      await transact([put('counter', { kind: 'absent' }, 0, 0), put('receipt', { kind: 'absent' })]);
      const ours = [increment(0), put('our receipt', { kind: 'absent' })];
      await transact(ours, 'ours');
      await transact([increment(1)], 'theirs');
      expect(await transact(ours, 'ours')).toEqual({ committed: true });
      expect(await ledger.get({ partition: 'shelf', sort: 'counter' })).toMatchObject({
        value: 2,
        attemptId: 'theirs',
      });
    });

    test('lets exactly one of 20 simultaneous creators win, and shows the others the winner', async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, racer) => transact([put('item', { kind: 'absent' }, racer)], `racer-${racer}`)),
      );
      const stored = await ledger.get(KEY);
      const winners = results.flatMap((result, racer) => (result.committed ? [`racer-${racer}`] : []));
      expect(winners).toEqual([stored?.attemptId]);
      for (const result of results) {
        if (!result.committed) expect(result.refusals).toEqual([{ index: 0, found: stored }]);
      }
    });

    test('loses no increment of 20 simultaneous ones that retry', async () => {
      await transact([put('item', { kind: 'absent' }, 0, 0)]);
      const increment = async (racer: number) => {
        for (let attempt = 0; ; attempt++) {
          const revision = (await ledger.get(KEY))?.revision ?? 0;
          const change = put('item', { kind: 'revision-is', revision }, revision + 1, revision + 1);
          if ((await transact([change], `racer-${racer}-${attempt}`)).committed) return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, racer) => increment(racer)));
      expect(await ledger.get(KEY)).toMatchObject({ revision: 20, value: 20 });
    });

    const SORTS = ['a', 'b/1', 'b/2', 'b/3', 'b0', 'c'];
    test.each<[string, Omit<QueryOptions, 'limit'>, string[]]>([
      ['everything in order', {}, SORTS],
      ['everything backwards', { descending: true }, SORTS.toReversed()],
      ['a prefix', { prefix: 'b/' }, ['b/1', 'b/2', 'b/3']],
      ['a prefix backwards', { prefix: 'b/', descending: true }, ['b/3', 'b/2', 'b/1']],
      ['later keys, exclusive', { after: 'b/2' }, ['b/3', 'b0', 'c']],
      ['keys after one that does not exist', { after: 'b/25' }, ['b/3', 'b0', 'c']],
      ['earlier keys, exclusive', { after: 'b/2', descending: true }, ['b/1', 'a']],
      ['later keys with a prefix', { prefix: 'b/', after: 'b/1' }, ['b/2', 'b/3']],
      ['earlier keys with a prefix', { prefix: 'b/', after: 'b/3', descending: true }, ['b/2', 'b/1']],
      ['a whole prefix from a start before it', { prefix: 'b/', after: 'a' }, ['b/1', 'b/2', 'b/3']],
      [
        'a whole prefix backwards from a start after it',
        { prefix: 'b/', after: 'c', descending: true },
        ['b/3', 'b/2', 'b/1'],
      ],
      ['nothing after the end of a prefix', { prefix: 'b/', after: 'c' }, []],
      ['nothing before the beginning of a prefix', { prefix: 'b/', after: 'a', descending: true }, []],
      ['nothing under a prefix that nothing has', { prefix: 'bb' }, []],
    ])('queries %s, in pages of every size', async (_what, options, expected) => {
      await seed(...SORTS.toReversed());
      for (const limit of [1, 2, 3, 6, 7, 1000]) {
        expect(await walk(ledger, { ...options, limit })).toEqual(expected);
      }
    });

    test('orders sort keys by their UTF-8 bytes, also outside the Basic Multilingual Plane', async () => {
      const ordered = [
        '\u0001',
        '-',
        'A',
        'Z',
        'a',
        'a-',
        'a/',
        'aa',
        '~',
        'é',
        '\ud7ff',
        '\ue000',
        '\uffff',
        '😀',
        '\u{10ffff}',
      ];
      await seed(...ordered.toSorted());
      expect(await walk(ledger, { limit: 4 })).toEqual(ordered);
      expect(await walk(ledger, { limit: 4, descending: true })).toEqual(ordered.toReversed());
    });

    test.each(['\ud7ff', '\uffff', '😀', '\u{10ffff}', 'a\u{10ffff}', '%', '_', '\\'])(
      'takes the prefix %j literally',
      async (prefix) => {
        await seed(prefix, `${prefix}a`, `${prefix}\u{10ffff}`, 'a', 'b', '\ue000');
        const expected = (await shelf()).map((item) => item.sort).filter((sort) => sort.startsWith(prefix));
        expect(await walk(ledger, { prefix, limit: 2 })).toEqual(expected);
        expect(await walk(ledger, { prefix, limit: 2, descending: true })).toEqual(expected.toReversed());
      },
    );

    test('pages through large items without missing one', async () => {
      const sorts = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'));
      for (const sort of sorts) await transact([put(sort, { kind: 'absent' }, 'x'.repeat(300_000))]);
      expect(await walk(ledger, { limit: 1000 })).toEqual(sorts);
    });

    test('shares no object with its callers', async () => {
      const value = { list: [1] };
      await transact([put('item', { kind: 'absent' }, value)]);
      value.list.push(2);
      const results = [
        await ledger.get(KEY),
        (await ledger.getMany([KEY]))[0],
        (await shelf())[0],
        ...refusedItems(await transact([put('item', { kind: 'absent' })])),
      ];
      expect(results).toHaveLength(4);
      for (const result of results) {
        expect(result?.value).toEqual({ list: [1] });
        if (result) (result.value as { list: number[] }).list.push(3);
      }
      expect(await ledger.get(KEY)).toMatchObject({ value: { list: [1] } });
    });

    test('takes as many changes and keys as the port admits', async () => {
      const changes = Array.from({ length: 100 }, (_, index) => put(`s${index}`, { kind: 'absent' }));
      expect(await transact(changes)).toEqual({ committed: true });
      expect(await ledger.getMany(changes.map((change) => change.key))).not.toContain(null);
    });

    const many = Array.from({ length: 101 }, (_, index) => put(`s${index}`, { kind: 'any' }));
    test.each<[string, () => Promise<unknown>]>([
      ['no changes', () => transact([])],
      ['101 changes', () => transact(many)],
      [
        'one key twice',
        () => transact([put('new', { kind: 'any' }), put('other', { kind: 'any' }), put('new', { kind: 'any' })]),
      ],
      ['an empty sort key', () => transact([put('new', { kind: 'any' }), put('', { kind: 'any' })])],
      ['an empty partition', () => ledger.get({ partition: '', sort: 's' })],
      ['a sort key that UTF-8 cannot carry', () => ledger.get({ partition: 'p', sort: '\ud800' })],
      ['a sort key of more than 1,024 bytes', () => ledger.get({ partition: 'p', sort: 'é'.repeat(513) })],
      ['an empty attempt id', () => transact([put('new', { kind: 'any' })], '')],
      ['a revision that is no integer', () => transact([put('new', { kind: 'any' }, null, 0.5)])],
      ['an item of more than 400 KB', () => transact([put('new', { kind: 'any' }, 'é'.repeat(205_000))])],
      [
        'more than 4 MB at once',
        () => transact(many.slice(0, 11).map((c) => put(c.key.sort, { kind: 'any' }, 'x'.repeat(400_000)))),
      ],
      ['101 keys', () => ledger.getMany(many.map((change) => change.key))],
      ['a limit of 0', () => ledger.query('shelf', { limit: 0 })],
      ['a limit of 1,001', () => ledger.query('shelf', { limit: 1001 })],
      ['a limit that is no integer', () => ledger.query('shelf', { limit: 1.5 })],
    ])('refuses %s with a RangeError, without effect', async (_what, call) => {
      await expect(call()).rejects.toBeInstanceOf(RangeError);
      expect(await shelf()).toEqual([]);
    });

    test.each<[string, unknown]>([
      ['undefined', { a: undefined }],
      ['NaN', [Number.NaN]],
      ['a lone surrogate', '\ud800'],
      ['a Date', new Date(0)],
    ])('refuses a value that JSON cannot carry: %s', async (_what, value) => {
      await expect(transact([put('new', { kind: 'any' }, value as Json)])).rejects.toBeInstanceOf(TypeError);
      expect(await shelf()).toEqual([]);
    });

    test('finds everything again after being closed and opened', async () => {
      await seed('a', 'b');
      await transact([{ kind: 'delete', key: { partition: 'shelf', sort: 'a' }, if: { kind: 'any' } }]);
      const before = await shelf();
      ledger = await opened.reopen();
      expect(before).toHaveLength(1);
      expect(await shelf()).toEqual(before);
    });

    ledgerModelTest(() => ledger);
  });
}

/** Follows `next` to the end; never more than `limit` items a page. */
async function walk(ledger: Ledger, options: QueryOptions): Promise<string[]> {
  const sorts: string[] = [];
  for (let after = options.after; ; ) {
    const page = await ledger.query('shelf', after === undefined ? options : { ...options, after });
    expect(page.items.length).toBeLessThanOrEqual(options.limit);
    sorts.push(...page.items.map((item) => item.sort));
    if (page.next === null) return sorts;
    after = page.next;
  }
}

function refusedItems(result: Awaited<ReturnType<Ledger['transact']>>): (Item | null)[] {
  return result.committed ? [] : result.refusals.map((refusal) => refusal.found);
}
