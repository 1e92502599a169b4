/** Values as the tables of the command line show them, by the rule of the pages. `--json` and `--csv` have the exact numbers. */
import type { Market } from '../../contract/values/market.ts';
import type { PublicMetric, RetractionKind } from '../../contract/values/metric.ts';
import { unknownWords } from '../../contract/values/metric-words.ts';
import { shownDigits } from '../../contract/values/shown-text.ts';
import { scalarUnit, unitText } from '../../contract/values/shown-value.ts';

export interface TableValue {
  readonly value: string;
  /** `USD per 1M tokens`. Empty for an unknown value. */
  readonly unit: string;
}

/** A metric, or the row of a history with one. */
type Shown = PublicMetric & { readonly retraction?: RetractionKind | null };

/** @param unit the unit of the market */
export function tableValue(metric: Shown, unit: Market['unit']): TableValue {
  const value = shownDigits(metric, unit);
  if (value === null) return { value: `unknown: ${unknownWords(metric.unknownReason, metric.retraction)}`, unit: '' };
  const shown =
    metric.kind === 'money' ? `${metric.currency} ${unitText(unit)}` : scalarUnit(metric.unit, value, unit.of);
  return { value, unit: shown };
}

/** The value with its unit, on one line. @param unit the unit of the market */
export function valueInWords(metric: Shown, unit: Market['unit']): string {
  const shown = tableValue(metric, unit);
  return shown.unit === '' ? shown.value : `${shown.value} ${shown.unit}`;
}

/** The metrics with at least one observation; all of them if no metric has any. */
export function observedMetrics(
  metrics: Readonly<Record<string, PublicMetric | null>>,
): readonly (readonly [name: string, metric: PublicMetric | null])[] {
  const all = Object.entries(metrics);
  const observed = all.filter(([, metric]) => metric !== null);
  return observed.length > 0 ? observed : all;
}
