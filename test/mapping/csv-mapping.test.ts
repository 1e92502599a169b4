import { describe, expect, test } from 'vitest';
import { dateMapper } from '../../mapping/declared/map-date.ts';
import { parseMapping, parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { ambiguousDate, dateReader, isDateFormat } from '../../mapping/values/date-format.ts';
import { exampleMapping, withChange } from './example-mapping.ts';
import { changed, pointersOf } from './mapped.ts';

/** Where the faults of the example are, after one change. */
const pointersAfter = (path: string, value: unknown) => pointersOf(withChange(exampleMapping, path, value));

const LABEL = '/observation/sourceLabel';

describe('a mapping', () => {
  test('that is right is taken, with its defaults', () => {
    const result = parseMapping(exampleMapping);
    expect(result).toMatchObject({
      mapping: {
        csv: { delimiter: ',' },
        observation: { metric: 'price', value: { blank: { unknownReason: 'not-published' }, zero: 'refuse' } },
        market: { sources: [{ attribution: null }] },
      },
    });
  });

  test('takes the currency of its market from the observations, and their label from the only source', () => {
    const short = withChange(withChange(exampleMapping, '/market/nativeCurrency', undefined), LABEL, undefined);
    expect(parseMapping(short)).toMatchObject({
      mapping: { market: { nativeCurrency: '{code}' }, observation: { sourceLabel: 'Shop' } },
    });
    const source = { label: 'Market', url: 'https://example.org/' };
    for (const sources of [[], [source, source]]) {
      expect(pointersOf(withChange(short, '/market/sources', sources))).toEqual([LABEL]);
    }
    const ofRate = withChange(withChange(short, '/observation/currency', undefined), '/observation/unit', 'percent');
    expect(pointersOf(ofRate)).toEqual(['/market/nativeCurrency']);
  });

  test.each<[title: string, path: string, value: unknown, pointers?: string[]]>([
    // Shape.
    ['an unknown field', '/match2', []],
    ['an unknown field further down', '/observation/value/round', 'up'],
    ['a metric with a hyphen', '/observation/metric', 'high-price'],
    ['a format without a year', '/observation/date/format', 'DD.MM.'],
    ['withholding everything', '/withhold/0/where', {}],
    ['a quote as delimiter', '/csv', { delimiter: '"' }, ['/csv/delimiter']],
    ['a blank word that is empty', '/observation/value/blankValues', [' '], ['/observation/value/blankValues/0']],
    [
      'one mark for groups and decimals',
      '/observation/value/number',
      { groupMark: '.' },
      ['/observation/value/number/groupMark'],
    ],
    [
      'two formats that read one text differently',
      '/observation/date/format',
      ['YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY'],
    ],
    [
      'moments without a time',
      '/observation/date/precision',
      'instant',
      ['/observation/date/format', '/observation/date/whenBlank/format'],
    ],
    [
      'months without a month',
      '/observation/date',
      { column: 'day', format: 'YYYYQ', precision: 'month' },
      ['/observation/date/format'],
    ],
    ['an offset for days', '/observation/date/offset', '+01:00'],
    ['one name for two columns', '/unpivot', { columns: ['x'], name: 'a', value: 'a' }, ['/unpivot/value']],
    [
      'a column that stays and is added',
      '/unpivot',
      { columns: { except: ['a'] }, name: 'a', value: 'b' },
      ['/unpivot/name'],
    ],
    [
      'a table that adds a column of unpivot',
      '/unpivot',
      { columns: ['x'], name: 'code', value: 'b' },
      ['/tables/1/columns/0'],
    ],
    // Templates.
    ['a brace left open', '/market/name', '{item'],
    ['a brace too many', '/observation/sourceUrl', 'https://example.org/{item}}'],
    ['an empty placeholder', '/observation/currency', '{}'],
    ['half of a surrogate pair', '/market/name', 'Tea \uD83C'],
    ['half of a surrogate pair in a table', '/tables/0/rows/tea', ['\uD83C'], ['/tables/0/rows/tea/0']],
    // References.
    ['a market named by a column that differs within it', '/market/name', '{flag}'],
    ['a table keyed by its own column', '/tables/0/key', '{itemName}', ['/tables/0/key', '/market/name']],
    ['a table keyed by a later one', '/tables/0/key', '{code}', ['/tables/0/key', '/market/name']],
    [
      'a table that adds a column twice',
      '/tables/1/columns',
      ['itemName'],
      ['/tables/1/columns/0', '/market/name', '/market/nativeCurrency'],
    ],
    ['a row that is too short', '/tables/0/rows/tea', []],
    ['a row with an odd key', '/tables/0/rows', { 'a/b': [] }, ['/tables/0/rows/a~1b']],
    ['the date in the currency', '/observation/currency', '{observedDate}'],
    ['day precision without a day', '/observation/date/format', 'YYYY-MM'],
  ])('with %s is refused', (_, path, value, pointers = [path]) => {
    expect(pointersAfter(path, value)).toEqual(pointers);
  });

  test.each<[unknown]>([[null], [[]], ['{}'], [42]])('that is %j is refused', (input) => {
    expect(parseMapping(input)).toMatchObject({ faults: [{ pointer: '' }] });
  });

  test('shows all of its faults at once', () => {
    const mapping = changed(exampleMapping, { '/market/name': '{flag}', '/observation/currency': '{' });
    expect(pointersOf(mapping)).toEqual(['/market/name', '/observation/currency']);
  });
});

describe('dates', () => {
  test.each([
    ['YYYY-MM-DD', '2026-09-29', '2026-09-29'],
    ['YYYY-MM-DD', '2026-9-29', null],
    ['YYYY-MM-DD', '2025-02-29', null],
    ['YYYY-MM-DD', '2026-02-30', null],
    ['YYYY.M.D', '2025.12.6', '2025-12-06'],
    ['DD/MM/YYYY', '03/04/2026', '2026-04-03'],
    ['MM/DD/YYYY', '03/04/2026', '2026-03-04'],
    ['YYYYMMDD', '20240229', '2024-02-29'],
    ['YYYY-MM', '2026-09', '2026-09-01'],
    ['YYYYMM', '202600', null],
    ['MMM DD, YYYY', 'Jan 02, 1986', '1986-01-02'],
    ['DD-MMM-YYYY', '02-FEB-2024', '2024-02-02'],
    ['D MMM YYYY', '2 Foo 2024', null],
    ['D MMMM YYYY', '02 September 2024', '2024-09-02'],
    ['D MMMM YYYY', '2 Septembre 2024', null],
    ['YYYY-Q', '2026-Q3', '2026-07-01'],
    ['YYYYQ', '2026Q5', null],
    ["YYYY'M'MM", '2026M09', '2026-09-01'],
    ["YYYY'M'MM", '2026-09', null],
    ['MMM-YY', 'Jan-68', '2068-01-01'],
    ['MMM-YY', 'Jan-69', '1969-01-01'],
    ['YYYY-MM-DD HH:mm:ss', '2026-09-29 24:00:00', null],
    ['YYYY-MM-DDTHH:mmZ', '2026-09-29T23:59+14:30', '2026-09-29'],
    ['YYYY-MM-DDTHH:mmZ', '2026-09-29T23:59+15:00', null],
  ])('of the form %s: %j is %j', (format, text, date) => {
    expect(dateReader(format)(text)?.date ?? null).toBe(date);
  });

  test.each([
    ...['', 'MM-DD', 'Q', 'YYYY-DD', 'YYYY-MM-Q', 'YYYY-MM-MM', 'YYYY-MM-MMM', 'YYYY-MM-DD (.*)'],
    ...['YYYY-MM HH:mm', 'YYYY-MM-DD mm:ss', 'YYYY-MM-DD HH:mm S', 'YYYY-MM-DDZ'],
    ...['YYYYMD', 'DMYYYY', 'YYYY-MM-DD Hmm'],
  ])('%j is no form', (format) => {
    expect(isDateFormat(format)).toBe(false);
  });

  test.each([
    ['no offset', 'YYYY-MM-DD HH:mm', '2026-09-29 00:30', '2026-09-28T23:00:00Z'],
    ['an offset of its own', 'YYYY-MM-DDTHH:mm:ssZ', '2026-12-31T23:00:00-05:00', '2027-01-01T04:00:00Z'],
    ['an offset without a colon', 'YYYY-MM-DDTHH:mm:ssZ', '2026-12-31T23:00:00+0530', '2026-12-31T17:30:00Z'],
    ['Z', 'YYYY-MM-DDTHH:mm:ssZ', '2026-12-31T23:00:00Z', '2026-12-31T23:00:00Z'],
    ['tenths', 'YYYY-MM-DD HH:mm:ss.SZ', '2026-12-31 23:00:00.5Z', '2026-12-31T23:00:00.500Z'],
    ['microseconds', 'YYYY-MM-DD HH:mm:ss.SZ', '2026-12-31 23:00:00.123456Z', '2026-12-31T23:00:00.123Z'],
  ])('a moment with %s', (_, format, text, instant) => {
    const cut = { early: 'refuse', beyondMilliseconds: 'cut' } as const;
    const read = dateMapper({ column: 'at', format, precision: 'instant', offset: '+01:30', ...cut }, '/observedAt');
    expect(read({ get: () => text })).toMatchObject({ value: instant });
  });

  test.each<[readonly string[], boolean]>([
    [['DD/MM/YYYY', 'MM/DD/YYYY'], true],
    [['MM-DD-YYYY', 'YYYY-MM-DD', 'DD-MM-YYYY'], true],
    [['YYYYMM', 'YYYY', 'YYYYQ', 'YYYY-MM'], false],
    [['YYYY-MM-DD', 'YYYYMMDD'], false],
    [["YYYY'M'MM", 'YYYY-MM', 'MMM-YY', 'MMM-YYYY'], false],
    [['D MMM YY', 'YY MMM D'], true],
    [['DD/MM/YYYY', 'D/M/YYYY'], false],
    [['DD/MM/YYYY', 'YYYY/MM/DD', 'MMM DD, YYYY', 'YYYY-MM-DD HH:mm:ssZ'], false],
  ])('a date can have two readings by %j: %j', (formats, isAmbiguous) => {
    expect(ambiguousDate(formats) !== null).toBe(isAmbiguous);
  });
});

describe('a mapping as text', () => {
  const TEXT = JSON.stringify(exampleMapping, null, 2);

  test('may have comments, trailing commas and a byte order mark', () => {
    const text = `\uFEFF// Prices of a shop.\n${TEXT.replace(/\n}$/, ',\n  /* the end */ }')}`;
    expect(parseMappingText(text)).toEqual(parseMapping(exampleMapping));
  });

  test('has a line for each fault', () => {
    const text = TEXT.replace('"food"', '"{day}"').replace('"nearest"', '"up"');
    const lines = text.split('\n');
    const shape = parseMappingText(text);
    expect(shape).toMatchObject({
      faults: [{ pointer: '/observation/value/rounding', line: lines.findIndex((line) => line.includes('"up"')) + 1 }],
    });
    expect(parseMappingText(TEXT.replace('"food"', '"{day}"'))).toMatchObject({
      faults: [{ pointer: '/market/kind', line: lines.findIndex((line) => line.includes('"{day}"')) + 1 }],
    });
  });

  test('names the line of the object that lacks a field', () => {
    const text = TEXT.replace(/ *"slug".*\n/, '');
    const line = text.split('\n').findIndex((each) => each.includes('"market"')) + 1;
    expect(parseMappingText(text)).toMatchObject({ faults: [{ pointer: '/market/slug', line }] });
  });

  test.each([
    ['', 1],
    ['{\n"match": [}', 2],
    ['{"match":\n\n"a" "b"}', 3],
    ['[1,2', 1],
  ])('that is %j is refused', (text, line) => {
    const result = parseMappingText(text);
    expect('faults' in result && result.faults[0]).toMatchObject({ pointer: '', line });
  });
});
