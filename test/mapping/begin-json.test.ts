/** Starting mappings for JSON documents: where their rows are. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping } from '../../mapping/check/check-mapping.ts';

function begin(text: string) {
  return beginMapping(async function* () {
    yield new TextEncoder().encode(text);
  }, 'rates.json');
}

/** The document of the sample's source for one day and base, with its own digits. */
function sampleDocument(base: string, day: string): string {
  const csv = readFileSync(new URL('../../mapping/sample/currency-api.csv', import.meta.url), 'utf8');
  const rows = csv.split('\n').filter((line) => line.includes(`,${day},${base},`));
  const members = rows.map((row) => `\t\t"${row.split(',')[3]}": ${row.split(',')[4]}`);
  return `{\n\t"date": "${day}",\n\t"${base}": {\n${members.join(',\n')}\n\t}\n}`;
}

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
      {
        json: { rows: '/series' },
        observation: { value: { column: '1' }, date: { column: '0', format: 'unix-milliseconds' } },
      },
    ],
    [
      'the document itself',
      '{"day":"2026-01-02","price":1.25}',
      { json: { rows: '' }, observation: { value: { column: 'price' }, date: { column: 'day' } } },
    ],
  ])('%s', async (_, text, expected) => {
    const begun = await begin(text);
    expect('text' in begun && parse(begun.text)).toMatchObject(expected);
    expect('text' in begun && begun.text).not.toContain('"csv"');
  });

  test('an array of long arrays, whose date has a place of two digits', async () => {
    const row = (day: string, price: string) => `[${'"",'.repeat(10)}"${day}",${price}]`;
    const begun = await begin(`[${row('2026-01-02', '1.25')},${row('2026-01-03', '1.5')}]`);
    expect('text' in begun && parse(begun.text).observation).toMatchObject({
      value: { column: '11' },
      date: { column: '10' },
    });
  });

  test.each([' ', 'x'.repeat(201)])('numbers beside a date whose name %j no column can have', async (name) => {
    const begun = await begin(`{"${name}":"2026-01-02","eur":{"usd":1.1,"jpy":160.5}}`);
    expect('text' in begun && parse(begun.text).json).toEqual({ rows: '/eur', name: 'name', value: 'value' });
  });

  test('a document behind a byte order mark, in pieces of one byte', async () => {
    const begun = await beginMapping(async function* () {
      for (const byte of new TextEncoder().encode('\uFEFF[{"day":"2026-01-02","price":1.25}]'))
        yield Uint8Array.of(byte);
    }, 'rates.json');
    expect('text' in begun && parse(begun.text)).toMatchObject({ json: { rows: '' } });
  });

  test('the sample’s source: filled in, it gives each value', async () => {
    const text = sampleDocument('eur', '2026-09-29');
    const begun = await begin(text);
    const filled = ('text' in begun ? begun.text : '')
      .replace(/"kind": "FILL IN[^"]*"/, '"kind": "fx"')
      .replace(/"confidence": "FILL IN[^"]*"/, '"confidence": "medium"')
      .replaceAll(/"(url|sourceUrl)": "FILL IN[^"]*"/g, '"$1": "https://example.org/"')
      .replaceAll(/"FILL IN[^"]*"/g, '"EUR"');
    const { faults, file } = await checkMapping(filled, text);
    expect(faults).toEqual([]);
    expect(file).toMatchObject({ rows: 53, observations: { count: 53 }, refused: { count: 0 } });
  });
});

describe('no mapping is begun for', () => {
  test.each<[string, string, RegExp]>([
    ['JSON that ends early', '{"a":[{"b":1}', /^line 1: .*JSON/],
    ['a name twice', '{"a":1,\n"a":2}', /^line 2: .*twice/],
    ['an empty list', '[]', /no row/],
    ['a list of bare values', '[1,2]', /single value/],
  ])('%s, and the fault is told', async (_, text, fault) => {
    expect(await begin(text)).toEqual({ fault: expect.stringMatching(fault) });
  });

  test('any JSON without a fault or a text: nothing is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (text) => {
        const begun = await begin(text);
        expect('fault' in begun ? begun.fault.length : begun.text.length).toBeGreaterThan(10);
      }),
      { numRuns: 300 },
    );
  });
});
