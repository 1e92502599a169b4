/** Starting mappings for CSV files that nobody has described: the guesses, and the questions that are left open. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMapping } from '../../mapping/check/check-mapping.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { begin, begun, days, FILL_IN, filledIn } from './begin.ts';

const german = (day: string) => day.split('-').reverse().join('.');
/** A file of two columns, with these cells. */
const dated = (dates: readonly string[]) =>
  ['Date;Price', ...dates.map((date, index) => `${date};${index}.25`)].join('\n');
const priced = (prices: readonly string[]) =>
  ['Date;Price', ...prices.map((price, index) => `${days(31)[index]};${price}`)].join('\n');
const onNineDays = (file: string) =>
  file.replace(/DAY.*/, (row) =>
    days(9)
      .map((day) => row.replace('DAY', day))
      .join('\n'),
  );
/** A row for each of nine days. */
const daily = (header: string, ...rows: readonly string[]) =>
  [header, ...days(9).flatMap((day) => rows.map((row) => `${day},${row}`))].join('\n');

describe('a file of one series', () => {
  const FILE = priced(['25.56', '26', '-36.98']);

  test('is one market; a person says what no file can say; then it gives observations', async () => {
    const { document, text, toFill } = await begin(FILE, 'Crude Oil (daily).csv');
    expect(document).toMatchObject({
      csv: { delimiter: ';' },
      match: [],
      market: { slug: 'crude-oil-daily', unit: { quantity: '1' } },
      observation: {
        value: { column: 'Price', rounding: 'refuse' },
        date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
        status: 'final',
      },
    });
    expect(toFill).toEqual([
      ...['name', 'kind', 'unit/of'].map((field) => `/market/${field}`),
      ...['label', 'url', 'publisher', 'licence', 'attribution'].map((field) => `/market/sources/0/${field}`),
      ...['currency', 'sourceUrl', 'confidence'].map((field) => `/observation/${field}`),
    ]);
    expect(await checkMapping(filledIn(text), FILE)).toMatchObject({
      faults: [],
      file: { rows: 3, markets: { count: 1 }, observations: { count: 3 }, refused: { count: 0 } },
    });
  });
});

test('a column of prices with ranges and footnotes is not left out, beside one without them', async () => {
  const rows = ['2.50,10', '0.15,$0.60', '$3.00 / $6.00*,$15', 'Free,Free', '0.27-$0.55,$1.10', '3,$5.5'];
  const file = ['Model,In ($),Out ($)', ...rows.map((row, index) => `m${index},$${row}`)].join('\n');
  const { document } = await begin(file.replace('$Free', 'Free'), 'models.csv');
  const { observation } = document as { observation: { value: object; also?: object } };
  const prices = JSON.stringify([observation.value, observation.also]);
  expect([prices.includes('In ($)'), prices.includes('Out ($)')]).toEqual([true, true]);
});

test.each<[string, string[], unknown]>([
  [
    '-1, which may stand for a missing number, is asked for',
    ['2.5', '-1', '3', '-1'],
    [expect.stringMatching(/^FILL IN: "-1" /)],
  ],
  ['-999.0 beside a word', ['2.5', '-999.0', 'n/a'], ['n/a', expect.stringMatching(/^FILL IN: "-999.0" /)]],
  ['a negative price is not', ['2.5', '-1.5', '3'], undefined],
  ['one of several is not', ['2.5', '-1', '-3.2'], undefined],
])('the only negative number %s', async (_, prices, blankValues) => {
  const { document } = await begin(priced(prices), 'power.csv');
  expect((document as { observation: { value: object } }).observation.value).toEqual(
    expect.objectContaining(blankValues === undefined ? { column: 'Price' } : { blankValues }),
  );
  expect('blankValues' in (document as { observation: { value: object } }).observation.value).toBe(
    blankValues !== undefined,
  );
});

