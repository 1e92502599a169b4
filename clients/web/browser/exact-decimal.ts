/** Decimal texts are never made floating-point numbers: they are shown with their own digits, and compared exactly. Pure. */

/** Below 0 if `left` is smaller, 0 if they are equal as numbers. @param left `-?\d+(\.\d+)?`, as `right` */
export function compareDecimals(left: string, right: string): number {
  const digits = Math.max(fractionDigits(left), fractionDigits(right));
  const difference = scaled(left, digits) - scaled(right, digits);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function fractionDigits(decimal: string): number {
  return decimal.split('.')[1]?.length ?? 0;
}

function scaled(decimal: string, digits: number): bigint {
  return BigInt(decimal.replace('.', '') + '0'.repeat(digits - fractionDigits(decimal)));
}
