/** The text of a value with its unit, as every page, badge and embed shows it. Pure. */
import type { Unit } from './market.ts';
import type { PublicMetric, RetractionKind } from './metric.ts';
import { unknownWords } from './metric-words.ts';
import { groupedDigits } from './money/decimal-text.ts';
import { scalarUnit, shownAmount, shownQuantity, unitText } from './shown-value.ts';

/** The exact digits. Null: unknown. */
export function shownDigits(metric: PublicMetric, { quantity }: Unit): string | null {
  if (metric.kind === 'scalar') return metric.value;
  if (metric.decimal === null) return null;
  // The body already has the price of one unit, so no division is needed for a long history.
  const isOfOne = quantity !== 1 && shownQuantity(quantity) === 1;
  return (isOfOne ? metric.decimalPerUnit : null) ?? shownAmount(metric.decimal, quantity);
}

/** `4,129.10 USD`, `200,000 tokens`; or `unknown: ` with the reason. */
export function shownText(metric: PublicMetric & { readonly retraction?: RetractionKind | null }, unit: Unit): string {
  const digits = shownDigits(metric, unit);
  if (digits === null) return `unknown: ${unknownWords(metric.unknownReason, metric.retraction)}`;
  const of = metric.kind === 'money' ? metric.currency : scalarUnit(metric.unit, digits, unit.of);
  return `${groupedDigits(digits)} ${of}`;
}

/** `per EUR`. Empty for a number that is not money. */
export function perText(metric: PublicMetric, unit: Unit): string {
  return metric.kind === 'money' ? unitText(unit) : '';
}
