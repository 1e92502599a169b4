/** Guesses the meaning of a file's columns. */
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import type { MappedDate } from '../declared/csv-mapping.ts';
import { hasDay, hasMonth, hasQuarter, hasTime } from '../values/date-format.ts';
import { type NumberFormat, numberReader } from '../values/number-format.ts';
import { type Candidates, Column, type DateFormats, dateIn, numberFormatOf } from './column.ts';
import { doubtsOf, guessMarketColumns, type MarketColumns } from './guess-market-columns.ts';
import { linkColumn } from './table.ts';

export interface DateGuess extends DateFormats {
  /** Null if the dates stand in the header. */
  readonly column: Column | null;
  readonly precision: MappedDate['precision'];
  /** Another column of dates, for rows in which this one is blank. */
  readonly whenBlank: { readonly column: string; readonly formats: readonly string[] } | null;
  /** Whether its name says that it is the date, and no other column could be a part of it or in its place. */
  readonly isSure: boolean;
  /** Those other columns: dates and times of day. */
  readonly rivals: readonly string[];
}

export type CurrencyGuess =
  /** The codes stand in a column of the file, or in the header of a wide table. */
  | { readonly kind: 'column' | 'header'; readonly column: string; readonly codes: readonly string[] }
  /** The name of the column of prices says it, such as `Price (EUR)`. */
  | { readonly kind: 'named'; readonly code: string }
  | { readonly kind: 'unknown'; readonly candidates: readonly string[] };

export interface ColumnGuess {
  /** The columns with values, if there are several; null for a file with one. */
  readonly wide: readonly Column[] | null;
  readonly date: DateGuess | null;
  /** More than one if the file does not say which column holds the price; none if no column looks like one. */
  readonly values: readonly Column[];
  /** `differing`: a column that is written in another way than others. */
  readonly number: (Candidates<NumberFormat> & { readonly differing?: string }) | null;
  readonly market: MarketColumns;
  readonly currency: CurrencyGuess;
}

const VALUE_NAME = /^(price|value|rate|close|last|settle|obs_?value|amount)$/i;
const LIKE_VALUE_NAME = /price|value|rate|close|amount/i;
const NO_VALUE_NAME =
  /(^|_)(id|line|no|nr|num|number|year|month|day|lat|lon|latitude|longitude|volume|count|code|zip|index)$/i;
/** Several numbers of one market, not several markets. */
const QUOTE_PART_NAME =
  /^(open|high|low|close|last|bid|ask|mid|settle|volume|vwap|(adj|adjusted)[ ._]?close|turnover)\*?$/i;
const DATE_NAME =
  /^(date|datum|day|time|timestamp|period|month|quarter|year|datetime|time_period|ref_date|observation_date|unix_?(time|seconds|millis(econds)?|ts)|epoch)$/i;
const LIKE_DATE_NAME = /date|time|day|month|quarter|year|period|unix|epoch/i;
/** A part of a moment, beside its date. */
const TIME_NAME = /(^|[^a-z])(hour|hours|hr|time|minute|interval|zeit|uhrzeit|stunde)([^a-z]|$)/i;
const TIME_OF_DAY = /^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const QUOTE_NAME = /quote|counter|target|^to$|curr|ccy/i;

