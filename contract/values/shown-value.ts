/** The form in which pages, badges and embeds show a value: the price of one unit, or of a million. Pure. */
import { decimalText, groupedDigits } from './money/decimal-text.ts';

/** Tiny prices, such as those of tokens and kilowatt hours, are shown for a million. */
const SHOWN_MAX = 1_000_000;
/** Each smaller quantity that has no factors except 2 and 5 divides this power of ten. */
const PLACES = 20;
const POWER_OF_TEN = 10n ** BigInt(PLACES);

/**
 * Markets with small prices quote for a quantity that keeps their prices exact in minor units: 1,000 EUR, or 10,000,000,000
 * tokens. People compare prices of one unit, or of a million.
 *
 * @param quantity the quantity that one price of the market buys
 * @returns the same quantity if the decimals of a price of one unit would not end
 */
export function shownQuantity(quantity: number): number {
  if (quantity >= SHOWN_MAX) return /^10+$/.test(String(quantity)) ? SHOWN_MAX : quantity;
  return POWER_OF_TEN % BigInt(quantity) === 0n ? 1 : quantity;
}

/**
 * The exact amount of money for {@link shownQuantity}, with at least the decimals of whole minor units.
 *
 * @param decimal the amount for the market's quantity
 */
export function shownAmount(decimal: string, quantity: number): string {
  const ratio = quantity / shownQuantity(quantity);
  if (ratio === 1) return decimal;
  const minorDigits = decimal.split('.')[1]?.length ?? 0;
  const scaled = String(BigInt(decimal.replace(/[-.]/g, '')) * (POWER_OF_TEN / BigInt(ratio)));
  const [whole = '', fraction = ''] = decimalText(scaled, PLACES + minorDigits, decimal.startsWith('-')).split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(minorDigits, '0');
  return shown === '' ? whole : `${whole}.${shown}`;
}

/** `per troy ounce`, `per EUR`, `per 1M tokens`: the quantity that is shown. */
export function unitText({ quantity, of }: { readonly quantity: number; readonly of: string }): string {
  return quantityText({ quantity: shownQuantity(quantity), of });
}

/** `per 1,000 EUR`: for the quantity itself. */
export function quantityText({ quantity, of }: { readonly quantity: number; readonly of: string }): string {
  if (quantity === 1) return `per ${of}`;
  return `per ${quantity === SHOWN_MAX ? '1M' : groupedDigits(String(quantity))} ${several(of)}`;
}

/**
 * `51.60 GBP per 10,000 JPY = 0.00516 GBP per JPY`: an amount of money for the market's own quantity, and in the form of
 * {@link shownAmount} if that is another one.
 */
export function quotedAmount(
  decimal: string,
  currency: string,
  unit: Readonly<{ quantity: number; of: string }>,
): string {
  const quoted = `${groupedDigits(decimal)} ${currency} ${quantityText(unit)}`;
  if (shownQuantity(unit.quantity) === unit.quantity) return quoted;
  return `${quoted} = ${groupedDigits(shownAmount(decimal, unit.quantity))} ${currency} ${unitText(unit)}`;
}

/**
 * The unit of a number that is not money. If the unit is the thing itself, it is in the plural. @param of the thing that is
 * priced
 */
export function scalarUnit(unit: string, digits: string, of: string): string {
  return unit === of && digits !== '1' ? several(unit) : unit;
}

/** The plural of an English word. Symbols, such as `EUR` and `kWh`, have none. */
export function several(of: string): string {
  return /(^| )[a-z]{3,}[a-rt-z]$/.test(of) ? `${of}s` : of;
}
