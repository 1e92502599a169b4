import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { exampleMapping, withChange } from './example-mapping.ts';
import { type Changes, changed, mapped } from './mapped.ts';

const HEADER = 'item,currency,price,day,version,flag';

/** The observations that a file's lines give, each with its line. */
async function observations(text: CsvInput, mapping: unknown = exampleMapping) {
  const rows = await mapped(mapping, text);
  return rows.flatMap((row) =>
    row.kind === 'record' && row.record.type === 'observation' ? [{ line: row.line, ...row.record }] : [],
  );
}

/** The refusals of a file as `line code pointer (column)`. */
async function refusals(text: CsvInput, mapping: unknown = exampleMapping): Promise<string[]> {
  const rows = await mapped(mapping, text);
  return rows.flatMap((row) => {
    if (row.kind !== 'refusal') return [];
    expect(row.detail.length).toBeGreaterThan(10);
    return [`${row.line} ${row.code} ${row.pointer || '-'} (${row.column ?? '-'})`];
  });
}

const file = (...lines: string[]) => [HEADER, ...lines].join('\n');
/** Everything that a file gives by the example. */
const map = (text: CsvInput) => mapped(exampleMapping, text);

const TEA = 'tea,yen,1,2026-01-02,,actual';
const LINK = 'https://shop.example/tea?lang=fr#100%25';
const ROUBLES = { '/tables/1/rows/rouble': ['BYR'] };
const SOURCES = '/market/sources';
const CADENCE = { period: 'week', releaseTime: '14:00', graceSeconds: 86_400 };
const [VALUE, DATE] = ['/observation/value', '/observation/date'] as const;
const [LABEL, URL, CURRENCY] = ['/observation/sourceLabel', '/observation/sourceUrl', '/observation/currency'] as const;

