/** The forms in which real files come: wide tables, single series, other numbers, dates, headers and encodings. */
import { describe, expect, test } from 'vitest';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { type Changes, changed, mapped, taken } from './mapped.ts';

/** One market that no column names: `Date,Price`. */
const SERIES: unknown = {
  match: [],
  market: { slug: 'oil-usd', name: 'Oil', kind: 'oil', nativeCurrency: 'USD', unit: { quantity: '1', of: 'barrel' } },
  observation: {
    value: { column: 'Price', rounding: 'refuse' },
    currency: 'USD',
    date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'Agency', sourceUrl: 'https://example.org/oil', confidence: 'high', status: 'final' },
  },
};

/** A market for each column: `Date,USD,JPY`. */
const WIDE: unknown = {
  unpivot: { columns: { except: ['Date'] }, name: 'currency', value: 'rate' },
  match: ['currency'],
  market: {
    ...{ slug: 'eur-{currency}', name: 'Euro in {currency}', kind: 'fx', nativeCurrency: '{currency}' },
    unit: { quantity: '1', of: 'EUR' },
  },
  observation: {
    value: { column: 'rate', rounding: 'refuse', blankValues: ['N/A', '-'], blank: { unknownReason: 'not-published' } },
    currency: '{currency}',
    date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'Bank', sourceUrl: 'https://example.org/{observedDate}/{currency}' },
    ...{ confidence: 'high', status: 'final' },
  },
};

const [VALUE, DATE] = ['/observation/value', '/observation/date'];

const parsed = (base: unknown, changes: Changes = {}) => taken(changed(base, changes));

/** Each result in short: `line market amount day`, `line slug` of a new market, or `line code pointer (column)`. */
async function resultsOf(base: unknown, changes: Changes, csv: CsvInput): Promise<string[]> {
  return (await mapped(changed(base, changes), csv)).flatMap((row) => {
    if (row.kind === 'refusal') return [`${row.line} ${row.code} ${row.pointer || '-'} (${row.column ?? '-'})`];
    if (row.record.type === 'market') return [`${row.line} ${row.record.slug}`];
    if (!('amountMinor' in row.record)) return [];
    const { market, amountMinor, observedAt } = row.record;
    return [`${row.line} ${market} ${amountMinor} ${observedAt.replace('T00:00:00Z', '')}`];
  });
}

const UNITS = {
  '/match': ['good', 'pack', 'unit', 'currency'],
  '/market/slug': '{good}-{pack}-{unit}-{currency}',
  '/market/nativeCurrency': '{currency}',
  '/market/unit': { quantity: '{pack}', of: '{unit}' },
  '/observation/currency': '{currency}',
};
const WIDE_FILE = 'Date,USD,JPY,\r\n2026-01-03,1.08,N/A,\r\n2026-01-02,-,160,\r\n';
const DATED = (date: object) => ({ [DATE]: { column: 'Date', ...date } });

