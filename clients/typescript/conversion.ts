/**
 * A price in another currency, from rates that the same service publishes. The reader computes it, and it is never stored.
 * Pure: exact fractions, no floats, and one rounding at the end. The Python client does the same; both are tested with the same
 * table, test/clients/conversion.json.
 */

import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { decimalText } from '../../contract/values/money/decimal-text.ts';
import type { AsOf } from './as-of.ts';
import type { Moment } from './moments.ts';

/**
 * A rate may be this many days older than its value. Central banks publish no rate on weekends and holidays; at Easter, for
 * four days. An older rate, such as one of a monthly list, is not the rate of that day.
 */
export const RATE_AGE_DAYS_MAX = 7;

/** A market whose price is a rate: `quantity` of the currency `from` cost its price in the currency `to`. */
export interface RateMarket {
  readonly slug: string;
  readonly from: string;
  readonly to: string;
  readonly quantity: number;
}

/** One rate of a conversion. If it is inverse, the value is divided by it. */
export interface RateStep {
  readonly market: RateMarket;
  readonly isInverse: boolean;
}

/** One rate, or two through a third currency. */
export type RateWay = readonly RateStep[];

/** The row with the rate of a step. */
export interface UsedRate extends RateStep {
  readonly row: PublicObservation;
}

/**
 * Why there is no converted value:
 *
 * - `value-unknown`: the value itself is unknown, or its source withdrew it.
 * - `not-money`: it is a number without a currency.
 * - `not-standing`: it was replaced, or retracted as a mistake.
 * - `no-rate`: no market connects the two currencies.
 * - `no-rate-of-day`: there is no rate of its day, or of the allowed days before it.
 * - `rate-unknown`: the newest allowed rate is unknown, withdrawn or not above zero. An older one does not replace it.
 */
export type NotConverted =
  | 'value-unknown'
  | 'not-money'
  | 'not-standing'
  | 'no-rate'
  | 'no-rate-of-day'
  | 'rate-unknown';

export interface Conversion {
  readonly currency: string;
  /**
   * The amount for the same quantity as the value, rounded half to even. It has as many significant digits as the value, at
   * least six, and all digits before the point. Null: see `reason`.
   */
  readonly decimal: string | null;
  readonly reason: NotConverted | null;
  /**
   * The rate for one unit of the value's currency, rounded half to even to ten significant digits. The conversion uses the
   * exact rate.
   */
  readonly rate: string | null;
  /** The rates in order: none if the value is already in that currency, two if a third currency is between. */
  readonly used: readonly UsedRate[];
}

const DIGITS_MIN = 6;
const RATE_DIGITS = 10;
const DAY_MS = 86_400_000;

/** The kinds of markets whose prices are rates, as in the recipes and the sample. */
const RATE_KINDS: ReadonlySet<string> = new Set(['fx', 'currency']);

/**
 * The rate that a currency market stands for. Null: its kind is neither `fx` nor `currency`, or its unit is not an ISO 4217
 * currency with a minor unit. Then its price is not a rate.
 */
export function rateMarket({
  slug,
  kind,
  nativeCurrency,
  unit,
}: {
  readonly slug: string;
  readonly kind: string;
  readonly nativeCurrency: string;
  readonly unit: { readonly quantity: number; readonly of: string };
}): RateMarket | null {
  if (!RATE_KINDS.has(kind) || currencyExponent(unit.of) === null || unit.of === nativeCurrency) return null;
  return { slug, from: unit.of, to: nativeCurrency, quantity: unit.quantity };
}

/** The markets of a service whose prices are rates. */
export async function rateMarkets(entries: AsyncIterable<LatestEntry>): Promise<readonly RateMarket[]> {
  const found: (RateMarket | null)[] = [];
  for await (const { slug, kind, currency, quantity, unit } of entries)
    found.push(rateMarket({ slug, kind, nativeCurrency: currency, unit: { quantity, of: unit } }));
  return found.filter((rate) => rate !== null);
}

/** The limit of ways, so that few histories are read. */
const WAYS_MAX = 3;

/**
 * The ways from one currency to another, at most three, in a fixed order. First those with one rate or its inverse; if there is
 * none, those with two rates and a third currency. Direct rates come before inverse ones, then by slug. {@link convert} chooses
 * among them for each value, because a monthly rate must not hide a daily one.
 *
 * @returns one way without a step if both currencies are the same
 */
