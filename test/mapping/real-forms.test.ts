/** The forms in which real files come: wide tables, single series, other numbers, dates, headers and encodings. */
import { describe, expect, test } from 'vitest';
import { mapCsv, mapCsvRows } from '../../mapping/declared/map-csv.ts';
import { parseMapping } from '../../mapping/declared/parse-mapping.ts';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { withChange } from './example-mapping.ts';

/** One market that no column names: `Date,Price`. */
const SERIES: unknown = {
  match: [],
  market: {
    slug: 'oil-usd',
    name: 'Oil',
    kind: 'commodity',
    nativeCurrency: 'USD',
    unit: { quantity: '1', of: 'barrel' },
  },
  observation: {
    value: { column: 'Price', rounding: 'refuse' },
    currency: 'USD',
    date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
    sourceLabel: 'Agency',
    sourceUrl: 'https://example.org/oil',
    confidence: 'high',
    status: 'final',
  },
};

/** A market for each column: `Date,USD,JPY`. */
const WIDE: unknown = {
  unpivot: { columns: { except: ['Date'] }, name: 'currency', value: 'rate' },
  match: ['currency'],
  market: {
    slug: 'eur-{currency}',
    name: 'Euro in {currency}',
    kind: 'fx',
    nativeCurrency: '{currency}',
    unit: { quantity: '1', of: 'EUR' },
  },
  observation: {
    value: { column: 'rate', rounding: 'refuse', blankValues: ['N/A', '-'], blank: { unknownReason: 'not-published' } },
    currency: '{currency}',
    date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
    sourceLabel: 'Bank',
    sourceUrl: 'https://example.org/{observedDate}/{currency}',
    confidence: 'high',
    status: 'final',
  },
};

function parsed(mapping: unknown) {
  const result = parseMapping(mapping);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.mapping;
}

/** Each result in short: `line market amount day`, `line slug` of a new market, or `line code pointer (column)`. */
async function resultsOf(mapping: unknown, csv: CsvInput): Promise<string[]> {
  const results: string[] = [];
  for await (const row of mapCsv(parsed(mapping), csv)) {
    if (row.kind === 'refusal') results.push(`${row.line} ${row.code} ${row.pointer || '-'} (${row.column ?? '-'})`);
    else if (row.record.type === 'market') results.push(`${row.line} ${row.record.slug}`);
    else if ('amountMinor' in row.record) {
      const { market, amountMinor, observedAt } = row.record;
      results.push(`${row.line} ${market} ${amountMinor} ${observedAt.replace('T00:00:00Z', '')}`);
    }
  }
  return results;
}

/** The observations alone. */
async function observationsOf(mapping: unknown, csv: CsvInput): Promise<string[]> {
  return (await resultsOf(mapping, csv)).filter((result) => result.split(' ').length === 4 && !result.includes('('));
}

test('a series that no column names is one market', async () => {
  expect(await resultsOf(SERIES, 'Date,Price\r\n2020-04-17,18.31\r\n2020-04-20,-36.98\r\n')).toEqual([
    '2 oil-usd',
    '2 oil-usd 1831 2020-04-17',
    '3 oil-usd -3698 2020-04-20',
  ]);
});

