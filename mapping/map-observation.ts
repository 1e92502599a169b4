/** Builds the observation of a row. */

import { checkCurrency, currencyExponent } from '../contract/currencies.ts';
import type { IngestRecordInput, MarketRecord } from '../contract/ingest-records.ts';
import { decimalSchema, sourceUrlSchema } from '../contract/metric.ts';
import { toMinorUnits } from '../contract/money.ts';
import type { CsvMapping } from './csv-mapping.ts';
import { dateReader } from './date-format.ts';
import { positiveInteger } from './map-market.ts';
import type { RowColumns, RowRefusal } from './row-columns.ts';
import { type Columns, compileTemplate } from './template.ts';

type MoneyObservation = Extract<IngestRecordInput, { amountMinor: number | null }>;
type Amount = Pick<
  MoneyObservation,
  'amountMinor' | 'sourceValue' | 'rounded' | 'unknownReason' | 'zeroAsserted' | 'quotedQuantity'
>;
/** The value of one part of a row, or its faults. */
type Part<Value> = { readonly value: Value } | { readonly refusals: readonly RowRefusal[] };

export type ObservationOfRow = { readonly record: MoneyObservation } | { readonly refusals: readonly RowRefusal[] };

/** Makes the function that builds a row's observation. All faults of the row are reported at once. */
export function observationMapper(
  mapping: CsvMapping,
): (columns: RowColumns, market: MarketRecord) => ObservationOfRow {
  const { observation } = mapping;
  const dateOf = observedDateOf(mapping);
  const currencyOf = compileTemplate(observation.currency);
  const amountOf = amountMapper(mapping);
  const labelOf = compileTemplate(observation.sourceLabel);
  const urlOf = compileTemplate(observation.sourceUrl, encodeURIComponent);
  const confidenceOf = choiceOf(observation.confidence, '/confidence');
  const statusOf = choiceOf(observation.status, '/status');
  return (columns, market) => {
    const refusals: RowRefusal[] = [];
    const take = <Value>(part: Part<Value>): Value | null => {
      if ('value' in part) return part.value;
      refusals.push(...part.refusals);
      return null;
    };
    const date = take(dateOf(columns));
    columns.setObservedDate(date ?? '');
    const currency = currencyOf(columns);
    const observedAt = `${date ?? '0000-01-01'}T00:00:00Z`;
    const currencyFault = checkCurrency(currency, observedAt);
    // The meaning of an amount in an invalid currency cannot be guessed, so the amount is not checked further.
    const exponent = currencyFault === null ? currencyExponent(currency) : null;
    if (currencyFault !== null) refusals.push({ column: null, pointer: '/currency', ...currencyFault });
    const amount = exponent === null ? null : take(amountOf(columns, market, currency, exponent));
    const confidence = take(confidenceOf(columns));
    const status = take(statusOf(columns));
    const sourceLabel = labelOf(columns).trim();
    if (sourceLabel === '' || sourceLabel.length > 200) {
      refusals.push(refuse(null, '/sourceLabel', 'provenance.incomplete', 'sourceLabel must have 1 to 200 characters'));
    }
    const sourceUrl = urlOf(columns);
    if (date !== null && !sourceUrlSchema.safeParse(sourceUrl).success) {
      const detail = `${JSON.stringify(sourceUrl)} is not an absolute http or https URL of at most 2,048 characters`;
      refusals.push(refuse(null, '/sourceUrl', 'source.url-not-absolute', detail));
    }
    if (refusals.length > 0 || amount === null || confidence === null || status === null) return { refusals };
    return {
      record: {
        type: 'observation',
        market: market.slug,
        metric: observation.metric,
        ...amount,
        currency,
        sourceLabel,
        sourceUrl,
        observedAt,
        confidence,
        status,
        ...(date !== null && date < '1900' && observation.date.early === 'confirmed' ? { dateConfirmed: true } : {}),
      },
    };
  };
}

function observedDateOf({ observation: { date } }: CsvMapping): (columns: Columns) => Part<string> {
  const read = dateReader(date.format);
  const readFallback = date.whenBlank && dateReader(date.whenBlank.format);
  return (columns) => {
    let { column, format } = date;
    let found = read(columns.get(column));
    if (date.whenBlank && readFallback && columns.get(column) === '') {
      ({ column, format } = date.whenBlank);
      found = readFallback(columns.get(column));
    }
    if (found !== null) return { value: date.precision === 'month' ? `${found.slice(0, 7)}-01` : found };
    const text = columns.get(column);
    return text === ''
      ? refused(column, '/observedAt', 'provenance.incomplete', 'the date is blank')
      : refused(column, '/observedAt', 'record.invalid', `${JSON.stringify(text)} is not a date of the form ${format}`);
  };
}

