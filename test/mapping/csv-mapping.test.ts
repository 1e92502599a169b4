import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dateReader, isDateFormat } from '../../mapping/date-format.ts';
import { parseMapping } from '../../mapping/parse-mapping.ts';
import { exampleMapping, withChange } from './example-mapping.ts';

/** Where the faults of the example are, after one change. */
function pointersAfter(path: string, value: unknown): string[] {
  const result = parseMapping(withChange(exampleMapping, path, value));
  return 'faults' in result ? result.faults.map(({ pointer }) => pointer) : [];
}

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

  test('of the sample is taken', () => {
    const url = new URL('../../sample/mapping.json', import.meta.url);
    expect(parseMapping(JSON.parse(readFileSync(url, 'utf8')))).toHaveProperty('mapping');
  });

  test.each<[string, string, unknown, string[]]>([
    // Shape.
    ['an unknown field', '/match2', [], ['/match2']],
    ['an unknown field further down', '/observation/value/round', 'up', ['/observation/value/round']],
    ['no match', '/match', undefined, ['/match']],
    ['an empty match', '/match', [], ['/match']],
    ['a delimiter of two characters', '/csv', { delimiter: '||' }, ['/csv/delimiter']],
    ['no slug', '/market/slug', undefined, ['/market/slug']],
    ['a number for a quantity', '/market/unit/quantity', 1000, ['/market/unit/quantity']],
    ['a rounding of its own', '/observation/value/rounding', 'up', ['/observation/value/rounding']],
    [
      'a reason of its own',
      '/observation/value/blank/unknownReason',
      'lost',
      ['/observation/value/blank/unknownReason'],
    ],
    ['a meaning of blank that is not one', '/observation/value/blank', 'zero', ['/observation/value/blank']],
    ['a confidence of its own', '/observation/confidence', 'certain', ['/observation/confidence']],
    [
      'a confidence of its own in a list',
      '/observation/confidence',
      { column: 'flag', values: { actual: 'certain' } },
      ['/observation/confidence/values/actual'],
    ],
    ['a metric with a hyphen', '/observation/metric', 'high-price', ['/observation/metric']],
    ['a format without a year', '/observation/date/format', 'DD.MM.', ['/observation/date/format']],
    ['a precision of its own', '/observation/date/precision', 'week', ['/observation/date/precision']],
    ['withholding everything', '/withhold/0/where', {}, ['/withhold/0/where']],
    ['withholding for no value', '/withhold/0/where/day', [], ['/withhold/0/where/day']],
    ['withholding without a word why', '/withhold/0/reason', '', ['/withhold/0/reason']],
    // Templates.
    ['a brace left open', '/market/name', '{item', ['/market/name']],
    ['a brace too many', '/observation/sourceUrl', 'https://example.org/{item}}', ['/observation/sourceUrl']],
    ['an empty placeholder', '/observation/currency', '{}', ['/observation/currency']],
    ['half of a surrogate pair', '/market/name', 'Tea \uD83C', ['/market/name']],
    ['half of a surrogate pair in a table', '/tables/0/rows/tea', ['\uD83C'], ['/tables/0/rows/tea/0']],
    // References.
    ['a market named by a column that differs within it', '/market/name', '{flag}', ['/market/name']],
    [
      'a market source with such a column',
      '/market/sources/0/url',
      'https://example.org/{day}',
      ['/market/sources/0/url'],
    ],
    ['a table keyed by its own column', '/tables/0/key', '{itemName}', ['/tables/0/key', '/market/name']],
    ['a table keyed by a later one', '/tables/0/key', '{code}', ['/tables/0/key', '/market/name']],
    [
      'a table that adds a column twice',
      '/tables/1/columns',
      ['itemName'],
      ['/tables/1/columns/0', '/market/name', '/market/nativeCurrency'],
    ],
    ['a row that is too short', '/tables/0/rows/tea', [], ['/tables/0/rows/tea']],
    ['a row with an odd key', '/tables/0/rows', { 'a/b': [] }, ['/tables/0/rows/a~1b']],
    ['an otherwise that is too long', '/tables/0/otherwise', ['a', 'b'], ['/tables/0/otherwise']],
    ['the date in the currency', '/observation/currency', '{observedDate}', ['/observation/currency']],
    ['the date in a table’s columns', '/tables/0/columns', ['observedDate'], ['/tables/0/columns/0', '/market/name']],
    ['day precision without a day', '/observation/date/format', 'YYYY-MM', ['/observation/date/format']],
    [
      'day precision without a day in the fallback',
      '/observation/date/whenBlank',
      { column: 'day', format: 'YYYYMM' },
      ['/observation/date/whenBlank/format'],
    ],
  ])('with %s is refused', (_, path, value, pointers) => {
    expect(pointersAfter(path, value)).toEqual(pointers);
  });

  test.each<[unknown]>([[null], [[]], ['{}'], [42]])('that is %j is refused', (input) => {
    expect(parseMapping(input)).toMatchObject({ faults: [{ pointer: '' }] });
  });

  test('shows all of its faults at once', () => {
    const mapping = withChange(withChange(exampleMapping, '/market/name', '{flag}'), '/observation/currency', '{');
    expect(parseMapping(mapping)).toMatchObject({
      faults: [{ pointer: '/market/name' }, { pointer: '/observation/currency' }],
    });
  });
});

describe('dates', () => {
  test.each([
    ['YYYY-MM-DD', '2026-09-29', '2026-09-29'],
    ['YYYY-MM-DD', '2026-9-29', null],
    ['YYYY-MM-DD', '2026-09-29T00:00:00Z', null],
    ['YYYY-MM-DD', '2025-02-29', null],
    ['YYYY-MM-DD', '2026-02-30', null],
    ['YYYY-MM-DD', '2026-13-01', null],
    ['YYYY-MM-DD', '', null],
    ['YYYY.M.D', '2025.12.6', '2025-12-06'],
    ['YYYY.M.D', '2025x12x6', null],
    ['DD/MM/YYYY', '03/04/2026', '2026-04-03'],
    ['MM/DD/YYYY', '03/04/2026', '2026-03-04'],
    ['MM/DD/YYYY', '13/04/2026', null],
    ['YYYYMMDD', '20240229', '2024-02-29'],
    ['YYYY-MM', '2026-09', '2026-09-01'],
    ['YYYYMM', '202600', null],
  ])('of the form %s: %j is %j', (format, text, date) => {
    expect(dateReader(format)(text)).toBe(date);
  });

  test.each(['', 'YYYY', 'MM-DD', 'YY-MM-DD', 'YYYY-MM-MM', 'YYYY-MM-DDTHH', 'YYYY-MM-DD (.*)'])(
    '%j is no form',
    (format) => {
      expect(isDateFormat(format)).toBe(false);
    },
  );
});
