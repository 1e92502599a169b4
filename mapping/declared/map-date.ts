import { quotedText } from '../../contract/problems/row-refusal-text.ts';
import { type RowPart, refusedPart } from '../input/row-columns.ts';
import { dateReader, offsetMinutes, type WrittenDate, wallOf } from '../values/date-format.ts';
import type { Columns } from '../values/template.ts';
import { zoneClock } from '../values/zone-clock.ts';
import { columnsOfDate, type MappedDate } from './csv-mapping.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SHOWN_CHARACTERS = 60;

export interface RowMoment {
  /** RFC 3339 in UTC. */
  readonly instant: string;
  /** The date as it is written in the file, or the first day of its period: YYYY-MM-DD. */
  readonly date: string;
}

/** As {@link momentMapper}, without the date in the file. */
export function dateMapper(date: MappedDate, pointer: string): (columns: Columns) => RowPart<string> {
  const momentOf = momentMapper(date, pointer);
  return (columns) => {
    const moment = momentOf(columns);
    return 'value' in moment ? { value: moment.value.instant } : moment;
  };
}

/**
 * Makes the function that reads a moment. Of a time that occurs twice, `meantMs` is the one that the order of the rows shows.
 *
 * @param pointer the field of the record, for refusals
 */
export function momentMapper(
  date: MappedDate,
  pointer: string,
): (columns: Columns, meantMs?: number) => RowPart<RowMoment> {
  const own = { columns: columnsOfDate(date), ...readerOf(date.format) };
  const fallback = date.whenBlank && { columns: columnsOfDate(date.whenBlank), ...readerOf(date.whenBlank.format) };
  const momentsOf = momentsReader(date);
  const cellsOf = (names: readonly string[], columns: Columns) =>
    names
      .map((name) => columns.get(name))
      .join(' ')
      .trim();
  const textOf = (names: readonly string[], columns: Columns) => date.constant ?? cellsOf(names, columns);
  return (columns, meantMs) => {
    const { columns: names, read, formats } = fallback && textOf(own.columns, columns) === '' ? fallback : own;
    const column = names[0] ?? null;
    const text = textOf(names, columns);
    if (text === '') return refusedPart(column, pointer, 'provenance.incomplete', 'the date is blank');
    const refused = (why: string, rule: string) =>
      refusedPart(column, pointer, 'record.invalid', `${quotedText(text, SHOWN_CHARACTERS)} ${why}`, rule);
    const found = read(text);
    if (found === null) return refused(`is not a date of the form ${formats.join(' or ')}`, 'form');
    if (date.precision !== 'instant') {
      const day = firstDayOf(found.date, date.precision);
      return { value: { instant: `${day}T00:00:00Z`, date: day } };
    }
    if (found.isFiner && date.beyondMilliseconds === 'refuse') {
      return refused('has more than milliseconds: to drop the rest, write "beyondMilliseconds": "cut"', 'finer');
    }
    const [moment, later] = momentsOf(found);
    if (moment === undefined) {
      const clocks = date.timeZone ?? date.offset;
      return refused(`is not a time in ${clocks}: the clocks skip it, or the day is too short`, 'gap');
    }
    const meant =
      later === undefined
        ? moment
        : { earlier: moment, later, 'in-order': meantMs, ask: undefined }[date.overlap ?? 'ask'];
    if (meant === undefined) {
      const remedy =
        date.overlap === undefined
          ? 'if the file has both hours, in the order of time, write "overlap": "in-order" beside "timeZone"; "earlier" or "later" is for a file with only one of them'
          : 'by "in-order", the market needs this time in exactly two rows, in the order of time, between other times of the market';
      return refused(`is shown twice by the clocks in ${date.timeZone}: ${remedy}`, 'overlap');
    }
    return { value: { instant: new Date(meant).toISOString().replace('.000Z', 'Z'), date: found.date } };
  };
}

/** Makes the function that returns the possible moments of a date: see `ZoneClock.instantsOf`. */
export function momentsReader({ offset, timeZone }: MappedDate): (written: WrittenDate) => readonly number[] {
  const clock = timeZone === undefined ? null : zoneClock(timeZone);
  const elsewhere = offsetMinutes(offset ?? 'UTC');
  const momentsAt = (wallMs: number, ahead: number | null) =>
    ahead === null && clock !== null ? clock.instantsOf(wallMs) : [wallMs - (ahead ?? elsewhere) * MINUTE_MS];
  return ({ date, timeMs, isPassed, offsetMinutes: ahead }) => {
    if (!isPassed) return momentsAt(wallOf({ date, timeMs }), ahead);
    const midnight = wallOf({ date, timeMs: 0 });
    const [start = Number.NaN] = momentsAt(midnight, ahead);
    const [end = Number.NaN] = momentsAt(midnight + DAY_MS, ahead);
    return start + timeMs < end ? [start + timeMs] : [];
  };
}

/** The first day of the period to which a day belongs. */
function firstDayOf(day: string, precision: Exclude<MappedDate['precision'], 'instant'>): string {
  if (precision === 'day') return day;
  if (precision === 'year') return `${day.slice(0, 4)}-01-01`;
  if (precision === 'month') return `${day.slice(0, 7)}-01`;
  const month = Math.floor((Number(day.slice(5, 7)) - 1) / 3) * 3 + 1;
  return `${day.slice(0, 5)}${String(month).padStart(2, '0')}-01`;
}

export function readerOf(format: string | readonly string[]) {
  const formats = [format].flat();
  const readers = formats.map(dateReader);
  const read = (text: string): WrittenDate | null => {
    for (const reader of readers) {
      const found = reader(text);
      if (found !== null) return found;
    }
    return null;
  };
  return { formats, read };
}
