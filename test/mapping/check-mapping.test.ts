import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkMapping, type FileCheck } from '../../mapping/check/check-mapping.ts';
import { exampleMapping, withChange } from './example-mapping.ts';
import { changed } from './mapped.ts';

const HEADER = 'item,currency,price,day,version,flag,note';

async function check(mapping: unknown, ...lines: string[]): Promise<FileCheck> {
  const result = await checkMapping(JSON.stringify(mapping), [HEADER, ...lines].join('\n'));
  if (result.file === null) throw new Error(JSON.stringify(result.faults));
  return result.file;
}

const day = (index: number) => new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10);

describe('a check', () => {
  test('of a faulty mapping gives its faults, and does not read the file', async () => {
    const text = JSON.stringify(withChange(exampleMapping, '/market/name', 'FILL IN: a name'), null, 2);
    async function* file(): AsyncGenerator<string> {
      yield* [];
      throw new Error('was read');
    }
    expect(await checkMapping(text, file())).toEqual({
      faults: [{ pointer: '/market/name', detail: 'FILL IN: a name', line: expect.any(Number) }],
      file: null,
    });
  });

  test('counts rows, markets and observations', async () => {
    const file = await check(
      exampleMapping,
      'tea,yen,123.45,2026-01-02,,actual,',
      'tea,yen,2,2026-01-05,,actual,',
      'tea,yen,,2026-01-04,,actual,',
      'tea,yen,5,2026-01-03,,actual,',
      'coffee,dinar,1,1999-12-31,,guess,',
    );
    expect(file).toMatchObject({
      rows: 5,
      values: 5,
      leftOut: 0,
      markets: { count: 2, first: [{ slug: 'tea-yen', unit: { quantity: 10, of: 'kg' } }, { slug: 'coffee-dinar' }] },
      observations: {
        count: 5,
        unknown: { 'not-published': 1, withheld: 1 },
        rounded: 1,
        observedAt: { first: '1999-12-31T00:00:00Z', last: '2026-01-05T00:00:00Z' },
      },
      refused: { count: 0, groups: [] },
      unusedColumns: ['note'],
    });
  });

  test.each([
    ['yen-9', true],
    ['yen', false],
  ])('says whether a slug got a digest, while it can still be changed: tea,%s', async (currency, hasDigests) => {
    const mapping = withChange(exampleMapping, '/market/slugDigest', 'unless-exact');
    expect(await check(mapping, `tea,${currency},2,2026-01-05,,actual,`)).toMatchObject({ hasDigests });
  });

  test('groups refusals, the most frequent first, with the first of each in full', async () => {
    const file = await check(
      exampleMapping,
      'milk,yen,1,2026-01-02,,actual,',
      'tea,yen,x,2026-01-02,,actual,',
      'tea,yen,y,2026-01-03,,actual,',
      'tea,yen,z,?,,actual,',
      'tea,yen,1',
    );
    expect(file).toMatchObject({ rows: 4, values: 4, observations: { count: 0, observedAt: null } });
    // The row with two faults is one refused value.
    expect(file.refused.count).toBe(5);
    expect(file.refused.groups.map(({ column, count, first }) => [first.pointer, column, count, first.line])).toEqual([
      ['/amountMinor', 'price', 3, 3],
      ['', 'item', 1, 2],
      ['/observedAt', 'day', 1, 5],
      ['', null, 1, 6],
    ]);
  });

  test('lists what else is refused for the same reason, once', async () => {
    const items = [
      'milk',
      'milk',
      'salt',
      'milk',
      'salt',
      ...Array.from({ length: 20 }, (_, index) => `item ${index}`),
    ];
    const { refused } = await check(exampleMapping, ...items.map((item) => `${item},yen,1,2026-01-02,,actual,`));
    expect(refused.groups).toHaveLength(1);
    expect(refused.groups[0]).toMatchObject({ count: 25, first: { detail: expect.stringContaining('"milk"') } });
    expect(refused.groups[0]?.others).toHaveLength(10);
    expect(refused.groups[0]?.others.slice(0, 2)).toEqual([
      expect.stringContaining('"salt"'),
      expect.stringContaining('"item 0"'),
    ]);
  });

  test('refuses rows about an earlier observation, and says where it is and whether it says the same', async () => {
    const rows = Array.from({ length: 1500 }, (_, index) => `tea,yen,${index + 1},${day(index)},,actual,`);
    const again = [`tea,yen,1,${day(0)},,actual,`, `tea,yen,7,${day(0)},,actual,`, `tea,yen,8,${day(1)},,actual,`];
    const { observations, refused } = await check(exampleMapping, ...rows, ...again);
    expect(observations.count).toBe(1500);
    expect(refused).toMatchObject({
      count: 3,
      groups: [
        {
          code: 'duplicate.in-batch',
          count: 2,
          first: { line: 1503, detail: expect.stringMatching(/^line 2 .*else/) },
        },
        {
          code: 'duplicate.in-batch',
          count: 1,
          first: { line: 1502, detail: expect.stringMatching(/^line 2 .*same:/) },
        },
      ],
    });
  });

  test('of a wide table tells the faults of its columns apart, and uses them all', async () => {
    const mapping = changed(exampleMapping, {
      '/unpivot': { columns: { except: ['day', 'note'] }, name: 'item', value: 'price' },
      '/match': ['item'],
      '/tables': [],
      '/withhold': [],
      '/market': {
        ...{ slug: '{item}', name: '{item}', kind: 'food', nativeCurrency: 'USD' },
        unit: { quantity: '1', of: 'kg' },
      },
      '/observation/currency': 'USD',
      '/observation/confidence': 'high',
      '/observation/date': { column: 'day', format: 'YYYY-MM-DD', precision: 'day' },
      '/observation/value': { column: 'price', rounding: 'refuse', blank: 'leave-out' },
      '/observation/sourceLabel': 'Shop',
    });
    const csv = 'day,tea,milk,note,\n2026-01-02,x,,a,\n2026-01-03,1,y,b,\n';
    const { file } = await checkMapping(JSON.stringify(mapping), csv);
    expect(file).toMatchObject({
      rows: 2,
      values: 4,
      leftOut: 1,
      observations: { count: 1 },
      refused: {
        count: 2,
        groups: [
          { column: 'tea', count: 1, first: { line: 2, column: 'tea' } },
          { column: 'milk', count: 1, first: { line: 3, column: 'milk' } },
        ],
      },
      unusedColumns: ['note'],
    });
  });
});
test('the mapping of a shipped list reads its document as a run would', async () => {
  const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  const [recipe, map] = [file('mapping/recipes/litellm.json'), file('test/sources/litellm-map.json')];
  const { file: checked } = await checkMapping(recipe, map, () => {}, '2026-11-27T00:00:00.000Z');
  expect(checked).toMatchObject({ rows: 9, markets: { count: 7 }, refused: { count: 0 } });
});
