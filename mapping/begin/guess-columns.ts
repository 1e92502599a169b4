/** Guesses the meaning of a file's columns. */
import { checkCurrencyCode } from '../../contract/values/currencies.ts';
import type { MappedDate } from '../declared/csv-mapping.ts';
import { dateReader, hasDay, hasMonth, hasQuarter, hasTime } from '../values/date-format.ts';
import type { NumberFormat } from '../values/number-format.ts';
import { type Candidates, ColumnProfile } from './column-profile.ts';
import { guessMarketColumns, type MarketColumns, namingColumns } from './guess-market-columns.ts';
import { linkColumn, type TableProfile } from './table-profile.ts';

export interface DateGuess {
  /** Null if the dates stand in the header. */
  readonly column: ColumnProfile | null;
  readonly formats: readonly string[];
  /** Whether only one of the formats is right, and the file does not say which one. */
  readonly isAmbiguous: boolean;
  readonly example: string;
  readonly precision: MappedDate['precision'];
  /** Another column of dates, for rows in which this one is blank. */
  readonly whenBlank: { readonly column: string; readonly formats: readonly string[] } | null;
  /** Whether its name says that it is the date, and no other column could be a part of it or in its place. */
  readonly isSure: boolean;
  /** Those other columns: dates and times of day. */
  readonly rivals: readonly string[];
}

export type CurrencyGuess =
  /** `isSpeltOut`: the codes are ISO 4217's as they are; else they need a table. */
  | {
      /** The codes stand in a column of the file, or in the header of a wide table. */
      readonly kind: 'column' | 'header';
      readonly column: string;
      readonly codes: readonly string[];
      readonly isSpeltOut: boolean;
    }
  /** The name of the column of prices says it, such as `Price (EUR)`. */
  | { readonly kind: 'named'; readonly column: string; readonly code: string }
  | { readonly kind: 'unknown'; readonly candidates: readonly string[] };