/** @param ownName a column that this file's reader has named */
export function guessColumns(columns: readonly Column[], ownName?: string): ColumnGuess {
  const link = linkColumn(columns);
  const named = columns.filter((column) => column.name !== '' && column !== link);
  const dates = named.flatMap((column) => {
    const found = column.dates;
    // A price such as 1950 or 202601 may be a year or a month by chance.
    const isCount = /^\d+$/.test(column.name) && found?.formats.every((format) => format.startsWith('unix-')) === true;
    const isNumber = column.isIntegers && column.words.size === 0 && !LIKE_DATE_NAME.test(column.name) && !isCount;
    return found === null || isNumber ? [] : [{ column, ...found }];
  });
  const [own, second] = dates.sort((one, other) => dateScore(other.column) - dateScore(one.column));
  const isDate = (column: Column) => dates.some((date) => date.column === column);
  const times = own === undefined ? [] : named.filter((column) => !isDate(column) && isTimePart(column));
  const isTime = (column: Column) => isDate(column) || times.includes(column);
  const numbers = named.filter((column) => !isTime(column) && isNumeric(column));
  const texts = named.filter((column) => !isTime(column) && !numbers.includes(column) && !isBlank(column));

  const inHeader = own === undefined ? datesIn(named.map(({ name }) => name)) : null;
  if (inHeader !== null) {
    const wide = named.filter(({ name }) => inHeader.names.includes(name));
    const match = texts.filter((column) => !wide.includes(column));
    const currency = currencyOf(match);
    const ofCurrency = currency.kind === 'column' ? currency.column : null;
    const { formats } = inHeader.dates;
    const date = { ...inHeader.dates, precision: precisionOf(formats), column: null, whenBlank: null };
    return {
      ...{ wide, values: wide, number: sharedNumberFormat(wide), currency },
      date: { ...date, isSure: true, rivals: [] },
      market: { match, others: [], ...doubtsOf(match, [], null, ofCurrency) },
    };
  }

  let date: DateGuess | null = null;
  if (own !== undefined) {
    const isFuller = second !== undefined && second.column.blank < own.column.blank;
    const others = dates.filter(({ column }) => column !== own.column && LIKE_DATE_NAME.test(column.name));
    const rivals = [...others.map(({ column }) => column), ...times].map(({ name }) => name);
    // In a document: the last part of a place, or a position, which says nothing.
    const [lastPart = ''] = own.column.name.split(/[/@]/).slice(-1);
    const isNamed = own.column.name === ownName || DATE_NAME.test(lastPart) || /^\d+$/.test(lastPart);
    const whenBlank = isFuller ? { column: second.column.name, formats: second.formats } : null;
    date = { ...own, precision: precisionOf(own.formats), whenBlank, isSure: isNamed && rivals.length === 0, rivals };
  }
  const plain = numbers.filter(({ name }) => !NO_VALUE_NAME.test(name));
  const arePrices = plain.some(({ name }) => QUOTE_PART_NAME.test(name) || VALUE_NAME.test(name));
  if (texts.length === 0 && plain.length > 1 && !arePrices) {
    // A column that is blank in each row so far may get values.
    const wide = named.filter((column) => plain.includes(column) || isBlank(column));
    const market = { match: [], others: [], isSure: true, isUnique: true };
    const codes = wide.map(({ name }) => name);
    const currency: CurrencyGuess = mostlyCurrencies(codes)
      ? { kind: 'header', column: '', codes }
      : { kind: 'unknown', candidates: [] };
    return { wide, date, values: wide, number: sharedNumberFormat(wide), market, currency };
  }

  const values = bestValues(plain);
  const ofTexts = currencyOf(texts);
  const currency = (ofTexts.kind === 'unknown' && currencyNamedBy(values)) || ofTexts;
  const candidates = named.filter((column) => !isTime(column) && !values.includes(column));
  const ofCurrency = currency.kind === 'column' ? currency.column : null;
  const market = guessMarketColumns(candidates, date?.column ?? null, ofCurrency);
  // Several rows have this date, and no column distinguishes them: it may not be their date.
  const isOpen = !market.isUnique && market.match.length === 0 && market.others.length === 0;
  return {
    ...{ wide: null, values, number: sharedNumberFormat(values), market, currency },
    date: date === null ? null : { ...date, isSure: date.isSure && !isOpen },
  };
}

function isTimePart({ name, distinct }: Column): boolean {
  return TIME_NAME.test(name) || (distinct.size > 1 && [...distinct].every((text) => TIME_OF_DAY.test(text)));
}

function isNumeric(column: Column): boolean {
  const { number, numbers, filled, wordCount } = column;
  const isMostly = number !== null && number.count >= 0.9 * numbers.size;
  return isMostly && 2 * (filled - wordCount) >= filled - blankWords(column);
}