describe('a wide table', () => {
  const FILE = 'Date,USD,JPY,\r\n2026-01-03,1.08,N/A,\r\n2026-01-02,-,160,\r\n';

  test('has one observation for each cell, and ignores a last column without a name', async () => {
    expect(await resultsOf(WIDE, FILE)).toEqual([
      '2 eur-usd',
      '2 eur-usd 108 2026-01-03',
      '2 eur-jpy',
      '2 eur-jpy null 2026-01-03',
      '3 eur-usd null 2026-01-02',
      '3 eur-jpy 160 2026-01-02',
    ]);
  });

  test('by a list of columns gives those alone', async () => {
    const mapping = withChange(WIDE, '/unpivot/columns', ['JPY']);
    expect(await observationsOf(mapping, FILE)).toEqual(['2 eur-jpy null 2026-01-03', '3 eur-jpy 160 2026-01-02']);
  });

  test('takes a column of a later file, if all columns but some are values', async () => {
    const later = 'Date,USD,XTS,KWD\n2026-01-03,1.08,1,0.333\n';
    expect(await resultsOf(WIDE, later)).toEqual([
      '2 eur-usd',
      '2 eur-usd 108 2026-01-03',
      '2 currency.unknown /nativeCurrency (-)',
      '2 eur-kwd',
      '2 eur-kwd 333 2026-01-03',
    ]);
  });

  test('refuses cells by the name of their column', async () => {
    expect(await resultsOf(WIDE, 'Date,USD,JPY\n2026-01-03,1.08,x\n03.01.2026,1,1\n2026-01-04,1,1.5\n')).toEqual([
      '2 eur-usd',
      '2 eur-usd 108 2026-01-03',
      '2 record.invalid /amountMinor (JPY)',
      '3 record.invalid /observedAt (Date)',
      '3 record.invalid /observedAt (Date)',
      '4 eur-usd 100 2026-01-04',
      '4 amount.not-integral /amountMinor (JPY)',
    ]);
  });

  test('leaves blanks out, if the mapping says so: also where the currency had ended', async () => {
    const mapping = withChange(WIDE, '/observation/value/blank', 'leave-out');
    const csv = 'Date,CYP,USD\n2008-01-02,N/A,1.47\n2007-12-31,0.58,\n';
    expect(await resultsOf(mapping, csv)).toEqual([
      '2 eur-usd',
      '2 eur-usd 147 2008-01-02',
      '3 eur-cyp',
      '3 eur-cyp 58 2007-12-31',
    ]);
    const leftOut: number[] = [];
    for await (const row of mapCsvRows(parsed(mapping), csv)) if (row.kind === 'row') leftOut.push(row.leftOut);
    expect(leftOut).toEqual([1, 1]);
  });

  test.each<[string, unknown, string, string[]]>([
    ['that lacks a listed column', withChange(WIDE, '/unpivot/columns', ['USD', 'CHF']), FILE, ['CHF']],
    ['that lacks an excepted column', withChange(WIDE, '/unpivot/columns/except', ['Date', 'Note']), FILE, ['Note']],
    ['that has a column of an added name', WIDE, 'Date,rate,USD\n', ['rate']],
    ['without values', WIDE, 'Date,\n', ['rate']],
  ])('%s is refused', async (_, mapping, csv, columns) => {
    expect(await resultsOf(mapping, csv)).toEqual(columns.map((column) => `1 record.invalid - (${column})`));
  });

  test('may have its dates in the header', async () => {
    const mapping = [
      ['/unpivot', { columns: { except: ['currency'] }, name: 'month', value: 'rate' }],
      ['/observation/date', { column: 'month', format: 'YYYY-MM', precision: 'month' }],
    ].reduce((document, [path, value]) => withChange(document, path as string, value), WIDE);
    expect(await observationsOf(mapping, 'currency,2026-01,2026-02\nUSD,1.08,1.09\n')).toEqual([
      '2 eur-usd 108 2026-01-01',
      '2 eur-usd 109 2026-02-01',
    ]);
  });
});

describe('blank words', () => {
  test('are blank in the value, and nowhere else', async () => {
    const mapping = withChange(
      withChange(SERIES, '/observation/value/blankValues', ['NA']),
      '/observation/value/blank',
      { unknownReason: 'withheld' },
    );
    expect(await resultsOf(mapping, 'Date,Price\n2026-01-02,NA\nNA,1\n2026-01-03,N/A\n')).toEqual([
      '2 oil-usd',
      '2 oil-usd null 2026-01-02',
      '3 record.invalid /observedAt (Date)',
      '4 record.invalid /amountMinor (Price)',
    ]);
  });

  test('refuse their row, if the mapping gives no reason', async () => {
    const mapping = withChange(SERIES, '/observation/value/blankValues', ['NA']);
    expect(await resultsOf(mapping, 'Date,Price\n2026-01-02,NA\n')).toEqual([
      '2 provenance.incomplete /amountMinor (Price)',
    ]);
  });
});

