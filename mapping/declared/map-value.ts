/** Builds the value of a row: an amount of money, or another number. */
import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import type { IngestRecordInput, MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { quotedText } from '../../contract/problems/row-refusal-text.ts';
import { quotedQuantitySchema } from '../../contract/values/metric.ts';
import { checkCurrency, checkCurrencyCode, currencyExponent } from '../../contract/values/money/currencies.ts';
import { plainDecimal, toMinorUnits } from '../../contract/values/money/money.ts';
import { type RowPart, type RowRefusal, refusedPart } from '../input/row-columns.ts';
import { adviceOnNumber, describeNumberFormat, numberReader } from '../values/number-format.ts';
import { type Columns, compileTemplate } from '../values/template.ts';
import { type CsvMapping, isExact, type MappedMetric } from './csv-mapping.ts';
import { positiveInteger } from './map-market.ts';

type ObservationInput = Extract<IngestRecordInput, { type: 'observation' }>;
export type MoneyInMinorUnits = Extract<ObservationInput, { amountMinor: number | null }>;
export type MoneyAsDecimal = Extract<ObservationInput, { value: string | null; currency: string }>;
export type ScalarInput = Extract<ObservationInput, { unit: string }>;

type ValueOf<Input> = Omit<
  Input,
  | 'type'
  | 'market'
  | 'metric'
  | 'publicReason'
  | 'sourceLabel'
  | 'sourceUrl'
  | 'observedAt'
  | 'releasedAt'
  | 'confidence'
  | 'status'
  | 'dateConfirmed'
>;
/** The fields of a record that are its value. */
export type RowValue = ValueOf<MoneyInMinorUnits> | ValueOf<MoneyAsDecimal> | ValueOf<ScalarInput>;

/** The digits of a row's number, or the reason why the number is missing. */
type Digits =
  | { readonly digits: string; readonly zeroAsserted?: true }
  | { readonly sourceValue?: string; readonly unknownReason: NonNullable<RowValue['unknownReason']> };

/** Makes the test for rows without a record: their value is blank, and the mapping leaves blank values out. */
export function leftOutTest({ value }: MappedMetric): (columns: Columns) => boolean {
  const isBlank = blankTest(value);
  return value.blank === 'leave-out' ? (columns) => isBlank(columns.get(value.column)) : () => false;
}

/** Makes the function that reads a row's value. `observedAt` determines which currencies exist; null: unknown. */
export function valueMapper(
  mapping: CsvMapping,
  metric: MappedMetric,
): (columns: Columns, market: MarketRecord, observedAt: string | null) => RowPart<RowValue> {
  const { unit } = metric;
  if (unit === undefined) return moneyMapper(mapping, metric);
  const digitsOf = digitsMapper(mapping, metric, '/value');
  return (columns) => {
    const found = digitsOf(columns);
    if ('refusals' in found) return found;
    if (!('digits' in found.value)) return { value: { value: null, unit, ...found.value } };
    const { digits, ...others } = found.value;
    return { value: { value: plainDecimal(digits), unit, sourceValue: digits, ...others } };
  };
}

function moneyMapper(mapping: CsvMapping, metric: MappedMetric): ReturnType<typeof valueMapper> {
  // `findReferenceFaults`: a metric without a unit has a currency.
  const currencyOf = compileTemplate(metric.currency as string);
  const amountOf = amountMapper(mapping, metric);
  return (columns, market, observedAt) => {
    const currency = currencyOf(columns);
    const currencyFault = observedAt === null ? checkCurrencyCode(currency) : checkCurrency(currency, observedAt);
    // An amount in an invalid currency has no clear meaning, so it is not checked further.
    if (currencyFault !== null) {
      return { refusals: [{ column: null, pointer: '/currency', ...currencyFault }] };
    }
    const amount = amountOf(columns, market, currency, currencyExponent(currency) as number);
    if (metric.metric !== 'price' || currency === market.nativeCurrency) return amount;
    const detail = `the market's prices are in ${market.nativeCurrency}: add the column of ${currency} to match, so that it has a market of its own`;
    const { refusals } = refusedPart(null, '/currency', 'currency.not-native', detail);
    return { refusals: 'refusals' in amount ? [...refusals, ...amount.refusals] : refusals };
  };
}

function blankTest({ blankValues }: MappedMetric['value']): (text: string) => boolean {
  return (text) => text === '' || blankValues.includes(text);
}

function digitsMapper(
  { withhold }: CsvMapping,
  { value: spec }: MappedMetric,
  pointer: string,
): (columns: Columns) => RowPart<Digits> {
  const { column } = spec;
  const isBlank = blankTest(spec);
  const read = numberReader(spec.number);
  const rules = withhold.map(({ where }) => Object.entries(where));
  const isWithheld = (columns: Columns) =>
    rules.some((where) => where.every(([name, values]) => values.includes(columns.get(name))));
  return (columns) => {
    const text = columns.get(column);
    if (isBlank(text)) {
      const { blank } = spec;
      if (typeof blank === 'object') return { value: { unknownReason: blank.unknownReason } };
      const detail = 'the value is blank, and the mapping gives no reason';
      return refusedPart(column, pointer, 'provenance.incomplete', detail);
    }
    const digits = read(text);
    if (digits === null) {
      const { kind, text: advice } = adviceOnNumber(text, spec.number);
      const detail = `${quotedText(text, 60)} is not a decimal number ${describeNumberFormat(spec.number)}: ${advice}`;
      return refusedPart(column, pointer, 'record.invalid', detail, kind);
    }
    if (isWithheld(columns)) return { value: { sourceValue: digits, unknownReason: 'withheld' } };
    if (!ZERO.test(digits)) return { value: { digits } };
    if (spec.zero === 'asserted') return { value: { digits, zeroAsserted: true } };
    const detail =
      'zero often stands for a missing value: if it is the price, write "zero": "asserted"; if not, add it to blankValues';
    return refusedPart(column, pointer, 'amount.zero-unasserted', detail);
  };
}

const ZERO = /^-?0+(\.0+)?([eE]|$)/;

function amountMapper(mapping: CsvMapping, metric: MappedMetric) {
  const { value: spec } = metric;
  const { column } = spec;
  const digitsOf = digitsMapper(mapping, metric, '/amountMinor');
  const quotedQuantityOf = spec.quotedQuantity === undefined ? null : compileTemplate(spec.quotedQuantity);
  const isDecimal = isExact(mapping);
  const refused = (code: RowRefusal['code'], detail: string) => refusedPart(column, '/amountMinor', code, detail);
  return (columns: Columns, market: MarketRecord, currency: string, exponent: number): RowPart<RowValue> => {
    const found = digitsOf(columns);
    if ('refusals' in found) return found;
    if (!('digits' in found.value)) return { value: { amountMinor: null, currency, ...found.value } };
    const { digits, ...zero } = found.value;
    const quoted = quotedQuantityOf?.(columns);
    const { quantity } = market.unit;
    // The quantity of an exact market is not known yet: the numbers of such a file are prices for one unit.
    const quotedQuantity = quoted === undefined ? (isDecimal ? 1 : quantity) : positiveInteger(quoted);
    if (!quotedQuantitySchema.safeParse(quotedQuantity).success) {
      const detail = `the quoted quantity ${JSON.stringify(quoted)} is not an integer from 1 to ${QUANTITY_MAX} in plain digits`;
      return refusedPart(null, '/quotedQuantity', 'record.invalid', detail);
    }
    if (isDecimal) {
      const exact = spec.rounding === 'refuse' ? ({ exact: true } as const) : {};
      return { value: { value: digits, currency, quotedQuantity, ...zero, ...exact } };
    }
    const converted = toMinorUnits(digits, exponent, quantity, quotedQuantity);
    const asText = `${digits} ${currency}${quantity === quotedQuantity ? '' : ` × ${quantity} ÷ ${quotedQuantity}`}`;
    if ('error' in converted) return refused(converted.error, `${asText} is beyond 2^53−1 minor units`);
    const { amountMinor, rounded } = converted;
    if (rounded && spec.rounding === 'refuse') {
      return refused('amount.not-integral', `${asText} does not fit: ${currency} has ${exponent} decimals`);
    }
    if (amountMinor === 0 && rounded) {
      const detail = `${asText} would be rounded to zero: give the market a larger quantity`;
      return refused('amount.zero-unasserted', detail);
    }
    return { value: { amountMinor, currency, sourceValue: digits, rounded, quotedQuantity, ...zero } };
  };
}
