/** Rates of currencies, in the layout of the npm package currency-api. Pure: the same input has the same bytes. */

import type { CompatRate } from '../../../contract/bodies/compat.ts';
import { RATES_NOTE } from '../../../contract/bodies/compat-limits.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { type CompatFile, ratesName } from './names.ts';
import type { Rate } from './pairs.ts';

/** The data of the rates. */
export interface RatesMade {
  /** The day on which the rates are made. */
  readonly date: string;
  /** The generation of the list of markets. */
  readonly generation: number;
  readonly log: { readonly size: number; readonly root: string } | null;
}

export interface RateFiles {
  readonly files: readonly CompatFile[];
  /** All currencies that have a file, in lower case, sorted. */
  readonly codes: readonly string[];
}

/**
 * The files of the day and of `latest`.
 *
 * @param knownCodes currencies that had files before. One without a rate today gets an empty `latest` file, so that no
 *   reader takes an old rate for a new one
 */
export function rateFiles(rates: readonly Rate[], made: RatesMade, knownCodes: readonly string[]): RateFiles {
  const byBase = Map.groupBy(rates, ({ base }) => base.toLowerCase());
  const current = [...byBase.keys()].sort();
  const codes = [...new Set([...current, ...knownCodes])].sort();
  const currencies = canonicalJson(Object.fromEntries(current.map((code) => [code, nameOf(code)])));
  const fileOf = (date: string, file: string, text: string): CompatFile => ({ name: ratesName(date, file), text });
  const rateFile = (date: string, code: string): CompatFile =>
    fileOf(date, `currencies/${code}`, ratesText(code, byBase.get(code) ?? [], made));
  return {
    // The list of currencies comes last, because it leads to the others.
    files: [
      ...current.map((code) => rateFile(made.date, code)),
      fileOf(made.date, 'currencies', currencies),
      ...codes.map((code) => rateFile('latest', code)),
      fileOf('latest', 'currencies', currencies),
    ],
    codes,
  };
}

function ratesText(code: string, rates: readonly Rate[], { date, generation, log }: RatesMade): string {
  const values = rates.map(({ quote, value }) => [quote.toLowerCase(), value] as const);
  const credits = rates.flatMap(({ market }) => market.sources.flatMap(({ attribution }) => attribution ?? []));
  const document = {
    date,
    [code]: Object.fromEntries([...values, [code, 1]]),
    derived: {
      note: RATES_NOTE,
      generation,
      log,
      rates: Object.fromEntries(rates.map((rate) => [rate.quote.toLowerCase(), rateOf(rate)])),
      attributions: [...new Set(credits)].sort(),
    },
  };
  return canonicalJson(document as unknown as Json);
}

function rateOf({ market, isInverse }: Rate): CompatRate {
  const { slug, unit, metrics, nativeCurrency } = market;
  const { decimal, observedAt } = metrics.price as { readonly decimal: string; readonly observedAt: string };
  return {
    market: slug,
    decimal,
    currency: nativeCurrency,
    quantity: unit.quantity,
    unit: unit.of,
    observedAt,
    isInverse,
  };
}

const NAMES = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });

function nameOf(code: string): string {
  return NAMES.of(code.toUpperCase()) ?? '';
}
