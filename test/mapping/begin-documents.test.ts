import * as fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { ecbXml, HMRC_XML } from '../sources/real-forms.ts';
import { begin, begun } from './begin.ts';

const MODELS = {
  'gpt-4o': { input_cost: 2.5e-6, output_cost: 1e-5, window: 128000, mode: 'chat' },
  'azure/gpt-4o': { input_cost: 3.75e-8, output_cost: 1e-5, mode: 'chat' },
  'groq/x 1.5': { input_cost: 5e-8, window: 8192, mode: 'chat' },
  plain: { input_cost: 2e-8, output_cost: 4e-8, window: 8192, mode: 'chat' },
};
const ECB_ROWS = {
  xml: { rows: '/Envelope/Cube/Cube/Cube' },
  match: ['@currency'],
  market: { slug: 'rates-{@currency}' },
  observation: {
    currency: expect.stringMatching(/^FILL IN: \{@currency\} if/),
    value: { column: '@rate' },
    date: { column: '../@time', format: 'YYYY-MM-DD', precision: 'day' },
  },
};

describe('a begun mapping has the rows of', () => {
  test.each<[string, string, object]>([
    [
      'an object of numbers, and the date beside it',
      '{"date":"2026-01-02","base":"EUR","n":2,"eur":{"usd":1.1,"jpy":160.5}}',
      {
        json: { rows: '/eur', name: 'name', value: 'value', columns: { date: '/date' } },
        match: ['name'],
        observation: { value: { column: 'value' }, date: { column: 'date' } },
      },
    ],
    [
      'an array of objects, also deep ones',
      '{"meta":{"page":1},"data":{"items":[{"day":"2026-01-02","p":{"usd":1.1}},{"day":"2026-01-03","p":{"usd":1.2}}]}}',
      {
        json: { rows: '/data/items' },
        match: [],
        observation: { value: { column: 'p/usd' }, date: { column: 'day' } },
      },
    ],
    [
      'an array of arrays',
      '[["2026-01-02",1.25],["2026-01-03",1.5]]',
      { json: { rows: '' }, match: [], observation: { value: { column: '1' }, date: { column: '0' } } },
    ],
    [
      'an object of days, as a wide table',
      '{"rates":{"2026-01-02":{"USD":1.1,"JPY":160.5},"2026-01-03":{"USD":1.2,"JPY":161}}}',
      {
        json: { rows: '/rates', name: 'name' },
        unpivot: { columns: { except: ['name'] } },
        observation: { date: { column: 'name' } },
      },
    ],
    [
      'a name with a slash, and members that are called name and value',
      '{"a/b":{"x":{"name":"tea","value":1.1},"y":{"name":"rice","value":2.2}}}',
      { json: { rows: '/a~1b', name: 'name_' } },
    ],
    [
      'an object of many names, whose members have no name in common that all have',
      '{"spec":{"in":"a price"},"a/b":{"in":1.5e-6,"day":"2026-01-02"},"c":{"out":2e-6},"d":{"in":3e-6,"day":"2026-01-02"}}',
      { json: { rows: '', name: 'name' }, match: ['name'] },
    ],
    [
      'an object of many names, a few of whose members are no rows',
      '{"a":{"in":1.5,"out":2.5},"b":{"in":3.5,"out":4.5},"c":null,"d":"a note","e":{"in":5.5},"f":{"in":6.5},"g":{"in":7.5}}',
      { json: { rows: '', name: 'name' }, match: ['name'] },
    ],
    [
      'a list, one element of which is no row',
      '[{"day":"2026-01-02","price":1.5},null,{"day":"2026-01-03","price":2.5},{"day":"2026-01-04","price":3.5}]',
      { json: { rows: '' }, observation: { value: { column: 'price' }, date: { column: 'day' } } },
    ],
    [
      'parallel arrays, with Unix seconds',
      '{"licence":"CC BY 4.0","unix_seconds":[1767312000,1767315600],"price":[80.5,95.25],"unit":"EUR / MWh"}',
      {
        json: { rows: '', parallel: true },
        observation: { value: { column: 'price' }, date: { column: 'unix_seconds', format: 'unix-seconds' } },
      },
    ],
    [
      'arrays of Unix milliseconds and a value',
      '{"series":[[1767312000000,80.5],[1767315600000,95.25]]}',
      { json: { rows: '/series' }, observation: { value: { column: '1' }, date: { format: 'unix-milliseconds' } } },
    ],
    [
      'a list by name: slugs that never collide, exact quantities, and each price of a row',
      JSON.stringify(MODELS),
      {
        json: { rows: '', name: 'name' },
        match: ['name'],
        market: {
          slug: 'prices-{name}',
          slugDigest: 'unless-exact',
          unit: { quantity: 'exact', atLeast: '100000000' },
        },
        observation: {
          metric: 'inputCost',
          value: { column: 'input_cost', quotedQuantity: expect.stringMatching(/^FILL IN: 1, or 1000000 /) },
          also: [{ metric: 'outputCost', value: { column: 'output_cost', blank: 'leave-out' } }],
          date: { column: expect.stringContaining('fetchedAt') },
        },
      },
    ],
    ['the daily document of the ECB, and the day around them', ecbXml(['2026-09-29']), ECB_ROWS],
    [
      'elements with children in place of attributes',
      HMRC_XML,
      { xml: { rows: '/exchangeRateMonthList/exchangeRate' }, observation: { value: { column: 'rateNew' } } },
    ],
  ])('%s', async (_, text, expected) => {
    const { document } = await begin(text, text.startsWith('<') ? 'rates.xml' : undefined);
    expect(document).toMatchObject(expected);
    expect(document).not.toHaveProperty('csv');
  });

  test.each([' ', 'x'.repeat(201)])('numbers beside a date whose name %j no column can have', async (name) => {
    const { document } = await begin(`{"${name}":"2026-01-02","eur":{"usd":1.1,"jpy":160.5}}`);
    expect(document.json).toEqual({ rows: '/eur', name: 'name', value: 'value' });
  });
});

