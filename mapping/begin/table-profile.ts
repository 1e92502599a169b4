/** Looks at a whole CSV file, and keeps its first rows. */
import type { CsvInput } from '../input/csv-input.ts';
import { readCsv } from '../input/csv-rows.ts';
import { ColumnProfile } from './column-profile.ts';
import type { Dialect } from './dialect.ts';

/**
 * Bounds of the memory that a profile takes, whatever the file holds. With twice the cells, V8 took 100 MB more for young
 * objects, and kept them.
 */
const SAMPLE_CELLS = 30_000;
const DISTINCT_VALUES = 200_000;

export interface TableProfile {
  readonly columns: readonly ColumnProfile[];
  /** The first rows, each with as many fields as there are columns. */
  readonly sample: readonly (readonly string[])[];
  readonly rows: number;
  /** Rows that are not readable, and the first of their faults. */
  readonly faults: number;
  readonly firstFault: { readonly line: number; readonly detail: string } | null;
  /** Whether a row holds bytes that the encoding does not have. */
  readonly isDamaged: boolean;
}

/** @param hasLines whether the lines are those of the file: the rows of a JSON document have none */
export async function profileTable(csv: CsvInput, dialect: Dialect, hasLines: boolean): Promise<TableProfile> {
  let columns: ColumnProfile[] = [];
  const sample: (readonly string[])[] = [];
  let rows = 0;
  let faults = 0;
  let firstFault: TableProfile['firstFault'] = null;
  let isDamaged = false;
  for await (const row of readCsv(csv, dialect)) {
    if (row.kind === 'header') {
      const distinct = Math.max(50, Math.floor(DISTINCT_VALUES / row.fields.length));
      columns = row.fields.map((name) => new ColumnProfile(name, distinct));
      isDamaged ||= row.fields.some((name) => name.includes('\uFFFD'));
    } else if (row.kind === 'fault') {
      faults += 1;
      firstFault ??= { line: row.line, detail: row.detail };
      isDamaged ||= row.isDamaged;
    } else {
      rows += 1;
      for (const [index, column] of columns.entries()) column.add(row.fields[index] as string, hasLines ? row.line : 0);
      if (sample.length * columns.length < SAMPLE_CELLS) sample.push(row.fields);
    }
  }
  return { columns, sample, rows, faults, firstFault, isDamaged };
}

/** The one column whose cells are whole links, as far as the first rows show. Null: none, or several. */
export function linkColumn({ columns, sample }: TableProfile): ColumnProfile | null {
  const links = columns.filter(
    ({ filled, blank }, index) =>
      filled > 0 && blank === 0 && sample.every((row) => /^https?:\/\/[^\s/]+\S*$/i.test(row[index] ?? '')),
  );
  return links.length === 1 ? (links[0] ?? null) : null;
}
