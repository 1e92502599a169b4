/** Signs beside numbers that name a currency. */
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import type { MappedMetric, MappingFault } from '../declared/csv-mapping.ts';
import { columnsOf } from './template.ts';

/** The only sign with one currency everywhere: dollar, pound and yen signs each have several. */
const EURO = '€';

/** With one fixed currency, the mapping takes all signs for it. A sign of another currency would silently change money. */
export function signFaults({ number }: MappedMetric['value'], currency: string, pointer: string): MappingFault[] {
  if (columnsOf(currency).length > 0) return [];
  const { signs } = number;
  if (!areOfOneCurrency(signs, currency)) {
    const detail = `${signs.map((sign) => JSON.stringify(sign)).join(', ')} are not all signs of ${currency}, which is the currency of all values: remove the others, or give each column its own currency`;
    return [{ pointer: `${pointer}/number/signs`, detail }];
  }
  return [];
}

/** @param currency the currency of all values; left out: unknown */
export function areOfOneCurrency(signs: readonly string[], currency?: string): boolean {
  const symbols = new Set(signs.flatMap((sign) => sign.normalize('NFKC').match(/\p{Sc}/gu) ?? []));
  const codes = new Set(signs.flatMap((sign) => sign.match(/\b[A-Z]{3}\b/g) ?? []).filter(isCurrency));
  if (currency !== undefined && isCurrency(currency)) codes.add(currency);
  const isEuro = symbols.has(EURO) || codes.has('EUR');
  const others = [...symbols].some((symbol) => symbol !== EURO) || [...codes].some((code) => code !== 'EUR');
  return symbols.size <= 1 && codes.size <= 1 && !(isEuro && others);
}

function isCurrency(code: string): boolean {
  return checkCurrencyCode(code) === null;
}
