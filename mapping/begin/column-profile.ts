/** Looks at all cells of one column: distinct values, blanks, and how it writes numbers and dates. */

import { EARLIEST } from '../declared/map-observation.ts';
import { ambiguousDate, dateReader } from '../values/date-format.ts';
import { type NumberFormat, numberReader } from '../values/number-format.ts';

/** The simplest first: of two that read everything alike, the first is taken. */
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

const DAYS = [
  ...['YYYY-MM-DD', 'YYYY/MM/DD', 'YYYY.MM.DD', 'YYYYMMDD', 'YYYY-M-D', 'YYYY/M/D', 'YYYY.M.D'],
  ...['DD.MM.YYYY', 'D.M.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY', 'D/M/YYYY', 'M/D/YYYY', 'DD-MM-YYYY', 'MM-DD-YYYY'],
  ...['DD-MMM-YYYY', 'D MMM YYYY', 'MMM D, YYYY', 'D MMMM YYYY', 'MMMM D, YYYY'],
];
const PERIODS = [
  'YYYY-MM',
  'YYYY/MM',
  'YYYYMM',
  'MM/YYYY',
  'MMM YYYY',
  'MMM-YYYY',
  'MMMM YYYY',
  'YYYYQ',
  'YYYY-Q',
  'YYYY',
];
const TIMES = ['HH:mm', 'HH:mm:ss', 'HH:mm:ssZ', 'HH:mm:ss.S', 'HH:mm:ss.SZ'];
/** Counts since 1970, with the digits that they have from 1973 to 2286. */
const COUNTS: ReadonlyMap<string, RegExp> = new Map([
  ['unix-seconds', /^\d{9,10}$/],
  ['unix-milliseconds', /^\d{12,13}$/],
]);
const DATE_FORMATS: readonly string[] = [
  ...DAYS,
  ...COUNTS.keys(),
  ...PERIODS,
  ...TIMES.flatMap((time) =>
    ['YYYY-MM-DDT', 'YYYY-MM-DD ', 'YYYY/MM/DD ', 'DD/MM/YYYY ', 'MM/DD/YYYY ', 'DD.MM.YYYY '].map((day) => day + time),
  ),
];

/** The cells that the same formats read, and no others. */
interface Readings {
  readonly formats: readonly number[];
  count: number;
  readonly examples: string[];
  /** Of the first one, counted from 1; 0: the file has no lines. */
  readonly line: number;
}

/** A number between currency signs, perhaps. */
const SIGNED = /^([-\u2212]?)\s*(\p{Sc}?)\s*(.*?)\s*(\p{Sc}?)$/su;
const EXAMPLES = 20;
/** A column without a date in this many cells is not searched for dates any more. */
const DATE_TRIALS = 200;
const WORDS_MAX = 50;
/** The share of its cells that makes a column one of dates. Cells that only look like dates count, if they are a quarter at most. */
const LEAST_DATES = 0.9;
const SHAPES_MAX = 50;

/** Some cells of a column of dates: those that no calendar has, such as 2026-02-31, or those of one format. */
export interface SomeDates {
  readonly count: number;
  /** The first one. */
  readonly text: string;
  /** Counted from 1; 0: the file has no lines. */
  readonly line: number;
}

/** The formats of a column; more than one if each reads all cells, and they disagree. */
export interface Candidates<Format> {
  readonly formats: readonly Format[];
  /** The share of the cells, without blanks and words, that the formats read. */
  readonly share: number;
  /** A cell that the candidates read differently. */
  readonly example: string;
}

export class ColumnProfile {
  readonly name: string;
  rows = 0;
  blank = 0;
  zeros = 0;
  integers = 0;
  /** How many of its dates are on each day of the month, by the first format that reads them. */
  readonly daysOfMonth = new Map<string, number>();
  /** Dates before the year from which on they need no confirmation. */
  earlyDates = 0;
  /** Whether a date has a time of day other than midnight. */
  hasTimes = false;
  /** How often each value occurs; null if there are too many. */
  distinct: Map<string, number> | null = new Map();
  /** Texts without a digit, and how often they occur. */
  readonly words = new Map<string, number>();
  /** Currency signs beside its numbers. */
  readonly signs = new Set<string>();
  readonly #distinctMax: number;
  /** By the positions of the formats, joined. */
  readonly #numbers = new Map<string, Readings>();
  readonly #dates = new Map<string, Readings>();
  /** Cells with digits that are no dates, by the way in which they are written. */
  readonly #undated = new Map<string, SomeDates>();
  #seenFormats: readonly number[] = [];
  #mayBeDate = true;

  constructor(name: string, distinctMax: number) {
    this.name = name;
    this.#distinctMax = distinctMax;
  }

  get filled(): number {
    return this.rows - this.blank;
  }

