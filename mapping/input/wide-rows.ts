/** Wide tables: rows with values in several columns. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { isRunColumn } from '../values/template.ts';

export interface LongRow {
  readonly fields: readonly string[];
  /** The column of the file with the value; null if each row has one value. */
  readonly from: string | null;
}

/** Makes rows of one value from the file's rows. Without `unpivot`, rows stay unchanged. */
export interface RowMelter {
  /** The file's header, with the added columns. */
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

/**
 * The columns with values. A column without a name has none: many files end each line with a delimiter. The columns of the run
 * have none either.
 */
export function unpivotedColumns(
  { columns }: NonNullable<CsvMapping['unpivot']>,
  header: readonly string[],
): readonly string[] {
  if (Array.isArray(columns)) return columns;
  return header.filter((name) => name !== '' && !isRunColumn(name) && !columns.except.includes(name));
}
