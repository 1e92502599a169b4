/** Prices as people read them, exactly. Pure. */
import { CHANGE_SPANS, changePercent, priceChange } from '../../../contract/bodies/price-change.ts';
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { MONTH_NAMES } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicMetric } from '../../../contract/values/metric.ts';
import { leadMetric, metricTitle, unknownWords } from '../../../contract/values/metric-words.ts';
import { groupedDigits } from '../../../contract/values/money/decimal-text.ts';
import { scalarUnit, shownAmount, unitText } from '../../../contract/values/shown-value.ts';

export interface ReadablePrice {
  /** `4,129.10 USD` */
  readonly amount: string;
  /** `per troy ounce`, `per 1M tokens`; empty for a metric without a currency. */
  readonly per: string;
}

/** The newest value of a market, for files that show one value. */
export interface ReadableValue {
  /** The name of the market; followed by the metric's name if it is not the price. */
  readonly title: string;
  /** Null: the market has no observation. */
  readonly metric: PublicMetric | null;
  /** Null: the value is unknown. */
  readonly price: ReadablePrice | null;
  /** The reason for an unknown value; empty for a known one. */
  readonly unknown: string;
}

export function readableValue({ name, metrics, unit }: Pick<Market, 'name' | 'metrics' | 'unit'>): ReadableValue {
  const [metricName, metric] = leadMetric(metrics, ({ kind }) => kind === 'money') ?? ['price', null];
  return {
    title: metricName === 'price' ? name : `${name}, ${metricTitle(metricName).toLowerCase()}`,
    metric,
    price: metric === null ? null : readablePrice(metric, unit),
    unknown: metric === null ? 'no price recorded' : unknownWords(metric.unknownReason),
  };
}

/** Null: the value is unknown. */
export function readablePrice(metric: PublicMetric, unit: Market['unit']): ReadablePrice | null {
  if (metric.kind === 'money')
    return metric.decimal === null ? null : readableMoney(metric.decimal, metric.currency, unit);
  if (metric.value === null) return null;
  return { amount: `${groupedDigits(metric.value)} ${scalarUnit(metric.unit, metric.value, unit.of)}`, per: '' };
}

/** @param decimal the amount in major units, for the market's whole quantity, with all decimals of its currency */
export function readableMoney(decimal: string, currency: string, unit: Market['unit']): ReadablePrice {
  return { amount: `${groupedDigits(shownAmount(decimal, unit.quantity))} ${currency}`, per: unitText(unit) };
}

/** The text that must be shown with values of a source. Null: the source requires no text. */
export function attributionOf({ sources }: Pick<Market, 'sources'>, sourceLabel: string): string | null {
  return sources.find(({ label }) => label === sourceLabel)?.attribution ?? null;
}

/** `29 Sep 2026`. */
export function readableDay(instant: string): string {
  const [year, month, day] = instant.slice(0, 10).split('-').map(Number);
  return `${day} ${MONTH_NAMES[(month as number) - 1]} ${year}`;
}

/** {@link readableDay} with the time of the day (UTC) unless it is midnight. */
export function readableMoment(instant: string): string {
  const time = instant.slice(11, 16);
  return time === '00:00' ? readableDay(instant) : `${readableDay(instant)}, ${time} UTC`;
}

/**
 * `+1.25 % since 28 Sep 2026`: the shortest span with a known change. `, by it` is added if the price before is from
 * another source. Null: no span has a known change.
 */
export function readableChange({ decimal, observedAt, source }: Omit<RecentEntry, 'slug'>): string | null {
  const prices = decimal.map((text, index) => ({ decimal: text, observedAt: observedAt[index] as string }));
  const newestFirst = prices.toReversed();
  for (const span of CHANGE_SPANS) {
    const change = priceChange(newestFirst, span);
    if (change === null) continue;
    return `${changePercent(change)} since ${readableMoment(change.since)}${source === undefined ? '' : `, by ${source}`}`;
  }
  return null;
}
