/** An exact decimal number, from its digits. */

/** @param digits without a sign @param places of its decimals */
export function decimalText(digits: string, places: number, isNegative: boolean): string {
  const sign = isNegative ? '-' : '';
  if (places === 0) return sign + digits;
  const padded = digits.padStart(places + 1, '0');
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}
