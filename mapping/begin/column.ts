/** One column of a file, as far as it was read: its formats of numbers and dates, and its other texts. */
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import { ambiguousDate, dateReader } from '../values/date-format.ts';
import { areHundredths, HUNDREDTHS, LETTERS } from '../values/hundredths.ts';
import { type NumberFormat, numberReader } from '../values/number-format.ts';

/** The simplest first: if two formats read all texts alike, the first is taken. */
const NUMBER_FORMATS: readonly NumberFormat[] = [
  { decimalMark: '.' },
  { decimalMark: ',' },
  { decimalMark: '.', groupMark: ',' },
  { decimalMark: ',', groupMark: '.' },
  { decimalMark: '.', groupMark: ' ' },
  { decimalMark: ',', groupMark: ' ' },
  { decimalMark: '.', groupMark: "'" },
  { decimalMark: ',', groupMark: "'" },
];

const TIMES = ['HH:mm', 'HH:mmZ', 'HH:mm:ss', 'HH:mm:ssZ', 'HH:mm:ss.S', 'HH:mm:ss.SZ'];
/** Counts since 1970, with the digits that they have from 1973 to 2286. */
const COUNTS: ReadonlyMap<string, RegExp> = new Map([
  ['unix-seconds', /^\d{9,10}$/],
  ['unix-milliseconds', /^\d{12,13}$/],
]);
const DATE_FORMATS: readonly string[] = [
  ...['YYYY-MM-DD', 'YYYY/MM/DD', 'YYYY.MM.DD', 'YYYYMMDD', 'YYYY-M-D', 'YYYY/M/D', 'YYYY.M.D'],
  ...['DD.MM.YYYY', 'D.M.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY', 'D/M/YYYY', 'M/D/YYYY', 'DD-MM-YYYY', 'MM-DD-YYYY'],
  ...['DD-MMM-YYYY', 'D MMM YYYY', 'MMM D, YYYY', 'D MMMM YYYY', 'MMMM D, YYYY'],
  ...COUNTS.keys(),
  ...['YYYY-MM', 'YYYY/MM', 'YYYYMM', 'MM/YYYY', 'MMM YYYY', 'MMM-YYYY', 'MMMM YYYY', 'YYYYQ', 'YYYY-Q', 'YYYY'],
  ...["YYYY'M'MM", "YYYY'M'M", "YYYY-'M'MM", 'YYYY MMM', 'YYYY Q', 'Q YYYY', 'MMM-YY', 'MMM YY', 'D-MMM-YY'],
  ...['D MMM YY', 'DD.MM.YY', 'D.M.YY', 'YY.MM.DD', 'DD/MM/YY', 'MM/DD/YY', 'D/M/YY', 'M/D/YY'],
  ...TIMES.flatMap((time) =>
    ['YYYY-MM-DDT', 'YYYY-MM-DD ', 'YYYY/MM/DD ', 'DD/MM/YYYY ', 'MM/DD/YYYY ', 'DD.MM.YYYY '].flatMap((day) => {
      return [day + time, `${day}${time} - ${day}${time}`];
    }),
  ),
];
/** Forms of a time in a column of its own; and the numbers of parts of a day, of which the first that fits is probable. */
const CLOCK_FORMATS = ['HH:mm', 'HH:mm:ss', 'HH:mm - HH:mm', 'HH - HH', 'H'];
const NUMBERED = ['#60', '#30', '#15'];

/** A number between signs: currencies and their hundredths, perhaps for a thing, and percent: `$3`, `1,5 %`, `12,3 ct/kWh`. */
const CURRENCY = '[A-Z]{0,3}\\p{Sc}|[A-Z]{3}(?![A-Z])';
const THING = '(?:\\s?/\\s?|\\s(?:per|pro)\\s)\\p{L}[\\p{L}²³ ]*';
const SIGNED = new RegExp(
  `^([-\\u2212]?)\\s*((?:${CURRENCY})?)\\s*(.*?)\\s*((?:(?:${CURRENCY}|%|${HUNDREDTHS}|${LETTERS})\\.?(?:${THING})?)?)$`,
  'isu',
);
/** After this many different texts, formats that have read none of them are not tried any more. */
const TEXTS_TRIED = 500;
/** The least share of dates among the different texts of a date column. */
const LEAST_DATES = 0.75;
/** The same if the column is named so: a short one may have a bad date. */
const LEAST_DATES_IF_NAMED = 0.5;
export const DATE_NAME =
  /^(date|datum|fecha|day|tag|time|timestamp|period|month|quarter|year|datetime|time_period|ref_date|observation_date|unix_?(time|seconds|millis(econds)?|ts)|epoch)$/i;
