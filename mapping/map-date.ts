/** Reads the moment of a row. */
import type { MappedDate } from './csv-mapping.ts';
import { dateReader, instantOf, offsetMinutes, type WrittenDate } from './date-format.ts';
import { type RowPart, refusedPart } from './row-columns.ts';
import type { Columns } from './template.ts';

/**
 * Makes the function that reads a moment (RFC 3339 in UTC).
 *
 * @param pointer the field of the record, for refusals
 */
export function dateMapper(date: MappedDate, pointer: string): (columns: Columns) => RowPart<string> {
  const own = { column: date.column, ...readerOf(date.format) };
  const fallback = date.whenBlank && { column: date.whenBlank.column, ...readerOf(date.whenBlank.format) };
  const elsewhere = offsetMinutes(date.offset ?? 'UTC');
  return (columns) => {
    const { column, read, formats } = fallback && columns.get(own.column) === '' ? fallback : own;
    const text = columns.get(column);
    if (text === '') return refusedPart(column, pointer, 'provenance.incomplete', 'the date is blank');
    const found = read(text);
    if (found === null) {
      const detail = `${JSON.stringify(text)} is not a date of the form ${formats.join(' or ')}`;
      return refusedPart(column, pointer, 'record.invalid', detail);
    }
    if (date.precision === 'instant') return { value: instantOf(found, elsewhere) };
    return { value: `${firstDayOf(found.date, date.precision)}T00:00:00Z` };
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

function readerOf(format: string | readonly string[]) {
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
