/** Writes the value and the date of the starting mapping. */
import { metricNameSchema } from '../../contract/values/metric.ts';
import { EARLIEST } from '../declared/map-observation.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { areOfOneCurrency } from '../values/currency-signs.ts';
import { hasOffset } from '../values/date-format.ts';
import { FREE } from '../values/number-format.ts';
import { Column, dateIn, hasUnreadDates } from './column.ts';
import { Commented } from './commented-json.ts';
import type { Draft } from './draft.ts';
import { type DateGuess, precisionOf } from './guess-columns.ts';
import type { QuantityGuess } from './guess-quantity.ts';
import { draftQuoted, quantityNamedBy } from './guess-quoted.ts';

export function draftValue({ table, guess, added, isList, isPercent }: Draft, { all }: QuantityGuess) {
  const { values } = guess;
  const names = values.map(({ name }) => name).slice(0, isList ? 1 : undefined);
  const which = names.length === 0 ? 'no column looks like prices' : names.join(' or ');
  const words = [...new Set(values.flatMap(blankWordsOf))];
  const stand = standInOf(values);
  const blankValues = stand === null ? words : [...words, `${FILL_IN}: ${JSON.stringify(stand)} ${STAND_IN}`];
  const blank = sum(values, (column) => {
    const stands = column.cells.filter((cell) => cell === stand).length;
    return column.blank + stands + words.reduce((count, word) => count + (column.words.get(word) ?? 0), 0);
  });
  const zeros = sum(values, (column) => column.zeros);
  const isSparse = added !== null && blank > sum(values, ({ cells }) => cells.length) * MANY_BLANKS;
  const several =
    names.length > 1 ? ' Write one here, and the others as further metrics, in "also" beside "value"' : '';
  const column = names.length === 1 ? names[0] : `${FILL_IN}: ${which}: which column is the price?${several}`;
  const zero = `${FILL_IN}: ${zeros === 1 ? '1 value is' : `${zeros} values are`} zero: write "asserted" if zero is the price, or "refuse" if it stands for a missing one`;
  return {
    column: added?.value ?? column,
    number: draftNumber(guess.number),
    blankValues: blankValues.length === 0 ? undefined : new Commented(blankValues, BLANK_VALUES),
    quotedQuantity: isPercent
      ? undefined
      : (draftQuoted(guess, names) ??
        (isOfTokens(table, names) ? FOR_TOKENS : isList || all === null || all > 1 ? FOR_ONE : undefined)),
    rounding: new Commented('refuse', all === null && !isPercent ? ROUNDING : ''),
    blank: blank === 0 ? undefined : draftBlank(blank, isList || isSparse),
    zero: zeros === 0 ? undefined : zero,
  };
}

const FOR_ONE = new Commented('1', 'Nothing in the file says that its numbers are prices of more than one.');
const FOR_TOKENS = `${FILL_IN}: 1, or 1000000 if each number is the price of a million tokens, or 1000: nothing in the file says which`;
const OF_TOKENS = /(^|[^a-z])(tokens?|models?|llms?|prompts?|completions?)([^a-z]|$)/i;

/** Whether the file seems to have prices of language models, and no name says for how much a price is. */
function isOfTokens({ columns }: Draft['table'], names: readonly string[]): boolean {
  const places = columns.map(({ name }) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_'));
  const has = (part: RegExp) => places.some((name) => part.test(name));
  const isOfModels = has(OF_TOKENS) || (has(/(^|[^a-z])input/i) && has(/(^|[^a-z])output/i));
  return isOfModels && names.every((name) => quantityNamedBy(name) === null);
}
const ROUNDING = 'Or nearest, to round the numbers that no quantity keeps whole.';
const BLANK_VALUES = 'Texts that stand for a missing number.';
/** The share of blanks in a wide table from which they belong to columns that begin late or end early. */
const MANY_BLANKS = 0.2;

/** The further metrics of a list: each column of values is a metric. */
export function draftMetrics(draft: Draft, value: ReturnType<typeof draftValue>) {
  const { table, guess, isList, isPercent, added } = draft;
  const [first, ...others] = guess.values;
  const unit = isPercent ? 'percent' : undefined;
  if (first === undefined) return {};
  if (!isList || others.length === 0)
    return isPercent ? { metric: metricOf(added === null ? first.name : ''), unit } : {};
  const bare = (each: unknown) => (each instanceof Commented ? each.value : each);
  const shared = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, bare(each)]));
  const [metric, ...metrics] = metricsOf(guess);
  const also = others.map(({ name }, index) => {
    const quoted = bare(draftQuoted(guess, [name]) ?? (isOfTokens(table, [name]) ? FOR_TOKENS : FOR_ONE));
    const quotedQuantity = isPercent ? undefined : quoted;
    return { metric: metrics[index], unit, value: { ...shared, column: name, quotedQuantity } };
  });
  return {
    metric,
    unit,
    also: new Commented(also, 'Further metrics of each row. One that is not money has a "unit", such as "token".'),
  };
}

