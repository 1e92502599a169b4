/** Calendar dates and moments in CSV files. */

const PATTERNS = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<year>\\d{2})',
  MMMM: '(?<name>[A-Za-z]{3,9})',
  MMM: '(?<name>[A-Za-z]{3})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  Q: 'Q(?<quarter>[1-4])',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
  S: '(?<fraction>\\d{1,9})',
  /** The letter M, as in `2026M01`. */
  "'M'": 'M',
  Z: '(?<offset>Z|[+-](?:0\\d|1[0-4]):?[0-5]\\d)',
  /** The number of the hour, of the half or the quarter of an hour in its day, from 1 on. */
  '#60': '(?<of60>\\d{1,3})',
  '#30': '(?<of30>\\d{1,3})',
  '#15': '(?<of15>\\d{1,3})',
} as const;

type Token = keyof typeof PATTERNS;

/** Counts since 1970-01-01T00:00Z, and the length of one unit in milliseconds. */
const UNIX: ReadonlyMap<string, number> = new Map([
  ['unix-seconds', 1000],
  ['unix-milliseconds', 1],
]);
/** The last moment of an ECMAScript date (section 21.4.1.1), less a day for time zones. */
const LAST_MS = 8.64e15 - 86_400_000;

const TOKEN = /('M'|YYYY|YY|MMMM|MMM|MM|M|DD|D|Q|HH|H|mm|ss|S|Z|#60|#30|#15)/;
/** Tokens with a variable number of digits. Directly before or after other digits, they are ambiguous. */
const OF_ANY_LENGTH: readonly string[] = ['M', 'D', 'H', 'S', '#60', '#30', '#15'];
const NOT_DIGITS: readonly string[] = ['MMMM', 'MMM', "'M'", 'Q', 'Z'];
/** POSIX (strptime, %y): years from 69 on are in the last century. */
const FIRST_OF_LAST_CENTURY = '69';
/** A token with the first letter needs a token with the second one. */
const NEEDS = ['DM', 'HD', 'mH', 'sm', 'Ss', 'ZH', '#D'] as const;
/** Files have all of them between dates and numbers. */
const SPACE = '[ \\u00a0\\u2009\\u202f]';
const LONGEST_DAY_MS = 25 * 3_600_000;

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export interface WrittenDate {
  /** `YYYY-MM-DD`; the first day of the month, quarter or year if the format has no day. */
  readonly date: string;
  /** Milliseconds since midnight: 0 if the format has no time. */
  readonly timeMs: number;
  /** Whether they have passed since midnight, as in the 25th hour of a day; otherwise the clocks show them. */
  readonly isPassed: boolean;
  /** Minutes ahead of UTC; null if the format has no offset. */
  readonly offsetMinutes: number | null;
  /** Whether its time is finer than milliseconds. */
  readonly isFiner: boolean;
}

/**
 * Whether a text is a date format: it has a year, no token twice, no day without a month, no time without a day, and separators
 * between the tokens. A variable number of digits needs a separator before the next digits.
 */
export function isDateFormat(format: string): boolean {
  if (UNIX.has(format)) return true;
  const parts = format.split(TOKEN);
  const tokens = tokensIn(format);
  const letters = tokensOf(format).map((token) => token.charAt(0));
  return (
    new Set(letters).size === letters.length &&
    letters.includes('Y') &&
    !(letters.includes('M') && letters.includes('Q')) &&
    !(letters.includes('H') && letters.includes('#')) &&
    NEEDS.every((pair) => !letters.includes(pair.charAt(0)) || letters.includes(pair.charAt(1))) &&
    parts.every((part, index) => index % 2 === 1 || /^[-/.,: T]*$/.test(part)) &&
    tokens.every((token, index) => {
      const next = tokens[index + 1];
      if (next === undefined || parts[2 * index + 2] !== '') return true;
      if (NOT_DIGITS.includes(token) || NOT_DIGITS.includes(next)) return true;
      return !OF_ANY_LENGTH.includes(token) && !OF_ANY_LENGTH.includes(next);
    })
  );
}

/**
 * Whether dates of this format have the part. A quarter counts only without a month, and an offset only as an offset from UTC.
 */
const has = (letter: string) => (format: string) =>
  UNIX.has(format) ? letter !== 'Q' : tokensOf(format).some((token) => token.startsWith(letter));
export const hasMonth = has('M');
export const hasQuarter = has('Q');
export const hasDay = has('D');
export const hasTime = (format: string) => has('H')(format) || has('#')(format);
export const hasOffset = has('Z');

/** Makes a parser for dates of this format. It returns null for text that does not match, or is not in the calendar. */
export function dateReader(format: string): (text: string) => WrittenDate | null {
  const unit = UNIX.get(format);
  if (unit !== undefined) return (text) => unixMoment(text, unit);
  const [begin, end] = rangeOf(format);
  const range = end === '' ? '' : `${SPACE}[-\\u2013]${SPACE}${sourceOf(end).replaceAll(/\(\?<\w+>/g, '(?:')}`;
  const pattern = new RegExp(`^${sourceOf(begin)}${range}$`);
  return (text) => {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) return null;
    const { year: written = '', day = '1', hour = '0', minute = '0', second = '0', fraction = '', offset } = groups;
    const year = written.length === 4 ? written : (written < FIRST_OF_LAST_CENTURY ? '20' : '19') + written;
    const month = monthOf(groups);
    if (Number(day) < 1 || Number(day) > daysOf(Number(year), Number(month))) return null;
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
    const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
    const minutes = [60, 30, 15].find((each) => groups[`of${each}`] !== undefined);
    const passedMs = minutes === undefined ? null : (Number(groups[`of${minutes}`]) - 1) * minutes * 60_000;
    if (passedMs !== null && (passedMs < 0 || passedMs >= LONGEST_DAY_MS)) return null;
    const timeMs = passedMs ?? seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
    const isFiner = /[1-9]/.test(fraction.slice(3));
    const isPassed = passedMs !== null;
    return { date, timeMs, isPassed, offsetMinutes: offset === undefined ? null : offsetMinutes(offset), isFiner };
  };
}

