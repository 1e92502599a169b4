/** The number of a row or a metric, whatever its kind. */
import type { PublicMetric } from '../../contract/values/metric.ts';

/**
 * The exact decimal text. For money: the amount in major units for the quantity of the market. For a scalar: its value. Null:
 * the value is unknown, and `unknownReason` states why.
 */
export function decimalOf(metric: PublicMetric): string | null {
  return metric.kind === 'money' ? metric.decimal : metric.value;
}