/** The least share of cells that a further format must read. Smaller groups are only mentioned. */
const LEAST_SECOND = 0.01;
const FORMATS_MAX = 4;
/** The share of texts such as `0101` above which a column has codes, such as those of customs, of which most begin otherwise. */
const LEAST_CODES = 0.05;

/** The possible formats of a column. Several if each reads all of the texts, with different results. */
export interface Candidates<Format> {
  readonly formats: readonly Format[];
  /** The number of different texts that the formats read. */
  readonly count: number;
  /** A text that the candidates read with different results. */
  readonly example: string;
}

/** The formats to try, in order. If they are ambiguous, only one of them is right, and the file does not show which one. */
export interface DateFormats {
  readonly formats: readonly string[];
  readonly isAmbiguous: boolean;
  readonly example: string;
}

export class Column {
  readonly name: string;
  readonly cells: readonly string[];
  /** Cells that are not blank. */
  readonly filled: number;
  /** The different texts of these cells. */
  readonly distinct: ReadonlySet<string>;
  /** Texts without a digit, and how often they occur. */
  readonly words: ReadonlyMap<string, number>;
  /** The other texts, without currency signs around a number. */
  readonly numbers: ReadonlySet<string>;
  readonly signs: ReadonlySet<string>;
  readonly zeros: number;
  readonly isIntegers: boolean;
  #number: Candidates<NumberFormat> | null | undefined;
  #dates: DateFormats | null | undefined;

  constructor(name: string, cells: readonly string[]) {
    this.name = name;
    this.cells = cells;
    const filled = cells.filter((cell) => cell !== '');
    this.filled = filled.length;
    this.distinct = new Set(filled);
    const [words, numbers, signs] = [new Map<string, number>(), new Set<string>(), new Set<string>()];
    let [zeros, isIntegers] = [0, true];
    for (const text of filled) {
      if (!/\d/.test(text)) {
        words.set(text, (words.get(text) ?? 0) + 1);
        continue;
      }
      const parts = SIGNED.exec(text);
      const isSigned = parts !== null && [parts[2], parts[4]].every((sign = '') => sign === '' || isSign(sign));
      const [, minus = '', before = '', digits = '', after = ''] = isSigned ? parts : ['', '', '', text];
      for (const sign of [before, after]) if (sign !== '') signs.add(sign);
      numbers.add(minus + digits);
      if (/^[0.,]+$/.test(digits)) zeros += 1;
      isIntegers &&= /^\d+$/.test(digits);
    }
    this.words = words;
    this.numbers = numbers;
    this.signs = signs;
    this.zeros = zeros;
    this.isIntegers = isIntegers && numbers.size > 0;
  }

  get blank(): number {
    return this.cells.length - this.filled;
  }