describe('numbers', () => {
  test.each<[object, string, string | null]>([
    [{ decimalMark: ',' }, '1234,5', '1234.5'],
    [{ decimalMark: ',' }, '-0,05', '-0.05'],
    [{ decimalMark: ',' }, '1234', '1234'],
    [{ decimalMark: ',' }, '1234.5', null],
    [{ decimalMark: ',' }, '1.234,5', null],
    [{ decimalMark: ',', groupMark: '.' }, '1.234.567,5', '1234567.5'],
    [{ decimalMark: ',', groupMark: '.' }, '1234567,5', '1234567.5'],
    [{ decimalMark: ',', groupMark: '.' }, '1.50', null],
    [{ decimalMark: ',', groupMark: '.' }, '1.2345', null],
    [{ groupMark: ',' }, '1,234.50', '1234.50'],
    [{ groupMark: ',' }, '12,34,567.5', '1234567.5'],
    [{ groupMark: ',' }, '1234,567', null],
    [{ groupMark: ',' }, ',567', null],
    [{ groupMark: ' ' }, '1 234 567', '1234567'],
    [{ groupMark: ' ' }, '1\u00a0234\u202f567', '1234567'],
    [{ groupMark: "'" }, "1'234.50", '1234.50'],
    [{ groupMark: "'" }, '1’234.50', '1234.50'],
    [{}, '1,234', null],
    [{}, '\u22121.5', '-1.5'],
    [{}, '4e+06', '4e+06'],
    [{}, '1.6e-01', '1.6e-01'],
    [{ trailingZeros: 'drop' }, '1.60E-01', '1.6E-01'],
    [{ decimalMark: ',' }, '\u22121,6e-01', '-1.6e-01'],
    [{}, '4e+', null],
    [{}, 'e6', null],
    [{ decimalMark: ',' }, '1,5e3', '1.5e3'],
    [{ groupMark: ',' }, '1,000e3', null],
    [{}, '.5', null],
    [{}, '5.', null],
    [{}, '1'.repeat(65), null],
  ])('by %j: %j is %j', async (number, text, digits) => {
    const mapping = withChange(
      withChange(SERIES, '/observation/value/number', number),
      '/observation/value/rounding',
      'nearest',
    );
    const values: unknown[] = [];
    for await (const row of mapCsv(parsed(mapping), `Date,Price\n2026-01-02,"${text}"\n`)) {
      if (row.kind === 'record' && 'sourceValue' in row.record) values.push(row.record.sourceValue);
      if (row.kind === 'refusal') values.push(row.column === 'Price' ? null : row);
    }
    expect(values).toEqual([digits]);
  });

  test('in a file with semicolons', async () => {
    const mapping = withChange(withChange(SERIES, '/csv', { delimiter: ';' }), '/observation/value/number', {
      decimalMark: ',',
    });
    expect(await observationsOf(mapping, 'Date;Price\n2026-01-02;61,17\n')).toEqual(['2 oil-usd 6117 2026-01-02']);
  });
});

