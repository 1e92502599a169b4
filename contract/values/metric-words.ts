/** Texts about metrics for people, and the metric that is shown first. Without the schema library. */
import type { PublicMetric, RetractionKind } from './metric.ts';

type UnknownReason = NonNullable<PublicMetric['unknownReason']>;

const UNKNOWN_WORDS: Readonly<Record<UnknownReason, string>> = {
  'not-published': 'the source published no value',
  withheld: 'withheld, by its source or by this service',
  'not-applicable': 'there is no such value',
  'not-yet-published': 'not published yet',
  'source-unreachable': 'the source could not be reached',
  'no-longer-listed': 'the source does not list it any more',
};

/** The reason for the null of a market for whose price nobody has looked: it has other metrics, or no observation at all. */
export const NOT_OBSERVED = 'not-observed';

/** The text for a market without an observation, and for one that has only announced values. */
export const NO_PRICE = 'no price yet';

const RETRACTION_WORDS: Readonly<Record<RetractionKind, string>> = {
  mistake: 'it was recorded by mistake',
  withdrawn: 'the source took it back',
};

/**
 * The text for an unknown value.
 *
 * @param retraction the kind of retraction that made it unknown, if that is known: it is more precise than the reason
 */
export function unknownWords(reason: UnknownReason | null, retraction: RetractionKind | null = null): string {
  if (retraction !== null) return RETRACTION_WORDS[retraction];
  return reason === null ? 'no reason is given' : UNKNOWN_WORDS[reason];
}

/** The title of a metric: `inputPrice` is `Input price`. */
export function metricTitle(name: string): string {
  const words = name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Orders the names of metrics: fewer words first, so that `inputPrice` comes before `cacheReadPrice`. */
export function compareMetrics(one: string, other: string): number {
  const words = (name: string): number => metricTitle(name).split(' ').length;
  return words(one) - words(other) || (one < other ? -1 : 1);
}

/** The metrics with values: amounts of money first. */
export function sortedMetrics<Metric extends { readonly kind: string }>(metrics: {
  readonly [name: string]: Metric | null;
}): readonly (readonly [name: string, metric: Metric])[] {
  const known = Object.entries(metrics).flatMap(([name, metric]) => (metric === null ? [] : [[name, metric] as const]));
  const rank = ({ kind }: Metric): number => (kind === 'money' ? 0 : 1);
  return known.sort(([one, left], [other, right]) => rank(left) - rank(right) || compareMetrics(one, other));
}

/**
 * The metric that represents a market where one value is shown: its price; without a price, the first amount of money in
 * the order of its page, or else the first number. Null: nothing was observed.
 */
export function leadMetric<Metric>(
  metrics: { readonly [name: string]: Metric | null | undefined },
  isMoney: (metric: Metric) => boolean,
): readonly [name: string, metric: Metric] | null {
  const known = Object.entries(metrics).flatMap(([name, metric]) => (metric == null ? [] : [[name, metric] as const]));
  const rank = ([name, metric]: (typeof known)[number]): number => (name === 'price' ? 0 : isMoney(metric) ? 1 : 2);
  return known.sort((one, other) => rank(one) - rank(other) || compareMetrics(one[0], other[0]))[0] ?? null;
}