/** Named by their columns, without the currency and the quantity, which the mapping states elsewhere, if the rest differs. */
function metricsOf({ values, currency }: Draft['guess']): readonly string[] {
  const code = currency.kind === 'named' ? new RegExp(`[^a-z]*(?<![a-z])${currency.code}(?![a-z])`, 'i') : /(?!)/;
  const short = values.map(({ name }) =>
    metricOf((quantityNamedBy(name) === null ? name : name.replace(/[^a-z]per[^a-z].*$/i, '')).replace(code, '')),
  );
  const isClear = new Set(short).size === short.length && !short.some((name) => name.startsWith(FILL_IN));
  return isClear ? short : values.map(({ name }) => metricOf(name));
}

function metricOf(column: string): string {
  const [first = '', ...others] = column.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = first + others.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return metricNameSchema.safeParse(name).success ? name : `${FILL_IN}: a name such as inputPrice`;
}

function draftBlank(blank: number, isLeftOut: boolean): Commented {
  const reasons = 'not-published, not-yet-published, not-applicable, withheld, source-unreachable';
  return isLeftOut
    ? new Commented(
        'leave-out',
        `Blank values, which give nothing: ${blank}. To say that a value is not known: { "unknownReason": … }, by one of ${reasons}.`,
      )
    : new Commented(
        { unknownReason: 'not-published' },
        `Blank values: ${blank}. Reasons: ${reasons}. Or "leave-out" instead of the object: then nothing is said about that date.`,
      );
}

function draftNumber(number: Draft['guess']['number']) {
  const [format, ...rivals] = number?.formats ?? [];
  if (number === null || format === undefined) return undefined;
  const { decimalMark, groupMark, signs = [] } = format;
  if (rivals.length > 0 || number.differing !== undefined) {
    const choices = number.formats.map((each) => JSON.stringify(each));
    const why =
      number.differing === undefined
        ? `${number.example} is a number by each`
        : `${JSON.stringify(number.differing)} is not written as other columns are`;
    return `${FILL_IN}: ${choices.join(' or ')}: ${why}`;
  }
  if (decimalMark === '.' && groupMark === undefined && signs.length === 0) return undefined;
  const doubt = areOfOneCurrency(signs) ? '' : SIGNS;
  return { decimalMark, groupMark, signs: signs.length === 0 ? undefined : new Commented(signs, doubt) };
}

const SIGNS =
  'Signs of different currencies: one fixed currency is refused. Look up the currency by a column that tells them apart.';

const STAND_IN = 'if it stands for a missing number, as it is the only negative one; else remove this text';

/** The only negative number of these columns, if programs often write it for a missing one: -1, -99, -999.0. */
function standInOf(columns: readonly Column[]): string | null {
  const texts = new Set(columns.flatMap(({ distinct }) => [...distinct].filter((text) => /^[-\u2212]/.test(text))));
  const [only = '', ...others] = [...texts].filter((text) => /\d/.test(text));
  return others.length === 0 && /^-(1|9{2,5})(\.0+)?$/.test(only) ? only : null;
}

/** The words without digits in a column of numbers, if they are few. */
function blankWordsOf({ words }: Column): string[] {
  const short = [...words.keys()].filter((word) => word.length <= 20 && !FREE.test(word));
  return short.length <= 5 ? short : [];
}

function sum(columns: readonly Column[], count: (column: Column) => number): number {
  return columns.reduce((total, column) => total + count(column), 0);
}

function unknownDate(unread: Column | undefined) {
  const [example] = unread?.distinct ?? [];
  const which =
    unread === undefined
      ? 'the column with the dates'
      : `${unread.name}? A text such as ${example} has no known form: write 2026-01-31, 2026-01 or 2026-Q1 in the file. Else another column`;
  return {
    column: new Commented(
      `${FILL_IN}: ${which}; or, if all values have one date, in its place: "constant": "2026-11-01"; or, in the recipe of a current list: fetchedAt, with the format YYYY-MM-DDTHH:mm:ss.SZ`,
      'No column was recognised.',
    ),
    format: `${FILL_IN}: such as YYYY-MM-DD or D.M.YYYY`,
    precision: `${FILL_IN}: instant, day, month, quarter or year`,
  };
}

