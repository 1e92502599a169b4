/** The amount of money in a record. The source's digits decide; nothing is rounded silently. */

import type { MoneyRecord, RowError, RowErrorCode } from '../../../contract/ingest/ingest-records.ts';
import { ROW_REMEDIES } from '../../../contract/problems/row-remedies.ts';
import type { MoneyMetric } from '../../../contract/values/metric.ts';
import { currencyExponent } from '../../../contract/values/money/currencies.ts';
import { isNearestAmount, plainDecimal, toMinorUnits } from '../../../contract/values/money/money.ts';

export type Amount = Pick<MoneyMetric, 'amountMinor' | 'rounded' | 'sourceValue'>;
type AmountResult = Amount | { readonly error: RowError };

/**
 * The record's amount, or its contradiction with the source's digits. Its currency must be one of ISO 4217.
 *
 * @param quantity that one price of the market buys
 */
export function amountOfRecord(record: MoneyRecord, quantity: number): AmountResult {
  const exponent = currencyExponent(record.currency);
  if (exponent === null) throw new RangeError(`not a currency: ${record.currency}`);
  return 'amountMinor' in record
    ? checkedAmount(record, exponent, quantity)
    : computedAmount(record, exponent, quantity);
}

function checkedAmount(
  record: Extract<MoneyRecord, { amountMinor: unknown }>,
  exponent: number,
  quantity: number,
): AmountResult {
  const { amountMinor, currency, quotedQuantity, rounded, sourceValue } = record;
  if (amountMinor === null || sourceValue === null) return { amountMinor, rounded, sourceValue };
  // Sources quote prices for one unit, or for the market's quantity. If a record names its quantity, only that quantity is
  // allowed.
  const quantities = quotedQuantity === undefined ? [quantity, 1] : [quotedQuantity];
  for (const each of quantities) {
    const right = toMinorUnits(sourceValue, exponent, quantity, each);
    const isRight =
      ('amountMinor' in right && right.amountMinor === amountMinor) ||
      isNearestAmount(amountMinor, sourceValue, exponent, quantity, each);
    if (!isRight) continue;
    if (!('rounded' in right) || right.rounded === rounded) return { amountMinor, rounded, sourceValue };
    const detail = rounded
      ? 'the amount holds it exactly: send false'
      : 'the amount does not hold it exactly: send true';
    return disagreement('/rounded', `of ${sourceValue} ${currency}, ${detail}`);
  }
  const right = quantities.map((each) => rightAmount(sourceValue, exponent, quantity, each));
  const detail = `${sourceValue} ${currency} is ${[...new Set(right)].join(', or ')} in minor units: ${currency} has ${exponent} decimals, and the market quotes for ${quantity}`;
  return disagreement('/amountMinor', detail);
}

function rightAmount(decimal: string, exponent: number, quantity: number, quotedQuantity: number): string {
  const amount = toMinorUnits(decimal, exponent, quantity, quotedQuantity);
  const text = 'error' in amount ? 'more than 2^53−1' : String(amount.amountMinor);
  if (quantity === quotedQuantity) return quantity === 1 ? text : `${text} if it buys ${quotedQuantity}`;
  return `${text} if it buys ${quotedQuantity} (× ${quantity} ÷ ${quotedQuantity})`;
}

function computedAmount(
  record: Exclude<MoneyRecord, { amountMinor: unknown }>,
  exponent: number,
  quantity: number,
): AmountResult {
  const { currency, value, sourceValue } = record;
  if (value === null) return { amountMinor: null, rounded: false, sourceValue };
  // Without the decimals of a currency and without quantities, the two decimals must be equal numbers.
  if (sourceValue !== null && numberOf(sourceValue) !== numberOf(value)) {
    return disagreement('/value', `is not ${sourceValue}, the sourceValue: leave one of them out`);
  }
  const quotedQuantity = record.quotedQuantity ?? (quantity === 1 ? 1 : null);
  if (quotedQuantity === null) {
    const detail = `is missing: the market quotes for ${quantity}, and the source may quote for another quantity`;
    return refused('/quotedQuantity', 'provenance.incomplete', detail);
  }
  const amount = toMinorUnits(value, exponent, quantity, quotedQuantity);
  if ('error' in amount) {
    return refused('/value', amount.error, `${value} ${currency} is beyond ±(2^53−1) minor units`);
  }
  if (amount.rounded && record.exact === true) {
    const detail = `${value} ${currency} does not fit: the market quotes for ${quantity}, and ${currency} has ${exponent} decimals. ${ROW_REMEDIES['amount.not-integral']}`;
    return refused('/value', 'amount.not-integral', detail);
  }
  // In a list, the price before it no longer holds, so a price that rounds to nothing becomes unknown.
  if (record.ifChanged && amount.rounded && amount.amountMinor === 0)
    return { amountMinor: null, rounded: false, sourceValue: sourceValue ?? value };
  return { ...amount, sourceValue: sourceValue ?? value };
}

/** A spelling that is equal for equal numbers. */
function numberOf(decimal: string): string {
  const [whole = '', fraction = ''] = plainDecimal(decimal).replace(/^-/, '').split('.');
  const digits = `${whole.replace(/^0+/, '')}.${fraction.replace(/0+$/, '')}`;
  return decimal.startsWith('-') && digits !== '.' ? `-${digits}` : digits;
}

function disagreement(pointer: string, detail: string): AmountResult {
  return refused(pointer, 'amount.disagrees-with-source', detail);
}

function refused(pointer: string, code: RowErrorCode, detail: string): AmountResult {
  return { error: { pointer, code, detail } };
}
