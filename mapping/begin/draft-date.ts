/** Writes the starting mapping's date. */
import { hasOffset } from '../date-format.ts';
import { FILL_IN } from '../parse-jsonc.ts';
import { type CommentedObject, field, object } from './commented-json.ts';
import type { MappingDraft } from './draft.ts';

const UNKNOWN = object(
  field('column', `${FILL_IN}: the column with the dates`),
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
    field('format', readings ?? oneOrList(formats)),
    field('precision', precision, PRECISIONS[precision]),
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

const PRECISIONS = {
  day: '',
  quarter: '',
  year: '',
  month: 'The dates name months: the day is ignored. If they are days, write day.',
  instant: 'The times of day count. If only the day does, write day, and remove the offset.',
} as const;

function oneOrList(formats: readonly string[]): string | readonly string[] {
  const [first, ...others] = formats;
  return first !== undefined && others.length === 0 ? first : formats;
}
