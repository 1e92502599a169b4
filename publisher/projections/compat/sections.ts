/**
 * The files of a part: prices for beancount and hledger, and quotes and changes as JSON, with a section for each market.
 * Pure: the same input gives the same bytes.
 */
import type { MarketChanges, MarketQuotes } from '../../../contract/bodies/compat.ts';
import { type PriceFormat, partDays, QUOTES_NOTE } from '../../../contract/bodies/compat-limits.ts';
import { type ChangeSpan, PriceBefore } from '../../../contract/bodies/price-before.ts';
import { historyUrl, marketUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { approximateMoney } from '../../../contract/values/money/money-texts.ts';
import { commodityOf } from './commodity.ts';
import type { DayPrice } from './day-prices.ts';
import { type CompatFile, changesName, FORMATS, pricesName, quotesName } from './names.ts';

/** One market in the files of its part: its quotes and changes as canonical JSON. */
export type PartSection = { readonly [Format in PriceFormat | 'quotes' | 'changes']: string };

export interface SectionInput {
  readonly market: Market;
  /** Oldest first. */
  readonly days: readonly DayPrice[];
  /** See {@link commodityOf}. */
  readonly isFirst: boolean;
  /** The number of markets in the part. */
  readonly markets: number;
}

export function sectionOf(input: SectionInput): PartSection {
  return {
    beancount: pricesText(input, (date, commodity, price) => `${date} price ${commodity} ${price}\n`),
    hledger: pricesText(input, (date, commodity, price) => `P ${date} ${hledgerSymbol(commodity)} ${price}\n`),
    quotes: canonicalJson(quotesOf(input) as unknown as Json),
    changes: canonicalJson(changesOf(input)),
  };
}

/** @param sections in the order of their slugs */
export function partFiles(part: string, sections: ReadonlyMap<string, PartSection>): readonly CompatFile[] {
  const json = (format: 'quotes' | 'changes'): string =>
    `{${[...sections].map(([slug, section]) => `${JSON.stringify(slug)}:${section[format]}`).join(',')}}`;
  return [
    ...FORMATS.map((format) => {
      const texts = [...sections.values()].map((section) => section[format]);
      return { name: pricesName(format, part), text: [headOf(format, part), ...texts].join('') };
    }),
    { name: quotesName(part), text: json('quotes') },
    { name: changesName(part), text: json('changes') },
  ];
}

const INCLUDE: { readonly [Format in PriceFormat]: (part: string) => string } = {
  beancount: (part) => `include "${part}.beancount"\n`,
  hledger: (part) => `include ${part}.journal\n`,
};

/** The files that include the files of all parts. Without a part, they are a comment, because no file may be empty. */
export function includeFiles(parts: readonly string[]): readonly CompatFile[] {
  return FORMATS.map((format) => ({
    name: pricesName(format, 'prices'),
    text: parts.map((part) => INCLUDE[format](part)).join('') || '; No market is published.\n',
  }));
}

const SECTION = /^; From \/api\/v1\/markets\/([a-z0-9-]+), revision (\d+)\.$/gm;

/** The sections of a price file by slug, each with the revision of its market. Null: the text is not such a file. */
export function sectionsIn(format: PriceFormat, part: string, text: string) {
  const begins = [...text.matchAll(SECTION)];
  const head = headOf(format, part);
  if (text.slice(0, begins[0]?.index ?? text.length) !== head) return null;
  return new Map(
    begins.map(({ index, 1: slug = '', 2: revision }, at) => {
      return [slug, { revision: Number(revision), text: text.slice(index, begins[at + 1]?.index) }] as const;
    }),
  );
}

function headOf(format: PriceFormat, part: string): string {
  const says = `; The last price of each day (UTC) of the markets of part ${part}, exactly.\n`;
  // Without it, 1.234 could be read as more than a thousand.
  return format === 'hledger' ? `${says}decimal-mark .\n` : says;
}

/** A symbol with other characters than letters must be quoted. */
function hledgerSymbol(commodity: string): string {
  return /^[A-Z]+$/.test(commodity) ? commodity : `"${commodity}"`;
}

function pricesText(
  { market, days, isFirst, markets }: SectionInput,
  line: (date: string, commodity: string, price: string) => string,
): string {
  const { quantity, of } = market.unit;
  const commodity = commodityOf(market, isFirst);
  const lines = days.map(({ date, decimal, decimalPerUnit, currency }) =>
    decimalPerUnit === null
      ? `; ${date}: ${decimal} ${currency} for ${quantity} of ${commodity}: the decimals for one do not end\n`
      : line(date, commodity, `${decimalPerUnit} ${currency}`),
  );
  const credits = market.sources.map(({ label, url, licence, attribution }) => {
    return `; Source: ${[label, url, licence, attribution].filter((text) => text !== null).join(', ')}\n`;
  });
  const most = partDays(markets);
  return [
    `; From ${marketUrl(market.slug)}, revision ${market.revision}.\n`,
    `; ${market.name}: for one ${of}.\n`,
    ...credits,
    ...(days.length < most ? [] : [`; The newest ${most} days. All: ${historyUrl(market.slug)}\n`]),
    ...lines,
  ].join('');
}

function quotesOf({ market, days }: SectionInput): MarketQuotes {
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

function changesOf({ market: { revision }, days }: SectionInput): MarketChanges {
  const newestFirst = days.map(({ date, decimal }) => ({ date, decimal })).toReversed();
  const before = (span: ChangeSpan): MarketChanges['day'] => {
    const prices = new PriceBefore(span);
    for (const { date, decimal } of newestFirst) {
      if (prices.isComplete) break;
      prices.add(date, () => decimal);
    }
    return prices.found && { date: prices.found.observedAt, decimal: prices.found.decimal };
  };
  return { newest: newestFirst[0] ?? null, day: before('day'), month: before('month'), year: before('year'), revision };
}