export function draftDate({ table, guess: { date, wide }, added }: Draft) {
  if (date === null) return unknownDate(table.columns.find(hasUnreadDates));
  const { column, formats, precision, whenBlank } = date;
  const dated = column ?? new Column('', wide?.map(({ name }) => name) ?? []);
  const facts = factsOf(dated, formats, column === null ? [] : table.lines);
  const isMoment = precision === 'instant';
  const which = `${FILL_IN}: ${formats.join(' or ')}: all dates of the file, such as ${date.example}, are dates by each`;
  return {
    column: column === null ? added?.name : columnOf(column.name, date),
    format: new Commented(date.isAmbiguous ? which : oneOrList(formats), facts.remarks),
    precision: new Commented(doubtOfPrecision(facts, date) ?? precision, isMoment ? INSTANT : ''),
    offset: isMoment && !formats.every(hasOffset) ? new Commented(OFFSET, 'Where do these times count?') : undefined,
    early:
      facts.early > 0
        ? `${FILL_IN}: dates before ${EARLIEST}: ${facts.early}: write "confirmed" if they are right, or "refuse": then their rows are refused`
        : undefined,
    whenBlank:
      whenBlank === null
        ? undefined
        : new Commented(
            {
              column: `${FILL_IN}: ${whenBlank.column}? Or remove whenBlank: then these rows are refused`,
              format: oneOrList(whenBlank.formats),
            },
            `Rows in which the column is blank: ${dated.blank}.`,
          ),
  };
}

const INSTANT = 'The times of day count. If only the day does, write day, and remove the offset.';
const OFFSET = `${FILL_IN}: UTC, or an offset such as +05:30; or, for local times, in its place: "timeZone": "Europe/Berlin", and "overlap": "in-order" if the file has both autumn hours`;

function columnOf(name: string, { isSure, rivals, time }: DateGuess): string | readonly string[] {
  if (time !== null) return [name, time];
  if (isSure) return name;
  const others = rivals.length === 0 ? '' : ` Or is it, or a part of it, in ${rivals.join(', ')}?`;
  return (
    `${FILL_IN}: ${name}: is it the date of the prices?${others} Write the column; or ["date", "time"], the parts ` +
    'of it; or, if all values have one date, in its place: "constant": "2026-11-01"'
  );
}

function oneOrList(formats: readonly string[]): string | readonly string[] {
  return formats.length === 1 ? (formats[0] as string) : formats;
}

/** The dates of a column, by the first format that reads each. */
function factsOf({ cells, filled }: Column, formats: readonly string[], lines: readonly number[]) {
  const readers = formats.map(dateIn);
  const days = new Map<string, number>();
  const dates = new Set<string>();
  const rows = new Map<string | undefined, number[]>([undefined, ...formats].map((format) => [format, []]));
  let [early, hasTimes] = [0, false];
  for (const [row, cell] of cells.entries()) {
    if (cell === '') continue;
    const readings = readers.map((read) => read(cell));
    const index = readings.findIndex((each) => each !== null);
    rows.get(formats[index])?.push(row);
    const found = readings[index];
    if (found == null) continue;
    const { date, timeMs } = found;
    dates.add(date);
    days.set(date.slice(8), (days.get(date.slice(8)) ?? 0) + 1);
    if (date < EARLIEST) early += 1;
    hasTimes ||= timeMs !== 0;
  }
  const remarks = [...rows].map(([format, [first, ...others]]) => {
    if (first === undefined || format === formats[0]) return '';
    const place = lines[first] === undefined ? cells[first] : `line ${lines[first]}, ${cells[first]}`;
    const places = others.length > 0 ? `${place}, and ${others.length} more` : place;
    const count = others.length + 1;
    if (format === undefined) return `${filled - count} of ${filled} are such dates. Not ${places}.`;
    return `By ${format}, ${count} of ${filled}: ${places}.`;
  });
  return { early, hasTimes, days, different: dates.size, remarks: remarks.filter((text) => text !== '').join(' ') };
}

/** The share of dates on the same day of the month from which on they probably stand for months. */
const MOSTLY = 0.9;

/** The doubt about the precision, which is part of an observation's identity. Null: no doubt. */
function doubtOfPrecision(
  { hasTimes, days, different }: ReturnType<typeof factsOf>,
  { formats, precision }: DateGuess,
): string | null {
  const precisions = [...new Set(formats.map((format) => precisionOf([format])))];
  if (precisions.length > 1) {
    return `${FILL_IN}: ${precisions.join(' or ')}: the formats differ in precision. Remove those that you do not want: then their rows are refused`;
  }
  if (precision === 'instant') return hasTimes ? null : `${FILL_IN}: day or instant: all times are 00:00`;
  const [[day, most] = ['', 0]] = [...days].sort((one, other) => other[1] - one[1]);
  const dates = [...days.values()].reduce((total, count) => total + count, 0);
  if (precision !== 'day' || different < 3 || most < dates * MOSTLY) return null;
  return `${FILL_IN}: month or day: of ${dates} dates, ${most} are on day ${Number(day)} of a month: are the numbers about months?`;
}
