/** Writes the starting mapping's date. */

import { EARLIEST } from '../declared/map-observation.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { dateReader, hasOffset } from '../values/date-format.ts';
import type { ColumnProfile, SomeDates } from './column-profile.ts';
import { type CommentedObject, field, object } from './commented-json.ts';
import type { MappingDraft } from './draft.ts';
import type { DateGuess } from './guess-columns.ts';

const UNKNOWN = object(
  field(
    'column',
    `${FILL_IN}: the column with the dates; or, if all values have one date, in its place: "constant": "2026-11-01"; or, in the recipe of a current list: fetchedAt, with the format YYYY-MM-DDTHH:mm:ss.SZ`,
    'No column was recognised.',
  ),
  field('format', `${FILL_IN}: such as YYYY-MM-DD or D.M.YYYY`),
  field('precision', `${FILL_IN}: instant, day, month, quarter or year`),
);

export function draftDate({ guess: { date, wide }, added }: MappingDraft): CommentedObject {
  if (date === null) return UNKNOWN;
  const { formats, precision, whenBlank } = date;
  const isMoment = precision === 'instant';
  const early = date.column?.earlyDates ?? earlyNames(wide ?? [], formats);
  const readings = date.isAmbiguous
    ? `${FILL_IN}: ${formats.join(' or ')}: all dates of the file, such as ${date.example}, are dates by each`
    : null;
  return object(
    field('column', columnOf(date, added?.name ?? '')),
    field('format', readings ?? oneOrList(formats), hintOfOddDates(date.column, formats)),
    field('precision', doubtOfPrecision(date.column, precision) ?? precision, COMMENTS[precision]),
    isMoment &&
      !formats.every(hasOffset) &&
      field(
        'offset',
        `${FILL_IN}: UTC, or an offset such as +05:30; or, for local times, in its place: "timeZone": "Europe/Berlin"`,
        'Where do these times count?',
      ),
    early > 0 &&
      field(
        'early',
        `${FILL_IN}: dates before ${EARLIEST}: ${early}: write "confirmed" if they are right, or "refuse": then their rows are refused`,
      ),
    whenBlank !== null &&
      field(
        'whenBlank',
        object(
          field('column', `${FILL_IN}: ${whenBlank.column}? Or remove whenBlank: then these rows are refused`),
          field('format', oneOrList(whenBlank.formats)),
        ),
        `Rows in which the column is blank: ${date.column?.blank}.`,
      ),
  );
}

/** Of a table with its dates in the header. */
function earlyNames(columns: readonly ColumnProfile[], formats: readonly string[]): number {
  const readers = formats.map(dateReader);
  return columns.filter(({ name }) => readers.some((read) => (read(name)?.date ?? EARLIEST) < EARLIEST)).length;
}

function columnOf({ column, isSure, rivals }: DateGuess, added: string): string {
  if (column === null) return added;
  if (isSure) return column.name;
  const others = rivals.length === 0 ? '' : ` Or is it, or a part of it, in ${rivals.join(', ')}?`;
  return (
    `${FILL_IN}: ${column.name}: is it the date of the prices?${others} Write the column; or ["date", "time"], the parts ` +
    'of it; or, if all values have one date, in its place: "constant": "2026-11-01"'
  );
}

/** A format of fewer dates may be a slip in one cell. */
const RARE = 0.05;

function hintOfOddDates(column: ColumnProfile | null, formats: readonly string[]): string {
  if (column === null) return '';
  const unread = column.unread(formats);
  const rare = formats.flatMap((format, index) => {
    const found = index === 0 ? null : column.readOnlyBy(format, formats.slice(0, index));
    return found === null || found.count >= column.filled * RARE ? [] : [`By ${format} only ${placesOf(found)}.`];
  });
  return [
    ...(unread === null ? [] : [`${column.filled - unread.count} of ${column.filled} are such dates.`]),
    ...(unread === null ? [] : [`Not ${placesOf(unread)}.`]),
    ...rare,
  ].join(' ');
}

function placesOf({ count, text, line }: SomeDates): string {
  const others = count === 1 ? '' : `, and ${count - 1} more`;
  return `${line === 0 ? text : `line ${line}, ${text}`}${others}`;
}

/** The share of the dates that is on one day of the month, from which on they may well name months. */
const MOSTLY = 0.9;

/** The precision is a part of an observation's identity. Null: the file leaves no doubt. */
function doubtOfPrecision(column: ColumnProfile | null, precision: DateGuess['precision']): string | null {
  const dates = column?.filled ?? 0;
  if (precision === 'instant') {
    return column?.hasTimes ? null : `${FILL_IN}: day or instant: all times are 00:00`;
  }
  const [[day, most] = ['', 0]] = [...(column?.daysOfMonth ?? [])].sort((one, other) => other[1] - one[1]);
  const [isAll, different] = [column?.daysOfMonth.size === 1, column?.distinct?.size ?? dates];
  if (precision !== 'day' || different < (isAll ? 3 : 10) || most < dates * MOSTLY) return null;
  return `${FILL_IN}: month or day: of ${dates} dates, ${most} are on day ${Number(day)} of a month: are the numbers about months?`;
}

const COMMENTS = {
  ...{ day: '', month: '', quarter: '', year: '' },
  instant: 'The times of day count. If only the day does, write day, and remove the offset.',
} as const;

function oneOrList(formats: readonly string[]): string | readonly string[] {
  const [first, ...others] = formats;
  return first !== undefined && others.length === 0 ? first : formats;
}