describe('rows become records', () => {
  test('of corrections, with the reason that the file gives for the public; a blank cell gives none', async () => {
    const high = withChange(exampleMapping, '/observation/confidence', 'high');
    const mapping = withChange(high, '/observation/publicReason', '{flag}');
    const rows = await observations(file('tea,yen,1,2026-01-02,,A misprint.', 'tea,yen,1,2026-01-04,, '), mapping);
    expect(rows.map((row) => 'publicReason' in row && row.publicReason)).toEqual(['A misprint.', false]);
  });

  test('a market at its first row, then observations with their lines', async () => {
    const rows = await map(file('tea,yen,123.45,2026-01-02,,actual', 'tea,yen,-1,2026-01-04,,guess'));
    expect(rows.slice(0, 1)).toEqual([
      {
        kind: 'record',
        line: 2,
        record: {
          type: 'market',
          slug: 'tea-yen',
          name: 'Tea, JPY',
          kind: 'food',
          status: 'active',
          nativeCurrency: 'JPY',
          unit: { quantity: 10, of: 'kg' },
          sources: [
            {
              label: 'Shop',
              url: 'https://example.org/tea',
              publisher: 'A shop',
              licence: 'CC0-1.0',
              attribution: null,
            },
          ],
        },
      },
    ]);
  });

  test('a market comes with its first observation that is not refused, and rows without one define none', async () => {
    const rows = await map(
      file(
        'tea,yen,x,2026-01-02,,actual',
        'coffee,yen,1,never,,actual',
        'tea,yen,1,2026-01-04,,actual',
        'tea,yen,x,2026-01-05,,actual',
        'tea,yen,2,2026-01-06,,actual',
      ),
    );
    expect(rows.map((row) => [row.line, row.kind === 'record' ? row.record.type : row.kind])).toEqual([
      [2, 'refusal'],
      [3, 'refusal'],
      [4, 'market'],
      [4, 'observation'],
      [5, 'refusal'],
      [6, 'observation'],
    ]);
  });

  test.each<[string, string, object, Changes?]>([
    ['dinar have three decimals', 'tea,dinar,1.2345,2026-01-02,,actual', { amountMinor: 12345, rounded: false }],
    ['a word gives the confidence', 'tea,yen,-1,2026-01-04,,guess', { amountMinor: -10, confidence: 'low' }],
    ['a blank is unknown', 'tea,yen,,2026-01-02,,actual', { amountMinor: null, unknownReason: 'not-published' }],
    [
      'a withheld value is unknown and keeps its digits',
      'tea,yen,123.45,2026-01-03,,actual',
      { amountMinor: null, unknownReason: 'withheld', sourceValue: '123.45' },
    ],
    ['withholding needs all of its columns', 'coffee,yen,1,2026-01-03,,actual', { amountMinor: 10 }],
    [
      'a blank date falls back',
      'tea,yen,1,,2026.1.5,actual',
      { observedAt: '2026-01-05T00:00:00Z', sourceLabel: 'Shop, 2026-01-05' },
    ],
    ['white space does not count', ' tea , yen , 1 , 2026-01-02 ,, actual ', { market: 'tea-yen', amountMinor: 10 }],
    ['a month is its first day', TEA, { observedAt: '2026-01-01T00:00:00Z' }, { [`${DATE}/precision`]: 'month' }],
    [
      'a zero that the mapping asserts',
      'tea,yen,0.00,2026-01-02,,actual',
      { amountMinor: 0, zeroAsserted: true, rounded: false, sourceValue: '0.00' },
      { [`${VALUE}/zero`]: 'asserted' },
    ],
    [
      'a column of links is taken as it is, where it is the whole template',
      `tea,yen,1,2026-01-02,${LINK},actual`,
      { sourceUrl: LINK },
      { [URL]: '{version}' },
    ],
    [
      'slugs are derived from any text, and URLs are encoded',
      '"Côte d’Ivoire: 100 KG / a&b",yen,1,2026-01-02,,actual',
      {
        market: 'cote-d-ivoire-100-kg-a-b-yen',
        sourceUrl: expect.stringContaining('?item=C%C3%B4te%20d%E2%80%99Ivoire%3A%20100%20KG%20%2F%20a%26b'),
      },
      { '/tables/0/otherwise': ['x'] },
    ],
    ['a currency on its last day', 'tea,rouble,1,2016-06-30,,actual', { currency: 'BYR' }, ROUBLES],
    [
      'another metric may be in another currency than its market',
      TEA,
      { currency: 'USD' },
      { [CURRENCY]: 'USD', '/observation/metric': 'fee' },
    ],
  ])('%s', async (_, line, record, changes = {}) => {
    expect(await observations(file(line), changed(exampleMapping, changes))).toMatchObject([record]);
  });

  test('a date before 1900 is confirmed if the mapping says so', async () => {
    const early = file('tea,yen,123,1861-01-02,,actual');
    expect(await refusals(early)).toEqual(['2 date.implausible /observedAt (day)']);
    const mapping = withChange(exampleMapping, '/observation/date/early', 'confirmed');
    expect(await observations(early, mapping)).toMatchObject([{ dateConfirmed: true }]);
    expect((await observations(file('tea,yen,123,1900-01-01,,actual'), mapping))[0]).not.toHaveProperty(
      'dateConfirmed',
    );
  });

  test.each<[string, Changes, object]>([
    ['a mapping without sources leaves those of a market as they are', { [SOURCES]: undefined }, { slug: 'tea-yen' }],
    [
      'a source brings its cadence',
      { [`${SOURCES}/0/cadence`]: CADENCE },
      { sources: [{ label: 'Shop', cadence: CADENCE }] },
    ],
  ])('%s', async (_, changes, market) => {
    const [row] = await mapped(changed(exampleMapping, changes), file(TEA));
    expect(row).toMatchObject({ kind: 'record', record: { type: 'market', ...market } });
    if (SOURCES in changes) expect(row).not.toHaveProperty('record.sources');
  });
});

test('JSON is refused once, with the remedy', async () => {
  expect(await refusals('{\n"day": 1\n}')).toEqual(['1 record.invalid - (-)']);
});

