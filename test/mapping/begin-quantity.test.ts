/** The quantity of a starting mapping is fixed by the first observation: nothing may be lost by it without a decision. */
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping } from '../../mapping/check/check-mapping.ts';

async function begin(file: string): Promise<string> {
  const begun = await beginMapping(async function* () {
    yield new TextEncoder().encode(file);
  }, 'prices.csv');
  if ('fault' in begun) throw new Error(begun.fault);
  return begun.text;
}

/** As a person does who decides nothing about numbers. */
function filledIn(text: string): string {
  return text
    .replaceAll(/"(url|sourceUrl)": "FILL IN[^"]*"/g, '"$1": "https://example.org/"')
    .replaceAll(/"(nativeCurrency|currency)": "FILL IN[^"]*"/g, '"$1": "USD"')
    .replace(/"confidence": "FILL IN[^"]*"/, '"confidence": "high"')
    .replaceAll(/"(name|kind|of|label|publisher|licence|attribution|sourceLabel)": "FILL IN[^"]*"/g, '"$1": "gold"');
}

const monthOf = (month: number) => `${1833 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`;
/** Gold, monthly since 1833: a few of 2,322 values have three decimals. */
const GOLD = [
  'Date,Price',
  ...Array.from({ length: 2322 }, (_, month) => `${monthOf(month)},${month % 97 === 5 ? '20.635' : '18.93'}`),
].join('\n');

describe('the quantity is the smallest power of ten that keeps each number', () => {
  test('gold since 1833: ten ounces, and not one value is rounded', async () => {
    const text = await begin(GOLD);
    expect(parse(text)).toMatchObject({
      market: { unit: { quantity: '10' } },
      observation: { value: { quotedQuantity: '1', rounding: 'refuse' } },
    });
    // Dates before 1900 are a decision, too; it has its own test.
    const checked = filledIn(text).replace(/"early": "FILL IN(?:\\.|[^"\\])*"/, '"early": "confirmed"');
    expect(await checkMapping(checked, GOLD)).toMatchObject({
      faults: [],
      file: { observations: { count: 2322, rounded: 0 }, refused: { count: 0 } },
    });
  });

  const table = (prices: readonly string[]) =>
    ['Date,Price', ...prices.map((price, day) => `2026-01-${String(day + 1).padStart(2, '0')},${price}`)].join('\n');

  test.each<[string, readonly string[], string]>([
    ['cents', ['1.25', '3', '-36.98'], '1'],
    ['cents with zeros behind them', ['1.2500', '3.000'], '1'],
    ['most with more decimals', ['0.00123', '0.00125', '0.00131'], '1000'],
    ['one of thirty with more decimals', [...new Array(29).fill('1.25'), '2.939573529'], '10000000'],
    ['prices of a token, with exponents', ['1.6e-05', '2.5e-08', '3e-07'], '10000000'],
    ['as small as 10^-17', ['0.00000000000000001'], '1000000000000000'],
  ])('%s', async (_, prices, quantity) => {
    expect(parse(await begin(table(prices)))).toMatchObject({
      market: { unit: { quantity } },
      observation: { value: { rounding: 'refuse' } },
    });
  });

  test.each<[string, readonly string[]]>([
    ['more decimals than the largest unit keeps', ['0.000000000000000001']],
    ['so large and so long that no amount holds it', ['123456789012.123456']],
  ])('without one, rounding is a decision: %s', async (_, prices) => {
    expect(parse(await begin(table(prices))).observation.value.rounding).toMatch(/^FILL IN: .*\d/);
  });

  test('without one, a single number of twenty makes the quantity no larger', async () => {
    const prices = [...new Array(19).fill('1.25'), '0.000000000000000001'];
    expect(parse(await begin(table(prices))).market.unit.quantity).toBe('1');
  });

  test('packs of a column of units are counted as often', async () => {
    const csv = [
      'Date,Unit,Price',
      ...['KG', '50 KG'].flatMap((unit) => [1, 2, 3].map((day) => `2026-01-0${day},${unit},${day}.125`)),
    ];
    const document = parse(await begin(csv.join('\n')));
    expect(document).toMatchObject({
      market: { unit: { quantity: '{quantity}', of: '{unitOfOne}' } },
      observation: { value: { quotedQuantity: '{quotedQuantity}', rounding: 'refuse' } },
      tables: [{ columns: ['quantity', 'unitOfOne', 'quotedQuantity'] }],
    });
    expect(document.tables[0].rows).toEqual({ KG: ['10', 'KG', '1'], '50 KG': ['500', 'KG', '50'] });
  });
});