describe.each([
  { base: SERIES, name: 'a series' },
  { base: WIDE, name: 'a wide table' },
])('$name', ({ base }) => {
  test.for<readonly [title: string, changes: Changes, csv: string, expected: readonly string[]]>(
    base === SERIES
      ? [
          [
            'that no column names is one market',
            {},
            'Date,Price\r\n2020-04-17,18.31\r\n2020-04-20,-36.98\r\n',
            ['2 oil-usd', '2 oil-usd 1831 2020-04-17', '3 oil-usd -3698 2020-04-20'],
          ],
          [
            'has blank words in the value, and nowhere else',
            { [`${VALUE}/blankValues`]: ['NA'], [`${VALUE}/blank`]: { unknownReason: 'withheld' } },
            'Date,Price\n2026-01-02,NA\nNA,1\n2026-01-03,N/A\n',
            [
              ...['2 oil-usd', '2 oil-usd null 2026-01-02', '3 record.invalid /observedAt (Date)'],
              '4 record.invalid /amountMinor (Price)',
            ],
          ],
          [
            'has semicolons and decimal commas',
            { '/csv': { delimiter: ';' }, [`${VALUE}/number`]: { decimalMark: ',' } },
            'Date;Price\n2026-01-02;61,17\n',
            ['2 oil-usd', '2 oil-usd 6117 2026-01-02'],
          ],
          [
            'has dates of several forms in one column',
            { [`${DATE}/format`]: ['YYYY-MM-DD', 'D.M.YYYY'] },
            'Date,Price\n2026-01-02,1\n3.1.2026,1\n01/04/2026,1\n',
            [
              ...['2 oil-usd', '2 oil-usd 100 2026-01-02', '3 oil-usd 100 2026-01-03'],
              '4 record.invalid /observedAt (Date)',
            ],
          ],
          ...(
            [
              ['month', 'YYYY-MM-DD', '2026-05-17', '2026-05-01'],
              ['quarter', 'YYYY-MM-DD', '2026-05-17', '2026-04-01'],
              ['quarter', 'YYYY-Q', '2026-Q4', '2026-10-01'],
              ['year', 'YYYY-MM-DD', '2026-05-17', '2026-01-01'],
              ['year', 'YYYY', '2026', '2026-01-01'],
              // A time is a day as it is written, if the mapping asks for days.
              ['day', 'YYYY-MM-DDTHH:mm:ssZ', '2026-01-02T23:30:00-05:00', '2026-01-02'],
            ] as const
          ).map(
            ([precision, format, text, day]) =>
              [
                `of a ${precision} (${format}) has its first day`,
                DATED({ format, precision }),
                `Date,Price\n${text},1\n`,
                ['2 oil-usd', `2 oil-usd 100 ${day}`],
              ] as const,
          ),
          [
            'has a second row of headings',
            { '/csv': { rowsAfterHeader: 1 } },
            'Date,Price\n,"dollars\na barrel"\n2026-01-02,1\n\n2026-01-03,x\n',
            ['4 oil-usd', '4 oil-usd 100 2026-01-02', '6 record.invalid /amountMinor (Price)'],
          ],
          ...['Date,Price\n1,2', 'a\nb\nc', 'a\nb\nc\n', ''].map(
            (csv) =>
              [
                'ends before its header',
                { '/csv': { linesBeforeHeader: 3 } },
                csv,
                ['4 record.invalid - (-)'],
              ] as const,
          ),
          [
            'has several columns without a name',
            {},
            'Date,,Price,\n2026-01-02,a,1,b\n',
            ['2 oil-usd', '2 oil-usd 100 2026-01-02'],
          ],
          ...['\t', '|', ';', ' '].map(
            (delimiter) =>
              [
                `is delimited by ${JSON.stringify(delimiter)}`,
                { '/csv': { delimiter } },
                'Date,Note,Price\n2026-01-02,,1\n2026-01-03,a,2\n'.replaceAll(',', delimiter),
                ['2 oil-usd', '2 oil-usd 100 2026-01-02', '3 oil-usd 200 2026-01-03'],
              ] as const,
          ),
          [
            'has units and quantities in columns: a market for each of them',
            UNITS,
            'Date,Price,good,pack,unit,currency\n2026-01-02,61.17,rice,100,kg,USD\n2026-01-02,5,rice,1,sack,KWD\n',
            [
              ...['2 rice-100-kg-usd', '2 rice-100-kg-usd 6117 2026-01-02'],
              ...['3 rice-1-sack-kwd', '3 rice-1-sack-kwd 5000 2026-01-02'],
            ],
          ],
          [
            'has prices of one market for different quantities',
            {
              ...{ ...UNITS, '/match': ['good', 'unit', 'currency'], '/market/slug': '{good}-{currency}' },
              '/market/unit': { quantity: '10', of: '{unit}' },
              [VALUE]: { column: 'Price', quotedQuantity: '{pack}', rounding: 'nearest' },
            },
            'Date,Price,good,pack,unit,currency\n2026-01-02,600,rice,100,kg,USD\n2026-01-03,7,rice,1,kg,USD\n2026-01-04,20,rice,3,kg,USD\n2026-01-05,1,rice,1.5,kg,USD\n',
            [
              ...['2 rice-usd', '2 rice-usd 6000 2026-01-02', '3 rice-usd 7000 2026-01-03'],
              ...['4 rice-usd 6667 2026-01-04', '5 record.invalid /quotedQuantity (-)'],
            ],
          ],
        ]
      : [
          [
            'has one observation for each cell, and ignores a last column without a name',
            {},
            WIDE_FILE,
            [
              ...['2 eur-usd', '2 eur-usd 108 2026-01-03', '2 eur-jpy', '2 eur-jpy null 2026-01-03'],
              ...['3 eur-usd null 2026-01-02', '3 eur-jpy 160 2026-01-02'],
            ],
          ],
          [
            'by a list of columns gives those alone',
            { '/unpivot/columns': ['JPY'] },
            WIDE_FILE,
            ['2 eur-jpy', '2 eur-jpy null 2026-01-03', '3 eur-jpy 160 2026-01-02'],
          ],
          [
            'takes a column of a later file, if all columns but some are values',
            {},
            'Date,USD,XTS,KWD\n2026-01-03,1.08,1,0.333\n',
            [
              ...['2 eur-usd', '2 eur-usd 108 2026-01-03', '2 currency.unknown /nativeCurrency (-)'],
              ...['2 eur-kwd', '2 eur-kwd 333 2026-01-03'],
            ],
          ],
          [
            'refuses cells by the name of their column',
            {},
            'Date,USD,JPY\n2026-01-03,1.08,x\n03.01.2026,1,1\n2026-01-04,1,1.5\n',
            [
              ...['2 eur-usd', '2 eur-usd 108 2026-01-03', '2 record.invalid /amountMinor (JPY)'],
              ...['3 record.invalid /observedAt (Date)', '3 record.invalid /observedAt (Date)'],
              ...['4 eur-usd 100 2026-01-04', '4 amount.not-integral /amountMinor (JPY)'],
            ],
          ],
          [
            'leaves blanks out, if the mapping says so: also where the currency had ended',
            { [`${VALUE}/blank`]: 'leave-out' },
            'Date,CYP,USD\n2008-01-02,N/A,1.47\n2007-12-31,0.58,\n',
            ['2 eur-usd', '2 eur-usd 147 2008-01-02', '3 eur-cyp', '3 eur-cyp 58 2007-12-31'],
          ],
          ['lacks a listed column', { '/unpivot/columns': ['USD', 'CHF'] }, WIDE_FILE, ['1 record.invalid - (CHF)']],
          [
            'lacks an excepted column',
            { '/unpivot/columns/except': ['Date', 'Note'] },
            WIDE_FILE,
            ['1 record.invalid - (Note)'],
          ],
          ['has a column of an added name', {}, 'Date,rate,USD\n', ['1 record.invalid - (rate)']],
          ['has no values', {}, 'Date,\n', ['1 record.invalid - (rate)']],
          [
            'may have its dates in the header',
            {
              '/unpivot': { columns: { except: ['currency'] }, name: 'month', value: 'rate' },
              [DATE]: { column: 'month', format: 'YYYY-MM', precision: 'month' },
            },
            'currency,2026-01,2026-02\nUSD,1.08,1.09\n',
            ['2 eur-usd', '2 eur-usd 108 2026-01-01', '2 eur-usd 109 2026-02-01'],
          ],
        ],
  )('%s', async ([, changes, csv, expected]) => {
    expect(await resultsOf(base, changes, csv)).toEqual(expected);
  });
});

