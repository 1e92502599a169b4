/** Decimal texts are never made floating-point numbers: they are shown with their own digits, and compared exactly. Pure. */

/** Groups the digits before the point by three: `36690.00` becomes `36,690.00`. All digits stay. */
export function groupedDigits(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.');
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** Divides by a power of ten: `0.25` with its point moved by 1 is `0.025`. @param places from 0 on, to the left */
export function movedPoint(decimal: string, places: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const digits = whole.padStart(places + 1, '0') + fraction;
  const point = digits.length - fraction.length - places;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.$/, '');
}

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
