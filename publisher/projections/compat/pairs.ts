/**
 * Decides which of several markets gives the price of a pair. An active market comes before a retired one; then the one
 * with the newest day of its price; then, for a rate, a market that quotes the pair in this direction before one that
 * quotes the inverse; then the first one by slug. So two sources with the same day do not alternate.
 */

import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { isIso4217 } from '../../../contract/values/money/currencies.ts';
import { approximateMoney } from '../../../contract/values/money/money-texts.ts';
import { commodityOf } from './commodity.ts';

/** A rate from `base` to `quote`, and the price from which it was derived. */
export interface Rate {
  readonly base: string;
  readonly quote: string;
  readonly value: number;
  readonly isInverse: boolean;
  readonly market: Market;
}

interface Candidate<Value> {
  readonly value: Value;
  readonly rank: readonly string[];
}

export class Pairs {
  readonly #prices = new Map<string, Candidate<string>>();
  readonly #rates = new Map<string, Candidate<Rate>>();

  add(market: Market): void {
    const day = dayOf(market);
    const place = [market.status, invertedDay(day)];
    const commodity = commodityOf(market, true);
    offer(this.#prices, `${commodity}/${market.nativeCurrency}`, { value: market.slug, rank: [...place, market.slug] });
    for (const rate of ratesOf(market)) {
      const rank = [...place, rate.isInverse ? 'inverse' : 'direct', market.slug];
      offer(this.#rates, `${rate.base}/${rate.quote}`, { value: rate, rank });
    }
  }

  /** A copy with these markets added. */
  with(markets: readonly Market[]): Pairs {
    const more = new Pairs();
    for (const [pair, candidate] of this.#prices) more.#prices.set(pair, candidate);
    for (const [pair, candidate] of this.#rates) more.#rates.set(pair, candidate);
    for (const market of markets) more.add(market);
    return more;
  }

  /** The market of each pair. */
  get first(): ReadonlySet<string> {
    return new Set([...this.#prices.values()].map(({ value }) => value));
  }

  get rates(): readonly Rate[] {
    return [...this.#rates.values()].map(({ value }) => value);
  }
}

function offer<Value>(best: Map<string, Candidate<Value>>, pair: string, candidate: Candidate<Value>): void {
  const known = best.get(pair);
  if (known === undefined || isBefore(candidate.rank, known.rank)) best.set(pair, candidate);
}

function isBefore(one: readonly string[], other: readonly string[]): boolean {
  const place = one.findIndex((part, index) => part !== other[index]);
  return place >= 0 && (one[place] as string) < (other[place] as string);
}

/** Empty: the market has no price. */
function dayOf({ metrics }: Market): string {
  const observedAt = metrics.price?.observedAt;
  return observedAt === undefined ? '' : millisecondInstant(observedAt).slice(0, '2026-11-22'.length);
}

/** Inverts a day, so that a later day sorts first. */
function invertedDay(day: string): string {
  return [...day].map((sign) => (/\d/.test(sign) ? String(9 - Number(sign)) : sign)).join('') || '~';
}

/** Both directions of an active market of two ISO 4217 codes. Empty if its price is unknown, or not above 0. */
function ratesOf(market: Market): readonly Rate[] {
  const { metrics, nativeCurrency, status, unit } = market;
  const { price } = metrics;
  if (status !== 'active' || !isIso4217(unit.of) || unit.of === nativeCurrency) return [];
  if (price?.kind !== 'money' || price.decimal === null || Number(price.decimal) <= 0) return [];
  const value = (isInverse: boolean) =>
    rateValue({ ...price, decimal: price.decimal as string }, unit.quantity, isInverse);
  return [
    { base: unit.of, quote: nativeCurrency, value: value(false), isInverse: false, market },
    { base: nativeCurrency, quote: unit.of, value: value(true), isInverse: true, market },
  ];
}

/** The rate of one unit, rounded only once. */
export function rateValue(
  { decimal, decimalPerUnit }: { readonly decimal: string; readonly decimalPerUnit: string | null },
  quantity: number,
  isInverse: boolean,
): number {
  return isInverse ? quantity / Number(decimal) : (approximateMoney(decimal, decimalPerUnit, quantity) as number);
}