test.each([
  ['with its offset', { format: 'YYYY-MM-DDTHH:mm:ssZ' }, '2026-10-11T00:00:00+02:00'],
  ['by the zone of the mapping', { format: 'YYYY-MM-DD HH:mm', timeZone: 'Europe/Berlin' }, '2026-10-11 00:00'],
])('the date of a template is that in the file, %s', async (_, date, at) => {
  const sourceUrl = 'https://example.org/{observedDate}';
  const changes = { ...DATED({ ...date, precision: 'instant' }), '/observation/sourceUrl': sourceUrl };
  const [, row] = await mapped(changed(SERIES, changes), `Date,Price\n${at},1\n`);
  const record = { sourceUrl: 'https://example.org/2026-10-11', observedAt: '2026-10-10T22:00:00Z' };
  expect(row).toMatchObject({ kind: 'record', record });
});

test.each<[object, string, string | null]>([
  [{ decimalMark: ',' }, '1234,5', '1234.5'],
  [{ decimalMark: ',' }, '-0,05', '-0.05'],
  [{ decimalMark: ',' }, '1234.5', null],
  [{ decimalMark: ',' }, '1.234,5', null],
  [{ decimalMark: ',', groupMark: '.' }, '1.234.567,5', '1234567.5'],
  [{ decimalMark: ',', groupMark: '.' }, '1.50', null],
  [{ decimalMark: ',', groupMark: '.' }, '1.2345', null],
  [{ groupMark: ',' }, '1,234.50', '1234.50'],
  [{ groupMark: ',' }, '1234,567', null],
  [{ groupMark: ',' }, ',567', null],
  [{ groupMark: ' ' }, '1\u00a0234\u202f567', '1234567'],
  [{ groupMark: "'" }, "1'234.50", '1234.50'],
  [{ groupMark: "'" }, '1’234.50', '1234.50'],
  [{}, '1,234', null],
  [{}, '\u22121.5', '-1.5'],
  [{}, '1.6e-01', '1.6e-01'],
  [{ trailingZeros: 'drop' }, '1.60E-01', '1.6E-01'],
  [{ decimalMark: ',' }, '\u22121,6e-01', '-1.6e-01'],
  [{}, 'e6', null],
  [{ groupMark: ',' }, '1,000e3', null],
  [{}, '1'.repeat(65), null],
])('a number by %j: %j is %j', async (number, text, digits) => {
  const document = changed(SERIES, { [`${VALUE}/number`]: number, [`${VALUE}/rounding`]: 'nearest' });
  const values = (await mapped(document, `Date,Price\n2026-01-02,"${text}"\n`)).flatMap((row): unknown[] => {
    if (row.kind === 'refusal') return [row.column === 'Price' ? null : row];
    return 'sourceValue' in row.record ? [row.record.sourceValue] : [];
  });
  expect(values).toEqual([digits]);
});

