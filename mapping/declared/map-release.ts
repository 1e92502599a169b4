/** Reads the time at which the source released the value of a row. */
import { instantSchema } from '../../contract/values/metric.ts';
import { type RowPart, refusedPart } from '../input/row-columns.ts';
import { type Columns, columnsOf, compileTemplate } from '../values/template.ts';
import { type CsvMapping, columnsOfDate } from './csv-mapping.ts';
import { dateMapper } from './map-date.ts';

const POINTER = '/releasedAt';

/** Makes the function that reads a release (RFC 3339 in UTC); null if the row does not state it. Nothing is guessed. */
export function releaseMapper({
  observation: { releasedAt },
}: CsvMapping): (columns: Columns) => RowPart<string | null> {
  if (releasedAt === undefined) return () => ({ value: null });
  const needed = typeof releasedAt === 'string' ? columnsOf(releasedAt) : columnsOfDate(releasedAt);
  const read =
    typeof releasedAt === 'string'
      ? templateReader(releasedAt)
      : dateMapper({ ...releasedAt, precision: 'instant', early: 'refuse' }, POINTER);
  return (columns) => (needed.some((column) => columns.get(column) === '') ? { value: null } : read(columns));
}

function templateReader(template: string): (columns: Columns) => RowPart<string> {
  const textOf = compileTemplate(template);
  const [column = null, ...others] = columnsOf(template);
  return (columns) => {
    const text = textOf(columns).trim();
    if (instantSchema.safeParse(text).success) return { value: text };
    const detail = `${JSON.stringify(text)} is not a time in UTC such as 2026-11-01T14:30:00Z`;
    return refusedPart(others.length === 0 ? column : null, POINTER, 'record.invalid', detail);
  };
}