describe('rows that are refused', () => {
  test.each<[string, string, string[], Changes?]>([
    ['no number', 'tea,yen,n/a,2026-01-02,,actual', ['2 record.invalid /amountMinor (price)']],
    ['a thousands separator', 'tea,yen,"1,000",2026-01-02,,actual', ['2 record.invalid /amountMinor (price)']],
    ['a zero', 'tea,yen,0,2026-01-02,,actual', ['2 amount.zero-unasserted /amountMinor (price)']],
    [
      'too large a number',
      'tea,yen,9007199254740992,2026-01-02,,actual',
      ['2 amount.out-of-range /amountMinor (price)'],
    ],
    ['no date', 'tea,yen,1,,,actual', ['2 provenance.incomplete /observedAt (version)']],
    ['no date of that form', 'tea,yen,1,02.01.2026,,actual', ['2 record.invalid /observedAt (day)']],
    ['a flag without a word', 'tea,yen,1,2026-01-02,,', ['2 record.invalid /confidence (flag)']],
    ['an item that no table lists', 'milk,yen,1,2026-01-02,,actual', ['2 record.invalid - (item)']],
    ['a prototype’s name for an item', 'constructor,yen,1,2026-01-02,,actual', ['2 record.invalid - (item)']],
    [
      'an alias as native currency',
      'tea,pence,1,2026-01-02,,actual',
      ['2 currency.minor-unit-alias /nativeCurrency (-)'],
    ],
    [
      'a native currency in no form of a code',
      'tea,barter,1,2026-01-02,,actual',
      ['2 currency.unknown /nativeCurrency (-)'],
    ],
    ['too few fields', 'tea,yen,1', ['2 record.invalid - (-)']],
    ['bytes that are not UTF-8', 'tea,yen,1,2026-01-02,caf\uFFFD,actual', ['2 record.invalid - (version)']],
    [
      'every fault of a row at once',
      'tea,yen,x,y,,z',
      [
        '2 record.invalid /observedAt (day)',
        '2 record.invalid /amountMinor (price)',
        '2 record.invalid /confidence (flag)',
      ],
    ],
    [
      'a value that rounds to zero, where zeros of the file are asserted',
      'tea,yen,0.01,2026-01-02,,actual',
      ['2 amount.zero-unasserted /amountMinor (price)'],
      { [`${VALUE}/zero`]: 'asserted' },
    ],
    [
      'a fraction, where the mapping refuses to round',
      'tea,dinar,8.05611,2026-01-02,,actual',
      ['2 amount.not-integral /amountMinor (price)'],
      { [`${VALUE}/rounding`]: 'refuse' },
    ],
    [
      'a blank, where the mapping gives no reason',
      'tea,yen,,2026-01-02,,actual',
      ['2 provenance.incomplete /amountMinor (price)'],
      { [`${VALUE}/blank`]: undefined },
    ],
    [
      'a currency after its end, without a fault of its amount',
      'tea,rouble,0.25,2016-07-01,,actual',
      ['2 currency.retired /currency (-)'],
      ROUBLES,
    ],
    ['a relative URL', TEA, ['2 source.url-not-absolute /sourceUrl (-)'], { [URL]: '{version}/{item}' }],
    ['an empty label', TEA, ['2 provenance.incomplete /sourceLabel (-)'], { [LABEL]: '{version}' }],
    [
      'a price in another currency than its market',
      TEA,
      ['2 currency.not-native /currency (-)'],
      { [CURRENCY]: 'USD' },
    ],
    ...['0', '-1', '1.5', 'x', '1000000000000001'].map((quantity): [string, string, string[], Changes] => [
      `a quoted quantity of ${quantity} for a market of 10`,
      TEA,
      ['2 record.invalid /quotedQuantity (-)'],
      { [`${VALUE}/quotedQuantity`]: quantity },
    ]),
  ])('%s', async (_, line, expected, changes) => {
    expect(await refusals(file(line), changed(exampleMapping, changes ?? {}))).toEqual(expected);
    if (changes !== undefined) return;
    // The rows around it are not affected.
    const around = await observations(file('coffee,yen,1,2026-01-02,,actual', line, 'coffee,yen,1,2026-01-04,,actual'));
    expect(around.map((row) => row.line)).toEqual([2, 4]);
  });

  test.each([
    ['an e-mail address', 'me@example.org'],
    ['a control character', 'a\u0007b'],
    ['too many characters', 'a'.repeat(201)],
  ])('a label with %s', async (_, version) => {
    const mapping = withChange(exampleMapping, '/observation/sourceLabel', '{version}');
    // Twice, because the label of the row before is remembered.
    const rows = [`tea,yen,1,2026-01-02,"${version}",actual`, `tea,yen,1,2026-01-05,"${version}",actual`];
    expect(await refusals(file(...rows, 'tea,yen,1,2026-01-06,shop,actual'), mapping)).toEqual([
      '2 record.invalid /sourceLabel (-)',
      '3 record.invalid /sourceLabel (-)',
    ]);
  });

  test('each row of a market that cannot be made', async () => {
    const mapping = withChange(exampleMapping, '/market/unit/quantity', '0.5');
    expect(await refusals(file('tea,yen,1,2026-01-02,,actual', 'tea,yen,1,2026-01-04,,actual'), mapping)).toEqual([
      '2 record.invalid /unit/quantity (-)',
      '3 record.invalid /unit/quantity (-)',
    ]);
  });

  test('two markets with one slug', async () => {
    const mapping = withChange(exampleMapping, '/market/slug', '{item}');
    const text = file('tea,yen,1,2026-01-02,,actual', 'tea,dinar,1,2026-01-02,,actual', 'tea,yen,2,2026-01-04,,actual');
    expect(await refusals(text, mapping)).toEqual(['3 record.invalid /slug (-)']);
    expect((await observations(text, mapping)).map(({ line }) => line)).toEqual([2, 4]);
  });
});