describe('the table', () => {
  const wide = (except: readonly string[], name: string) => ({ unpivot: { columns: { except }, name } });
  /** The header does not show whether a number is an amount of the currency, or its price. */
  const inOrOf = (column: string) =>
    expect.stringMatching(new RegExp(`^FILL IN: \\{${column}\\} if .* such as GBP, if`));
  const ofCurrencies = {
    ...wide(['Date'], 'currency'),
    match: ['currency'],
    observation: { currency: inOrOf('currency') },
  };

  test.each<[string, string, object]>([
    [
      'of currencies has a market for each, and one quantity that keeps each number',
      'Date,USD,JPY,KWD,\r\n2026-01-03,1.08363,N/A,0.35071891,\r\n2026-01-02,1.08363,160.12345,0.35,\r\n',
      {
        ...ofCurrencies,
        market: {
          slug: 'prices-{currency}',
          // As the price of a dinar in dollars, 0.35071891 needs one more zero than as an amount of dinars.
          unit: { quantity: '1000000', of: expect.stringContaining('{currency}') },
        },
        observation: {
          value: {
            column: 'value',
            blankValues: ['N/A'],
            blank: { unknownReason: 'not-published' },
            quotedQuantity: '1',
          },
        },
      },
    ],
    [
      'of one day, with spaces',
      'Date, USD, JPY, \n02 January 2026, 1.0836, 160.12, \n',
      { ...ofCurrencies, observation: { date: { format: 'D MMMM YYYY', precision: 'day' } } },
    ],
    [
      'of other things asks for their currency',
      daily('day,wheat,maize', '1.5,2'),
      { ...wide(['day'], 'market'), observation: { currency: FILL_IN } },
    ],
    [
      'of months in the header, and a currency for each row',
      'item,currency,2026-01,2026-02\ntea,USD,1,2\nmilk,EUR,1,2\nsalt,EUR,1,2\noil,USD,1,2\n',
      {
        ...wide(['item', 'currency'], 'date'),
        match: ['item', 'currency'],
        observation: { currency: '{currency}', date: { format: 'YYYY-MM', precision: 'month' } },
      },
    ],
    ['that has a column of an added name', daily('Date,market,x', '1.5,2.5'), wide(['Date'], 'market_')],
    [
      'of prices of one market is not wide: the close counts',
      daily('Date,Open,High,Low,Close,Volume', '1.1,1.2,1.0,1.15,900'),
      { match: [], observation: { value: { column: 'Close' } } },
    ],
    [
      'of long rows has the columns that may tell markets apart, and the currency',
      daily(
        'day,place_id,place,item,flag,price,ccy',
        '7,Accra,tea,a,1.25,GHS',
        '7,Accra,salt,a,0.5,GHS',
        '9,Kumasi,tea,a,1.5,GHS',
        '12,Lomé,tea,b,900,XOF',
      ),
      {
        match: ['place_id', 'place', 'item', 'flag', 'ccy', FILL_IN],
        market: { slug: 'prices-{place_id}-{place}-{item}-{flag}-{ccy}' },
        observation: { value: { column: 'price' }, currency: '{ccy}', date: { column: 'day' } },
      },
    ],
    [
      'with codes in small letters gets a table of them',
      daily('day,base,quote,rate', 'usd,eur,0.91', 'eur,usd,1.1', 'gbp,usd,1.3'),
      {
        match: ['base', 'quote'],
        tables: [{ key: '{quote}', columns: ['currencyCode'], rows: { eur: ['EUR'], usd: ['USD'] } }],
        observation: { currency: '{currencyCode}' },
      },
    ],
    ...['units', 'Units', 'per', 'Nominal', 'x'].map((name): [string, string, object] => [
      `of exchange rates with the column of quantities ${name}`,
      daily(`month,currency,${name},rate`, 'JPY,100,0.5101', 'USD,1,0.7902'),
      {
        match: ['currency'],
        // The price of 100 yen has four decimals, so ten thousand yen have whole pence.
        market: {
          unit: { quantity: '10000', of: expect.stringContaining('{currency}') },
        },
        observation: { currency: inOrOf('currency'), value: { column: 'rate', quotedQuantity: `{${name}}` } },
      },
    ]),
    [
      'of exchange rates whose name says what they are of',
      daily('day,code,Currency units per £1', 'EUR,1.15', 'JPY,200'),
      {
        market: { unit: { of: 'GBP' } },
        observation: { currency: '{code}', value: { column: 'Currency units per £1' } },
      },
    ],
    [
      'of prices of one thing in several quantities that are no powers of ten asks about them',
      daily('day,item,pack,price', 'tea,25,1.5', 'salt,50,0.5'),
      {
        match: ['item'],
        observation: { value: { column: 'price', quotedQuantity: expect.stringMatching(/^FILL IN: \{pack\}/) } },
      },
    ],
    [
      'with a column that is always 100 asks about it',
      daily('day,item,base_amount,price', 'tea,100,1.5', 'salt,100,0.5'),
      { observation: { value: { quotedQuantity: expect.stringMatching(/^FILL IN: \{base_amount\}/) } } },
    ],
    [
      'with two columns of currencies asks which one it is',
      daily('day,first,second,rate', 'USD,EUR,0.91', 'EUR,USD,1.1'),
      { observation: { currency: expect.stringMatching(/^FILL IN: \{first\} or \{second\}/) } },
    ],
    [
      'with two columns of prices asks which one it is',
      daily('day,item,low_price,high_price', 'tea,1.5,2.5'),
      { observation: { value: { column: expect.stringMatching(/^FILL IN: low_price or high_price/) } } },
    ],
    [
      'with a second column of dates uses it where the first is blank',
      ['version,date,price', '2025.12.6,,1', ...days(9).map((day) => `2026.1.1,${day},2`)].join('\n'),
      { observation: { date: { column: 'date', whenBlank: { column: FILL_IN, format: 'YYYY.M.D' } } } },
    ],
    [
      'with a column of units has them',
      daily('Date,Unit,Price', 'KG,1.5', '50 KG,60'),
      { market: { unit: { quantity: '1', of: '{Unit}' } } },
    ],
    [
      'with prices that could be years',
      ['day,gold', ...days(9).map((day, index) => `${day},${1950 + 10 * index}`)].join('\n'),
      { observation: { value: { column: 'gold' }, date: { column: 'day' } } },
    ],
    [
      'without dates and prices: numbers that name a thing or its place are no prices',
      'item_id,name,latitude\n1,Rice,1.5\n2,Maize,2.5\n3,Beans,3.5',
      { observation: { value: { column: FILL_IN }, date: { column: FILL_IN, format: FILL_IN, precision: FILL_IN } } },
    ],
  ])('%s', async (_, file, expected) => {
    const { document } = await begin(file);
    expect(document).toMatchObject(expected);
    if (!('unpivot' in expected)) expect(document).not.toHaveProperty('unpivot');
  });
});