export function rateWays(markets: Iterable<RateMarket>, from: string, to: string): readonly RateWay[] {
  if (from === to) return [[]];
  const steps = [...markets]
    .sort((one, other) => (one.slug < other.slug ? -1 : 1))
    .flatMap((market) => [
      { market, isInverse: false },
      { market, isInverse: true },
    ])
    .sort((one, other) => Number(one.isInverse) - Number(other.isInverse));
  const firsts = steps.filter((step) => beginOf(step) === from);
  const direct = firsts.filter((step) => endOf(step) === to).map((step) => [step]);
  const found =
    direct.length > 0
      ? direct
      : firsts.flatMap((first) =>
          steps.filter((step) => beginOf(step) === endOf(first) && endOf(step) === to).map((second) => [first, second]),
        );
  return found.slice(0, WAYS_MAX);
}

/**
 * The ways between two currencies, and the rates of their markets. A market without any rate is skipped. So a market that began
 * after the requested moment changes nothing.
 *
 * @param read reads the rates of a market, as of the requested moment
 */
export async function readRates(
  markets: Iterable<RateMarket>,
  from: string,
  to: string,
  read: (market: RateMarket) => Promise<DayRates>,
): Promise<{ readonly ways: readonly RateWay[]; readonly rates: ReadonlyMap<string, DayRates> }> {
  const rates = new Map<string, DayRates>();
  const isEmpty = ({ slug }: RateMarket): boolean => rates.get(slug)?.isEmpty === true;
  for (;;) {
    const ways = rateWays(
      [...markets].filter((market) => !isEmpty(market)),
      from,
      to,
    );
    const unread = new Map(ways.flat().map(({ market }) => [market.slug, market]));
    for (const slug of rates.keys()) unread.delete(slug);
    if (unread.size === 0) return { ways, rates };
    const found = await Promise.all(
      [...unread.values()].map(async (market) => [market.slug, await read(market)] as const),
    );
    for (const [slug, one] of found) rates.set(slug, one);
  }
}

/** The codes of the currencies that {@link rateWays} can reach, without the first one. */
export function currenciesFrom(markets: Iterable<RateMarket>, from: string): readonly string[] {
  const all = [...markets];
  const near = neighbours(all, new Set([from]));
  const reached = new Set([...near, ...neighbours(all, near)]);
  reached.delete(from);
  return [...reached].sort();
}

function neighbours(markets: readonly RateMarket[], of: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(markets.flatMap(({ from, to }) => [...(of.has(from) ? [to] : []), ...(of.has(to) ? [from] : [])]));
}

function beginOf({ market, isInverse }: RateStep): string {
  return isInverse ? market.to : market.from;
}

function endOf({ market, isInverse }: RateStep): string {
  return isInverse ? market.from : market.to;
}

/** The rates of one market, by day. */
export class DayRates {
  readonly #rows: PublicObservation[];