function amountMapper(mapping: CsvMapping) {
  const { value: spec } = mapping.observation;
  const { column } = spec;
  const quotedQuantityOf = spec.quotedQuantity === undefined ? null : compileTemplate(spec.quotedQuantity);
  const rules = mapping.withhold.map(({ where }) => Object.entries(where));
  const isWithheld = (columns: Columns) =>
    rules.some((where) => where.every(([name, values]) => values.includes(columns.get(name))));

  return (columns: Columns, market: MarketRecord, currency: string, exponent: number): Part<Amount> => {
    const digits = columns.get(column);
    if (digits === '') {
      return spec.blank === 'refuse'
        ? refused(
            column,
            '/amountMinor',
            'provenance.incomplete',
            'the value is blank, and the mapping gives no reason',
          )
        : { value: { amountMinor: null, unknownReason: spec.blank.unknownReason } };
    }
    if (!decimalSchema.safeParse(digits).success) {
      const detail = `${JSON.stringify(digits)} is not a plain decimal number: write it with a point, without exponent or separators`;
      return refused(column, '/amountMinor', 'record.invalid', detail);
    }
    if (isWithheld(columns)) {
      return { value: { amountMinor: null, sourceValue: digits, unknownReason: 'withheld' } };
    }
    const quoted = quotedQuantityOf?.(columns);
    const quotedQuantity = quoted === undefined ? market.unit.quantity : positiveInteger(quoted);
    const times = market.unit.quantity / quotedQuantity;
    if (!Number.isSafeInteger(times) || times < 1) {
      const detail = `the market's quantity ${market.unit.quantity} is not a whole multiple of the quoted quantity ${JSON.stringify(quoted)}`;
      return refused(null, '/amountMinor', 'record.invalid', detail);
    }
    const converted = toMinorUnits(digits, exponent, times);
    const asText = times === 1 ? `${digits} ${currency}` : `${digits} × ${times} ${currency}`;
    if ('error' in converted) {
      return refused(column, '/amountMinor', converted.error, `${asText} is beyond 2^53−1 minor units`);
    }
    const { amountMinor, rounded } = converted;
    if (rounded && spec.rounding === 'refuse') {
      const detail = `${asText} does not fit: ${currency} has ${exponent} decimals`;
      return refused(column, '/amountMinor', 'amount.not-integral', detail);
    }
    if (amountMinor !== 0) return { value: { amountMinor, sourceValue: digits, rounded, quotedQuantity } };
    if (rounded || spec.zero === 'refuse') {
      const detail = rounded
        ? `${asText} would be rounded to zero: give the market a larger quantity`
        : 'a zero must be asserted: assert it in the mapping, or give the reason why the value is unknown';
      return refused(column, '/amountMinor', 'amount.zero-unasserted', detail);
    }
    return { value: { amountMinor, sourceValue: digits, rounded, quotedQuantity, zeroAsserted: true } };
  };
}

/** Reads a fixed word, or the word for a column's value. */
function choiceOf<Word extends string>(
  choice: Word | { column: string; values: Record<string, Word>; otherwise?: Word | undefined },
  pointer: string,
): (columns: Columns) => Part<Word> {
  if (typeof choice === 'string') return () => ({ value: choice });
  const { column, values, otherwise } = choice;
  return (columns) => {
    const text = columns.get(column);
    const word = Object.hasOwn(values, text) ? values[text] : otherwise;
    if (word !== undefined) return { value: word };
    const detail = `the mapping has no word for ${JSON.stringify(text)}: it lists ${Object.keys(values).join(', ')}`;
    return refused(column, pointer, 'record.invalid', detail);
  };
}

function refuse(column: string | null, pointer: string, code: RowRefusal['code'], detail: string): RowRefusal {
  return { column, pointer, code, detail };
}

function refused(...refusal: Parameters<typeof refuse>): { refusals: readonly RowRefusal[] } {
  return { refusals: [refuse(...refusal)] };
}