export interface ColumnGuess {
  /** The columns with values, if there are several; null for a file with one. */
  readonly wide: readonly ColumnProfile[] | null;
  readonly date: DateGuess | null;
  /** More than one if the file does not say which column holds the price; none if no column looks like one. */
  readonly values: readonly ColumnProfile[];
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

/** The name of the column that `unpivot` adds with a value, and of that with a date. */
export const ADDED = { value: 'value', date: 'date', market: 'market', currency: 'currency' } as const;

/** @param ownName a column that this file's reader has named */
export function guessColumns(table: TableProfile, ownName?: string): ColumnGuess {
  const link = linkColumn(table);
  const named = table.columns.filter((column) => column.name !== '' && column !== link);
  const dates = named.flatMap((column) => {
    const found = column.dateFormat();
    // A price such as 1950 or 202601 may be a year or a month by chance.
    const isCount = /^\d+$/.test(column.name) && found?.formats.every((format) => format.startsWith('unix-')) === true;
    const isNumber = column.integers === column.filled && !LIKE_DATE_NAME.test(column.name) && !isCount;
    return found === null || isNumber ? [] : [{ column, ...found }];
  });
  const [ownDate, secondDate] = dates.sort((one, other) => dateScore(other) - dateScore(one));
  const isDate = (column: ColumnProfile) => dates.some((date) => date.column === column);
  const times = named.filter((column) => !isDate(column) && isTimePart(column));
  const isTime = (column: ColumnProfile) => isDate(column) || (ownDate !== undefined && times.includes(column));
  const numbers = named.filter((column) => !isTime(column) && isNumeric(column));
  const texts = named.filter((column) => !isTime(column) && !numbers.includes(column) && !isBlank(column));

  const inHeader = ownDate === undefined ? datesIn(named.map(({ name }) => name)) : null;
  if (inHeader !== null) {
    const wide = named.filter(({ name }) => inHeader.names.includes(name));
    const others = texts.filter((column) => !wide.includes(column));
    const currency = currencyOf(others);
    const market = namingColumns(table, others, currency.kind === 'column' ? currency.column : null);
    const date = {
      column: null,
      ...inHeader.format,
      precision: precisionOf(inHeader.format.formats),
      ...{ whenBlank: null, isSure: true, rivals: [] },
    };
    return { wide, date, values: wide, number: numberFormatOf(wide), market, currency };
  }

  const date: DateGuess | null =
    ownDate === undefined
      ? null
      : {
          ...ownDate,
          precision: precisionOf(ownDate.formats),
          whenBlank:
            ownDate.column.blank > 0 && secondDate !== undefined && secondDate.column.blank < ownDate.column.blank
              ? { column: secondDate.column.name, formats: secondDate.formats }
              : null,
          ...doubtsOf(
            ownDate.column,
            dates.flatMap(({ column }) => (column === ownDate.column ? [] : [column])),
            times,
            ownName,
          ),
        };
  const plain = numbers.filter(({ name }) => !NO_VALUE_NAME.test(name));
  const isWide =
    texts.length === 0 &&
    plain.length > 1 &&
    !plain.some(({ name }) => QUOTE_PART_NAME.test(name) || VALUE_NAME.test(name));
  if (isWide) {
    // A column that is blank in each row so far may get values.
    const wide = named.filter((column) => plain.includes(column) || isBlank(column));
    const market = { match: [], others: [], isSure: true, isUnique: true };
    const codes = wide.map(({ name }) => name);
    return { wide, date, values: wide, number: numberFormatOf(wide), market, currency: currencyOfNames(codes) };
  }

  const values = bestValues(plain, table.rows);
  const ofTexts = currencyOf(texts);
  const currency = (ofTexts.kind === 'unknown' && currencyNamedBy(values)) || ofTexts;
  const candidates = named.filter((column) => !isTime(column) && !values.includes(column));
  const market = guessMarketColumns(
    table,
    candidates,
    date?.column ?? null,
    currency.kind === 'column' ? currency.column : null,
  );
  // Rows of one date that no column tells apart: then it may not be their date.
  const isOpen = !market.isUnique && market.match.length === 0 && market.others.length === 0;
  return {
    ...{ wide: null, values, number: numberFormatOf(values), market, currency },
    date: date === null ? null : { ...date, isSure: date.isSure && !isOpen },
  };
}

/** The time of all observations hangs on their date, so any doubt is left to a person. */
function doubtsOf(
  own: ColumnProfile,
  others: readonly ColumnProfile[],
  times: readonly ColumnProfile[],
  ownName: string | undefined,
): Pick<DateGuess, 'isSure' | 'rivals'> {
  // In a document: the last part of a place, or a position, which says nothing.
  const [lastPart = ''] = own.name.split(/[/@]/).slice(-1);
  const isNamed = own.name === ownName || DATE_NAME.test(lastPart) || /^\d+$/.test(lastPart);
  const rivals = [...others.filter(({ name }) => LIKE_DATE_NAME.test(name)), ...times].map(({ name }) => name);
  return { isSure: isNamed && rivals.length === 0, rivals };
}

function isTimePart(column: ColumnProfile): boolean {
  const texts = [...(column.distinct?.keys() ?? [])];
  return TIME_NAME.test(column.name) || (texts.length > 1 && texts.every((text) => TIME_OF_DAY.test(text)));
}

function isNumeric(column: ColumnProfile): boolean {
  const number = column.numberFormat();
  const stated = column.filled - blankWords(column);
  return number !== null && number.share >= 0.9 && number.share * (column.filled - column.wordCount) >= stated / 2;
}

/** Texts that stand for a missing number. A column of a currency that has ended is mostly these. */
const BLANK_WORD = /^(#?n[/.]?a\.?|nan|n\.?d\.?|null|none|[-–—]+|\.+)$/i;

function blankWords({ words }: ColumnProfile): number {
  return [...words].reduce((sum, [word, count]) => sum + (BLANK_WORD.test(word) ? count : 0), 0);
}

/** Whether no row so far has a value of the column. */
function isBlank(column: ColumnProfile): boolean {
  return column.filled === blankWords(column);
}

function dateScore({ column }: { readonly column: ColumnProfile }): number {
  const byName = DATE_NAME.test(column.name) ? 2 : LIKE_DATE_NAME.test(column.name) ? 1 : 0;
  return byName - column.blank / (column.rows + 1) / 2;
}

/** The columns with the highest score: their names, decimals, and many different numbers speak for them. */
function bestValues(columns: readonly ColumnProfile[], rows: number): readonly ColumnProfile[] {
  const score = (column: ColumnProfile) => {
    const byName = VALUE_NAME.test(column.name) ? 4 : LIKE_VALUE_NAME.test(column.name) ? 2 : 0;
    const hasDecimals = column.integers < column.filled - column.wordCount ? 1 : 0;
    const isVaried = column.distinct === null || column.distinct.size > rows / 20 ? 0.5 : 0;
    return byName + hasDecimals + isVaried;
  };
  const scores = columns.map(score);
  return columns.filter((_, index) => scores[index] === Math.max(...scores));
}

/** One notation for all cells of all columns of values; the notations of each if no one reads them all. */
function numberFormatOf(columns: readonly ColumnProfile[]): ColumnGuess['number'] {
  const shared = ColumnProfile.numberFormatOf(columns);
  const [format = null] = shared?.formats ?? [];
  const own = columns.flatMap((column) => {
    const [best] = column.numberFormat()?.formats ?? [];
    return best === undefined ? [] : [{ column, best }];
  });
  const differs = own.find(({ column, best }) => format === null || column.countOf(best) > column.countOf(format));
  if (differs === undefined) return shared;
  const formats = new Map(own.map(({ best }) => [`${best.decimalMark}${best.groupMark}`, best]));
  return { formats: [...formats.values()], share: 0, example: '', differing: differs.column.name };
}

function precisionOf(formats: readonly string[]): DateGuess['precision'] {
  if (formats.every(hasTime)) return 'instant';
  if (!formats.every(hasMonth)) return formats.every(hasQuarter) ? 'quarter' : 'year';
  return formats.every(hasDay) ? 'day' : 'month';
}

/** The names of columns that are dates, if nearly all names with digits are. */
function datesIn(
  names: readonly string[],
): { names: string[]; format: { formats: readonly string[]; isAmbiguous: boolean; example: string } } | null {
  const profile = new ColumnProfile('', names.length);
  const dated = names.filter((name) => /\d/.test(name));
  for (const name of dated) profile.add(name);
  const format = dated.length >= 2 ? profile.dateFormat() : null;
  if (format === null) return null;
  const readers = format.formats.map(dateReader);
  return { names: dated.filter((name) => readers.some((read) => read(name) !== null)), format };
}

function currencyOf(columns: readonly ColumnProfile[]): CurrencyGuess {
  const found = columns.flatMap((column) => {
    const codes = column.distinct === null ? [] : [...column.distinct.keys()];
    return mostlyCurrencies(codes) ? [{ column: column.name, codes }] : [];
  });
  const quotes = found.filter(({ column }) => QUOTE_NAME.test(column));
  const [best, ...others] = quotes.length > 0 ? quotes : found;
  if (best === undefined || others.length > 0)
    return { kind: 'unknown', candidates: found.map(({ column }) => column) };
  return { kind: 'column', ...best, isSpeltOut: best.codes.every((code) => code === code.toUpperCase()) };
}

/** A code in capitals, or at the end after `_`, as in `close_usd`. */
function currencyNamedBy(values: readonly ColumnProfile[]): CurrencyGuess | null {
  const [{ name: column } = { name: '' }, ...others] = values;
  const words = [...column.matchAll(/(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])|(?<=_)[a-z]{3}$/g)].map(([word]) =>
    word.toUpperCase(),
  );
  const [code, ...more] = words.filter((word) => checkCurrencyCode(word) === null);
  return code === undefined || more.length > 0 || others.length > 0 ? null : { kind: 'named', column, code };
}

function currencyOfNames(codes: readonly string[]): CurrencyGuess {
  if (!mostlyCurrencies(codes)) return { kind: 'unknown', candidates: [] };
  return {
    kind: 'header',
    column: ADDED.currency,
    codes,
    isSpeltOut: codes.every((code) => code === code.toUpperCase()),
  };
}

function mostlyCurrencies(codes: readonly string[]): boolean {
  const known = codes.filter((code) => code.length === 3 && checkCurrencyCode(code.toUpperCase()) === null);
  return known.length > 0 && known.length >= codes.length * 0.9;
}
