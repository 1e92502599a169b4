/** Guesses the meaning of a file's columns. */
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import type { MappedDate } from '../declared/csv-mapping.ts';
import { hasDay, hasMonth, hasQuarter, hasTime } from '../values/date-format.ts';
import { type NumberFormat, numberReader } from '../values/number-format.ts';
import {
  type Candidates,
  Column,
  DATE_NAME,
  type DateFormats,
  dateIn,
  hasUnreadDates,
  joinedDates,
  numberFormatOf,
} from './column.ts';
import { doubtsOf, guessMarketColumns, type MarketColumns } from './guess-market-columns.ts';
import { hundredthsColumnOf, type Quoting, quantityColumnOf, quantityNamedBy } from './guess-quoted.ts';
import { linkColumn } from './table.ts';

export interface DateGuess extends DateFormats {
  /** Null: the dates are in the header. */
  readonly column: Column | null;
  readonly precision: MappedDate['precision'];
  /** The column with the time of the date. Null: none, or the date has it. */
  readonly time: string | null;
  /** Another date column, for rows in which this one is blank. */
  readonly whenBlank: { readonly column: string; readonly formats: readonly string[] } | null;
  /** Whether its name shows that it is the date, and no other column could be part of it or replace it. */
  readonly isSure: boolean;
  /** These other columns: dates and times of day. */
  readonly rivals: readonly string[];
}

export type CurrencyGuess =
  /** The codes are in a column of the file, or in the header of a wide table. */
  | {
      readonly kind: 'column' | 'header';
      readonly column: string;
      readonly codes: readonly string[];
      /** Whether the numbers may also be prices of these currencies, and not amounts of them. */
      readonly isAmbiguous: boolean;
    }
  /** The name of the price column contains the code, as in `Price (EUR)`. */
  | { readonly kind: 'named'; readonly code: string }
  | { readonly kind: 'unknown'; readonly candidates: readonly string[] };

export interface ColumnGuess extends Quoting {
  /** The columns with values, if there are several; null for a file with one. */
  readonly wide: readonly Column[] | null;
  readonly date: DateGuess | null;
  /** Several if the file does not show which column has the price; empty if no column may have it. */
  readonly values: readonly Column[];
  /** `differing`: a column with another notation than the others. */
  readonly number: (Candidates<NumberFormat> & { readonly differing?: string }) | null;
  readonly market: MarketColumns;
  readonly currency: CurrencyGuess;
}

const VALUE_NAME = /^(price|value|rate|close|last|settle|obs_?value|amount)$/i;
const LIKE_VALUE_NAME = /price|value|rate|close|amount/i;
const NO_VALUE_NAME =
  /(^|_)(id|line|no|nr|num|number|year|month|day|lat|lon|latitude|longitude|volume|count|code|zip|index)$/i;
/** Parts of a quote: several numbers of one market, not several markets. */
const QUOTE_PART_NAME =
  /^(open|high|low|close|last|bid|ask|mid|settle|volume|vwap|(adj|adjusted)[ ._]?close|turnover)\*?$/i;
const LIKE_DATE_NAME = /date|time|day|month|quarter|year|period|unix|epoch/i;
/** Names of a part of a moment, besides its date. */
const TIME_NAME = /(^|[^a-z])(hour|hours|hr|time|minute|interval|zeit|uhrzeit|stunde|hora|ora|heure)([^a-z]|$)/i;
const PART_NAME = /(^|[^a-z])(period|periodo|mtu)([^a-z]|$)/i;
const TIME_OF_DAY = /^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const QUOTE_NAME = /quote|counter|target|^to$|curr|ccy/i;

/** @param ownName the name of a column that our reader has added */
export function guessColumns(columns: readonly Column[], ownName?: string): ColumnGuess {
  const guess = guessMeanings(columns, ownName);
  return { ...guess, hundredths: hundredthsColumnOf(columns, guess.values) };
}