describe('dates', () => {
  test('of several forms in one column', async () => {
    const mapping = withChange(SERIES, '/observation/date/format', ['YYYY-MM-DD', 'D.M.YYYY']);
    expect(await resultsOf(mapping, 'Date,Price\n2026-01-02,1\n3.1.2026,1\n01/04/2026,1\n')).toEqual([
      '2 oil-usd',
      '2 oil-usd 100 2026-01-02',
      '3 oil-usd 100 2026-01-03',
      '4 record.invalid /observedAt (Date)',
    ]);
  });

  test('as moments with an offset are instants of UTC, and so is the date of a template', async () => {
    const mapping = [
      ['/observation/date', { column: 'Date', format: 'YYYY-MM-DDTHH:mm:ssZ', precision: 'instant' }],
      ['/observation/sourceUrl', 'https://example.org/{observedDate}'],
    ].reduce((document, [path, value]) => withChange(document, path as string, value), SERIES);
    const csv = 'Date,Price\n2026-01-02T23:30:00-05:00,1\n2026-01-03T00:00:00Z,1\n';
    expect(await observationsOf(mapping, csv)).toEqual([
      '2 oil-usd 100 2026-01-03T04:30:00Z',
      '3 oil-usd 100 2026-01-03',
    ]);
    const urls: unknown[] = [];
    for await (const row of mapCsv(parsed(mapping), csv)) {
      if (row.kind === 'record' && 'sourceUrl' in row.record) urls.push(row.record.sourceUrl);
    }
    expect(urls).toEqual(['https://example.org/2026-01-03', 'https://example.org/2026-01-03']);
  });

  test('as moments without one have that of the mapping', async () => {
    const date = { column: 'Date', format: 'D/M/YYYY H:mm', precision: 'instant', offset: '+05:30' };
    const mapping = withChange(SERIES, '/observation/date', date);
    expect(await observationsOf(mapping, 'Date,Price\n2/1/2026 3:15,1\n')).toEqual([
      '2 oil-usd 100 2026-01-01T21:45:00Z',
    ]);
  });

  test.each([
    ['month', 'YYYY-MM-DD', '2026-05-17', '2026-05-01'],
    ['quarter', 'YYYY-MM-DD', '2026-05-17', '2026-04-01'],
    ['quarter', 'YYYY-Q', '2026-Q4', '2026-10-01'],
    ['year', 'YYYY-MM-DD', '2026-05-17', '2026-01-01'],
    ['year', 'YYYY', '2026', '2026-01-01'],
  ])('of a %s (%s) are its first day', async (precision, format, text, day) => {
    const mapping = withChange(SERIES, '/observation/date', { column: 'Date', format, precision });
    expect(await observationsOf(mapping, `Date,Price\n${text},1\n`)).toEqual([`2 oil-usd 100 ${day}`]);
  });

  test('with a time are days as they are written, if the mapping asks for days', async () => {
    const date = { column: 'Date', format: 'YYYY-MM-DDTHH:mm:ssZ', precision: 'day' };
    const mapping = withChange(SERIES, '/observation/date', date);
    expect(await observationsOf(mapping, 'Date,Price\n2026-01-02T23:30:00-05:00,1\n')).toEqual([
      '2 oil-usd 100 2026-01-02',
    ]);
  });
});

describe('headers', () => {
  const ROWS = '2026-01-02,1\n\n2026-01-03,x\n';
  const EXPECTED = (first: number) => [
    `${first} oil-usd`,
    `${first} oil-usd 100 2026-01-02`,
    `${first + 2} record.invalid /amountMinor (Price)`,
  ];

  test.each(['\n', '\r\n', '\r'])('may stand below a title, which is not read as CSV (%j)', async (end) => {
    const mapping = withChange(SERIES, '/csv', { linesBeforeHeader: 3 });
    const text = `Prices of "oil, daily\n\nall rights; reserved\nDate,Price\n${ROWS}`.replaceAll('\n', end);
    const pieces = text.split(/(?<=.)/s);
    for (const csv of [text, pieces, [new TextEncoder().encode(`\uFEFF${text}`)]]) {
      expect(await resultsOf(mapping, csv)).toEqual(EXPECTED(5));
    }
  });

  test('may have a second row, such as one of units', async () => {
    const mapping = withChange(SERIES, '/csv', { rowsAfterHeader: 1 });
    expect(await resultsOf(mapping, `Date,Price\n,"dollars\na barrel"\n${ROWS}`)).toEqual(EXPECTED(4));
  });

  test('are missing in a file that ends before', async () => {
    const mapping = withChange(SERIES, '/csv', { linesBeforeHeader: 3 });
    for (const csv of ['Date,Price\n1,2', 'a\nb\nc', 'a\nb\nc\n', '']) {
      expect(await resultsOf(mapping, csv)).toEqual(['4 record.invalid - (-)']);
    }
  });

  test('may have several columns without a name', async () => {
    expect(await observationsOf(SERIES, 'Date,,Price,\n2026-01-02,a,1,b\n')).toEqual(['2 oil-usd 100 2026-01-02']);
  });
});