  /** @param line on which the row begins, counted from 1; 0: the file has no lines */
  add(text: string, line = 0): void {
    this.rows += 1;
    if (text === '') {
      this.blank += 1;
      return;
    }
    this.#count(text);
    if (!/\d/.test(text)) {
      if (this.words.has(text) || this.words.size < WORDS_MAX) this.words.set(text, (this.words.get(text) ?? 0) + 1);
      return;
    }
    this.#readNumber(text);
    if (this.#mayBeDate) this.#readDate(text, line);
  }

  /** The notation of its numbers; null if fewer than half of its cells are numbers. */
  numberFormat(): Candidates<NumberFormat> | null {
    return ColumnProfile.numberFormatOf([this]);
  }

  /** The one notation of several columns. */
  static numberFormatOf(columns: readonly ColumnProfile[]): Candidates<NumberFormat> | null {
    const total = columns.reduce((sum, column) => sum + column.filled - column.wordCount, 0);
    const integers = columns.reduce((sum, column) => sum + column.integers, 0);
    const readings = columns.flatMap((column) => [...column.#numbers.values()]);
    const signs = [...new Set(columns.flatMap((column) => [...column.signs]))];
    const best = bestOf(NUMBER_FORMATS, readings, total, integers, numberReader);
    if (best === null || signs.length === 0) return best;
    return { ...best, formats: best.formats.map((format) => ({ ...format, signs })) };
  }

  /** How many of its cells are numbers in a notation. */
  countOf({ decimalMark, groupMark }: NumberFormat): number {
    const index = NUMBER_FORMATS.findIndex((each) => each.decimalMark === decimalMark && each.groupMark === groupMark);
    const readings = [...this.#numbers.values()].filter(({ formats }) => formats.includes(index));
    return readings.reduce((sum, { count }) => sum + count, this.integers);
  }

  /** The formats of its dates: tried in order, they read nearly all cells. Null if it is no column of dates. */
  dateFormat(): (Candidates<string> & { readonly isAmbiguous: boolean }) | null {
    let readings = [...this.#dates.values()];
    const read = (format: string) => {
      const reader = dateReader(format);
      return (text: string) => JSON.stringify(reader(text));
    };
    const formats: string[] = [];
    const impossible = (this.#impossibleDates?.count ?? 0) / Math.max(1, this.filled);
    let share = 0;
    while (formats.length < 4) {
      const best = bestOf(DATE_FORMATS, readings, this.filled, 0, read, 0.01);
      if (best === null) break;
      const [format] = best.formats as [string];
      if (best.formats.length > 1) {
        if (formats.length > 0) break;
        return best.share + impossible < LEAST_DATES ? null : { ...best, isAmbiguous: true };
      }
      if (ambiguousDate([...formats, format]) !== null) break;
      formats.push(format);
      share += best.share;
      readings = readings.filter((reading) => !reading.formats.includes(DATE_FORMATS.indexOf(format)));
    }
    return share + impossible < LEAST_DATES ? null : { formats, share, example: '', isAmbiguous: false };
  }

  get wordCount(): number {
    return [...this.words.values()].reduce((sum, count) => sum + count, 0);
  }

  #count(text: string): void {
    if (this.distinct === null) return;
    this.distinct.set(text, (this.distinct.get(text) ?? 0) + 1);
    if (this.distinct.size > this.#distinctMax) this.distinct = null;
  }

  #readNumber(written: string): void {
    const [, minus = '', before = '', number = '', after = ''] = SIGNED.exec(written) ?? [];
    const text = minus + number;
    for (const sign of [before, after]) if (sign !== '') this.signs.add(sign);
    if (/^-?[0.,]+$/.test(text)) this.zeros += 1;
    if (/^-?\d+$/.test(text)) {
      this.integers += 1;
      return;
    }
    const formats = ALL_NUMBERS.filter((index) => numberReaders[index]?.(text) !== null);
    if (formats.length > 0) note(this.#numbers, formats, text, 0);
  }

  #readDate(text: string, line: number): void {
    let formats = this.filled > DATE_TRIALS ? this.#datesOf(text, this.#seenFormats) : [];
    if (formats.length === 0) formats = this.#datesOf(text, ALL_DATES);
    if (formats.length > 0) {
      if (note(this.#dates, formats, text, line)) this.#seenFormats = [...new Set([...this.#seenFormats, ...formats])];
      return;
    }
    if (this.#dates.size === 0 && this.filled > DATE_TRIALS) this.#mayBeDate = false;
    const shape = shapeOf(text);
    const known = this.#undated.get(shape);
    if (known !== undefined) this.#undated.set(shape, { ...known, count: known.count + 1 });
    else if (this.#undated.size < SHAPES_MAX) this.#undated.set(shape, { count: 1, text, line });
  }

  /** Cells that look like dates, and that none of the formats reads. Null: no such cell. */
  unread(formats: readonly string[]): SomeDates | null {
    const others = [...this.#dates.values()].filter((reading) => !isReadBy(reading, formats)).map(someDates);
    const found = [...(this.#impossibleDates === null ? [] : [this.#impossibleDates]), ...others];
    const [first] = found.sort((one, other) => one.line - other.line);
    return first === undefined ? null : { ...first, count: found.reduce((sum, { count }) => sum + count, 0) };
  }

  /** The cells that one more format reads, behind the formats before it. */
  readOnlyBy(format: string, before: readonly string[]): SomeDates | null {
    const found = [...this.#dates.values()].filter(
      (reading) => isReadBy(reading, [format]) && !isReadBy(reading, before),
    );
    const [first] = found.sort((one, other) => one.line - other.line);
    return first === undefined
      ? null
      : { ...someDates(first), count: found.reduce((sum, { count }) => sum + count, 0) };
  }

  /** Null: no such cell, or too many to be mistakes. */
  get #impossibleDates(): SomeDates | null {
    const readings = [...this.#dates.values()];
    const shapes = new Set(readings.flatMap(({ examples }) => examples.map(shapeOf)));
    const found = [...this.#undated].flatMap(([shape, impossible]) => (shapes.has(shape) ? [impossible] : []));
    const [first] = found.sort((one, other) => one.line - other.line);
    const count = found.reduce((sum, each) => sum + each.count, 0);
    const dates = readings.reduce((sum, each) => sum + each.count, 0);
    return first === undefined || count * 3 > dates ? null : { ...first, count };
  }

  /** Those of the formats that read a text as a date of our times. */
  #datesOf(text: string, formats: readonly number[]): number[] {
    let day: string | null = null;
    let isEarly = false;
    const found = formats.filter((index) => {
      const { date = '', timeMs = 0 } = dateReaders[index]?.(text) ?? {};
      const isDate = date > '1500' && date < '2200';
      if (isDate && timeMs !== 0) this.hasTimes = true;
      if (isDate) day ??= date.slice(8);
      if (isDate && date < EARLIEST) isEarly = true;
      return isDate;
    });
    if (isEarly) this.earlyDates += 1;
    if (day !== null) this.daysOfMonth.set(day, (this.daysOfMonth.get(day) ?? 0) + 1);
    return found;
  }
}

/** How a text is written: equal for two dates of one format. Of digits alone, only as many may be a date. */
function shapeOf(text: string): string {
  if (/^\d+$/.test(text)) return String(text.length);
  return text.replaceAll(/\d+/g, '0').replaceAll(/\p{L}+/gu, 'a');
}

function isReadBy(reading: Readings, formats: readonly string[]): boolean {
  return formats.some((format) => reading.formats.includes(DATE_FORMATS.indexOf(format)));
}

function someDates({ count, examples: [text = ''], line }: Readings): SomeDates {
  return { count, text, line };
}

const numberReaders = NUMBER_FORMATS.map(numberReader);
const dateReaders = DATE_FORMATS.map((format) => {
  const read = dateReader(format);
  return (text: string) => (COUNTS.get(format)?.test(text) === false ? null : read(text));
});
const ALL_NUMBERS = [...NUMBER_FORMATS.keys()];
const ALL_DATES = [...DATE_FORMATS.keys()];

/** Counts a cell. Returns whether no other cell has the same formats yet. */
function note(readings: Map<string, Readings>, formats: readonly number[], text: string, line: number): boolean {
  const key = formats.join();
  const known = readings.get(key);
  if (known === undefined) readings.set(key, { formats, count: 1, examples: [text], line });
  else {
    known.count += 1;
    if (known.examples.length < EXAMPLES) known.examples.push(text);
  }
  return known === undefined;
}

/**
 * The format that reads most cells, and the others that read as many but read some of them differently.
 *
 * @param total cells
 * @param readByAll cells that each format reads alike
 */
function bestOf<Format>(
  formats: readonly Format[],
  readings: readonly Readings[],
  total: number,
  readByAll: number,
  reader: (format: Format) => (text: string) => unknown,
  leastShare = 0.5,
): Candidates<Format> | null {
  const covered = formats.map((_, index) =>
    readings.reduce((sum, reading) => sum + (reading.formats.includes(index) ? reading.count : 0), readByAll),
  );
  const most = Math.max(...covered);
  if (most === 0 || most < leastShare * total) return null;
  const winners = formats.flatMap((format, index) => (covered[index] === most ? [{ format, index }] : []));
  const [first, ...others] = winners as [(typeof winners)[number], ...typeof winners];
  const read = reader(first.format);
  const rivals: Format[] = [];
  let example = '';
  for (const { format, index } of others) {
    const readOther = reader(format);
    const texts = readings
      .filter((reading) => reading.formats.includes(index) && reading.formats.includes(first.index))
      .flatMap(({ examples }) => examples);
    const disagreed = texts.find((text) => read(text) !== readOther(text));
    if (disagreed === undefined) continue;
    if (rivals.some((rival) => texts.every((text) => reader(rival)(text) === readOther(text)))) continue;
    rivals.push(format);
    example ||= disagreed;
  }
  return { formats: [first.format, ...rivals], share: most / total, example };
}