/** Texts that stand for a missing number. A column of a currency that has ended is mostly these. */
const BLANK_WORD = /^(#?n[/.]?a\.?|nan|n\.?d\.?|null|none|[-–—]+|\.+)$/i;

function blankWords({ words }: Column): number {
  return [...words].reduce((sum, [word, count]) => sum + (BLANK_WORD.test(word) ? count : 0), 0);
}

/** Whether no row so far has a value of the column. */
function isBlank(column: Column): boolean {
  return column.filled === blankWords(column);
}

function dateScore({ name, blank, cells }: Column): number {
  const byName = DATE_NAME.test(name) ? 2 : LIKE_DATE_NAME.test(name) ? 1 : 0;
  return byName - blank / (cells.length + 1) / 2;
}

/** The columns with the highest score: their names, decimals, and many different numbers speak for them. */
function bestValues(columns: readonly Column[]): readonly Column[] {
  const scores = columns.map(({ name, isIntegers, distinct, cells }) => {
    const byName = VALUE_NAME.test(name) ? 4 : LIKE_VALUE_NAME.test(name) ? 2 : 0;
    return byName + (isIntegers ? 0 : 1) + (distinct.size > cells.length / 20 ? 0.5 : 0);
  });
  return columns.filter((_, index) => scores[index] === Math.max(...scores));
}

/** One notation for all cells of all columns of values; the notations of each if no one reads them all. */
function sharedNumberFormat(columns: readonly Column[]): ColumnGuess['number'] {
  const shared = numberFormatOf(columns);
  const [format] = shared?.formats ?? [];
  const read = format === undefined ? () => null : numberReader(format);
  const differs = columns.find(({ number, numbers }) => {
    return number !== null && [...numbers].filter((text) => read(text) !== null).length < number.count;
  });
  if (differs === undefined) return shared;
  const formats = new Map(
    columns.flatMap(({ number }) => (number?.formats.slice(0, 1) ?? []).map((each) => [JSON.stringify(each), each])),
  );
  return { formats: [...formats.values()], count: 0, example: '', differing: differs.name };
}

export function precisionOf(formats: readonly string[]): DateGuess['precision'] {
  if (formats.every(hasTime)) return 'instant';
  if (!formats.every(hasMonth)) return formats.every(hasQuarter) ? 'quarter' : 'year';
  return formats.every(hasDay) ? 'day' : 'month';
}

/** The names of columns that are dates, if nearly all names with digits are. */
function datesIn(names: readonly string[]): { readonly names: readonly string[]; readonly dates: DateFormats } | null {
  const dated = names.filter((name) => /\d/.test(name));
  const dates = dated.length >= 2 ? new Column('', dated).dates : null;
  if (dates === null) return null;
  const readers = dates.formats.map(dateIn);
  return { names: dated.filter((name) => readers.some((read) => read(name) !== null)), dates };
}

function currencyOf(columns: readonly Column[]): CurrencyGuess {
  const found = columns.filter(({ distinct }) => mostlyCurrencies([...distinct]));
  const quotes = found.filter(({ name }) => QUOTE_NAME.test(name));
  const [best, ...others] = quotes.length > 0 ? quotes : found;
  if (best === undefined || others.length > 0) return { kind: 'unknown', candidates: found.map(({ name }) => name) };
  return { kind: 'column', column: best.name, codes: [...best.distinct] };
}

/** A code in capitals, or after `_` at the end or before `_per_`: `close_usd`, `price_eur_per_litre`. */
function currencyNamedBy([value, ...others]: readonly Column[]): CurrencyGuess | null {
  const words = value?.name.match(/(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])|(?<=_)[a-z]{3}(?=$|_per_)/g) ?? [];
  const [code, ...more] = words.map((word) => word.toUpperCase()).filter((word) => checkCurrencyCode(word) === null);
  return code === undefined || more.length > 0 || others.length > 0 ? null : { kind: 'named', code };
}

function mostlyCurrencies(codes: readonly string[]): boolean {
  const known = codes.filter((code) => code.length === 3 && checkCurrencyCode(code.toUpperCase()) === null);
  return known.length > 0 && known.length >= codes.length * 0.9;
}