describe('encodings', () => {
  const mapping = withChange(SERIES, '/market/name', '{Name}');
  const named = withChange(mapping, '/match', ['Name']);
  const names = async (document: unknown, bytes: Uint8Array) => {
    const found: unknown[] = [];
    // One byte at a time: characters are cut in two.
    for await (const row of mapCsv(
      parsed(document),
      [...bytes].map((byte) => Uint8Array.of(byte)),
    )) {
      if (row.kind === 'refusal') found.push(`${row.line} ${row.column}`);
      else if (row.record.type === 'market') found.push(row.record.name);
    }
    return found;
  };
  const TEXT = 'Date,Price,Name\n2026-01-02,1,Öl – roh\n';

  test('UTF-8, with and without a byte order mark', async () => {
    expect(await names(named, Buffer.from(TEXT))).toEqual(['Öl – roh']);
    expect(await names(named, Buffer.from(`\uFEFF${TEXT}`))).toEqual(['Öl – roh']);
  });

  test('windows-1252, if the mapping says so; else the row is refused', async () => {
    const bytes = Buffer.from(TEXT.replace('–', '\u0096'), 'latin1');
    expect(await names(withChange(named, '/csv', { encoding: 'windows-1252' }), bytes)).toEqual(['Öl – roh']);
    expect(await names(named, bytes)).toEqual(['2 Name']);
  });

  test('UTF-16', async () => {
    const bytes = Buffer.from(`\uFEFF${TEXT}`, 'utf16le');
    expect(await names(withChange(named, '/csv', { encoding: 'utf-16le' }), bytes)).toEqual(['Öl – roh']);
  });
});

describe('delimiters', () => {
  test.each(['\t', '|', ';', ' '])('%j', async (delimiter) => {
    const mapping = withChange(SERIES, '/csv', { delimiter });
    const csv = 'Date,Note,Price\n2026-01-02,,1\n2026-01-03,a,2\n'.replaceAll(',', delimiter);
    expect(await observationsOf(mapping, csv)).toEqual(['2 oil-usd 100 2026-01-02', '3 oil-usd 200 2026-01-03']);
  });
});

describe('units and quantities from columns', () => {
  const mapping = [
    ['/match', ['good', 'pack', 'unit', 'currency']],
    ['/market/slug', '{good}-{pack}-{unit}-{currency}'],
    ['/market/nativeCurrency', '{currency}'],
    ['/market/unit', { quantity: '{pack}', of: '{unit}' }],
    ['/observation/currency', '{currency}'],
  ].reduce((document, [path, value]) => withChange(document, path as string, value), SERIES);
  const HEADER = 'Date,Price,good,pack,unit,currency';

  test('a market for each of them', async () => {
    const units: unknown[] = [];
    const csv = `${HEADER}\n2026-01-02,61.17,rice,100,kg,USD\n2026-01-02,5,rice,1,sack,KWD\n`;
    for await (const row of mapCsv(parsed(mapping), csv)) {
      if (row.kind === 'record' && row.record.type === 'market') units.push([row.record.slug, row.record.unit]);
    }
    expect(units).toEqual([
      ['rice-100-kg-usd', { quantity: 100, of: 'kg' }],
      ['rice-1-sack-kwd', { quantity: 1, of: 'sack' }],
    ]);
  });

  test('one market, from prices for different quantities', async () => {
    const changed = [
      ['/match', ['good', 'unit', 'currency']],
      ['/market/slug', '{good}-{currency}'],
      ['/market/unit', { quantity: '10', of: '{unit}' }],
      ['/observation/value', { column: 'Price', quotedQuantity: '{pack}', rounding: 'nearest' }],
    ].reduce((document, [path, value]) => withChange(document, path as string, value), mapping);
    const csv = `${HEADER}\n2026-01-02,600,rice,100,kg,USD\n2026-01-03,7,rice,1,kg,USD\n2026-01-04,20,rice,3,kg,USD\n2026-01-05,1,rice,1.5,kg,USD\n`;
    expect((await resultsOf(changed, csv)).slice(1)).toEqual([
      '2 rice-usd 6000 2026-01-02',
      '3 rice-usd 7000 2026-01-03',
      '4 rice-usd 6667 2026-01-04',
      '5 record.invalid /quotedQuantity (-)',
    ]);
  });
});