  /**
   * @param rows the standing rows of its history, newest first, now or at an earlier moment. Rows other than prices in its
   *   currency, and mistakes, are ignored. An unknown price is an unknown rate
   */
  constructor({ to }: RateMarket, rows: Iterable<PublicObservation>) {
    this.#rows = [...rows].filter(
      (row) =>
        row.metric === 'price' &&
        row.kind === 'money' &&
        row.currency === to &&
        !row.announced &&
        row.retraction !== 'mistake',
    );
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** The newest rate of the day (UTC), or of the {@link RATE_AGE_DAYS_MAX} days before it. It may be unknown. */
  on(day: string): PublicObservation | null {
    // A binary search: the rows are newest first.
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (dayOf(this.#rows[middle] as PublicObservation) > day) low = middle + 1;
      else high = middle;
    }
    const row = this.#rows[low];
    return row !== undefined && Date.parse(day) - Date.parse(dayOf(row)) <= RATE_AGE_DAYS_MAX * DAY_MS ? row : null;
  }
}

function dayOf({ observedAt }: PublicObservation): string {
  return observedAt.slice(0, 10);
}

function notConverted(currency: string, reason: NotConverted): Conversion {
  return { currency, decimal: null, reason, rate: null, used: [] };
}

/**
 * Converts one value with the rates of its day (UTC). The first way that has rates of the day decides, even if they are
 * unknown. If its rates are not final, another way with final rates is preferred.
 *
 * @param value a standing value; a replaced one gives `not-standing`
 * @param ways the ways from the value's currency, from {@link rateWays}
 * @param rates the rates of the markets of the ways, by slug
 * @param asOf the moment as of which the history was read: later replacements of a value are ignored
 */
export function convert(
  value: PublicObservation,
  currency: string,
  ways: readonly RateWay[],
  rates: ReadonlyMap<string, DayRates>,
  asOf: AsOf | Moment | null = null,
): Conversion {
  const isReplaced = asOf === null && value.supersededBy !== null;
  if (isReplaced || value.retraction === 'mistake') return notConverted(currency, 'not-standing');
  if (value.kind !== 'money') return notConverted(currency, 'not-money');
  if (value.decimal === null) return notConverted(currency, 'value-unknown');
  if (ways.length === 0) return notConverted(currency, 'no-rate');
  // The rate of a future day is unknown.
  const ofDay = value.announced ? [] : ways.flatMap((way) => ratesOfDay(way, dayOf(value), rates));
  const [first] = ofDay;
  if (first === undefined) return notConverted(currency, 'no-rate-of-day');
  if (!first.every(isKnown)) return notConverted(currency, 'rate-unknown');
  const used = ofDay.find((each) => each.every((rate) => isKnown(rate) && rate.row.status === 'final')) ?? first;
  if (used.length === 0) return { currency, decimal: value.decimal, reason: null, rate: '1', used };
  const rate = used.reduce<Fraction>((product, { market, isInverse, row }) => {
    const { over, under } = fraction((row as { readonly decimal: string }).decimal);
    const one = { over, under: under * BigInt(market.quantity) };
    return times(product, isInverse ? { over: one.under, under: one.over } : one);
  }, ONE);
  const digits = Math.max(DIGITS_MIN, value.decimal.replaceAll(/^-?0*\.?0*|\./g, '').length);
  return {
    currency,
    decimal: rounded(times(fraction(value.decimal), rate), digits),
    reason: null,
    rate: rounded(rate, RATE_DIGITS)
      .replace(/(\.\d*?)0+$/, '$1')
      .replace(/\.$/, ''),
    used,
  };
}

/** @returns the rates of the way; empty if one is missing */
function ratesOfDay(way: RateWay, day: string, rates: ReadonlyMap<string, DayRates>): readonly (readonly UsedRate[])[] {
  const used: UsedRate[] = [];
  for (const step of way) {
    const row = rates.get(step.market.slug)?.on(day);
    if (row == null) return [];
    used.push({ ...step, row });
  }
  return [used];
}

function isKnown({ row }: UsedRate): boolean {
  return row.kind === 'money' && /^\d*\.?\d*[1-9]/.test(row.decimal ?? '');
}

/** An exact number. */
interface Fraction {
  readonly over: bigint;
  /** The denominator, above zero. */
  readonly under: bigint;
}

const ONE: Fraction = { over: 1n, under: 1n };

function fraction(decimal: string): Fraction {
  const [, decimals = ''] = decimal.split('.');
  return { over: BigInt(decimal.replace('.', '')), under: 10n ** BigInt(decimals.length) };
}

function times(one: Fraction, other: Fraction): Fraction {
  return { over: one.over * other.over, under: one.under * other.under };
}

/** Rounded half to even, to this many significant digits. All digits before the point stay. */
function rounded({ over, under }: Fraction, significant: number): string {
  const isNegative = over < 0n;
  const size = isNegative ? -over : over;
  if (size === 0n) return '0';
  // The power of ten of the first digit: 2 for 123, and -2 for 0.05.
  let power = String(size).length - String(under).length;
  if (size * tenTo(-power) < under * tenTo(power)) power--;
  const places = Math.max(0, significant - 1 - power);
  const scaled = size * tenTo(places);
  const rest = (scaled % under) * 2n;
  const whole = scaled / under;
  const up = rest > under || (rest === under && whole % 2n === 1n);
  return decimalText(String(up ? whole + 1n : whole), places, isNegative);
}

/** 1 for a negative power. */
function tenTo(power: number): bigint {
  return 10n ** BigInt(Math.max(0, power));
}
