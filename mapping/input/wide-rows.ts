/** Wide tables: the rows of a file whose values stand in more than one column. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { isRunColumn } from '../values/template.ts';

/** A row with one value. */
export interface LongRow {
  readonly fields: readonly string[];
  /** The column of the file from which the value comes; null if the file has one value a row. */
  readonly from: string | null;
}

/** Makes rows of one value from the file's rows. Without `unpivot` a row stays as it is. */
export interface RowMelter {
  /** The file's header, with the columns that are added. */
  readonly header: readonly string[];
  melt(fields: readonly string[]): Iterable<LongRow>;
}

export function rowMelter({ unpivot }: CsvMapping, header: readonly string[]): RowMelter {
  if (unpivot === undefined) return { header, melt: (fields) => [{ fields, from: null }] };
  const places = unpivotedColumns(unpivot, header).map((name) => [name, header.indexOf(name)] as const);
  return {
    header: [...header, unpivot.name, unpivot.value],
    *melt(fields) {
      for (const [name, place] of places) yield { fields: [...fields, name, fields[place] as string], from: name };
    },
  };
}

/** A column without a name holds no values: many files end each line with a delimiter. Nor does the day of the run. */
export function unpivotedColumns(
  { columns }: NonNullable<CsvMapping['unpivot']>,
  header: readonly string[],
): readonly string[] {
  if (Array.isArray(columns)) return columns;
  return header.filter((name) => name !== '' && !isRunColumn(name) && !columns.except.includes(name));
}