test.each(['\n', '\r\n', '\r'])('a title above the header is not read as CSV (%j)', async (end) => {
  const text = 'Prices of "oil, daily\n\nall rights; reserved\nDate,Price\n2026-01-02,1\n\n2026-01-03,x\n';
  const ended = text.replaceAll('\n', end);
  for (const csv of [ended, ended.split(/(?<=.)/s), [new TextEncoder().encode(`\uFEFF${ended}`)]]) {
    expect(await resultsOf(SERIES, { '/csv': { linesBeforeHeader: 3 } }, csv)).toEqual([
      ...['5 oil-usd', '5 oil-usd 100 2026-01-02', '7 record.invalid /amountMinor (Price)'],
    ]);
  }
});

const TEXT = 'Date,Price,Name\n2026-01-02,1,Öl – roh\n';
const LATIN = Buffer.from(TEXT.replace('–', '\u0096'), 'latin1');

test.each([
  ['UTF-8', 'utf-8', Buffer.from(TEXT), 'Öl – roh'],
  ['UTF-8 with a mark', 'utf-8', Buffer.from(`\uFEFF${TEXT}`), 'Öl – roh'],
  ['windows-1252', 'windows-1252', LATIN, 'Öl – roh'],
  ['another encoding than the mapping says', 'utf-8', LATIN, '2 Name'],
  ['UTF-16', 'utf-16le', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'), 'Öl – roh'],
])('a file in %s', async (_, encoding, bytes, expected) => {
  const mapping = parsed(SERIES, { '/csv': { encoding }, '/market/name': '{Name}', '/match': ['Name'] });
  // One byte at a time: characters are cut in two.
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
  const { value: first } = await mapCsv(mapping, pieces).next();
  const name = first?.kind === 'record' && first.record.type === 'market' && first.record.name;
  expect(first?.kind === 'refusal' ? `${first.line} ${first.column}` : name).toBe(expected);
});
