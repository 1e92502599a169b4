/** The number of a row or a metric, whatever its kind. */
import type { PublicMetric } from '../../contract/values/metric.ts';

/**
 * The exact decimal text: of money, the amount in major units for the quantity of the market; of a scalar, its value. Null:
 * unknown, and `unknownReason` says why.
 */
export function decimalOf(metric: PublicMetric): string | null {
  return metric.kind === 'money' ? metric.decimal : metric.value;
}