describe('dates', () => {
  test.each<[string, string[], unknown, unknown]>([
    ['that can only be day first', ['02/01/2026', '13/01/2026', '05/02/2026'], 'DD/MM/YYYY', 'day'],
    ['that can only be month first', ['01/02/2026', '01/13/2026'], 'MM/DD/YYYY', 'day'],
    ['of months', ['2026-01', '2026-02'], 'YYYY-MM', 'month'],
    ['of quarters', ['2026-Q1', '2026-Q2'], 'YYYY-Q', 'quarter'],
    ['of quarters without a hyphen', ['2026Q1', '2026Q2'], 'YYYYQ', 'quarter'],
    ['of quarters before the year', ['Q1 2026', 'Q2 2026'], 'Q YYYY', 'quarter'],
    ['of months with names', ['Jan 2026', 'Feb 2026'], 'MMM YYYY', 'month'],
    ['of months with names after the year', ['2026 JAN', '2026 FEB'], 'YYYY MMM', 'month'],
    ['of months with two digits of the year', ['Dec-99', 'Jan-26'], 'MMM-YY', 'month'],
    ['of days with two digits of the year', ['31 Dec 99', '02 Jan 26'], 'D MMM YY', 'day'],
    ['of months after the letter M', ['2026M01', '2026M12'], "YYYY'M'MM", 'month'],
    ['of months with one digit after the letter M', ['2026M1', '2026M12'], "YYYY'M'M", 'month'],
    ['always of the same day', ['2026-01-15', '2026-02-15', '2026-03-15'], 'YYYY-MM-DD', FILL_IN],
    ['always at midnight', ['2026-01-02T00:00', '2026-01-03T00:00'], 'YYYY-MM-DDTHH:mm', FILL_IN],
    ['with names of months', ['Jan 02, 1986', 'Feb 13, 1986'], 'MMM D, YYYY', 'day'],
    ['of two forms', ['2026-01-02', '2026-01-03', '2026-01-04', '13.1.2026'], ['YYYY-MM-DD', 'D.M.YYYY'], 'day'],
    ['with times to the minute', ['2026-10-25T02:00+02:00', '2026-10-25T02:00+01:00'], 'YYYY-MM-DDTHH:mmZ', 'instant'],
    ['with times', ['2026-01-02T10:30:00Z', '2026-01-03T10:30:00+01:00'], 'YYYY-MM-DDTHH:mm:ssZ', 'instant'],
    [
      'that can be read in two ways',
      ['01/02/2024', '03/04/2024'],
      expect.stringMatching(/^FILL IN: DD\/MM\/YYYY or MM\/DD\/YYYY: .*01\/02\/2024/),
      'day',
    ],
  ])('%s', async (_, dates, format, precision) => {
    const { document } = await begin(dated(dates));
    expect(document.observation.date).toMatchObject({ column: 'Date', format, precision });
  });

  test.each([
    ['2026-02-31', 4, ['2026-02-01', '2026-02-02', '2026-02-31', ...days(6)], 'YYYY-MM-DD'],
    ['31.02.2026', 6, [...days(4).map(german), '31.02.2026', ...days(31).slice(12, 15).map(german)], 'DD.MM.YYYY'],
  ])('%s among good ones keeps the guess, and is named with its line', async (text, line, dates, format) => {
    const { text: mapping, document } = await begin(dated([...dates, 'see note']));
    expect(document.observation.date).toEqual({ column: 'Date', format, precision: 'day' });
    expect(mapping).toContain(
      `${dates.length - 1} of ${dates.length + 1} are such dates. Not line ${line}, ${text}, and 1 more.`,
    );
  });

  test('of no known form do not name markets: the message says what to write', async () => {
    const { document } = await begin(
      'Month,Item,Price\n2026-T1,tea,1.5\n2026-T2,tea,2.5\n2026-T1,salt,1.6\n2026-T2,salt,2.6\n',
    );
    expect(document.match).not.toContain('Month');
    expect(document.observation.date.column).toMatch(/^FILL IN: Month\? .*2026-T1.*2026-Q1/);
  });

  test('of which one of two is bad name its line and its text', async () => {
    const { text, document } = await begin(dated(['2026-01-02', '2026-02-31']));
    expect(document).toMatchObject({ match: [], observation: { date: { column: 'Date', format: 'YYYY-MM-DD' } } });
    expect(text).toContain('1 of 2 are such dates. Not line 3, 2026-02-31.');
  });

  test('by a further format are counted; of another precision, they ask for a decision', async () => {
    const { text, document } = await begin(dated([...days(31), '2024']));
    expect(document.observation.date).toMatchObject({ format: ['YYYY-MM-DD', 'YYYY'], precision: FILL_IN });
    expect(text).toContain('By YYYY, 1 of 32: line 33, 2024.');
  });

  test('with times without an offset ask for it', async () => {
    const { document } = await begin(dated(['2026-01-02 10:30', '2026-01-03 10:30']));
    expect(document.observation.date).toMatchObject({ format: 'YYYY-MM-DD HH:mm', offset: FILL_IN });
  });

  test.each([
    ['in a column', dated(['1871-01-01', '1899-12-31', '1900-01-01'])],
    ['in the header', 'item,1898,1899,1900\ntea,1.5,2.5,3.5\nmilk,1.6,2.6,3.6\n'],
  ])('before 1900 ask for a decision: %s', async (_, csv) => {
    const { document } = await begin(csv);
    expect(document.observation.date.early).toMatch(/^FILL IN: .*\b2\b.*"confirmed"/);
  });
});

