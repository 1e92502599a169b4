/** Mappings of JSON documents. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainDecimal } from '../../contract/values/money/money.ts';
import { mapCsvRows } from '../../mapping/declared/map-csv.ts';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { type JsonNode, readJsonDocument } from '../../mapping/input/json-document.ts';
import { readJsonRows } from '../../mapping/input/json-rows.ts';
import { mapped, pointersOf, taken } from './mapped.ts';

const JSON_OF_RATES = { rows: '/eur', name: 'quote', value: 'rate', columns: { day: '/date' } };

function mappingOf(json: unknown, changes: object = {}, value: object = {}) {
  return {
    json,
    match: ['quote'],
    market: {
      slug: 'eur-{quote}',
      name: '{quote}',
      kind: 'fx',
      nativeCurrency: 'USD',
      unit: { quantity: '1000', of: 'EUR' },
    },
    observation: {
      value: { column: 'rate', quotedQuantity: '1', rounding: 'nearest', ...value },
      currency: 'USD',
      date: { column: 'day', format: 'YYYY-MM-DD', precision: 'day' },
      sourceLabel: 'API',
      sourceUrl: 'https://example.org/{observedDate}.json',
      confidence: 'medium',
      status: 'final',
    },
    ...changes,
  };
}

/** Observations as `line market digits day`, refusals as `line column: code`. */
async function map(text: CsvInput, mapping: unknown = mappingOf(JSON_OF_RATES)): Promise<string[]> {
  return (await mapped(mapping, text)).flatMap((row) => {
    if (row.kind === 'refusal') {
      expect(row.detail.length).toBeGreaterThan(10);
      return [`${row.line} ${row.column ?? '-'}: ${row.code}`];
    }
    if (!('amountMinor' in row.record)) return [];
    const { market, sourceValue, observedAt } = row.record;
    return [`${row.line} ${market} ${sourceValue ?? 'blank'} ${observedAt.slice(0, 10)}`];
  });
}

describe('the rows of a document', () => {
  test('are the members of an object', async () => {
    expect(await map('{"date":"2026-09-29","eur":{"usd":1.0840,\n"jpy":160}}')).toEqual([
      '1 eur-usd 1.0840 2026-09-29',
      '2 eur-jpy 160 2026-09-29',
    ]);
  });

  test.each<[string, unknown, string]>([
    [
      'the elements of an array',
      mappingOf({ rows: '/data' }),
      '{"data":[{"day":"2026-09-29","quote":"usd","rate":"1.5"}]}',
    ],
    [
      'elements that are arrays, in which places are names',
      mappingOf(
        { rows: '' },
        {
          match: ['1'],
          market: { ...mappingOf({}).market, slug: 'eur-{1}', name: '{1}' },
          observation: {
            ...mappingOf({}).observation,
            value: { column: '2/0', rounding: 'nearest' },
            date: { column: '0', format: 'YYYY-MM-DD', precision: 'day' },
          },
        },
      ),
      '[["2026-09-29","usd",[1.5]]]',
    ],
    [
      'days of which each holds a wide row',
      mappingOf(
        { rows: '/rates', name: 'day' },
        { unpivot: { columns: { except: ['day'] }, name: 'quote', value: 'rate' } },
      ),
      '{"rates":{"2026-09-29":{"usd":1.5}}}',
    ],
    ['the document itself', mappingOf({ rows: '' }), '{"day":"2026-09-29","quote":"usd","rate":1.5}'],
    [
      'single values, with a column from below and a name to be unescaped',
      mappingOf({ rows: '/a~1b/0', name: 'quote', value: 'rate', columns: { day: '/meta/days/1' } }),
      '{"a/b":[{"usd":1.5}],"meta":{"days":["2026-09-28","2026-09-29"]}}',
    ],
  ])('are %s', async (_, mapping, text) => {
    expect(await map(text, mapping)).toEqual(['1 eur-usd 1.5 2026-09-29']);
  });

  test('may lack a column, or have null for a value: both are blank', async () => {
    const mapping = mappingOf({ rows: '' }, {}, { blank: { unknownReason: 'not-published' } });
    const text = '[{"day":"2026-09-29","quote":"usd"},{"quote":"jpy","rate":null,"day":"2026-09-29"}]';
    expect(await map(text, mapping)).toEqual(['1 eur-usd blank 2026-09-29', '1 eur-jpy blank 2026-09-29']);
  });

  test('are left out, and counted, where a table does not list them', async () => {
    const tables = [{ key: '{quote}', columns: ['code'], rows: { usd: ['USD'] }, otherwise: 'leave-out' }];
    const mapping = taken(mappingOf(JSON_OF_RATES, { tables }));
    const rows = [];
    for await (const row of mapCsvRows(mapping, '{"date":"2026-09-29","eur":{"usd":1,"doge":2}}')) rows.push(row);
    expect(rows.slice(1).map((row) => row.kind === 'row' && [row.values, row.leftOut, row.results.length])).toEqual([
      [1, 0, 2],
      [1, 1, 0],
    ]);
  });

  test('come from bytes that are cut anywhere', async () => {
    const bytes = new TextEncoder().encode('{"date":"2026-09-29","eur":{"usd":1.5,"é":2}}');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await map(pieces)).toEqual(['1 eur-usd 1.5 2026-09-29', '1 eur-e 2 2026-09-29']);
  });
});

