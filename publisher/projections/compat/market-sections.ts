/** The files of one market: prices for beancount and hledger, and quotes as JSON. Pure: the same input has the same bytes. */

import type { CompatQuotes } from '../../../contract/files/compat.ts';
import { COMPAT_DAYS_MAX, QUOTES_NOTE } from '../../../contract/files/compat-limits.ts';
import {
  PRICE_EXTENSIONS,
  type PriceExtension,
  type PublicObjectName,
} from '../../../contract/files/public-object-names.ts';
import { historyUrl, marketUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { approximateMoney } from '../../../contract/values/money-texts.ts';
import { commodityOf } from './commodity.ts';
import type { DayPrice } from './day-prices.ts';

export interface CompatFile {
  readonly name: PublicObjectName;
  readonly text: string;
}

/** @param days oldest first */
export function marketCompat(market: Market, days: readonly DayPrice[]): readonly CompatFile[] {
  const { slug } = market;
  return [
    ...PRICE_EXTENSIONS.map((extension): CompatFile => {
      return { name: { kind: 'compat-prices', slug, extension }, text: pricesText(market, days, extension) };
    }),
    { name: { kind: 'compat-quotes', slug }, text: canonicalJson(faceQuotes(market, days) as unknown as Json) },
  ];
}

interface PriceForm {
  readonly header: string;
  readonly line: (date: string, commodity: string, price: string) => string;
}

const FORMS: { readonly [Extension in PriceExtension]: PriceForm } = {
  beancount: { header: '', line: (date, commodity, price) => `${date} price ${commodity} ${price}\n` },
  journal: {
    // Otherwise 1.234 could be read as a thousand and more.
    header: 'decimal-mark .\n',
    line: (date, commodity, price) => `P ${date} ${hledgerSymbol(commodity)} ${price}\n`,
  },
};

/** A symbol that has more than letters is quoted. */
function hledgerSymbol(commodity: string): string {
  return /^[A-Z]+$/.test(commodity) ? commodity : `"${commodity}"`;
}

function pricesText(market: Market, days: readonly DayPrice[], extension: PriceExtension): string {
  const { header, line } = FORMS[extension];
  const { quantity, of } = market.unit;
  const commodity = commodityOf(market);
  const lines = days.map(({ date, decimal, decimalPerUnit, currency }) =>
    decimalPerUnit === null
      ? `; ${date}: ${decimal} ${currency} for ${quantity} of ${commodity}: the decimals for one do not end\n`
      : line(date, commodity, `${decimalPerUnit} ${currency}`),
  );
  const credits = market.sources.map(({ label, url, licence, attribution }) => {
    return `; Source: ${[label, url, licence, attribution].filter((text) => text !== null).join(', ')}\n`;
  });
  return [
    `; ${market.name}: the last price of each day (UTC), for one ${of}, exactly.\n`,
    `; From ${marketUrl(market.slug)}, revision ${market.revision}.\n`,
    ...credits,
    ...(days.length < COMPAT_DAYS_MAX
      ? []
      : [`; The newest ${COMPAT_DAYS_MAX} days. All: ${historyUrl(market.slug)}\n`]),
    header,
    ...lines,
  ].join('');
}

function faceQuotes(market: Market, days: readonly DayPrice[]): CompatQuotes {
  const { slug, name, nativeCurrency, revision, unit, sources } = market;
  const quotes = days.map(({ date, decimal, decimalPerUnit }) => {
    return { date, close: approximateMoney(decimal, decimalPerUnit, unit.quantity) as number };
  });
  const newest = quotes.at(-1) ?? null;
  return {
    name,
    unit: unit.of,
    currency: nativeCurrency,
    price: newest?.close ?? null,
    date: newest?.date ?? null,
    quotes,
    derived: QUOTES_NOTE,
    market: marketUrl(slug),
    revision,
    sources: sources.map(({ label, url, licence, attribution }) => ({ label, url, licence, attribution })),
  };
}