describe('numbers', () => {
  test.each<[string, string[], unknown]>([
    ['with a point', ['1.5', '2'], undefined],
    ['with a comma', ['1,5', '2', '3,25'], { decimalMark: ',' }],
    ['with a comma and points', ['1.234,5', '2', '999,25'], { decimalMark: ',', groupMark: '.' }],
    ['with groups by comma', ['1,234.5', '2', '3.25'], { decimalMark: '.', groupMark: ',' }],
    ['with a currency sign', ['1,5€', '€ 2', '3,25 €', '-€4,5'], { decimalMark: ',', signs: ['€'] }],
    ['that can be read in two ways', ['1,234', '2,345', '12'], expect.stringMatching(/^FILL IN: .*1,234/)],
  ])('%s', async (_, prices, number) => {
    const { document } = await begin(priced(prices));
    expect(document.observation.value.number).toEqual(number);
  });

  test.each<[string, string, unknown]>([
    [
      'marks and signs of any of them',
      daily('Date,A,B,C', '"5,43 €","€ 1.200,50","$3000,5"'),
      { decimalMark: ',', groupMark: '.', signs: ['€', '$'] },
    ],
    ['different ways of writing are not guessed', daily('Date,A,B', '"1,5","1,250.5"'), FILL_IN],
    [
      'one shows how all are written',
      'Date;A;B\n2026-01-02;1,234;1.234,5\n2026-01-03;2,345;2.345,5\n',
      { decimalMark: ',', groupMark: '.' },
    ],
  ])('of several columns: %s', async (_, csv, number) => {
    expect((await begin(csv)).document.observation.value.number).toEqual(number);
  });

  test.each(['N/A', '-', '..', 'NULL', 'n. v.'])('of which some are %j', async (word) => {
    const { document } = await begin(priced(['1.5', word, '2.5', '3.5']));
    expect(document.observation.value).toMatchObject({
      blankValues: [word],
      blank: { unknownReason: 'not-published' },
    });
  });

  test('beside a remark that is no word for a missing number; a zero asks for a decision', async () => {
    const { document } = await begin(priced(['1.5', 'the market was closed on this day', '0.00', '3.5']));
    expect(document.observation.value).not.toHaveProperty('blankValues');
    expect(document.observation.value.zero).toMatch(/^FILL IN: 1 value is zero: write "asserted" /);
  });

  test.each<[string, readonly string[], string]>([
    ['cents', ['1.25', '3', '-36.98'], '1'],
    ['most with more decimals', ['0.00123', '0.00125', '0.00131'], '1000'],
    ['one of thirty with more decimals', [...new Array(29).fill('1.25'), '2.939573529'], '10000000'],
    ['prices of a token, with exponents', ['1.6e-05', '2.5e-08', '3e-07'], '10000000'],
    ['as small as 10^-17', ['0.00000000000000001'], '1000000000000000'],
    ['more decimals than the largest unit keeps', ['0.000000000000000001'], 'exact'],
    ['so large and so long that no amount holds it', ['123456789012.123456'], 'exact'],
  ])('%s give the smallest power of ten that keeps each', async (_, prices, quantity) => {
    const { document } = await begin(priced(prices));
    expect(document).toMatchObject({ market: { unit: { quantity } }, observation: { value: { rounding: 'refuse' } } });
  });

  test.each<[string, unknown, unknown]>([
    ['rate_per_100', '100', FILL_IN],
    ['input_per_mtok', '1000000', 'token'],
    ['price_per_million_tokens', '1000000', 'token'],
    ['price_per_1m', expect.stringMatching(/^FILL IN: 1000000 /), FILL_IN],
    ['cost_per_1k_tokens', '1000', 'token'],
    ['price_eur_per_100kg', '100', 'kg'],
    ['Price per 1,000 litres', '1000', 'litres'],
    ['price_per_m', undefined, 'm'],
    ['Arbeitspreis ct/kWh', '100', 'kWh'],
    ['price_cents_per_100_kg', '10000', 'kg'],
    ['c/kWh', expect.stringMatching(/^FILL IN: 100 .* whole ones: 1$/), 'kWh'],
    ['Cent pro kWh', expect.stringMatching(/^FILL IN: 100 /), FILL_IN],
    ['price_per_ct', undefined, 'ct'],
    ['inflation per cent', undefined, 'cent'],
    ['Price GBP/t', undefined, 't'],
  ])('in the column %j are prices of %j', async (column, quotedQuantity, of) => {
    const { document } = await begin(daily(`date,${column.includes(',') ? `"${column}"` : column}`, '1.5'));
    expect(document.observation.value.quotedQuantity).toEqual(quotedQuantity);
    expect(document.market.unit.of).toEqual(of);
  });

  test.each<[string, object, unknown]>([
    ['date,price\nDAY,"12,3 ct"', { number: { decimalMark: ',', signs: ['ct'] } }, FILL_IN],
    ['date,price\nDAY,99p', { number: { signs: ['p'] } }, FILL_IN],
    ['date,price,unit\nDAY,45.1,p', {}, FILL_IN],
    ['date,price,currency\nDAY,45.1,USc', {}, FILL_IN],
    ['date,price\n,pence per litre\nDAY,45.1', {}, FILL_IN],
  ])('that only cells call hundredths are not taken for whole ones: %j', async (file, value, of) => {
    const { document } = await begin(onNineDays(file));
    const quotedQuantity = expect.stringMatching(/^FILL IN: 100 .* whole ones: 1$/);
    expect(document).toMatchObject({
      market: { unit: { quantity: '100', of } },
      observation: { value: { column: 'price', quotedQuantity, ...value } },
    });
  });

  test.each([
    'date,price,unit\nDAY,45.1,EUR/kWh',
    'date,price,grade\nDAY,45.1,c',
    'date,price,product\nDAY,45.1,Cents',
  ])('in %j are whole ones', async (file) => {
    const { document } = await begin(onNineDays(file));
    expect(document.observation.value).toEqual({ column: 'price', rounding: 'refuse' });
  });

  test.each(['1m_tokens', '1m'])(
    'of which several may be the price name all columns that say the quantity (%s)',
    async (of) => {
      const names = ['input', 'cached'].map((name) => `${name}_usd_per_${of}`);
      const { text } = await begin(
        `model,${names},date\na,1.5,0.1,2026-01-01\nb,1,0.1,2026-01-01\nc,1,0.2,2026-01-01\n`,
      );
      expect(text).toContain(names.join(', '));
    },
  );

  test.each([
    [1.525, '1000'],
    [123_456_789_012.125, '10'],
  ])('of a list have room for two more decimals, if amounts are not too large for it: %d', async (price, atLeast) => {
    const { document } = await begin(JSON.stringify({ a: { price }, b: { price }, c: { price } }));
    expect(document.market.unit).toMatchObject({ quantity: 'exact', atLeast });
  });

  test('of two columns of a list keep the quantity that each name says, and their currency: the metrics have neither', async () => {
    const list = {
      a: { input_usd_per_mtok: 2.5, output_usd_per_1k_tokens: 1.25 },
      b: { input_usd_per_mtok: 3.5, output_usd_per_1k_tokens: 1 },
    };
    const { document } = await begin(JSON.stringify(list));
    expect(document).toMatchObject({
      market: { unit: { of: 'token' } },
      observation: {
        currency: 'USD',
        metric: 'input',
        value: { quotedQuantity: '1000000' },
        also: [{ metric: 'output', value: { quotedQuantity: '1000' } }],
      },
    });
  });
});