describe('a cell of a million characters', () => {
  const long = { digits: '-'.repeat(1_000_000), letters: 'a'.repeat(1_000_000), blanks: `é${' '.repeat(1_000_000)}x` };
  const documents = Object.entries(long).flatMap(([what, cell]): [string, string][] => [
    [`${what} in a value`, JSON.stringify({ date: '2026-09-29', eur: { usd: cell, jpy: 160 } })],
    [`${what} in a name`, JSON.stringify({ date: '2026-09-29', eur: { [cell]: 1, jpy: 160 } })],
    [`${what} in each date`, JSON.stringify({ date: cell, eur: { usd: 1, jpy: 160 } })],
    [`${what} where no column is`, JSON.stringify({ date: '2026-09-29', note: cell, eur: { usd: 1, jpy: 160 } })],
  ]);

  test.each(documents)('%s takes no long time, and refuses only rows that read it', async (name, text) => {
    const jpy = name.includes('each') ? '1 day: record.invalid' : '1 eur-jpy 160 2026-09-29';
    for (const invisible of ['refuse', 'strip']) {
      expect((await map(text, mappingOf(JSON_OF_RATES, { invisible })))[1]).toBe(jpy);
    }
  });
});

describe('digits', () => {
  test.each([
    ['12345678901.2345678901234567890', '12345678901.2345678901234567890'],
    ['"7.10"', '7.10'],
  ])('%s are those of the source', async (written, digits) => {
    expect(await map(`{"date":"2026-09-29","eur":{"usd":${written}}}`)).toEqual([`1 eur-usd ${digits} 2026-09-29`]);
  });

  test.each([
    ['1e100', 'amount.out-of-range'],
    ['1e-70', 'amount.zero-unasserted'],
    ['1e999', 'amount.out-of-range'],
    ['true', 'record.invalid'],
    ['"1,5"', 'record.invalid'],
    [`1${'0'.repeat(70)}`, 'record.invalid'],
  ])('%s are refused', async (written, code) => {
    expect(await map(`{"date":"2026-09-29","eur":{"usd":${written}}}`)).toEqual([`1 rate: ${code}`]);
  });

  test('written out are the same number', async () => {
    const number = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.nat(8), fc.integer({ min: -9, max: 3 }));
    await fc.assert(
      fc.asyncProperty(number, async ([digits, decimals, exponent]) => {
        const text = String(digits).padStart(decimals + 1, '0');
        const written = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
        const token = `${written.replace(/^0+(?=\d)/, '')}e${exponent}`;
        const [row] = await map(`{"date":"2026-09-29","eur":{"usd":${token}}}`);
        // Too much or too little for minor units is refused with a code of its own.
        if (row?.includes('amount.')) return;
        const [, , found = ''] = row?.split(' ') ?? [];
        expect(found).toBe(token);
        const [whole = '', fraction = ''] = plainDecimal(found).split('.');
        // In units of 10^-20.
        expect(BigInt(whole + fraction) * 10n ** BigInt(20 - fraction.length)).toBe(
          digits * 10n ** BigInt(20 - decimals + exponent),
        );
      }),
    );
  });
});

