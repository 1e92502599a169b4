/** Prices as people read them, exactly. Pure. */
import { CHANGE_SPANS, changePercent, type PriceChanges, priceChange } from '../../../contract/bodies/price-change.ts';
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { shortMomentText } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicMetric } from '../../../contract/values/metric.ts';
import { leadMetric, metricTitle, NO_PRICE, unknownWords } from '../../../contract/values/metric-words.ts';
import { perText, shownDigits, shownText } from '../../../contract/values/shown-text.ts';

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
    price:
      metric === null || shownDigits(metric, unit) === null
        ? null
        : { amount: shownText(metric, unit), per: perText(metric, unit) },
    unknown: metric === null ? NO_PRICE : unknownWords(metric.unknownReason),
  };
}

/** The text that must be shown with values of a source. Null: the source requires no text. */
export function attributionOf({ sources }: Pick<Market, 'sources'>, sourceLabel: string): string | null {
  return sources.find(({ label }) => label === sourceLabel)?.attribution ?? null;
}

/** The changes of the last prices. */
export function recentChanges({ decimal, observedAt, source }: Omit<RecentEntry, 'slug'>): PriceChanges {
  const oldestFirst = decimal.map((text, index) => ({ decimal: text, observedAt: observedAt[index] as string }));
  return {
    changes: CHANGE_SPANS.map((span) => priceChange(oldestFirst.toReversed(), span)),
    otherSource: source ?? null,
  };
}

/**
 * `+1.25 % since 28 Sep 2026`: the shortest span with a known change. `, by it` is added if the price before is from
 * another source. Null: no span has a known change.
 */
export function readableChange(recent: Omit<RecentEntry, 'slug'>): string | null {
  const { changes, otherSource } = recentChanges(recent);
  const change = changes.find((each) => each !== null);
  if (change == null) return null;
  const by = otherSource === null ? '' : `, by ${otherSource}`;
  return `${changePercent(change)} since ${shortMomentText(change.since)}${by}`;
}
