/** Converts a source's decimal digits to minor units: exactly, with strings and bigints instead of floats. */

import { QUANTITY_MAX } from '../../files/limits.ts';

/** `rounded`: minor units could not hold the source's digits exactly. */
export interface MinorUnits {
  readonly amountMinor: number;
  readonly rounded: boolean;
}

export type MinorUnitsResult = MinorUnits | { readonly error: 'amount.out-of-range' };

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d{1,3}))?$/;
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * `decimal` × `quantity` ÷ `quotedQuantity` × 10^`exponent`, rounded half to even, because that rule does not drift when
 * amounts are added.
 *
 * @param decimal text such as `-36.98`, or with an exponent, such as `1.6e-05` (see `sourceDigitsSchema`)
 * @param exponent the exponent of the currency's minor unit
 * @param quantity the quantity that the amount buys; a positive safe integer
 * @param quotedQuantity the quantity that the decimal buys; a positive safe integer
 * @returns `amount.out-of-range` if the result is beyond ±(2^53−1), which JSON readers cannot hold (RFC 8259, section 6)
 * @throws RangeError for text that is not such a decimal, or a quantity that is not a positive safe integer
 */
export function toMinorUnits(
  decimal: string,
  exponent: number,
  quantity: number,
  quotedQuantity = 1,
): MinorUnitsResult {
  const { sign, dividend, divisor } = fractionOf(decimal, exponent, quantity, quotedQuantity);
  const remainder = dividend % divisor;
  const truncated = dividend / divisor;
  const twice = remainder * 2n;
  const up = twice > divisor || (twice === divisor && truncated % 2n === 1n);
  const magnitude = up ? truncated + 1n : truncated;
  if (magnitude > LARGEST) return { error: 'amount.out-of-range' };
  return { amountMinor: Number(sign * magnitude), rounded: remainder !== 0n };
}

/**
 * Whether the amount is the nearest one to the decimal. If two are equally near, both are right, because sources round a
 * half in different ways. Parameters and errors are those of {@link toMinorUnits}.
 */
export function isNearestAmount(
  amountMinor: number,
  decimal: string,
  exponent: number,
  quantity: number,
  quotedQuantity = 1,
): boolean {
  const { sign, dividend, divisor } = fractionOf(decimal, exponent, quantity, quotedQuantity);
  const off = BigInt(amountMinor) * divisor - sign * dividend;
  return 2n * (off < 0n ? -off : off) <= divisor;
}

/** The exact amount in minor units is `sign` × `dividend` ÷ `divisor`. */
function fractionOf(decimal: string, exponent: number, quantity: number, quotedQuantity: number) {
  const match = DECIMAL.exec(decimal);
  if (match === null) throw new RangeError(`not decimal text: ${JSON.stringify(decimal)}`);
  for (const number of [quantity, quotedQuantity]) {
    if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`not a positive integer: ${number}`);
  }
  const [, sign, whole, fraction = '', power = '0'] = match;
  const places = fraction.length - Number(power);
  return {
    sign: sign === '-' ? -1n : 1n,
    dividend: BigInt(`${whole}${fraction}`) * BigInt(quantity) * 10n ** BigInt(exponent + Math.max(0, -places)),
    divisor: 10n ** BigInt(Math.max(0, places)) * BigInt(quotedQuantity),
  };
}

/**
 * The source's own price for one unit, exactly. The source quotes for a power of ten of units, which is not stored. It is the
 * first power for which these digits, rounded, give the amount.
 *
 * @returns null if no power gives the amount. Also null if the amount is zero: many powers give zero
 */
export function statedPerUnit(amountMinor: number, decimal: string, exponent: number, quantity: number): string | null {
  if (amountMinor === 0) return null;
  const [digits = '', power = '0'] = decimal.toLowerCase().split('e');
  for (let tens = 0; 10 ** tens <= QUANTITY_MAX; tens++) {
    if (isNearestAmount(amountMinor, decimal, exponent, quantity, 10 ** tens))
      return plainDecimal(`${digits}e${Number(power) - tens}`);
  }
  return null;
}

/** The same number without an exponent: `1.6e-05` is `0.000016`. All digits stay, zeros at the end too. */
export function plainDecimal(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', power] = DECIMAL.exec(decimal) ?? [];
  if (power === undefined) return decimal;
  const point = whole.length + Number(power);
  const digits = '0'.repeat(Math.max(0, 1 - point)) + whole + fraction;
  const place = Math.max(1, point);
  const padded = digits.padEnd(place, '0');
  const left = padded.slice(0, place).replace(/^0+(?=\d)/, '');
  return sign + (place === padded.length ? left : `${left}.${padded.slice(place)}`);
}
