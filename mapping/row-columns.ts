/** One row of a CSV file as its mapping sees it, and what is said of a row that it refuses. */

import type { RowErrorCode } from '../contract/ingest-records.ts';
import type { CsvMapping } from './csv-mapping.ts';
import { addedColumns } from './mapping-references.ts';
import { type Columns, compileTemplate, OBSERVED_DATE } from './template.ts';

/** What is wrong with a row, without its line. */
export interface RowRefusal {
  /** The column of the file to look at, where there is one. */
  readonly column: string | null;
  /** JSON Pointer into the record that the row would have become. */
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
}

/** A row by column name: the file's columns, then what the look-up tables add, then the date. Refilled for each row. */
export class RowColumns implements Columns {
  readonly #positions = new Map<string, number>();
  readonly #tables: readonly { key: (columns: Columns) => string; table: CsvMapping['tables'][number] }[];
  #values: string[] = [];

  constructor(mapping: CsvMapping, header: readonly string[]) {
    for (const column of [...header, ...addedColumns(mapping)]) this.#positions.set(column, this.#positions.size);
    this.#tables = mapping.tables.map((table) => ({ key: compileTemplate(table.key), table }));
  }

  /** Takes a row in; says which look-up tables do not list it. */
  fill(fields: readonly string[]): RowRefusal[] {
    this.#values = [...fields];
    for (const { key: keyOf, table } of this.#tables) {
      const key = keyOf(this);
      const found = Object.hasOwn(table.rows, key) ? table.rows[key] : table.otherwise;
      if (found === undefined) {
        const detail = `no row "${key}" in the mapping’s table of ${table.columns.join(', ')}: add it, or give the table an "otherwise"`;
        return [{ column: null, pointer: '', code: 'record.invalid', detail }];
      }
      this.#values.push(...found);
    }
    return [];
  }

  get(column: string): string {
    return this.#values[this.#positions.get(column) as number] as string;
  }

  setObservedDate(date: string): void {
    this.#values[this.#positions.get(OBSERVED_DATE) as number] = date;
  }
}
