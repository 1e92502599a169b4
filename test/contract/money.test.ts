import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import { plainDecimal, toMinorUnits } from '../../contract/values/money/money.ts';

describe('amounts in minor units', () => {
  test.each([
    // decimal, exponent, quantity, amountMinor, rounded
    ['61.170', 2, 1, 6117, false],
    ['6.117e1', 2, 1, 6117, false],
    ['1.6E-05', 2, 1_000_000, 1600, false],
    ['-4e+06', 0, 1, -4_000_000, false],
    ['0.000', 2, 1, 0, false],
    ['-0', 2, 1, 0, false],
    ['-0.001', 2, 1, 0, true],
    ['0.005', 2, 1, 0, true],
    ['0.0250000000000000000001', 2, 1, 3, true],
    ['007.10', 2, 1, 710, false],
    ['90071992547409.91', 2, 1, Number.MAX_SAFE_INTEGER, false],
    ['-90071992547409.91', 2, 1, -Number.MAX_SAFE_INTEGER, false],
    ['90071992547409.914', 2, 1, Number.MAX_SAFE_INTEGER, true],
  ])('%s with exponent %i, times %i, is %i', (decimal, exponent, quantity, amountMinor, rounded) => {
    expect(toMinorUnits(decimal, exponent, quantity)).toStrictEqual({ amountMinor, rounded });
  });

  test.each([
    ['90071992547409.915', 2, 1],
    ['90071992547409.92', 2, 1],
    ['9007199254740.992', 0, 1000],
    ['9'.repeat(64), 0, 1],
  ])('%s with exponent %i, times %i, is out of range', (decimal, exponent, quantity) => {
    expect(toMinorUnits(decimal, exponent, quantity)).toEqual({ error: 'amount.out-of-range' });
  });

  test.each([
    ['4e', 1],
    ['1,5', 1],
    ['.5', 1],
    ['5.', 1],
    ['+5', 1],
    ['', 1],
    [' 5', 1],
    ['0x10', 1],
    ['NaN', 1],
    ['5', 0],
    ['5', -1],
    ['5', 1.5],
    ['5', 2 ** 53],
  ])('%j times %d is a mistake of the caller', (decimal, quantity) => {
    expect(() => toMinorUnits(decimal, 2, quantity)).toThrow(RangeError);
  });
});

/** A decimal as sign, digits and scale, so that the oracle reads no text. Every other one ends in a 5 to make ties. */
const decimals = fc
  .record({
    negative: fc.boolean(),
    digits: fc.bigInt({ min: 0n, max: 10n ** 22n }),
    scale: fc.integer({ min: 0, max: 24 }),
    five: fc.boolean(),
  })
  .map(({ negative, digits, scale, five }) => ({
    numerator: (negative ? -1n : 1n) * (five ? digits - (digits % 10n) + 5n : digits),
    scale,
    text: decimalText(negative, five ? digits - (digits % 10n) + 5n : digits, scale),
  }));

function decimalText(negative: boolean, digits: bigint, scale: number): string {
  const padded = digits.toString().padStart(scale + 1, '0');
  const whole = padded.slice(0, padded.length - scale);
  return `${negative ? '-' : ''}${whole}${scale === 0 ? '' : `.${padded.slice(-scale)}`}`;
}

const exponents = fc.integer({ min: 0, max: 4 });
const quantities = fc.oneof(fc.constantFrom(1, 10, 1000, QUANTITY_MAX), fc.integer({ min: 1, max: QUANTITY_MAX }));

describe('against exact fractions', () => {
  test('the amount is the nearest integer, the even one of two, and `rounded` is true if it differs', () => {
    fc.assert(
      fc.property(decimals, exponents, quantities, (decimal, exponent, quantity) => {
        const result = toMinorUnits(decimal.text, exponent, quantity);
        // The exact amount is the fraction top / bottom.
        const top = decimal.numerator * BigInt(quantity) * 10n ** BigInt(exponent);
        const bottom = 10n ** BigInt(decimal.scale);
        if ('error' in result) {
          // Half a unit beyond the largest rounds to 2^53, which is even.
          expect(2n * (top < 0n ? -top : top) >= (2n * BigInt(Number.MAX_SAFE_INTEGER) + 1n) * bottom).toBe(true);
          return;
        }
        expect(Number.isSafeInteger(result.amountMinor)).toBe(true);
        expect(Object.is(result.amountMinor, -0)).toBe(false);
        const amount = BigInt(result.amountMinor);
        const error = amount * bottom - top;
        const twice = 2n * (error < 0n ? -error : error);
        expect(twice < bottom || (twice === bottom && amount % 2n === 0n)).toBe(true);
        expect(result.rounded).toBe(error !== 0n);
      }),
      { numRuns: 2000 },
    );
  });

  test('the negative of a decimal is the negative of its amount', () => {
    fc.assert(
      fc.property(decimals, exponents, quantities, ({ text }, exponent, quantity) => {
        const negated = text.startsWith('-') ? text.slice(1) : `-${text}`;
        const one = toMinorUnits(text, exponent, quantity);
        const other = toMinorUnits(negated, exponent, quantity);
        if ('error' in one || 'error' in other) expect(other).toEqual(one);
        else expect(other.amountMinor + one.amountMinor).toBe(0);
      }),
    );
  });
});

describe('a decimal without its exponent', () => {
  test.each([
    ['1.6e-05', '0.000016'],
    ['4e+06', '4000000'],
    ['1.50E2', '150'],
    ['-1.25e-3', '-0.00125'],
    ['100e-1', '10.0'],
    ['0.05e1', '0.5'],
    ['61.170', '61.170'],
  ])('%s is %s', (decimal, plain) => {
    expect(plainDecimal(decimal)).toBe(plain);
  });
});
