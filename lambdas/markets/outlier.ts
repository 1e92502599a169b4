/**
 * Finds values so far from a neighbouring one that an operator must look: a slipped decimal point, minor units taken
 * for major ones, pounds for kilograms, another token's price under the same symbol. Nothing is dropped or changed: the
 * row is set aside, and taken in when it is sent again with the operator's confirmation. A new value, also of a backfill or
 * a correction, is compared with the nearest one on each side in time: see `neighbours.ts`.
 */
import type { Metric } from '../../contract/metric.ts';
import { moneyTexts } from '../../contract/money-texts.ts';
import type { PlacedMetric } from '../../storage/records/markets.ts';

/**
 * The factor for money. In the bundled sample (175 pairs, two and a half years, steps of up to a fortnight), every
 * value that differs tenfold from its neighbour is wrong, and no right value does. A slip of a decimal point or of
 * minor units is a factor of ten or more.
 */
const MONEY_FACTOR = 10;

/**
 * The factor for scalars. Traded volumes can differ tenfold around a holiday. A wrong unit is usually a factor of a
 * thousand.
 */
const SCALAR_FACTOR = 100;

/** Smaller amounts count as this many minor units, because 3 cents are known to one digit only. */
const COARSE_MINOR_UNITS = 100;

/** Values further apart in time are not compared. More than a year, so that yearly series are compared. */
const COMPARABLE_MS = 400 * 24 * 60 * 60 * 1000;

/**
 * Whether an observation is too far from another one of the same metric to be believed without confirmation. A zero is
 * not an outlier: it needs its own confirmation (`zeroAsserted`), and nothing can be compared with it.
 */
export function isOutlier(metric: Metric, reference: Metric): boolean {
  return isLeap(metric, reference) && timeBetweenMs(metric, reference) <= COMPARABLE_MS;
}

function isLeap(metric: Metric, reference: Metric): boolean {
  if (metric.kind === 'money') {
    if (reference.kind !== 'money' || metric.currency !== reference.currency) return false;
    const [amount, other] = [metric.amountMinor, reference.amountMinor];
    return amount !== null && other !== null && amount !== 0 && other !== 0 && isMoneyLeap(amount, other);
  }
  if (reference.kind !== 'scalar' || metric.unit !== reference.unit) return false;
  if (metric.value === null || reference.value === null) return false;
  const [value, other] = [Number(metric.value), Number(reference.value)];
  // Values that swing around zero, as rates of change do, have no scale to compare them by.
  return value * other > 0 && Math.max(value / other, other / value) > SCALAR_FACTOR;
}

/** The nearest comparable values of the metric on both sides of a moment. */
export interface Neighbours {
  readonly before: PlacedMetric | null;
  readonly after: PlacedMetric | null;
}

/** Whether other values can be compared with this one: it is known and not zero. */
export function isComparable(metric: Metric): boolean {
  return metric.kind === 'money' ? (metric.amountMinor ?? 0) !== 0 : Number(metric.value ?? 0) !== 0;
}

/** Milliseconds between two observations, in either order. */
function timeBetweenMs(one: Metric, other: Metric): number {
  return Math.abs(Date.parse(one.observedAt) - Date.parse(other.observedAt));
}

/**
 * For amounts of one sign: whether one is more than ten times the other. Written as a distance, so that it also works
 * across zero: WTI fell from 18.27 to −36.98 USD in a day, which is not a slip.
 */
function isMoneyLeap(one: number, other: number): boolean {
  const smaller = Math.max(Math.min(Math.abs(one), Math.abs(other)), COARSE_MINOR_UNITS);
  return Math.abs(one - other) > (MONEY_FACTOR - 1) * smaller;
}

/** The value as people read it. */
export function amountOf(metric: Metric): string {
  if (metric.kind !== 'money') return `${metric.value} ${metric.unit}`;
  const { decimal } = moneyTexts(metric.amountMinor, metric.currency, 1);
  return `${decimal} ${metric.currency} (amountMinor ${metric.amountMinor})`;
}