/** The identity and the time of all observations hang on some guesses: a doubt about them is left to a person. */
describe('a doubt', () => {
  const IDENTITY = /^\/(match\/\d+|market\/slug|observation\/date\/.*)$/;

  test.each<[string, string, readonly string[]]>([
    ['one series', daily('date,price', '1.5'), []],
    ['series by one column', daily('date,item,price', 'tea,1.5', 'salt,0.5'), ['item']],
    [
      'series by two columns',
      daily('day,item,currency,price', 'tea,USD,1.5', 'salt,USD,0.5', 'tea,EUR,1.25'),
      ['item', 'currency'],
    ],
  ])('is not there: %s', async (_, file, match) => {
    const { document, toFill } = await begin(file);
    expect(document.match).toEqual(match);
    expect(document.market.slug).toBe(['prices', ...match.map((column) => `{${column}}`)].join('-'));
    expect(toFill.filter((pointer) => IDENTITY.test(pointer))).toEqual([]);
  });

  /** Each doubt as the pointer of its mark, and a word that the mark must name. */
  test.each<[string, string, Readonly<Record<string, string>>]>([
    [
      'a date of something else',
      ['name,price,deprecation_date', ...days(12).map((day, index) => `model ${index},${index}.5,${day}`)].join('\n'),
      { '/observation/date/column': 'deprecation_date', '/match/0': 'name', '/market/slug': 'match' },
    ],
    ['two dates', daily('date,update_day,price', '2026-02-01,1.5'), { '/observation/date/column': 'update_day' }],
    [
      'a name and an identifier that come together',
      daily('date,id,place,price', 'a7,Accra,1.5', 'a9,Lomé,2.5'),
      { '/match/2': 'these' },
    ],
    [
      'a column that is the same in all rows',
      daily('date,item,unit,price', 'tea,kg,1.5', 'salt,kg,2.5'),
      { '/match/2': 'these' },
    ],
    [
      'a column that differs within a market',
      [
        'date,item,flag,price',
        ...days(12).flatMap((day, index) => [`${day},tea,${'ab'[index % 2]},1.5`, `${day},salt,a,2.5`]),
      ].join('\n'),
      { '/match/1': 'flag' },
    ],
    [
      'rows of one date that no column tells apart',
      daily('date,price', '1.5', '2.5'),
      { '/observation/date/column': 'date' },
    ],
    [
      'members of a JSON object that have other texts, too',
      '{"gpt":{"cost":1.6e-05,"provider":"a","deprecation_date":"2026-01-02"},"cat":{"cost":2.5e-08,"provider":"b"}}',
      { '/match/1': 'provider', '/observation/date/column': 'deprecation_date' },
    ],
    [
      'one row for each of many names, and no date',
      '{"data":[{"id":"a/x","name":"X","price":1.6e-05},{"id":"a/y","name":"Y","price":2.5e-08},{"id":"b/z","name":"Z","price":3e-07}]}',
      { '/match/2': 'these', '/observation/date/column': 'constant' },
    ],
  ])('is left to a person, with the candidates: %s', async (_, file, doubts) => {
    const { text, document, toFill } = await begin(file);
    for (const [pointer, candidate] of Object.entries(doubts)) {
      const parts = pointer.slice(1).split('/');
      expect(parts.reduce((value, part) => value?.[part], document)).toMatch(new RegExp(`^FILL IN.*${candidate}`));
      expect(toFill).toContain(pointer);
    }
    expect(parseMappingText(text)).toHaveProperty('faults');
  });

  test.each([
    ['Price (EUR)', 'EUR'],
    ['close_usd', 'USD'],
    ['usd_per_barrel', 'USD'],
    ['price_per_kg', null],
    ['Price (XYZ)', null],
    ['EUR/USD', null],
  ])('the column %j names the currency %s', async (column, code) => {
    const { document, toFill } = await begin(daily(`date,${column}`, '1.5'));
    expect(toFill.includes('/observation/currency')).toBe(code === null);
    if (code !== null) expect(document.observation.currency).toBe(code);
  });
});