describe('a document that is not as the mapping says', () => {
  test.each<[string, string, string[]]>([
    ['is not JSON', '{"date":"2026-09-29",\n"eur":{"usd":01}}', ['2 -: record.invalid']],
    ['ends early', '{"date":"2026-09-29",\n"eur":{"usd":1', ['2 -: record.invalid']],
    ['is empty', '', ['1 -: record.invalid']],
    ['is a web page', '<!doctype html>', ['1 -: record.invalid']],
    ['gives a value twice', '{"date":"2026-09-29","eur":{"usd":1,\n"usd":2}}', ['2 -: record.invalid']],
    [
      'gives a value twice, once by escapes',
      '{"date":"2026-09-29","eur":{"usd":1,"us\\u0064":2}}',
      ['1 -: record.invalid'],
    ],
    ['has no rows', '{"date":"2026-09-29"}', ['1 -: record.invalid']],
    ['has a single value for rows', '{"date":"2026-09-29","eur":1}', ['1 -: record.invalid']],
    ['has rows without names', '{"date":"2026-09-29","eur":[1]}', ['1 -: record.invalid']],
    ['lacks the date', '{"eur":{"usd":1}}', ['1 -: record.invalid']],
    ['has an object for a date', '{"date":{"y":2026},"eur":{"usd":1}}', ['1 -: record.invalid']],
    ['has rows of another shape', '{"date":"2026-09-29","eur":{"usd":{"rate":1}}}', ['1 -: record.invalid']],
    ['has no bounds', `${'['.repeat(100_000)}`, ['1 -: record.invalid']],
    ['is Latin-1', '{"date":"2026-09-29",\n"eur":{"\uFFFD":1}}', ['2 -: record.invalid']],
  ])('because it %s is refused, with its line', async (_, text, expected) => {
    expect(await map(text)).toEqual(expected);
  });

  test('because any text may come, it is read as the engine reads it, or refused', async () => {
    const rows = { rows: '', columns: {} };
    const jsonish = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc
        .tuple(
          fc.json({ maxDepth: 3 }),
          fc.nat(40),
          fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '\\', '\n', '\0', '1', ' '),
        )
        .map(([text, at, inserted]) => text.slice(0, at) + inserted + text.slice(at)),
    );
    await fc.assert(
      fc.asyncProperty(jsonish, async (text) => {
        const found = readJsonDocument(text);
        const engine = parsed(text);
        if (engine === undefined) expect(found).toHaveProperty('detail');
        else if (!('detail' in found)) expect(textsOfNode(found)).toEqual(textsOf(engine));
        else expect(found.detail).toContain('twice');
        for await (const row of readJsonRows(text, rows)) expect(row.line).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  test('has one row that is a bare value: the others go on', async () => {
    const text = '[{"day":"2026-09-29","quote":"usd","rate":1},\n5,\n{"day":"2026-09-29","quote":"jpy","rate":2}]';
    expect(await map(text, mappingOf({ rows: '' }))).toEqual([
      '1 eur-usd 1 2026-09-29',
      '2 -: record.invalid',
      '3 eur-jpy 2 2026-09-29',
    ]);
  });

  test('has too many columns', async () => {
    const row = Object.fromEntries(Array.from({ length: 1001 }, (_, column) => [`c${column}`, column]));
    expect(await map(JSON.stringify([row]), mappingOf({ rows: '' }))).toEqual(['1 -: record.invalid']);
  });

  test('has names that objects of the language have, too', async () => {
    const text = '{"date":"2026-09-29","eur":{"__proto__":1,"constructor":2}}';
    expect(await map(text)).toEqual(['1 eur-proto 1 2026-09-29', '1 eur-constructor 2 2026-09-29']);
  });
});

describe('a mapping of JSON', () => {
  test.each<[string, unknown, string[]]>([
    ['a place that is no pointer', mappingOf({ rows: 'eur' }), ['/json/rows']],
    ['an escape that is none', mappingOf({ rows: '/a~2' }), ['/json/rows']],
    ['settings of CSV', mappingOf({ rows: '' }, { csv: { delimiter: ';' } }), ['/csv']],
    ['a decimal comma', mappingOf({ rows: '' }, {}, { number: { decimalMark: ',' } }), ['/observation/value/number']],
    ['one name for two columns', mappingOf({ rows: '', name: 'rate', value: 'rate' }), ['/json/value']],
  ])('with %s is refused there', (_, mapping, pointers) => {
    expect(pointersOf(mapping)).toEqual(pointers);
  });
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Numbers become the text that the engine has for them, if they are written so. */
function textsOfNode({ text, members, isArray }: JsonNode): unknown {
  if (members === null) return text !== null && /^-?[\d.]+(e[+-]?\d+)?$/i.test(text) ? String(Number(text)) : text;
  const values = [...members].map(([name, node]) => [name, textsOfNode(node)] as const);
  return isArray ? values.map(([, value]) => value) : new Map(values);
}

function textsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textsOf);
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, inner]) => [name, textsOf(inner)]));
  }
  const text = value === null ? '' : String(value);
  return /^-?[\d.]+(e[+-]?\d+)?$/i.test(text) ? String(Number(text)) : text;
}
