/** Builds the observation of a row. */

import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import type { IngestRecordInput, MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { quotedText, refusalText } from '../../contract/problems/row-refusal-text.ts';
import { checkCurrency, checkCurrencyCode, currencyExponent } from '../../contract/values/currencies.ts';
import { isReleasedLongBefore } from '../../contract/values/instants.ts';
import {
  absoluteUrlSchema,
  provenanceFields,
  quotedQuantitySchema,
  sourceUrlSchema,
} from '../../contract/values/metric.ts';
import { toMinorUnits } from '../../contract/values/money.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { type RowColumns, type RowPart, type RowRefusal, refusedPart, textFault } from '../input/row-columns.ts';
import { adviceOnNumber, describeNumberFormat, type NumberFormat, numberReader } from '../values/number-format.ts';
import { type Columns, compileTemplate } from '../values/template.ts';
import { type CsvMapping, columnsOfDate } from './csv-mapping.ts';
import { positiveInteger } from './map-market.ts';
import { releaseMapper } from './map-release.ts';

type MoneyObservation = Extract<IngestRecordInput, { amountMinor: number | null }>;
type Amount = Pick<
  MoneyObservation,
  'amountMinor' | 'sourceValue' | 'rounded' | 'unknownReason' | 'zeroAsserted' | 'quotedQuantity'
>;

export type ObservationOfRow =
  /** `isTimeCut`: more than milliseconds were dropped from one of its times. */
  { readonly record: MoneyObservation; readonly isTimeCut: boolean } | { readonly refusals: readonly RowRefusal[] };

/** Makes the function that says whether a row gives nothing, because its value is blank and the mapping leaves it out. */
export function leftOutTest({ observation: { value } }: CsvMapping): (columns: Columns) => boolean {
  const isBlank = blankTest(value);
  return value.blank === 'leave-out' ? (columns) => isBlank(columns.get(value.column)) : () => false;
}

/**
 * Makes the function that builds a row's observation. All faults of the row are reported at once.
 *
 * @param dateOf reads the row's moment
 */
export function observationMapper(
  mapping: CsvMapping,
  dateOf: (columns: Columns) => RowPart<string>,
): (columns: RowColumns, market: MarketRecord) => ObservationOfRow {
  const { observation } = mapping;
  const releaseOf = releaseMapper(mapping);
  const currencyOf = compileTemplate(observation.currency);
  const amountOf = amountMapper(mapping);
  const labelOf = labelMapper(observation.sourceLabel);
  const urlOf = compileTemplate(observation.sourceUrl, encodeURIComponent);
  const confidenceOf = choiceOf(observation.confidence, '/confidence');
  const statusOf = choiceOf(observation.status, '/status');
  return (columns, market) => {
    const refusals: RowRefusal[] = [];
    let isTimeCut = false;
    const take = <Value>(part: RowPart<Value>): Value | null => {
      if ('value' in part) {
        isTimeCut ||= part.isCut === true;
        return part.value;
      }
      refusals.push(...part.refusals);
      return null;
    };
    const observedAt = take(dateOf(columns));
    columns.setObservedDate(observedAt?.slice(0, 10) ?? '');
    const releasedAt = take(releaseOf(columns));
    refusals.push(...earlyFaults(mapping, { observedAt, releasedAt }));
    const currency = currencyOf(columns);
    const currencyFault = observedAt === null ? checkCurrencyCode(currency) : checkCurrency(currency, observedAt);
    // The meaning of an amount in an invalid currency cannot be guessed, so the amount is not checked further.
    const exponent = currencyFault === null ? currencyExponent(currency) : null;
    if (currencyFault !== null) refusals.push({ column: null, pointer: '/currency', ...currencyFault });
    else if (observation.metric === 'price' && currency !== market.nativeCurrency) {
      const detail = `the market's prices are in ${market.nativeCurrency}: add the column of ${currency} to match, so that it has a market of its own`;
      refusals.push(refuse(null, '/currency', 'currency.not-native', detail));
    }
    const amount = exponent === null ? null : take(amountOf(columns, market, currency, exponent));
    const confidence = take(confidenceOf(columns));
    const status = take(statusOf(columns));
    const sourceLabel = take(labelOf(columns));
    const sourceUrl = urlOf(columns);
    const urlFault = observedAt === null ? undefined : sourceUrlSchema.safeParse(sourceUrl).error?.issues[0];
    if (urlFault !== undefined) {
      const isAbsolute = absoluteUrlSchema.safeParse(sourceUrl).success;
      const code = isAbsolute ? 'source.url-not-public' : 'source.url-not-absolute';
      refusals.push(refuse(null, '/sourceUrl', code, refusalText(['sourceUrl'], sourceUrl, urlFault.message)));
    }
    if (refusals.length > 0) return { refusals };
    if (observedAt === null || amount === null || sourceLabel === null || confidence === null || status === null) {
      throw new RangeError('a part of the row is missing without a refusal');
    }
    const isEarly =
      observedAt < EARLIEST ||
      (releasedAt !== null && (releasedAt < EARLIEST || isReleasedLongBefore(observedAt, releasedAt)));
    return {
      isTimeCut,
      record: {
        type: 'observation',
        market: market.slug,
        metric: observation.metric,
        ...amount,
        currency,
        sourceLabel,
        sourceUrl,
        observedAt,
        ...(releasedAt === null ? {} : { releasedAt }),
        confidence,
        status,
        ...(isEarly ? { dateConfirmed: true } : {}),
      },
    };
  };
}

/** The first year of the dates that need no confirmation. */
export const EARLIEST = '1900';

function earlyFaults(
  { observation: { date, releasedAt } }: CsvMapping,
  times: { readonly observedAt: string | null; readonly releasedAt: string | null },
): RowRefusal[] {
  if (date.early === 'confirmed') return [];
  const [observed = null] = columnsOfDate(date);
  const [released = null] = typeof releasedAt === 'object' ? columnsOfDate(releasedAt) : [];
  const columns = { observedAt: observed, releasedAt: released };
  const remedy = `if such dates are right, set "early" of the mapping's date to "confirmed"`;
  const faults = (['observedAt', 'releasedAt'] as const).flatMap((time) => {
    const instant = times[time];
    if (instant === null || instant >= EARLIEST) return [];
    return [refuse(columns[time], `/${time}`, 'date.implausible', `${instant} is before ${EARLIEST}: ${remedy}`)];
  });
  const { observedAt, releasedAt: release } = times;
  if (faults.length > 0 || observedAt === null || release === null) return faults;
  if (!isReleasedLongBefore(observedAt, release)) return [];
  const detail = `${release} is more than a year before observedAt, ${observedAt}: check the year; ${remedy}`;
  return [refuse(columns.releasedAt, '/releasedAt', 'date.implausible', detail)];
}

/** Most rows have the label of the row before. */
function labelMapper(template: string): (columns: Columns) => RowPart<string> {
  const labelOf = compileTemplate(template);
  let last: { readonly text: string; readonly part: RowPart<string> } | null = null;
  return (columns) => {
    const text = labelOf(columns);
    if (last?.text === text) return last.part;
    const { data, error } = provenanceFields.sourceLabel.safeParse(text, { error: plainWords });
    const why = error?.issues.map(({ message }) => message).join('; ') ?? '';
    const code = text.trim() === '' ? 'provenance.incomplete' : 'record.invalid';
    const part =
      data === undefined
        ? refusedPart(null, '/sourceLabel', code, textFault(['sourceLabel'], text, why))
        : { value: data };
    last = { text, part };
    return part;
  };
}

function blankTest({ blankValues }: CsvMapping['observation']['value']): (text: string) => boolean {
  return (text) => text === '' || blankValues.includes(text);
}

function amountMapper(mapping: CsvMapping) {
  const { value: spec } = mapping.observation;
  const { column } = spec;
  const isBlank = blankTest(spec);
  const formatOf = numberFormats(spec.number);
  const quotedQuantityOf = spec.quotedQuantity === undefined ? null : compileTemplate(spec.quotedQuantity);
  const rules = mapping.withhold.map(({ where }) => Object.entries(where));
  const isWithheld = (columns: Columns) =>
    rules.some((where) => where.every(([name, values]) => values.includes(columns.get(name))));

  const refused = (code: RowRefusal['code'], detail: string) => refusedPart(column, '/amountMinor', code, detail);
  return (columns: Columns, market: MarketRecord, currency: string, exponent: number): RowPart<Amount> => {
    const text = columns.get(column);
    if (isBlank(text)) {
      const { blank } = spec;
      if (typeof blank === 'object') return { value: { amountMinor: null, unknownReason: blank.unknownReason } };
      return refused('provenance.incomplete', 'the value is blank, and the mapping gives no reason');
    }
    const { format, read } = formatOf(columns);
    const digits = read(text);
    if (digits === null) {
      const { kind, text: advice } = adviceOnNumber(text, format);
      const detail = `${quotedText(text, 60)} is not a decimal number ${describeNumberFormat(format)}: ${advice}`;
      return refusedPart(column, '/amountMinor', 'record.invalid', detail, kind);
    }
    if (isWithheld(columns)) {
      return { value: { amountMinor: null, sourceValue: digits, unknownReason: 'withheld' } };
    }
    const quoted = quotedQuantityOf?.(columns);
    const { quantity } = market.unit;
    const quotedQuantity = quoted === undefined ? quantity : positiveInteger(quoted);
    if (!quotedQuantitySchema.safeParse(quotedQuantity).success) {
      const detail = `the quoted quantity ${JSON.stringify(quoted)} is not an integer from 1 to ${QUANTITY_MAX} in plain digits`;
      return refusedPart(null, '/quotedQuantity', 'record.invalid', detail);
    }
    const converted = toMinorUnits(digits, exponent, quantity, quotedQuantity);
    const asText = `${digits} ${currency}${quantity === quotedQuantity ? '' : ` × ${quantity} ÷ ${quotedQuantity}`}`;
    if ('error' in converted) return refused(converted.error, `${asText} is beyond 2^53−1 minor units`);
    const { amountMinor, rounded } = converted;
    if (rounded && spec.rounding === 'refuse') {
      return refused('amount.not-integral', `${asText} does not fit: ${currency} has ${exponent} decimals`);
    }
    if (amountMinor !== 0) return { value: { amountMinor, sourceValue: digits, rounded, quotedQuantity } };
    if (rounded || spec.zero === 'refuse') {
      const detail = rounded
        ? `${asText} would be rounded to zero: give the market a larger quantity`
        : 'zero often stands for a missing value: if it is the price, write "zero": "asserted"; if not, add it to blankValues';
      return refused('amount.zero-unasserted', detail);
    }
    return { value: { amountMinor, sourceValue: digits, rounded, quotedQuantity, zeroAsserted: true } };
  };
}

/** Makes the function that gives the way in which the number of a row is written. A column may decide the mark. */
function numberFormats({ decimalMark, ...others }: CsvMapping['observation']['value']['number']) {
  const made = (mark: NumberFormat['decimalMark']) => {
    const format = { ...others, decimalMark: mark };
    return { format, read: numberReader(format) };
  };
  if (typeof decimalMark === 'string') {
    const only = made(decimalMark);
    return () => only;
  }
  const { column, values, otherwise } = decimalMark;
  const each = new Map(Object.entries(values).map(([text, mark]) => [text, made(mark)]));
  const rest = otherwise === undefined ? null : made(otherwise);
  const none = { format: { ...others, decimalMark: '.' as const }, read: () => null };
  return (columns: Columns) => each.get(columns.get(column)) ?? rest ?? none;
}

/** Reads a fixed word, or the word for a column's value. */
function choiceOf<Word extends string>(
  choice: Word | { column: string; values: Record<string, Word>; otherwise?: Word | undefined },
  pointer: string,
): (columns: Columns) => RowPart<Word> {
  if (typeof choice === 'string') return () => ({ value: choice });
  const { column, values, otherwise } = choice;
  return (columns) => {
    const text = columns.get(column);
    const word = Object.hasOwn(values, text) ? values[text] : otherwise;
    if (word !== undefined) return { value: word };
    const detail = `the mapping has no word for ${JSON.stringify(text)}: it lists ${Object.keys(values).join(', ')}`;
    return refusedPart(column, pointer, 'record.invalid', detail);
  };
}

function refuse(column: string | null, pointer: string, code: RowRefusal['code'], detail: string): RowRefusal {
  return { column, pointer, code, detail };
}