describe('a list of current prices', () => {
  test.each<[string, string, object]>([
    [
      'with an address and a name for each row asks only whether these identify the markets',
      'slug,name,price,currency,date\ngold,Gold,4129.10,USD,2026-11-27\nsilver,Silver,52.30,USD,2026-11-27\n',
      { match: ['slug', 'name', FILL_IN], market: { slug: '{slug}', name: '{name}' } },
    ],
    [
      'without a date has the metrics of a list',
      'Model;Input;Output\nGPT 5;1,25;10,50\nClaude;3,00;15,00\n',
      {
        match: ['Model'],
        market: { slug: 'prices-{Model}', slugDigest: 'unless-exact', unit: { quantity: 'exact' } },
        observation: { metric: 'input', also: [{ metric: 'output', value: { column: 'Output' } }] },
      },
    ],
    [
      'by codes that begin with zeros, which are no numbers',
      'hs_code,goods,rate\n0101.21,Horses,2.5\n0101.29,Other horses,11.5\n0102.21,Cattle,1.5\n',
      { match: ['hs_code', FILL_IN], market: { slug: 'prices-{hs_code}' }, observation: { value: { column: 'rate' } } },
    ],
    [
      'of several kinds in several places keeps these as its markets, beside a remark that differs in each row',
      [
        'item,place,price,remark',
        ...['tea', 'salt'].flatMap((item) => [1, 2].map((n) => `${item},P${n},${n}.5,${item} ${n}x`)),
      ].join('\n'),
      { match: ['item', 'place', FILL_IN] },
    ],
    [
      'of which one price is padded with a zero still has prices',
      ['item,price', ...Array.from({ length: 40 }, (_, n) => `item ${n}x,${n === 7 ? '07.50' : `${n + 10}.50`}`)].join(
        '\n',
      ),
      { observation: { value: { column: 'price' } } },
    ],
  ])('%s', async (_, file, expected) => {
    expect((await begin(file)).document).toMatchObject(expected);
  });
});