describe('files', () => {
  const rowsOn = (days: number, version: string) =>
    Array.from({ length: days }, (_, day) => {
      const date = new Date(Date.UTC(1990, 0, 1 + day)).toISOString().slice(0, 10);
      return `tea,yen,1,${date},${version},actual`;
    });

  test.each<[string, string, string[]]>([
    ['an empty file', '', ['1 record.invalid - (-)']],
    ['nothing but a byte order mark', '\uFEFF', ['1 record.invalid - (-)']],
    [
      'missing columns',
      'item,currency,price,version\ntea,yen,1,',
      ['1 record.invalid - (day)', '1 record.invalid - (flag)'],
    ],
    ['two columns of one name', `${HEADER},price\n${TEA},2`, ['1 record.invalid - (price)']],
    ['a column that a table adds', `${HEADER},code\n${TEA},2`, ['1 record.invalid - (code)']],
    ['an open quote', file(TEA, 'tea,yen,"1,2026-01-02,,actual', TEA, TEA), ['3 record.invalid - (-)']],
    ['an open quote in the header', `"${HEADER}\n${TEA}`, ['1 record.invalid - (-)']],
  ])('%s is refused', async (_, text, expected) => {
    // Columns are reported in the order in which the mapping needs them.
    expect((await refusals(text)).sort()).toEqual([...expected].sort());
  });

  test('each way in which a row is not readable has a reason of its own', async () => {
    const rows = ['tea,yen,"1', '"tea"s,yen', 'te"a,yen', 'x'.repeat(1_000_010)];
    const reasons = await Promise.all(rows.map(async (row) => (await map(file(TEA, row))).at(-1)));
    expect(new Set(reasons.map((reason) => reason?.kind === 'refusal' && reason.detail)).size).toBe(rows.length);
  });

  test('a row without an end is refused after a million characters, even if it has only delimiters', async () => {
    let pieces = 0;
    function* file() {
      yield `${HEADER}\n${TEA}\n`;
      for (; pieces < 1_000; pieces++) yield ','.repeat(10_000);
    }
    expect((await map(file())).at(-1)).toMatchObject({ kind: 'refusal', line: 3, code: 'record.invalid' });
    expect(pieces).toBeLessThan(110);
  });

  test('a file of its own has no moment of a fetch, and the refusal says what has one', async () => {
    const mapping = withChange(exampleMapping, '/observation/date/column', 'fetchedAt');
    expect(await mapped(mapping, file(TEA))).toMatchObject([
      { detail: expect.stringContaining('that a recipe fetched') },
    ]);
  });

  test('names of columns are told apart by characters that nobody sees', async () => {
    const [refusal] = await map(
      `${HEADER.replace('price', 'pri\u200Bce').replace('day,', 'day,x\u00A0y,\u{E0001},')}\n`,
    );
    expect(refusal).toMatchObject({
      column: 'price',
      detail:
        'there is no column "price"; the file has: item, currency, "pri\\u200bce", day, "x\\u00a0y", "\\udb40\\udc01", version, flag',
    });
  });

  test.each([
    ['UTF-16 with a byte order mark', `\uFEFF${file(TEA)}`],
    ['UTF-16 without one', file(TEA)],
  ])('%s is refused once, with the remedy', async (_, text) => {
    const results = await map([Buffer.from(text, 'utf16le')]);
    expect(results).toMatchObject([
      { line: 1, column: null, detail: expect.stringMatching(/^is not written in utf-8: .*csv\.encoding.*utf-16le/) },
    ]);
  });

  test('the rows before a malformed one are kept, wherever it is', async () => {
    for (const rows of [1, 100, 2_000]) {
      const text = file(...rowsOn(rows, ''), '"tea"s,yen,1,2026-01-02,,actual', TEA);
      expect(await observations(text)).toHaveLength(rows);
      expect(await refusals(text)).toEqual([`${rows + 2} record.invalid - (-)`]);
    }
  });

  test('a quote that swallows a large file is reported at the line where it opens, and the rest is not read', async () => {
    let pieces = 0;
    function* large() {
      yield file('tea,yen,"1,2026-01-02,,actual', '');
      for (; pieces < 10_000; pieces++) yield `${TEA}\n`.repeat(100);
    }
    expect(await refusals(large())).toEqual(['2 record.invalid - (-)']);
    expect(pieces).toBeLessThan(1_000);
  });

  test('lines are counted through blank lines and quoted line breaks', async () => {
    const text = file('', '"tea",yen,1,2026-01-02,"a\nb\nc",actual', '', 'tea,yen,x,2026-01-04,,actual');
    expect((await observations(text)).map(({ line }) => line)).toEqual([3]);
    expect(await refusals(text)).toEqual(['7 record.invalid /amountMinor (price)']);
  });

  test('columns may be in any order, and more than needed', async () => {
    expect(
      await observations('extra,flag,version,day,price,currency,item\n,actual,,2026-01-02,1,yen,tea'),
    ).toMatchObject([{ market: 'tea-yen', amountMinor: 10 }]);
  });

  test('an error of the stream itself is passed on', async () => {
    async function* broken() {
      yield `${HEADER}\n`;
      throw new Error('disk gone');
    }
    await expect(map(broken())).rejects.toThrow('disk gone');
  });

  test('line ends, a byte order mark and chunks do not change the records', async () => {
    const lines = [
      HEADER,
      TEA,
      '"tea",yen,2,2026-01-04,"a,""b""",guess',
      'milk,yen,1,2026-01-02,,actual',
      'tea,yen,3,2026-01-05,,actual',
    ];
    const expected = await map(lines.join('\n'));
    expect(expected).toHaveLength(5);
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: lines.length, maxLength: lines.length }),
        fc.array(fc.nat({ max: 250 }), { maxLength: 12 }),
        async (mark, ends, cuts) => {
          // A lone CR before an LF would be one line end, not two.
          const text = (mark ? '\uFEFF' : '') + lines.map((line, index) => line + ends[index]).join('');
          const places = [0, ...[...cuts].sort((a, b) => a - b), text.length];
          const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
          expect(await map(pieces)).toEqual(expected);
        },
      ),
    );
  });
});
