/** Lists of prices as programs publish them: names that no slug spells, small prices, several prices a row. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slugSchema } from '../../contract/values/market.ts';
import { toMinorUnits } from '../../contract/values/money/money.ts';
import { type Changes, changed, mapped, pointersOf } from './mapped.ts';

const LIST: unknown = {
  json: { rows: '', name: 'model' },
  match: ['model'],
  market: {
    slug: '{model}',
    slugDigest: 'unless-exact',
    name: '{model}',
    kind: 'language-model',
    nativeCurrency: 'USD',
    unit: { quantity: 'exact', atLeast: '1000000', of: 'token' },
  },
  observation: {
    metric: 'inputPrice',
    value: { column: 'in', quotedQuantity: '1', rounding: 'refuse', blank: 'leave-out' },
    currency: 'USD',
    date: { constant: '2026-01-02', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'List', sourceUrl: 'https://example.org/list.json', confidence: 'high', status: 'final' },
  },
};

async function results(changes: Changes, text: string) {
  const document = changed(LIST, changes);
  const faults = pointersOf(document);
  if (faults.length > 0) return { faults };
  const [markets, values, refused]: [Record<string, unknown>, string[], string[]] = [{}, [], []];
  for (const result of await mapped(document, text)) {
    if (result.kind === 'refusal') refused.push(`${result.code} ${result.column} ${result.market ?? '-'}`);
    else if (result.record.type === 'market') {
      const { slug, name, unit, keepUnit } = result.record;
      markets[slug] = { name, quantity: unit.quantity, keepUnit };
    } else if (result.record.type === 'observation') {
      const { market, metric, observedAt, ...others } = result.record;
      const value = 'value' in others ? others.value : others.amountMinor;
      values.push(
        [market, metric, value, 'unit' in others ? others.unit : others.currency, observedAt.slice(0, 10)].join(' '),
      );
    }
  }
  return { markets, values, refused };
}

describe('a slug with a digest', () => {
  const slugsOf = async (names: readonly string[], changes: Changes = {}) => {
    const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, { in: '0.000001' }])));
    const { markets = {} } = await results(changes, text);
    return Object.fromEntries(
      Object.entries(markets).map(([slug, market]) => [(market as { name: string }).name, slug]),
    );
  };

  test.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-3.5-turbo', /^gpt-3-5-turbo-[a-f][0-9a-f]{7}$/],
    ['GPT-4o', /^gpt-4o-[a-f][0-9a-f]{7}$/],
    ['azure/gpt-4o', /^azure-gpt-4o-[a-f][0-9a-f]{7}$/],
    ['模型', /^[a-f][0-9a-f]{7}$/],
    ['looks-like-abcdef01', /^looks-like-abcdef01-[a-f][0-9a-f]{7}$/],
    [`long-${'x'.repeat(90)}`, /^long-x{66}-[a-f][0-9a-f]{7}$/],
  ])('of %s', async (name, slug) => {
    expect((await slugsOf([name]))[name]).toEqual(typeof slug === 'string' ? slug : expect.stringMatching(slug));
  });

  test('belongs to one name, and a name has it whatever else is in the file', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '.', '/', 'é'), minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(word, { minLength: 2, maxLength: 12 }), async (names) => {
        const together = await slugsOf(names);
        expect(Object.keys(together).length).toBe(names.length);
        for (const name of names) {
          expect(slugSchema.safeParse(together[name]).success).toBe(true);
          expect(await slugsOf([name])).toEqual({ [name]: together[name] });
        }
      }),
      { numRuns: 20 },
    );
  });

  test('tells values of several columns apart', async () => {
    const changes = {
      '/json': { rows: '' },
      '/match': ['a', 'b'],
      '/market/slug': '{a}-{b}',
      '/market/name': '{a} by {b}',
    };
    const rows = [
      ['x-y', 'z'],
      ['x', 'y-z'],
      ['x', 'y'],
    ].map(([a, b]) => ({ a, b, in: '1' }));
    const { markets = {}, refused } = await results(changes, JSON.stringify(rows));
    expect(refused).toEqual([]);
    expect(Object.keys(markets)[2]).toBe('x-y');
    expect(new Set(Object.keys(markets)).size).toBe(3);
  });
});

describe('facts that are not numbers', () => {
  const changes = {
    '/json': { rows: '' },
    '/observation/date': { column: 'day', format: 'YYYY-MM-DD', precision: 'day' },
    '/market/attributes': { mode: '{mode}', provider: 'made by {vendor}' },
  };
  const rows = [
    { model: 'a', in: '0.0000015', day: '2026-01-02', mode: 'chat', vendor: 'X' },
    { model: 'b', in: '1', day: '2026-01-02', mode: '', vendor: '' },
    { model: 'a', in: '0.00000015', day: '2026-01-03', mode: 'chat', vendor: 'X' },
    { model: 'a', in: '0.000000015', day: '2026-01-04', mode: 'responses', vendor: 'X' },
  ];
  const defined = async (text: string) =>
    (await mapped(changed(LIST, changes), text)).flatMap((result): unknown[] => {
      if (result.kind === 'refusal') return [[result.line, result.code, result.pointer, result.detail]];
      if (result.record.type !== 'market') return [];
      const { slug, unit, attributes } = result.record;
      const facts = Object.entries(attributes ?? {}).map(([name, { value, observedAt }]) => [name, value, observedAt]);
      return [[slug, unit.quantity, ...facts]];
    });

  test('are those of the first row of a market, beside the quantity that all its rows need', async () => {
    expect(await defined(JSON.stringify(rows))).toEqual([
      ['a', 10_000_000, ['mode', 'chat', '2026-01-02T00:00:00Z'], ['provider', 'made by X', '2026-01-02T00:00:00Z']],
      ['b', 1_000_000, ['provider', 'made by', '2026-01-02T00:00:00Z']],
    ]);
  });

  test('refuse a row whose text cannot become public', async () => {
    const [first, ...others] = rows;
    const found = await defined(JSON.stringify([{ ...first, mode: 'ask me@example.com' }, ...others]));
    expect(found[0]).toEqual([
      expect.any(Number),
      'record.invalid',
      '/attributes/mode',
      expect.stringContaining('e-mail'),
    ]);
  });

  test('have names of one form, and columns that are there', async () => {
    expect(await results({ '/market/attributes': { 'a b': '{mode}' } }, '{}')).toEqual({
      faults: ['/market/attributes/a b'],
    });
    expect(await results(changes, JSON.stringify([{ model: 'a', in: '1', day: '2026-01-02' }]))).toMatchObject({
      refused: ['record.invalid mode -', 'record.invalid vendor -'],
    });
  });
});

describe('an exact quantity', () => {
  test.each([
    [['0.00000015'], 1_000_000],
    [['12'], 1_000_000],
    [['1e-17'], 1_000_000_000_000_000],
    // A float's last digit is no reason for a unit that nobody can read.
    [['1.6000000000000001e-06'], 1_000_000],
    [['1.1428571428571428e-06'], 10_000_000_000],
    // A large amount leaves less room for the digits of a small one.
    [['1e-15', '90000'], 1_000_000_000],
  ])('of %s is %i', async (prices, quantity) => {
    const also = prices.slice(1).map((_, index) => ({
      metric: `more${index}`,
      value: { column: `more${index}`, quotedQuantity: '1', rounding: 'nearest' },
    }));
    const row = Object.fromEntries(prices.map((price, index) => [index === 0 ? 'in' : `more${index - 1}`, price]));
    const { markets } = await results(
      { '/observation/also': also },
      JSON.stringify({ m: row }).replace(/"(\d[^"]*)"/g, '$1'),
    );
    expect(markets).toEqual({ m: { name: 'm', quantity, keepUnit: true } });
  });

  test('holds each price of the market, and no smaller power of ten does', async () => {
    const price = fc.tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: 3, max: 12 }));
    await fc.assert(
      fc.asyncProperty(fc.array(price, { minLength: 1, maxLength: 5 }), async (prices) => {
        const digits = prices.map(([mantissa, places]) => `${mantissa}e-${places}`);
        const changes = {
          '/json': { rows: '' },
          '/market/unit/atLeast': undefined,
          '/observation/date': { column: 'day', format: 'unix-seconds', precision: 'instant' },
        };
        const rows = digits.map((each, day) => `{"model":"m","in":${each},"day":${day}}`);
        const { markets = {} } = await results(changes, `[${rows.join(',')}]`);
        const { quantity } = markets.m as { quantity: number };
        const fits = (at: number) =>
          digits.every((each) =>
            expect.objectContaining({ rounded: false }).asymmetricMatch(toMinorUnits(each, 2, at)),
          );
        expect([fits(quantity), quantity > 1 && fits(quantity / 10)]).toEqual([true, false]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('several metrics of a row', () => {
  const also = [
    { metric: 'outputPrice', value: { column: 'out', quotedQuantity: '1', rounding: 'refuse', blank: 'leave-out' } },
    { metric: 'contextWindow', unit: 'token', value: { column: 'window', rounding: 'nearest', blank: 'leave-out' } },
  ];

  test('are observations of one market, each with its own blanks and refusals', async () => {
    const text = '{"a":{"in":1e-6,"out":2e-6,"window":1.28e5},"b":{"out":3e-6},"c":{"window":"many","in":1},"d":{}}';
    expect(await results({ '/observation/also': also }, text)).toEqual({
      markets: Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { name, quantity: 1_000_000, keepUnit: true }])),
      values: [
        ...[
          'a inputPrice 1e-6 USD',
          'a outputPrice 2e-6 USD',
          'a contextWindow 128000 token',
          'b outputPrice 3e-6 USD',
        ],
        'c inputPrice 1 USD',
      ].map((value) => `${value} 2026-01-02`),
      refused: ['record.invalid window c'],
    });
  });

  test.each<[string, unknown, string]>([
    ['a name twice', [{ ...also[0], metric: 'inputPrice' }], '/observation/also/0/metric'],
    ['a price that is no money', [{ ...also[1], metric: 'price' }], '/observation/also/0/unit'],
    ['money that is also something else', [{ ...also[1], currency: 'USD' }], '/observation/also/0/unit'],
    [
      'a sign of another currency',
      [{ ...also[0], value: { ...also[0]?.value, number: { signs: ['€'] } } }],
      '/observation/also/0/value/number/signs',
    ],
  ])('are refused with %s', async (_, value, pointer) => {
    expect(await results({ '/observation/also': value }, '{}')).toEqual({ faults: [pointer] });
  });

  test('may all be numbers other than money, such as the rates of a tariff', async () => {
    const first = { '/observation/metric': 'duty', '/observation/currency': undefined, '/observation/unit': 'percent' };
    const text = '{"a":{"in":16,"vat":20}}';
    const rates = {
      ...first,
      '/observation/also': [
        { ...also[0], metric: 'vat', unit: 'percent', value: { ...also[0]?.value, column: 'vat' } },
      ],
    };
    expect((await results(rates, text)).values).toEqual([
      'a duty 16 percent 2026-01-02',
      'a vat 20 percent 2026-01-02',
    ]);
    const money = { ...first, '/observation/also': [{ ...also[0], currency: 'USD' }] };
    expect((await results(money, '{"a":{"in":16,"out":1}}')).values).toEqual([
      'a duty 16 percent 2026-01-02',
      'a outputPrice 1 USD 2026-01-02',
    ]);
  });

  test.each<[string, Changes, string]>([
    ['neither currency nor unit', { '/observation/currency': undefined }, '/observation/currency'],
    ['both', { '/observation/unit': 'percent' }, '/observation/unit'],
    [
      'a price that is no money',
      { '/observation/currency': undefined, '/observation/metric': 'price', '/observation/unit': 'percent' },
      '/observation/unit',
    ],
    [
      'no currency of further money',
      { '/observation/currency': undefined, '/observation/unit': 'percent', '/observation/also': also },
      '/observation/also/0/currency',
    ],
  ])('are refused if the first has %s', async (_, change, pointer) => {
    expect(await results(change, '{}')).toEqual({ faults: [pointer] });
  });

  test('need an exact quantity for a least one', async () => {
    expect(await results({ '/market/unit/quantity': '1' }, '{}')).toEqual({ faults: ['/market/unit/atLeast'] });
  });
});

describe('parallel arrays', () => {
  const ofArrays = (text: string, format = 'unix-seconds') =>
    results(
      {
        '/json': { rows: '/data', parallel: true },
        '/match': [],
        '/market': {
          ...{ slug: 'power', name: 'Power', kind: 'power', nativeCurrency: 'EUR' },
          unit: { quantity: '100', of: 'MWh' },
        },
        '/observation/value': { column: 'price', quotedQuantity: '1', rounding: 'nearest' },
        '/observation/currency': 'EUR',
        '/observation/date': { column: 'at', format, precision: 'instant' },
      },
      text,
    );

  test.each([
    ['unix-seconds', '[1767312000,1767398400.5]'],
    ['unix-milliseconds', '[1767312000000,1767398400500]'],
  ])('are rows, with %s', async (format, at) => {
    const { values, refused } = await ofArrays(`{"data":{"at":${at},"price":[80.5,-3e0],"unit":"EUR / MWh"}}`, format);
    expect([values, refused]).toEqual([
      ['power inputPrice 805000 EUR 2026-01-02', 'power inputPrice -30000 EUR 2026-01-03'],
      [],
    ]);
  });

  test.each([
    ['of different lengths', '{"data":{"at":[1767312000],"price":[]}}'],
    ['that are none', '{"data":{"at":1767312000,"price":2}}'],
  ])('%s are refused', async (_, text) => {
    expect((await ofArrays(text)).refused).toEqual(['record.invalid null -']);
  });

  test.each(['1767312000000000000', '1e9', 'NaN', '-1.5'])('the moment %s is refused', async (at) => {
    const text = `{"data":{"at":["${at}"],"price":[1]}}`;
    expect((await ofArrays(text)).refused).toEqual(['record.invalid at power']);
  });
});