describe('a file', () => {
  const FILE = daily('Date,Price', '1.5');

  test.each([';', '\t', '|', ','])('with the delimiter %j', async (delimiter) => {
    const { document } = await begin(FILE.replaceAll(',', delimiter));
    expect(document).toMatchObject({ csv: { delimiter }, observation: { value: { column: 'Price' } } });
  });

  test('with a total below its rows, which spoils no guess, and is named with the remedies', async () => {
    const { document, text } = await begin(
      `${daily('day,item,unit,price', 'tea,kg,1.5', 'salt,kg,2.5')}\nTotal,,,36\nSource: an agency,,,\n`,
    );
    expect(document).toMatchObject({ observation: { date: { column: 'day' }, value: { column: 'price' } } });
    expect(document.match).toEqual(expect.arrayContaining(['item']));
    const comment = text.replaceAll(/\s+(\/\/ )?/g, ' ');
    expect(comment).toMatch(
      /line 20, Total; line 21, Source: an agency\. Remove such rows, .*"otherwise": "leave-out"/,
    );
    expect(comment).not.toContain('Not line');
  });

  test('with a title, a row of units, and a row that is not readable', async () => {
    const rows = [
      'Prices, daily',
      'Source: an agency',
      '',
      'Date,Price,Note',
      ',USD,',
      ...days(9).map((day) => `${day},1.5,x`),
    ];
    const { document, text } = await begin([...rows, '2026-02-01,1,5,6'].join('\r\n'));
    expect(document).toMatchObject({
      csv: { linesBeforeHeader: 3, rowsAfterHeader: 1 },
      observation: { value: { column: 'Price' }, date: { column: 'Date' } },
    });
    expect(text).toMatch(/\/\/ Rows that are not readable: 1\. The first one is on line 15:/);
  });

  test('that is not UTF-8, also if only its end shows it', async () => {
    for (const before of [0, 40_000]) {
      const rows = Array.from({ length: before }, () => '2026-01-01,1.5,x');
      const csv = ['Date,Price,Place', ...rows, ...days(9).map((day) => `${day},1.5,K\u00f6ln`)].join('\n');
      expect((await begin(Buffer.from(csv, 'latin1'))).document).toMatchObject({ csv: { encoding: 'windows-1252' } });
    }
  });

  test.each([
    ['utf-16le', '\uFEFF'],
    ['utf-16be', ''],
  ])('in %s, after "%s"', async (encoding, mark) => {
    const csv = Buffer.from(mark + FILE, 'utf16le');
    const { document } = await begin(encoding === 'utf-16be' ? csv.swap16() : csv);
    expect(document).toMatchObject({ csv: { encoding }, observation: { date: { column: 'Date' } } });
  });

  test.each([
    ['empty', ''],
    ['with one column', 'Price\n1\n2\n'],
    ['with a header alone', 'Date,Price\n'],
    ['with an open quote', 'Date,Price\n"2026-01-02,1\n'],
    ['without a header', FILE.slice('Date,Price\n'.length)],
  ])('%s gives no mapping, and a reason', async (_, csv) => {
    expect(await begun(csv)).toEqual({ fault: expect.stringMatching(/.{10}/) });
  });

  test('with a name or columns that would break JSON or comments', async () => {
    const csv = daily('Date,"Price ""now""\n*/ // x",b\\', '1.5,t');
    const { document } = await begin(csv, 'a"b\\\n"injected": 1, */\u2028.csv');
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
        const csv = rows.map((row) => row.join(',')).join('\n');
        if (!('fault' in (await begun(csv)))) await begin(csv);
      }),
    );
  });
});
