/** Writes the starting mapping's date. */
import { hasOffset } from '../date-format.ts';
import { FILL_IN } from '../parse-jsonc.ts';
import type { ColumnProfile } from './column-profile.ts';
import { type CommentedObject, field, object } from './commented-json.ts';
import type { MappingDraft } from './draft.ts';

const UNKNOWN = object(
  field(
    'column',
    `${FILL_IN}: the column with the dates`,
    'No column was recognised. Without a date in each row, a file has no observations.',
  ),
  field('format', `${FILL_IN}: such as YYYY-MM-DD or D.M.YYYY`),
  field('precision', `${FILL_IN}: instant, day, month, quarter or year`),
);

export function draftDate({ guess: { date }, added }: MappingDraft): CommentedObject {
  if (date === null) return UNKNOWN;
  const { formats, precision, whenBlank } = date;
  const isMoment = precision === 'instant';
  const readings = date.isAmbiguous
    ? `${FILL_IN}: ${formats.join(' or ')}: all dates of the file, such as ${date.example}, are dates by each`
    : null;
  return object(
    field('column', date.column === null ? (added?.name ?? '') : date.column.name),
    field('format', readings ?? oneOrList(formats), hintOfImpossible(date.column)),
    field('precision', precision, precision === 'day' ? hintOfMonths(date.column) : PRECISIONS[precision]),
    isMoment &&
      !formats.every(hasOffset) &&
      field('offset', `${FILL_IN}: UTC, or an offset such as +05:30: where do these times count?`),
    whenBlank !== null &&
      field(
        'whenBlank',
        object(field('column', whenBlank.column), field('format', oneOrList(whenBlank.formats))),
        `Rows in which the column is blank: ${date.column?.blank}.`,
      ),
  );
}

function hintOfImpossible(column: ColumnProfile | null): string {
  const impossible = column?.impossibleDates ?? null;
  if (column === null || impossible === null) return '';
  const { count, text, line } = impossible;
  const place = line === 0 ? text : `line ${line}, ${text}`;
  const others = count === 1 ? '' : `, and ${count - 1} more`;
  return `${column.filled - count} of ${column.filled} are such dates. Not ${place}${others}.`;
}

/** The share of the dates that is on one day of the month, from which on they may well name months. */
const MOSTLY = 0.9;

function hintOfMonths(column: ColumnProfile | null): string {
  const [[day, most] = ['', 0]] = [...(column?.daysOfMonth ?? [])].sort((one, other) => other[1] - one[1]);
  const dates = column?.filled ?? 0;
  if (dates < 10 || most < dates * MOSTLY) return '';
  return `Of ${dates} dates, ${most} are on day ${Number(day)} of a month. If the numbers are about months, write month.`;
}

const PRECISIONS = {
  quarter: '',
  year: '',
  month: 'The dates name months: the day is ignored. If they are days, write day.',
  instant: 'The times of day count. If only the day does, write day, and remove the offset.',
} as const;

function oneOrList(formats: readonly string[]): string | readonly string[] {
  const [first, ...others] = formats;
  return first !== undefined && others.length === 0 ? first : formats;
}