describe('no mapping is begun for', () => {
  test.each<[string, string, RegExp]>([
    ['JSON that ends early', '{"a":[{"b":1}', /^line 1: .*JSON/],
    ['a name twice', '{"a":1,\n"a":2}', /^line 2: .*twice/],
    ['an empty list', '[]', /no row/],
    ['a list of bare values', '[1,2]', /single value/],
    ['XML with a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a/>', /DOCTYPE/],
    ['XML without rows', '<a></a>', /where are its rows/],
    ['other signs', '<a', /not XML/],
  ])('%s, and the fault is told', async (_, text, fault) => {
    expect(await begun(text)).toEqual({ fault: expect.stringMatching(fault) });
  });

  test('any JSON without a fault or a text: nothing is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (text) => {
        const found = await begun(text);
        expect('fault' in found ? found.fault.length : found.text.length).toBeGreaterThan(10);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a file of any size is looked at by its beginning:', () => {
  async function* endless(head: string, row: (index: number) => string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(head);
    for (let index = 0; index < 10_000_000; index += 1000) {
      yield Buffer.from(Array.from({ length: 1000 }, (_, each) => row(index + each)).join(''));
    }
    throw new Error('the file was read to its end');
  }
  const dayOf = (index: number) => `2026-01-0${1 + (index % 9)}`;

  test.each<[string, string, (index: number) => string, object]>([
    [
      'a map',
      '{"note": {"in": 1.5, "of": ["a", "b"]},',
      (index) => `"maker/model-${index}": {"in": ${index % 7}.5e-6, "out": 1e-5},\n`,
      { json: { rows: '', name: 'name' }, market: { slugDigest: 'unless-exact' } },
    ],
    [
      'an array below a head',
      '{"meta": {"a": 1, "b": 2}, "data": {"rows": [',
      (index) => `{"day": "${dayOf(index)}", "item": "i, ${index % 50}", "price": ${index % 7}.25},`,
      { json: { rows: '/data/rows' }, observation: { value: { column: 'price' } } },
    ],
    [
      'a CSV file with line breaks in quotes',
      'day,item,price\n',
      (index) => `${dayOf(index)},"item\n${index % 50}",${index % 7}.25\n`,
      { observation: { value: { column: 'price' }, date: { column: 'day' } } },
    ],
    [
      'a wide CSV file, whose columns of ended currencies are mostly N/A',
      'Date,USD,CYP,JPY,\n',
      (index) => `${2026 - Math.floor(index / 300)}${dayOf(index).slice(4)},1.0${index % 9},N/A,160.${index % 9},\n`,
      {
        unpivot: { columns: { except: ['Date'] } },
        observation: { value: { blankValues: ['N/A'], blank: 'leave-out' } },
      },
    ],
    [
      'an XML document',
      '<?xml version="1.0"?><all><head a="1"/>',
      (index) => `<r day="${dayOf(index)}"><item>i${index % 50}</item><price>${index % 7}.25</price></r>`,
      { xml: { rows: '/all/r' }, observation: { value: { column: 'price' } } },
    ],
  ])('%s', async (_, head, row, expected) => {
    const found = await beginMapping(endless(head, row), 'prices');
    const text = 'text' in found ? found.text : found.fault;
    expect(text).toMatch(/its first \d{5} rows/);
    expect(text).not.toContain('not readable');
    expect(parse(text)).toMatchObject(expected);
  });
});
