/**
 * When a value is so far from the latest one that an operator must look: a slipped decimal point, minor units taken for
 * major ones, pounds for kilograms, another token's price under the same symbol. Nothing is dropped and nothing bent: the
 * row is set aside, and taken in when it is sent again with the operator's word.
 */
import type { Metric } from '../../contract/metric.ts';

/**
 * How far money may move. In the bundled sample (175 pairs, two and a half years, steps of up to a fortnight) no right
 * value is ten times its neighbour, and every wrong one is; a slip of a decimal point or of minor units is ten or more.
 */
const MONEY_FACTOR = 10;

/** How far a scalar may move: traded volumes do differ tenfold around a holiday; a wrong unit is mostly a thousand. */
const SCALAR_FACTOR = 100;

/** Amounts below this many minor units count as so many: 3 cents are known to one digit. */
const COARSE_MINOR_UNITS = 100;

/** Values further apart say nothing of each other. More than a year, so that yearly series are compared. */
const COMPARABLE_MS = 400 * 24 * 60 * 60 * 1000;

/**
 * Whether an observation is too far from another one of the same metric to be believed by itself. A zero is not: it needs
 * an operator's word of its own (`zeroAsserted`), and nothing can be measured by it.
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
  // What swings around zero, as rates of change do, has no scale by which to judge it.
  return value * other > 0 && Math.max(value / other, other / value) > SCALAR_FACTOR;
}

/** Of what is known of a metric, the nearest in time decides; gives it if it makes this value an outlier, else null. */
export function contradictionOf(metric: Metric, known: readonly Metric[]): Metric | null {
  // Hardly any value is an outlier by any of them, so it seldom matters which is the nearest.
  if (!known.some((other) => isOutlier(metric, other))) return null;
  const [nearest] = known.toSorted((left, right) => timeBetweenMs(metric, left) - timeBetweenMs(metric, right));
  return nearest !== undefined && isOutlier(metric, nearest) ? nearest : null;
}

/** Milliseconds from one observation to the other, whichever is the earlier. */
function timeBetweenMs(one: Metric, other: Metric): number {
  return Math.abs(Date.parse(one.observedAt) - Date.parse(other.observedAt));
}

/**
 * Of amounts with the same sign: whether one is more than ten times the other. Written as a distance, it goes on to hold
 * across zero: WTI fell from 18.27 to −36.98 USD in a day, which is no slip.
 */
function isMoneyLeap(one: number, other: number): boolean {
  const smaller = Math.max(Math.min(Math.abs(one), Math.abs(other)), COARSE_MINOR_UNITS);
  return Math.abs(one - other) > (MONEY_FACTOR - 1) * smaller;
}
