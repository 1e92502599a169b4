/** How the pages show a value: prices of a market for one quantity, which people can compare. Pure. */
import { movedPoint } from './exact-decimal.ts';

/**
 * Markets of tiny prices quote for a large power of ten, each for the smallest one that keeps its own prices exact. So one
 * language model may be priced for 1,000,000 tokens, and the next one for 10,000,000,000. All are shown for a million.
 */
const SHOWN_MAX = 1_000_000;

/** @param quantity that one price of the market buys */
export function shownQuantity(quantity: number): number {
  return quantity > SHOWN_MAX && /^10+$/.test(String(quantity)) ? SHOWN_MAX : quantity;
}

/**
 * An amount of money for {@link shownQuantity}, exactly, with at least the decimals of whole minor units.
 *
 * @param decimal for the quantity of the market
 */
export function shownAmount(decimal: string, quantity: number): string {
  const places = String(quantity).length - String(shownQuantity(quantity)).length;
  if (places === 0) return decimal;
  const minorDigits = decimal.split('.')[1]?.length ?? 0;
  const [whole = '', fraction = ''] = movedPoint(decimal, places).split('.');
  const shown = fraction.replace(/0+$/, '').padEnd(minorDigits, '0');
  return shown === '' ? whole : `${whole}.${shown}`;
}

/** `per troy ounce`, `per 1,000 EUR`, `per 1M tokens`. */
export function unitText({ quantity, of }: { readonly quantity: number; readonly of: string }): string {
  const shown = shownQuantity(quantity);
  if (shown === 1) return `per ${of}`;
  return `per ${shown === SHOWN_MAX ? '1M' : shown.toLocaleString('en')} ${several(of)}`;
}

/** The plural of an English word. Symbols, such as `EUR` and `kWh`, have none. */
export function several(of: string): string {
  return /(^| )[a-z]{3,}[a-rt-z]$/.test(of) ? `${of}s` : of;
}

/** Orders the names of metrics: those of fewer words first, so that `inputPrice` is before `cacheReadPrice`. */
export function compareMetrics(one: string, other: string): number {
  const words = (name: string): number => metricTitle(name).split(' ').length;
  return words(one) - words(other) || (one < other ? -1 : 1);
}

/** The title of a metric: `inputPrice` is `Input price`. */
export function metricTitle(name: string): string {
  const words = name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
