/** From a source's decimal digits to minor units: exact, with strings and bigints instead of floats. */

/** `rounded`: minor units could not hold the source's digits exactly. */
export interface MinorUnits {
  readonly amountMinor: number;
  readonly rounded: boolean;
}

export type MinorUnitsResult = MinorUnits | { readonly error: 'amount.out-of-range' };

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * `decimal` × `quantity` × 10^`exponent`, rounded half to even, because that rule does not drift when amounts are
 * added.
 *
 * @param decimal plain decimal text such as `-36.98` (see `decimalSchema`)
 * @param exponent of the currency's minor unit
 * @param quantity how many times the source's quantity the market quotes; a positive safe integer
 * @returns `amount.out-of-range` if the result is beyond ±(2^53−1), which JSON readers cannot hold (RFC 8259, section
 *   6)
 * @throws RangeError for text that is not plain decimal, or a quantity that is not a positive safe integer
 */
export function toMinorUnits(decimal: string, exponent: number, quantity: number): MinorUnitsResult {
  const match = DECIMAL.exec(decimal);
  if (match === null) throw new RangeError(`not plain decimal text: ${JSON.stringify(decimal)}`);
  if (!Number.isSafeInteger(quantity) || quantity < 1) throw new RangeError(`not a positive integer: ${quantity}`);
  const [, sign, whole, fraction = ''] = match;
  const dividend = BigInt(`${whole}${fraction}`) * BigInt(quantity) * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(fraction.length);
  const remainder = dividend % divisor;
  const truncated = dividend / divisor;
  const twice = remainder * 2n;
  const up = twice > divisor || (twice === divisor && truncated % 2n === 1n);
  const magnitude = up ? truncated + 1n : truncated;
  if (magnitude > LARGEST) return { error: 'amount.out-of-range' };
  return { amountMinor: Number(sign === '-' ? -magnitude : magnitude), rounded: remainder !== 0n };
}
