/** The names of commodities in price files: valid in beancount and hledger, and a different one for each market. */

import type { Market } from '../../../contract/values/market.ts';
import { isIso4217 } from '../../../contract/values/money/currencies.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';

/** The rule of beancount 2: a capital letter, then letters, digits and some signs; the last character is a letter or digit. */
const NAME_MAX = 24;
const PLAIN = /^[A-Z][A-Z0-9-]+$/;
/** Reserved words of beancount. */
const RESERVED = ['TRUE', 'FALSE', 'NULL'];
const DIGEST_LENGTH = 10;

/**
 * The ISO 4217 code of the market's unit, or else its slug in capitals, e.g. `GOLD-USD`. A slug that is not a valid name,
 * or equals a currency code, gets the prefix `M.`, which no slug has. A long slug is shortened and gets a digest.
 *
 * @param isFirst whether the market gives the price of its pair: only one of several markets may use the code
 */
export function commodityOf({ slug, unit }: Pick<Market, 'slug' | 'unit'>, isFirst: boolean): string {
  if (isFirst && isIso4217(unit.of)) return unit.of;
  const name = slug.toUpperCase();
  if (PLAIN.test(name) && name.length <= NAME_MAX && !RESERVED.includes(name) && !isIso4217(name)) return name;
  if (name.length <= NAME_MAX - 'M.'.length) return `M.${name}`;
  const digest = sha256Hex(slug).slice(0, DIGEST_LENGTH).toUpperCase();
  return `M.${name.slice(0, NAME_MAX - 'M..'.length - DIGEST_LENGTH)}.${digest}`;
}