  get wordCount(): number {
    return [...this.words.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The notation of its numbers; null if less than half of its texts with digits are numbers, or if these are codes. */
  get number(): Candidates<NumberFormat> | null {
    if (this.#number === undefined) {
      const codes = [...this.numbers].filter((text) => /^0\d/.test(text)).length;
      this.#number = codes > this.numbers.size * LEAST_CODES ? null : numberFormatOf([this]);
    }
    return this.#number;
  }

  /** Null: it is not a date column. */
  get dates(): DateFormats | null {
    const least = DATE_NAME.test(this.name) ? LEAST_DATES_IF_NAMED : LEAST_DATES;
    if (this.#dates === undefined)
      this.#dates = dateFormatsOf(
        this.cells.filter((cell) => cell !== ''),
        least,
      );
    return this.#dates;
  }
}

/** Three letters beside a number are a sign only if they are a currency: `5 EUR`, but not `5 pcs`. */
function isSign(sign: string): boolean {
  const [code] = /^[a-z]{3}(?![a-z])/i.exec(sign) ?? [];
  return code === undefined || areHundredths(sign) || checkCurrencyCode(code) === null;
}

/** Whether its name and the digits of each cell say that it has dates, and no known format reads them. */
export function hasUnreadDates({ name, dates, words, filled }: Column): boolean {
  return DATE_NAME.test(name) && dates === null && words.size === 0 && filled > 0;
}

/** The common notation of several columns. */
export function numberFormatOf(columns: readonly Column[]): Candidates<NumberFormat> | null {
  const texts = [...new Set(columns.flatMap(({ numbers }) => [...numbers]))];
  const best = bestOf(NUMBER_FORMATS, texts, numberReader);
  if (best === null || best.count * 2 < texts.length) return null;
  const found = new Set(columns.flatMap((column) => [...column.signs]));
  // The reader takes the first sign that fits: `EUR/MWh` before `EUR`.
  const signs = [...found].sort((one, other) => other.length - one.length);
  if (signs.length === 0) return best;
  return { ...best, formats: best.formats.map((format) => ({ ...format, signs })) };
}

/** A column of dates and one of times as a single one, with its formats. Null: no known form reads the times. */
export function joinedDates({ name, cells }: Column, formats: readonly string[], time: Column) {
  const most = [...time.distinct].reduce((largest, text) => Math.max(largest, Number(text)), 0);
  const number = NUMBERED.filter((format) => most * Number(format.slice(1)) <= 25 * 60).slice(0, 1);
  const both = formats.flatMap((format) => [...CLOCK_FORMATS, ...number].map((each) => `${format} ${each}`));
  const column = new Column(
    name,
    cells.map((cell, row) => `${cell} ${time.cells[row]}`.trim()),
  );
  const dates = dateFormatsOf(column.cells, LEAST_DATES, both);
  return dates && { column, ...dates };
}

function dateFormatsOf(cells: readonly string[], least: number, known = DATE_FORMATS): DateFormats | null {
  const texts = [...new Set(cells)];
  const tried = texts.slice(0, TEXTS_TRIED);
  const candidates = known.filter((format) => tried.some(dateIn(format)));
  const formats: string[] = [];
  let rest = texts;
  while (formats.length < FORMATS_MAX) {
    const best = bestOf(candidates, rest, momentIn);
    if (best === null) break;
    const [format] = best.formats as [string];
    if (best.formats.length > 1 && formats.length === 0) {
      return best.count < least * texts.length ? null : { ...best, isAmbiguous: true };
    }
    if (best.formats.length > 1 || ambiguousDate([...formats, format]) !== null) break;
    const read = dateIn(format);
    const found = new Set(rest.filter((text) => read(text) !== null));
    const count = cells.filter((cell) => found.has(cell)).length;
    if (formats.length > 0 && count < LEAST_SECOND * cells.length) break;
    formats.push(format);
    rest = rest.filter((text) => !found.has(text));
  }
  const count = texts.length - rest.length;
  return count === 0 || count < least * texts.length ? null : { formats, isAmbiguous: false, example: '' };
}

/** Reads a date in a plausible year. */
export function dateIn(format: string) {
  const read = dateReader(format);
  return (text: string) => {
    const found = COUNTS.get(format)?.test(text) === false ? null : read(text);
    return found !== null && found.date > '1500' && found.date < '2200' ? found : null;
  };
}

function momentIn(format: string): (text: string) => string | null {
  const read = dateIn(format);
  return (text) => {
    const found = read(text);
    return found && JSON.stringify(found);
  };
}

/** The format that reads most texts, and the others that read as many but with different results. Null: no format reads any. */
function bestOf<Format>(
  formats: readonly Format[],
  texts: readonly string[],
  readerOf: (format: Format) => (text: string) => string | null,
): Candidates<Format> | null {
  const tried = formats.map((format) => {
    const readings = texts.map(readerOf(format));
    return { format, readings, count: readings.filter((reading) => reading !== null).length };
  });
  const most = Math.max(0, ...tried.map(({ count }) => count));
  const [first, ...others] = tried.filter(({ count }) => count === most);
  if (first === undefined || most === 0) return null;
  const differAt = (one: readonly (string | null)[], other: readonly (string | null)[]) =>
    one.findIndex((reading, index) => reading !== null && other[index] !== null && reading !== other[index]);
  const kept = [first];
  for (const other of others) {
    if (kept.every(({ readings }) => differAt(readings, other.readings) >= 0)) kept.push(other);
  }
  const [, rival] = kept;
  const example = rival === undefined ? '' : (texts[differAt(first.readings, rival.readings)] ?? '');
  return { formats: kept.map(({ format }) => format), count: most, example };
}