function guessMeanings(columns: readonly Column[], ownName?: string): Omit<ColumnGuess, 'hundredths'> {
  const link = linkColumn(columns);
  const named = columns.filter((column) => column.name !== '' && column !== link);
  const dates = named.flatMap((column) => {
    const found = column.dates;
    // A price such as 1950 or 202601 may look like a year or a month.
    const isCount = /^\d+$/.test(column.name) && found?.formats.every((format) => format.startsWith('unix-')) === true;
    const isNumber = column.isIntegers && column.words.size === 0 && !LIKE_DATE_NAME.test(column.name) && !isCount;
    return found === null || isNumber ? [] : [{ column, ...found }];
  });
  const [own, second] = dates.sort((one, other) => dateScore(other.column) - dateScore(one.column));
  const isDate = (column: Column) => dates.some((date) => date.column === column);
  const times = named.filter((column) => (own === undefined ? hasUnreadDates : isTimePart)(column) && !isDate(column));
  const isTime = (column: Column) => isDate(column) || times.includes(column);
  const numbers = named.filter((column) => !isTime(column) && isNumeric(column));
  const texts = named.filter((column) => !isTime(column) && !numbers.includes(column) && !isBlank(column));

  const inHeader = own === undefined ? datesIn(named.map(({ name }) => name)) : null;
  if (inHeader !== null) {
    const wide = named.filter(({ name }) => inHeader.names.includes(name));
    const match = texts.filter((column) => !wide.includes(column));
    const currency = withDoubt(currencyOf(match), match, []);
    const ofCurrency = currency.kind === 'column' ? currency.column : null;
    const { formats } = inHeader.dates;
    const date = { ...inHeader.dates, precision: precisionOf(formats), column: null, time: null, whenBlank: null };
    return {
      ...{
        wide,
        values: wide,
        number: sharedNumberFormat(wide),
        currency,
        quoted: quantityColumnOf(numbers.filter((column) => !wide.includes(column))),
      },
      date: { ...date, isSure: true, rivals: [] },
      market: { match, others: [], ...doubtsOf(match, [], null, ofCurrency) },
    };
  }

  let date: DateGuess | null = null;
  if (own !== undefined) {
    const isFuller = second !== undefined && second.column.blank < own.column.blank;
    const others = dates.filter(({ column }) => column !== own.column && LIKE_DATE_NAME.test(column.name));
    const [time] = others.length + times.length === 1 && precisionOf(own.formats) === 'day' ? times : [];
    const joined = time === undefined ? null : joinedDates(own.column, own.formats, time);
    const rivals = joined === null ? [...others.map(({ column }) => column), ...times].map(({ name }) => name) : [];
    // In a document, the name is the last part of a place. A position has no meaning.
    const [lastPart = ''] = own.column.name.split(/[/@]/).slice(-1);
    const isNamed = own.column.name === ownName || DATE_NAME.test(lastPart) || /^\d+$/.test(lastPart);
    const whenBlank = isFuller ? { column: second.column.name, formats: second.formats } : null;
    const found = joined ?? own;
    const isSure = isNamed && rivals.length === 0;
    const ofTime = (joined && time?.name) ?? null;
    date = { ...found, precision: precisionOf(found.formats), time: ofTime, whenBlank, isSure, rivals };
  }
  const measures = numbers.filter(({ name }) => !NO_VALUE_NAME.test(name));
  // The only column of numbers is the price.
  const quoted = measures.length > 1 ? quantityColumnOf(measures) : null;
  const plain = measures.filter((column) => column !== quoted?.column);
  const arePrices = plain.some(({ name }) => QUOTE_PART_NAME.test(name) || VALUE_NAME.test(name));
  if (texts.length === 0 && plain.length > 1 && !arePrices) {
    // A column that is blank so far may get values in later rows.
    const wide = named.filter((column) => plain.includes(column) || isBlank(column));
    const market = { match: [], others: [], isSure: true, isUnique: true };
    const codes = wide.map(({ name }) => name);
    const currency: CurrencyGuess = mostlyCurrencies(codes)
      ? { kind: 'header', column: '', codes, isAmbiguous: true }
      : (currencyNamedBy(wide) ?? { kind: 'unknown', candidates: [] });
    return { wide, date, values: wide, number: sharedNumberFormat(wide), market, currency, quoted };
  }

  const values = bestValues(plain);
  const ofTexts = withDoubt(currencyOf(texts), texts, values);
  const currency = (ofTexts.kind === 'unknown' && currencyNamedBy(values)) || ofTexts;
  const candidates = named.filter((column) => !isTime(column) && !values.includes(column) && column !== quoted?.column);
  const ofCurrency = currency.kind === 'column' ? currency.column : null;
  const market = guessMarketColumns(candidates, date?.column ?? null, ofCurrency);
  // Several rows have this date, and no column distinguishes them. So it may not be their date.
  const isOpen = !market.isUnique && market.match.length === 0 && market.others.length === 0;
  return {
    ...{ wide: null, values, number: sharedNumberFormat(values), market, currency, quoted },
    date: date === null ? null : { ...date, isSure: date.isSure && !isOpen },
  };
}

function isTimePart({ name, distinct, isIntegers }: Column): boolean {
  if (TIME_NAME.test(name) || (isIntegers && PART_NAME.test(name))) return true;
  return distinct.size > 1 && [...distinct].every((text) => TIME_OF_DAY.test(text));
}

