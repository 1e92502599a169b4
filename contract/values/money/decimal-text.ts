/** Texts of exact decimal numbers. Pure. */

/** @param digits without a sign @param places the number of decimals */
export function decimalText(digits: string, places: number, isNegative: boolean): string {
  const sign = isNegative ? '-' : '';
  if (places === 0) return sign + digits;
  const padded = digits.padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

/** Groups the digits before the point by three: `36690.00` becomes `36,690.00`. All digits stay. */
export function groupedDigits(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.');
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}
