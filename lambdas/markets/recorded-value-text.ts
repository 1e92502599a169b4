/** Values as people read them, in the form of the pages: the price of one unit, or of a million. Pure. */

import type { Unit } from '../../contract/values/market.ts';
import type { Metric, RetractionKind } from '../../contract/values/metric.ts';
import { unknownWords } from '../../contract/values/metric-words.ts';
import { moneyTexts } from '../../contract/values/money/money-texts.ts';
import { quantityText, scalarUnit, shownAmount, shownQuantity, unitText } from '../../contract/values/shown-value.ts';

/** @param retraction the kind of retraction that made the value unknown. Null: none */
export function recordedValueText(metric: Metric, unit: Unit, retraction: RetractionKind | null = null): string {
  if (metric.kind === 'scalar') {
    if (metric.value === null) return `unknown: ${unknownWords(metric.unknownReason, retraction)}`;
    return `${metric.value} ${scalarUnit(metric.unit, metric.value, unit.of)}`;
  }
  const { decimal } = moneyTexts(metric.amountMinor, metric.currency, 1);
  if (decimal === null) return `unknown: ${unknownWords(metric.unknownReason, retraction)}`;
  return `${shownAmount(decimal, unit.quantity)} ${metric.currency} ${unitText(unit)}`;
}

/** As {@link recordedValueText}, with the amount in minor units, which writers send. It may be for another quantity. */
export function sentValueText(metric: Metric, unit: Unit): string {
  if (metric.kind === 'scalar') return recordedValueText(metric, unit);
  const quantity = shownQuantity(unit.quantity) === unit.quantity ? '' : ` ${quantityText(unit)}`;
  return `${recordedValueText(metric, unit)} (amountMinor ${metric.amountMinor}${quantity})`;
}