function isNumeric(column: Column): boolean {
  const { number, numbers, filled, wordCount, signs } = column;
  // Beside a currency sign, ranges and footnotes are prices, too: without this column, another one would be the price.
  const isMostly = number !== null && number.count >= ([...signs].some(isCurrencySign) ? 0.5 : 0.9) * numbers.size;
  return isMostly && 2 * (filled - wordCount) >= filled - blankWords(column);
}

const isCurrencySign = (sign: string) => /^\p{Sc}$/u.test(sign);

/** Texts that stand for a missing number. They fill most of the column of a currency that has ended. */
const BLANK_WORD = /^(#?n[/.]?a\.?|nan|n\.?d\.?|null|none|[-–—]+|\.+)$/i;

function blankWords({ words }: Column): number {
  return [...words].reduce((sum, [word, count]) => sum + (BLANK_WORD.test(word) ? count : 0), 0);
}

/** Whether no row so far has a value in this column. */
function isBlank(column: Column): boolean {
  return column.filled === blankWords(column);
}

function dateScore({ name, blank, cells }: Column): number {
  const byName = DATE_NAME.test(name) ? 2 : LIKE_DATE_NAME.test(name) ? 1 : 0;
  return byName - blank / (cells.length + 1) / 2;
}

/** The columns with the highest score. Their names, decimals and many different numbers count. */
function bestValues(columns: readonly Column[]): readonly Column[] {
  const scores = columns.map(({ name, isIntegers, distinct, cells }) => {
    const byName = VALUE_NAME.test(name) ? 4 : LIKE_VALUE_NAME.test(name) ? 2 : 0;
    return byName + (isIntegers ? 0 : 1) + (distinct.size > cells.length / 20 ? 0.5 : 0);
  });
  return columns.filter((_, index) => scores[index] === Math.max(...scores));
}

/** One notation for all cells of all value columns; or the notations of each column, if no single one reads them all. */
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
  return { kind: 'column', column: best.name, codes: [...best.distinct], isAmbiguous: false };
}

const PRICE_NAME = /price|cost|fee|preis|prix|close|settle/i;
const RATE_NAME = /rate|kurs|cours|exchange|fx/i;
/** Names of a column with the currency in which another one is quoted. */
const COUNTER_NAME = /quote|counter|target|^to$/i;

/**
 * A list of exchange rates with one column of currencies does not show whether a number is an amount of the currency, or its
 * price in another one. Beside a thing, such as rice, the currency is that of the price.
 */
function withDoubt(guess: CurrencyGuess, texts: readonly Column[], [value]: readonly Column[]): CurrencyGuess {
  if (guess.kind !== 'column' || COUNTER_NAME.test(guess.column)) return guess;
  const name = value?.name ?? '';
  // `Currency units per £1`: an amount of the currency.
  if (isCurrency(quantityNamedBy(name)?.of ?? '')) return guess;
  const others = texts.filter((column) => column.name !== guess.column);
  const isPrice = PRICE_NAME.test(name) && !RATE_NAME.test(name) && others.length > 0;
  const own = texts.find((column) => column.name === guess.column);
  // Names of the currencies or of their countries identify nothing more.
  const isAlone = others.every((other) => own !== undefined && isFixedBy(other, own));
  return { ...guess, isAmbiguous: !isPrice && (isAlone || RATE_NAME.test(name)) };
}

/** Whether a text of the other column always has the same text of this column beside it. */
function isFixedBy(one: Column, other: Column): boolean {
  return new Set(one.cells.map((cell, row) => JSON.stringify([other.cells[row], cell]))).size <= other.distinct.size;
}

function isCurrency(code: string): boolean {
  return code.length === 3 && checkCurrencyCode(code.toUpperCase()) === null;
}

/** The only currency that the name and the cells of each column show. */
function currencyNamedBy(values: readonly Column[]): CurrencyGuess | null {
  const codes = values.map(({ name, signs }) => [name, ...signs].flatMap(codesIn));
  const [code, ...more] = new Set(codes.flat());
  const isOfAll = codes.every(({ length }) => length > 0);
  return code === undefined || more.length > 0 || !isOfAll ? null : { kind: 'named', code };
}

/** Codes in capitals, or after `_` and at the end or before `_per_`: `close_usd`, `price_eur_per_litre`. The euro has one sign. */
function codesIn(text: string): string[] {
  const words = text.match(/(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])|(?<=_)[a-z]{3}(?=$|_per_)|^[a-z]{3}(?=_per_)/g) ?? [];
  const codes = words.map((word) => word.toUpperCase()).filter((word) => checkCurrencyCode(word) === null);
  return text.includes('€') ? [...codes, 'EUR'] : codes;
}

function mostlyCurrencies(codes: readonly string[]): boolean {
  const known = codes.filter(isCurrency);
  return known.length > 0 && known.length >= codes.length * 0.9;
}
