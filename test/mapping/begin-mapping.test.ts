/** Starting mappings for files that nobody has described: the guesses, and the questions that are left open. */
import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping } from '../../mapping/check/check-mapping.ts';

async function begin(file: string | Uint8Array, name = 'prices.csv') {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  return beginMapping(async function* () {
    yield bytes;
  }, name);
}

/** The document, without its comments. */
async function documentOf(file: string | Uint8Array, name?: string) {
  const begun = await begin(file, name);
  if ('fault' in begun) throw new Error(begun.fault);
  return parse(begun.text);
}

async function pointersToFill(file: string): Promise<readonly string[]> {
  const begun = await begin(file);
  return 'fault' in begun ? [begun.fault] : begun.toFill.map(({ pointer }) => pointer);
}

const FILL_IN = expect.stringMatching(/^FILL IN/);

const days = (count: number) =>
  Array.from({ length: count }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
const german = (day: string) => day.split('-').reverse().join('.');
/** A file of two columns, with these cells. */
const dated = (dates: readonly string[]) =>
  ['Date;Price', ...dates.map((date, index) => `${date};${index}.25`)].join('\n');
const priced = (prices: readonly string[]) =>
  ['Date;Price', ...prices.map((price, index) => `${days(31)[index]};${price}`)].join('\n');

describe('a file of one series', () => {
  const FILE = priced(['25.56', '26', '-36.98']);

  test('is one market, and everything that no file can say is left to a person', async () => {
    expect(await documentOf(FILE, 'Crude Oil (daily).csv')).toMatchObject({
      csv: { delimiter: ';' },
      match: [],
      market: { slug: 'crude-oil-daily', unit: { quantity: '1' } },
      observation: {
        value: { column: 'Price', rounding: 'refuse' },
        date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
        status: 'final',
      },
    });
    expect(await pointersToFill(FILE)).toEqual([
      ...['name', 'kind', 'nativeCurrency', 'unit/of'].map((field) => `/market/${field}`),
      ...['label', 'url', 'publisher', 'licence', 'attribution'].map((field) => `/market/sources/0/${field}`),
      ...['currency', 'sourceLabel', 'sourceUrl', 'confidence'].map((field) => `/observation/${field}`),
    ]);
  });

  test('gives observations once it is filled in', async () => {
    const begun = await begin(FILE);
    const filled = ('text' in begun ? begun.text : '')
      .replaceAll(/"(url|sourceUrl)": "FILL IN[^"]*"/g, '"$1": "https://example.org/"')
      .replaceAll(/"(nativeCurrency|currency)": "FILL IN[^"]*"/g, '"$1": "USD"')
      .replace(/"confidence": "FILL IN[^"]*"/, '"confidence": "high"')
      .replaceAll(/"FILL IN[^"]*"/g, '"oil"');
    expect(await checkMapping(filled, FILE)).toMatchObject({
      faults: [],
      file: { rows: 3, markets: { count: 1 }, observations: { count: 3 }, refused: { count: 0 } },
    });
  });
});

describe('one impossible date among good ones', () => {
  test.each([
    [
      '2026-02-31',
      4,
      ['2026-02-01', '2026-02-02', '2026-02-31', '2026-02-03', '2026-02-04', '2026-02-05'],
      'YYYY-MM-DD',
    ],
    ['31.02.2026', 6, [...days(4).map(german), '31.02.2026', ...days(31).slice(12, 15).map(german)], 'DD.MM.YYYY'],
  ])('%s keeps the guess, and is named with its line', async (text, line, dates, format) => {
    const begun = await begin(dated(dates));
    if ('fault' in begun) throw new Error(begun.fault);
    expect(parse(begun.text).observation.date).toEqual({ column: 'Date', format, precision: 'day' });
    expect(begun.text).toContain(`Not line ${line}, ${text}`);
  });

  test('dates by a format that the mapping does not have are counted and named, too', async () => {
    const dates = Array.from({ length: 500 }, (_, index) => days(28)[index % 28] ?? '');
    [dates[60], dates[77]] = ['2026-02-30', '31/08/2026'];
    const begun = await begin(dated(dates));
    expect('text' in begun && begun.text).toContain('498 of 500 are such dates. Not line 62, 2026-02-30, and 1 more.');
  });

  test('a second format for one date of many is named', async () => {
    const begun = await begin(dated([...Array(77).fill('2026-02-01'), '31/08/2026', ...Array(22).fill('2026-02-03')]));
    expect('text' in begun && begun.text).toMatch(/By DD?\/MM?\/YYYY only line 79, 31\/08\/2026\./);
  });

  test('several keep the guess while the file has many more good ones', async () => {
    const dates = [...days(27), '2026-02-29', '2026-02-30', '2026-02-31', '2026-04-31'];
    expect((await documentOf(dated(dates))).observation.date).toMatchObject({ column: 'Date', format: 'YYYY-MM-DD' });
  });

  test('notes of the same length are no such dates', async () => {
    const dates = [...days(27), ...[1, 2, 3, 4].map((note) => `see note ${note}`)];
    expect((await documentOf(dated(dates))).observation.date.column).toEqual(FILL_IN);
  });

  test('many are no dates', async () => {
    expect(
      (await documentOf(dated(['2026-02-01', '2026-02-02', '2026-02-31', '2026-13-01']))).observation.date.column,
    ).toContain('FILL IN');
  });
});

test('titles that a spreadsheet has filled up to the width of the table are no header', async () => {
  const csv =
    'Preise;;;\nStand: 01.11.2026;;;\nDatum;Gold;Silber;Platin\n01.11.2026;1,5;2,5;3,5\n02.11.2026;1,6;2,6;3,6\n';
  expect(await documentOf(csv)).toMatchObject({
    csv: { linesBeforeHeader: 2 },
    unpivot: { columns: { except: ['Datum'] } },
  });
});

describe('a wide table', () => {
  test('of currencies has a market for each, and a quantity for each', async () => {
    const csv = 'Date,USD,JPY,KWD,\r\n2026-01-03,1.08363,N/A,0.35071891,\r\n2026-01-02,1.08363,160.12345,0.35,\r\n';
    expect(await documentOf(csv)).toMatchObject({
      unpivot: { columns: { except: ['Date'] }, name: 'currency', value: 'value' },
      match: ['currency'],
      tables: [{ key: '{currency}', rows: { USD: ['1000'], JPY: ['100000'], KWD: ['100000'] } }],
      market: { slug: 'prices-{currency}', nativeCurrency: '{currency}', unit: { quantity: '{quantity}' } },
      observation: {
        value: {
          column: 'value',
          blankValues: ['N/A'],
          blank: { unknownReason: 'not-published' },
          quotedQuantity: '1',
        },
        currency: '{currency}',
        date: { column: 'Date', format: 'YYYY-MM-DD' },
      },
    });
  });

  test('in which most columns are of currencies that have ended', async () => {
    const rows = days(9).map((day, index) => `${day},1.0${index},160.${index},${index === 8 ? '0.5853' : 'N/A'},N/A,`);
    expect(await documentOf(['Date,USD,JPY,CYP,BGN,', ...rows].join('\n'))).toMatchObject({
      unpivot: { columns: { except: ['Date'] }, name: 'currency', value: 'value' },
      match: ['currency'],
      observation: { value: { blankValues: ['N/A'], blank: 'leave-out' }, date: { column: 'Date' } },
    });
  });

  test('of other things asks for their currency', async () => {
    const csv = 'day,wheat,maize\n2026-01-02,1.5,2\n2026-01-03,1.6,3\n';
    expect(await documentOf(csv)).toMatchObject({
      unpivot: { columns: { except: ['day'] }, name: 'market' },
      match: ['market'],
      market: { nativeCurrency: expect.stringMatching(/^FILL IN/) },
    });
  });

  test('as central banks publish it, with currencies that begin and end, leaves blanks out', async () => {
    const csv =
      'Date,USD,CYP,HRK,\n2026-01-05,1.08,N/A,N/A,\n2022-12-30,1.07,N/A,7.5365,\n2007-12-31,1.4721,0.585274,7.3308,\n2001-01-02,0.9423,0.57341,N/A,\n';
    const { observation } = await documentOf(csv);
    expect(observation.value).toMatchObject({ blankValues: ['N/A'], blank: 'leave-out' });
    const daily = await documentOf('Date, USD, JPY, \n02 January 2026, 1.0836, 160.12, \n');
    expect(daily).toMatchObject({
      unpivot: { columns: { except: ['Date'] } },
      observation: { date: { format: 'D MMMM YYYY', precision: 'day' } },
    });
  });

  test('has a market for a column without any value so far, too', async () => {
    const csv = 'Date,USD,HRK,JPY\n2026-01-02,1.5,,160.5\n2026-01-03,1.6,,161.5\n';
    expect(await documentOf(csv)).toMatchObject({
      unpivot: { columns: { except: ['Date'] } },
      observation: { currency: '{currency}' },
    });
  });

  test('of years, with its dates in the header', async () => {
    expect(await documentOf('good,2023,2024,2025\ntea,1,2,3\nsalt,1,2,3\n')).toMatchObject({
      unpivot: { columns: { except: ['good'] }, name: 'date' },
      observation: { date: { column: 'date', format: 'YYYY', precision: 'year' } },
    });
  });

  test('of years and many other columns, below a title', async () => {
    const csv =
      '"Source","World",\n\n"Country","Code","Indicator","1960","1961",\n"Aruba","ABW","Price","","1.5",\n"Chad","TCD","Price","3","1.5",\n';
    expect(await documentOf(csv)).toMatchObject({
      csv: { linesBeforeHeader: 2 },
      unpivot: { columns: { except: ['Country', 'Code', 'Indicator'] }, name: 'date' },
      match: ['Country', 'Code', 'Indicator', FILL_IN],
      observation: { date: { format: 'YYYY' }, value: { blank: 'leave-out' } },
    });
  });

  test('with its dates in the header', async () => {
    const csv = 'item,currency,2026-01,2026-02,2026-03\ntea,USD,1,2,3\nmilk,EUR,1,2,3\nsalt,EUR,1,2,3\noil,USD,1,2,3\n';
    expect(await documentOf(csv)).toMatchObject({
      unpivot: { columns: { except: ['item', 'currency'] }, name: 'date', value: 'value' },
      match: ['item', 'currency'],
      observation: { currency: '{currency}', date: { column: 'date', format: 'YYYY-MM', precision: 'month' } },
    });
  });

  test('does not take a name that a column has', async () => {
    expect(await documentOf('Date,currency,value\n2026-01-02,1,2\n2026-01-03,1.5,2\n')).not.toHaveProperty('unpivot');
    expect(await documentOf('Date,market,x\n2026-01-02,1.5,2\n2026-01-03,1.5,2.5\n')).toMatchObject({
      unpivot: { name: 'market_' },
    });
  });

  test('of prices of one market is not wide: the close counts', async () => {
    const csv = 'Date,Open,High,Low,Close,Volume\n2026-01-02,1.1,1.2,1.0,1.15,900\n2026-01-03,1.15,1.3,1.1,1.25,800\n';
    const document = await documentOf(csv);
    expect(document).toMatchObject({ match: [], observation: { value: { column: 'Close' } } });
    expect(document).not.toHaveProperty('unpivot');
  });
});

describe('a long table', () => {
  const HEADER = 'line,day,place_id,place,item,flag,price,ccy';
  const FILE = [
    HEADER,
    ...days(10).flatMap((day, index) => [
      `${4 * index + 1},${day},7,Accra,tea,${index % 2 === 0 ? 'a' : 'b'},1.25,GHS`,
      `${4 * index + 2},${day},7,Accra,salt,a,0.5,GHS`,
      `${4 * index + 3},${day},9,Kumasi,tea,a,1.5,GHS`,
      `${4 * index + 4},${day},12,Lomé,tea,b,900,XOF`,
    ]),
  ].join('\n');

  test('has the columns that may tell markets apart, and the currency', async () => {
    const document = await documentOf(FILE);
    expect(document).toMatchObject({
      match: ['place_id', 'place', 'item', 'ccy', FILL_IN],
      market: { slug: FILL_IN, nativeCurrency: '{ccy}' },
      observation: { value: { column: 'price' }, currency: '{ccy}', date: { column: 'day' } },
    });
  });

  test('with codes in small letters gets a table of them', async () => {
    const csv = [
      'day,base,quote,rate',
      ...days(9).flatMap((day) => [`${day},usd,eur,0.91`, `${day},eur,usd,1.1`, `${day},gbp,usd,1.3`]),
    ];
    expect(await documentOf(csv.join('\n'))).toMatchObject({
      match: ['base', 'quote'],
      tables: [{ key: '{quote}', columns: ['currencyCode'], rows: { eur: ['EUR'], usd: ['USD'] } }],
      market: { nativeCurrency: '{currencyCode}' },
    });
  });

  test('with two columns of currencies asks which one it is', async () => {
    const csv = ['day,first,second,rate', ...days(9).flatMap((day) => [`${day},USD,EUR,0.91`, `${day},EUR,USD,1.1`])];
    const { market } = await documentOf(csv.join('\n'));
    expect(market.nativeCurrency).toMatch(/^FILL IN: \{first\} or \{second\}/);
  });

  test('with two columns of prices asks which one it is', async () => {
    const csv = ['day,item,low_price,high_price', ...days(9).map((day) => `${day},tea,1.5,2.5`)];
    const { observation } = await documentOf(csv.join('\n'));
    expect(observation.value.column).toMatch(/^FILL IN: low_price or high_price/);
  });

  test('with a second column of dates uses it where the first is blank', async () => {
    const csv = ['version,date,price', '2025.12.6,,1', ...days(9).map((day) => `2026.1.1,${day},2`)];
    expect(await documentOf(csv.join('\n'))).toMatchObject({
      observation: { date: { column: 'date', whenBlank: { column: FILL_IN, format: 'YYYY.M.D' } } },
    });
  });
});

describe('a column of units', () => {
  const csv = (units: readonly string[]) =>
    ['Date,Unit,Price', ...units.flatMap((unit) => days(4).map((day, index) => `${day},${unit},${index}.25`))].join(
      '\n',
    );

  test('with quantities is told apart by a table', async () => {
    const { market, tables } = await documentOf(csv(['KG', '50 KG', '1.5 KG', '3 x 2 L', '007']));
    expect(market.unit).toEqual({ quantity: '{quantity}', of: '{unitOfOne}' });
    expect(tables).toEqual([
      {
        key: '{Unit}',
        columns: ['quantity', 'unitOfOne'],
        rows: {
          KG: ['1', 'KG'],
          '50 KG': ['50', 'KG'],
          '1.5 KG': ['1', '1.5 KG'],
          '3 x 2 L': ['1', '3 x 2 L'],
          '007': ['1', '007'],
        },
      },
    ]);
  });

  test('without quantities is taken as it is', async () => {
    const { market, tables } = await documentOf(csv(['KG', 'L']));
    expect([market.unit, tables]).toEqual([{ quantity: '1', of: '{Unit}' }, undefined]);
  });
});

describe('dates', () => {
  test.each<[string, string[], unknown, unknown]>([
    ['that can only be day first', ['02/01/2026', '13/01/2026', '05/02/2026'], 'DD/MM/YYYY', 'day'],
    ['that can only be month first', ['01/02/2026', '01/13/2026'], 'MM/DD/YYYY', 'day'],
    ['without leading zeros', ['1.2.2026', '13.2.2026', '1.12.2026'], 'D.M.YYYY', 'day'],
    ['of months', ['2026-01', '2026-02'], 'YYYY-MM', 'month'],
    ['of quarters', ['2026-Q1', '2026-Q2'], 'YYYY-Q', 'quarter'],
    ['of years', ['2024', '2025'], 'YYYY', 'year'],
    ['always of the same day', ['2026-01-15', '2026-02-15', '2026-03-15'], 'YYYY-MM-DD', FILL_IN],
    ['always at midnight', ['2026-01-02T00:00', '2026-01-03T00:00'], 'YYYY-MM-DDTHH:mm', FILL_IN],
    ['with names of months', ['Jan 02, 1986', 'Feb 13, 1986'], 'MMM D, YYYY', 'day'],
    ['of two forms', ['2026-01-02', '2026-01-03', '2026-01-04', '13.1.2026'], ['YYYY-MM-DD', 'D.M.YYYY'], 'day'],
    ['with times', ['2026-01-02T10:30:00Z', '2026-01-03T10:30:00+01:00'], 'YYYY-MM-DDTHH:mm:ssZ', 'instant'],
  ])('%s', async (_, dates, format, precision) => {
    expect(await documentOf(dated(dates))).toMatchObject({
      observation: { date: { column: 'Date', format, precision } },
    });
  });

  test('of which nearly all are on one day of the month may be months: a person decides', async () => {
    const months = Array.from({ length: 11 }, (_, month) => `20${10 + month}-03-01`);
    const precisionOf = async (dates: readonly string[]) => (await documentOf(dated(dates))).observation.date.precision;
    expect(await precisionOf([...months, '2026-03-09'])).toEqual(FILL_IN);
    expect(await precisionOf([...months, '2026-03-09', '2026-03-10'])).toBe('day');
  });

  test('that no column has are asked for', async () => {
    const begun = await begin('item_id,name,latitude\n1,Rice,1.5\n2,Maize,2.5\n3,Beans,3.5');
    expect('text' in begun && begun.text).toMatch(/\/\/ No column was recognised\./);
    // Numbers that name a thing or its place are no prices.
    expect('text' in begun && begun.text).toContain('FILL IN: no column looks like prices');
  });

  test('that can be read in two ways are not guessed', async () => {
    const { observation } = await documentOf(dated(['01/02/2024', '03/04/2024', '05/06/2024']));
    expect(observation.date.format).toMatch(/^FILL IN: DD\/MM\/YYYY or MM\/DD\/YYYY: .*01\/02\/2024/);
  });

  test('with times without an offset ask for it', async () => {
    const { observation } = await documentOf(dated(['2026-01-02 10:30', '2026-01-03 10:30']));
    expect(observation.date).toMatchObject({ format: 'YYYY-MM-DD HH:mm', offset: expect.stringMatching(/^FILL IN/) });
  });

  test('are not seen in prices that could be years or months', async () => {
    const csv = ['day,gold', ...days(9).map((day, index) => `${day},${1950 + 10 * index}`)].join('\n');
    expect(await documentOf(csv)).toMatchObject({
      observation: { value: { column: 'gold' }, date: { column: 'day' } },
    });
  });

  test.each([
    ['in a column', dated(['1871-01-01', '1899-12-31', '1900-01-01'])],
    ['in the header', 'item,1898,1899,1900\ntea,1.5,2.5,3.5\nmilk,1.6,2.6,3.6\n'],
  ])('before 1900 ask for a decision: %s', async (_, csv) => {
    const { observation } = await documentOf(csv);
    expect(observation.date.early).toMatch(/^FILL IN: .*\b2\b.*"confirmed"/);
    expect((await documentOf(dated(['1900-01-01']))).observation.date).not.toHaveProperty('early');
  });

  test('that are in no column are asked for', async () => {
    const { observation } = await documentOf('item,price\ntea,1.5\nmilk,2.5\ntea,1.6\nmilk,2.6\n');
    expect(Object.values(observation.date)).toEqual(new Array(3).fill(expect.stringMatching(/^FILL IN/)));
  });
});

describe('numbers', () => {
  test.each<[string, string[], unknown]>([
    ['with a point', ['1.5', '2'], undefined],
    ['with a comma', ['1,5', '2', '3,25'], { decimalMark: ',' }],
    ['with a comma and points', ['1.234,5', '2', '999,25'], { decimalMark: ',', groupMark: '.' }],
    ['with groups by comma', ['1,234.5', '2', '3.25'], { decimalMark: '.', groupMark: ',' }],
    ['with groups by space', ['1 234.5', '2'], { decimalMark: '.', groupMark: ' ' }],
    ['with a currency sign', ['1,5€', '€ 2', '3,25 €', '-€4,5'], { decimalMark: ',', signs: ['€'] }],
    ["with groups by '", ["1'234.5", '2'], { decimalMark: '.', groupMark: "'" }],
  ])('%s', async (_, prices, number) => {
    const { observation } = await documentOf(priced(prices));
    expect(observation.value.number).toEqual(number);
  });

  test('of several columns: the marks and signs of any of them, however late they come', async () => {
    const rows = days(28).map(
      (day, row) => `${day},"5,4${row % 10} €","€ ${row < 27 ? '200,50' : '1.200,50'}","$3000,5"`,
    );
    const { observation } = await documentOf(['Date,A,B,C', ...rows].join('\n'));
    expect(observation.value.number).toEqual({ decimalMark: ',', groupMark: '.', signs: ['€', '$'] });
  });

  test('of columns that are written in different ways are not guessed', async () => {
    const rows = days(9).map((day) => `${day},"1,5","1,250.5"`);
    const { observation } = await documentOf(['Date,A,B', ...rows].join('\n'));
    expect(observation.value.number).toMatch(/^FILL IN/);
  });

  test('that can be read in two ways are not guessed', async () => {
    const { observation } = await documentOf(priced(['1,234', '2,345', '12']));
    expect(observation.value.number).toMatch(/^FILL IN: .*1,234/);
  });

  test.each(['N/A', '-', '..', 'NULL', 'n. v.'])('of which some are %j', async (word) => {
    const { observation } = await documentOf(priced(['1.5', word, '2.5', '3.5']));
    expect(observation.value).toMatchObject({ blankValues: [word], blank: { unknownReason: 'not-published' } });
  });

  test('beside a remark that is no word for a missing number', async () => {
    const { observation } = await documentOf(priced(['1.5', 'the market was closed on this day', '2.5', '3.5']));
    expect(observation.value).not.toHaveProperty('blankValues');
  });

  test('of which one column shows how all are written', async () => {
    const csv = 'Date;A;B\n2026-01-02;1,234;1.234,5\n2026-01-03;2,345;2.345,5\n';
    const { observation } = await documentOf(csv);
    expect(observation.value.number).toEqual({ decimalMark: ',', groupMark: '.' });
  });

  test('that are zero ask for a decision', async () => {
    const { observation } = await documentOf(priced(['1.5', '0.00', '2.5']));
    expect(observation.value.zero).toMatch(/^FILL IN: 1 value is zero: write "asserted" /);
  });
});

describe('a file', () => {
  const ROWS = days(9).map((day) => `${day},1.5`);

  test.each([';', '\t', '|', ','])('with the delimiter %j', async (delimiter) => {
    const csv = ['Date,Price', ...ROWS].join('\n').replaceAll(',', delimiter);
    expect(await documentOf(csv)).toMatchObject({ csv: { delimiter }, observation: { value: { column: 'Price' } } });
  });

  test('with semicolons and decimal commas', async () => {
    const csv = 'Date;A;B\n2026-01-02;1,5;2,5\n2026-01-03;1,6;2,6\n';
    expect(await documentOf(csv)).toMatchObject({
      csv: { delimiter: ';' },
      observation: { value: { number: { decimalMark: ',' } } },
    });
  });

  test('with a title, and a row of units', async () => {
    const csv = [
      'Prices, daily',
      'Source: an agency',
      '',
      'Date,Price,Note',
      ',USD,',
      ...ROWS.map((row) => `${row},x`),
    ];
    expect(await documentOf(csv.join('\r\n'))).toMatchObject({
      csv: { linesBeforeHeader: 3, rowsAfterHeader: 1 },
      observation: { value: { column: 'Price' }, date: { column: 'Date' } },
    });
  });

  test('that is not UTF-8, also if only its end shows it', async () => {
    for (const before of [0, 60_000]) {
      const rows = Array.from({ length: before }, () => `${ROWS[0]},x`);
      const csv = ['Date,Price,Place', ...rows, ...ROWS.map((row) => `${row},K\u00f6ln`)].join('\n');
      expect(await documentOf(Buffer.from(csv, 'latin1'))).toMatchObject({ csv: { encoding: 'windows-1252' } });
    }
  });

  test.each([
    ['utf-16le', '\uFEFF'],
    ['utf-16le', ''],
    ['utf-16be', '\uFEFF'],
    ['utf-16be', ''],
  ])('in %s, after "%s"', async (encoding, mark) => {
    const csv = Buffer.from(`${mark}${['Date,Price', ...ROWS].join('\n')}`, 'utf16le');
    expect(await documentOf(encoding === 'utf-16be' ? csv.swap16() : csv)).toMatchObject({
      csv: { encoding },
      observation: { date: { column: 'Date' } },
    });
  });

  test('with very long lines', async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `market ${index}`);
    const rows = days(3).map((day) => [day, ...names.map(() => '1.25')].join(','));
    const { unpivot } = await documentOf([['Date', ...names].join(','), ...rows].join('\n'));
    expect(unpivot).toMatchObject({ columns: { except: ['Date'] } });
  });

  test('with more different prices than are counted', async () => {
    const blank = ','.repeat(4000);
    const rows = Array.from({ length: 60 }, (_, row) => `${2000 + row},${'ab'[row % 2]},1.${row + 10},7${blank}`);
    const { observation } = await documentOf([`year,kind,cost,size${blank}`, ...rows].join('\n'));
    expect(observation.value.column).toBe('cost');
  });

  test('with rows that are not readable says so in a comment', async () => {
    const begun = await begin(['Date,Price', ...ROWS, '2026-02-01,1,5'].join('\n'));
    expect('text' in begun && begun.text).toMatch(/\/\/ Rows that are not readable: 1\. The first one is on line 11:/);
  });

  test.each([
    ['empty', ''],
    ['with one column', 'Price\n1\n2\n'],
    ['with a header alone', 'Date,Price\n'],
    ['with an open quote', 'Date,Price\n"2026-01-02,1\n'],
    ['without a header', `${ROWS.join('\n')}\n`],
  ])('%s gives no mapping, and a reason', async (_, csv) => {
    expect(await begin(csv)).toEqual({ fault: expect.stringMatching(/.{10}/) });
  });

  test('with a name or columns that would break JSON or comments', async () => {
    const csv = ['Date,"Price ""now""\n*/ // x",b\\', ...ROWS.map((row) => `${row},t`)].join('\n');
    const document = await documentOf(csv, 'a"b\\\n"injected": 1, */\u2028.csv');
    expect(document).toMatchObject({ observation: { value: { column: 'Price "now"\n*/ // x' } } });
    expect(document).not.toHaveProperty('injected');
  });

  test('of any bytes gives a mapping or a reason', async () => {
    const cell = fc.oneof(
      fc.constantFrom('', '1', '1.5', '2026-01-02', 'USD', 'x', '"', '{a}', 'N/A', 'FILL IN'),
      fc.string({ maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(cell, { maxLength: 4 }), { maxLength: 8 }), async (rows) => {
        const begun = await begin(rows.map((row) => row.join(',')).join('\n'));
        if ('fault' in begun) return;
        const errors: unknown[] = [];
        parse(begun.text, errors as [], { allowTrailingComma: false });
        expect(errors).toEqual([]);
      }),
    );
  });
});