/** Fractions of a second are read to the millisecond, as in `1767225600.5`. */
function unixMoment(text: string, unit: number): WrittenDate | null {
  const [, whole, fraction = ''] = /^(-?\d{1,16})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === undefined || (whole.startsWith('-') && fraction !== '')) return null;
  const isFiner = /[1-9]/.test(unit === 1 ? fraction : fraction.slice(3));
  const ms = Number(whole) * unit + (unit === 1 ? 0 : Number(fraction.padEnd(3, '0').slice(0, 3)));
  if (Math.abs(ms) > LAST_MS) return null;
  const date = new Date(ms).toISOString();
  // Years before 0 and after 9999 would have a sign.
  if (!/^\d/.test(date)) return null;
  const timeMs = ms - Date.parse(date.slice(0, 10));
  return { date: date.slice(0, 10), timeMs, isPassed: false, offsetMinutes: 0, isFiner };
}

function monthOf({ month, name, quarter }: Readonly<Record<string, string | undefined>>): string {
  if (name !== undefined) {
    const found = MONTHS.findIndex((each) => each === name.toLowerCase() || each.slice(0, 3) === name.toLowerCase());
    return String(found + 1);
  }
  return quarter === undefined ? (month ?? '1') : String(3 * Number(quarter) - 2);
}

/** The days of a month of the Gregorian calendar; 0: there is no such month. */
function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

/** Minutes ahead of UTC: `Z` and `UTC` are 0, `+05:30` and `+0530` are 330. */
export function offsetMinutes(offset: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(offset) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) + 0;
}

/** The local clock time read as UTC, in milliseconds since the epoch. */
export function wallOf({ date, timeMs }: Pick<WrittenDate, 'date' | 'timeMs'>): number {
  return Date.parse(`${date}T00:00:00Z`) + timeMs;
}

/** A text that two of the formats read as different dates; null: they agree on every text. */
export function ambiguousDate(formats: readonly string[]): { text: string; readings: readonly string[] } | null {
  for (const writer of formats) {
    const read = dateReader(writer);
    for (const other of formats) {
      if (writer === other) continue;
      const readOther = dateReader(other);
      for (const text of textsOf(writer)) {
        const [one, two] = [read(text), readOther(text)];
        if (one === null || two === null || (one.date === two.date && one.timeMs === two.timeMs)) continue;
        return { text, readings: [`${one.date} by ${writer}`, `${two.date} by ${other}`] };
      }
    }
  }
  return null;
}

/** Each day of a year, without leading zeros: days and months from 10 to 12 also fit formats with two digits. */
function* textsOf(format: string): Generator<string> {
  const unit = UNIX.get(format);
  if (unit !== undefined) return yield String(Date.UTC(2012, 0, 1) / unit);
  for (let day = 0; day < 366; day++) {
    const date = new Date(Date.UTC(2012, 0, 1 + day, 10, 11, 12));
    yield format.replace(new RegExp(TOKEN, 'g'), (token) => {
      if (token === 'YYYY') return '2012';
      if (token === 'YY') return '12';
      if (token === "'M'") return 'M';
      const month = MONTHS[date.getUTCMonth()] as string;
      if (token === 'MMMM') return month;
      if (token === 'MMM') return month.slice(0, 3);
      if (token === 'Q') return `Q${Math.ceil((date.getUTCMonth() + 1) / 3)}`;
      if (token === 'Z') return 'Z';
      if (token === 'S') return '5';
      return String({ M: date.getUTCMonth() + 1, D: date.getUTCDate(), H: 10, m: 11, s: 12, '#': 11 }[token.charAt(0)]);
    });
  }
}

function sourceOf(format: string): string {
  const literal = (part: string) => part.replace(/[/.]/g, '\\$&').replaceAll(' ', SPACE);
  return format
    .split(TOKEN)
    .map((part, index) => (index % 2 === 1 ? PATTERNS[part as Token] : literal(part)))
    .join('');
}

/** The beginning and the end of a range such as `DD.MM.YYYY HH:mm - HH:mm`. Only the beginning counts. No range: no end. */
function rangeOf(format: string): readonly [begin: string, end: string] {
  const parts = format.split(' - ');
  for (const at of parts.keys()) {
    const [begin, end] = [parts.slice(0, at).join(' - '), parts.slice(at).join(' - ')];
    const [known, again] = [tokensIn(begin), tokensIn(end)];
    if (again.length > 0 && again.every((token) => known.includes(token))) return [begin, end];
  }
  return [format, ''];
}

const tokensOf = (format: string) => tokensIn(rangeOf(format)[0]);

function tokensIn(format: string): readonly string[] {
  return format.split(TOKEN).filter((_, index) => index % 2 === 1);
}
