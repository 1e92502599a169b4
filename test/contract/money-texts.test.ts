import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import { decimalSchema } from '../../contract/values/metric.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { ACTIVE_BY_EXPONENT, NOT_MONEY, WITHDRAWN } from '../../contract/values/money/iso-4217.ts';
import { toMinorUnits } from '../../contract/values/money/money.ts';
import { moneyTexts } from '../../contract/values/money/money-texts.ts';

const CURRENCIES = [
  ...ACTIVE_BY_EXPONENT.flatMap(([, codes]) => codes.split(' ')),
  ...WITHDRAWN.split('\n').map((line) => line.slice(0, 3)),
];

describe('the texts of an amount', () => {
  test.each<[number | null, string, number, string | null, string | null]>([
    [3_669_000, 'HUF', 100, '36690.00', '366.90'],
    [162_675, 'JPY', 1000, '162675', '162.675'],
    [162_670, 'JPY', 1000, '162670', '162.67'],
    [306_921, 'KWD', 1000, '306.921', '0.306921'],
    [-3698, 'USD', 1, '-36.98', '-36.98'],
    [0, 'USD', 3, '0.00', '0.00'],
    [0, 'JPY', 1000, '0', '0'],
    [1, 'USD', 3, '0.01', null],
    [100, 'USD', 12, '1.00', null],
    [1, 'USD', 1_000_000_000_000_000, '0.01', '0.00000000000000001'],
    [
      Number.MAX_SAFE_INTEGER,
      'CLF',
      2 ** 49,
      '900719925474.0991',
      '0.00159999999999999982236431605997495353221893310546875',
    ],
    [Number.MAX_SAFE_INTEGER, 'CLF', 512, '900719925474.0991', '1759218604.4415998046875'],
    [null, 'KWD', 1000, null, null],
  ])('%s %s for %i: %s, and %s for one', (amountMinor, currency, quantity, decimal, decimalPerUnit) => {
    const minorDigits = currencyExponent(currency);
    expect(moneyTexts(amountMinor, currency, quantity)).toEqual({ minorDigits, decimal, decimalPerUnit });
  });

  test.each([...Object.keys(NOT_MONEY), 'usd', 'GBX'])('%s is not a currency that amounts can be in', (code) => {
    expect(() => moneyTexts(1, code, 1)).toThrow(RangeError);
  });
});

const amounts = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -100_000, max: 100_000 }));
const quantities = fc.oneof(
  fc.constantFrom(1, 2, 3, 5, 6, 8, 10, 12, 100, 125, 1000, 2 ** 29, 5 ** 12, 2 ** 49, 5 ** 21, QUANTITY_MAX),
  fc.integer({ min: 1, max: QUANTITY_MAX }),
);

describe.each(CURRENCIES)('every amount in %s', (currency) => {
  const exponent = currencyExponent(currency) as number;

  test('comes back from its decimals, and one unit times the quantity is the amount', () => {
    fc.assert(
      fc.property(amounts, quantities, (amountMinor, quantity) => {
        const { minorDigits, decimal, decimalPerUnit } = moneyTexts(amountMinor, currency, quantity);
        const exact = { amountMinor, rounded: false };
        expect(minorDigits).toBe(exponent);
        expect(decimalSchema.parse(decimal).split('.')[1]?.length ?? 0).toBe(exponent);
        expect(toMinorUnits(decimal as string, exponent, 1)).toEqual(exact);
        if (decimalPerUnit !== null) {
          expect(toMinorUnits(decimalSchema.parse(decimalPerUnit), exponent, quantity)).toEqual(exact);
          return;
        }
        // A fraction's decimals do not end exactly when no power of ten makes it whole.
        const whole = BigInt(amountMinor) * 10n ** 60n;
        expect(whole % BigInt(quantity)).not.toBe(0n);
      }),
      { numRuns: 15 },
    );
  });
});
