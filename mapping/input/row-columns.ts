import type { RowErrorCode } from '../../contract/ingest/ingest-records.ts';
import { refusalText } from '../../contract/problems/row-refusal-text.ts';
import { withoutInvisible } from '../../contract/values/public-text.ts';
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { addedColumns, requiredColumns } from '../declared/mapping-references.ts';
import { type Columns, columnsOf, compileTemplate, OBSERVED_DATE } from '../values/template.ts';
import { CELL_CHARACTERS } from './csv-input.ts';

/** The fault of a row, without its line. */
export interface RowRefusal {
  /** The column of the file with the fault; null: no single column. */
  readonly column: string | null;
  /** JSON Pointer into the record that the row would have given. */
  readonly pointer: string;
  readonly code: RowErrorCode;
  readonly detail: string;
  /** The rule that was broken, if the code has several rules. It groups refusals. */
  readonly rule?: string;
}

/** The value of one part of a row, or its faults. */
export type RowPart<Value> = { readonly value: Value } | { readonly refusals: readonly RowRefusal[] };

/** The fault of a text that becomes a field of a record, with the change of the mapping that corrects it, if there is one. */
export function textFault(path: readonly PropertyKey[], value: unknown, rule: string): string {
  const isMended = typeof value === 'string' && withoutInvisible(value) !== value;
  const hint = isMended ? '; or let the mapping do so for all cells, by "invisible": "strip"' : '';
  return `${refusalText(path, value, rule)}${hint}`;
}

/** The part of a row that has one fault. */
export function refusedPart(
  column: string | null,
  pointer: string,
  code: RowErrorCode,
  detail: string,
  rule?: string,
): { readonly refusals: readonly RowRefusal[] } {
  return { refusals: [{ column, pointer, code, detail, ...(rule === undefined ? {} : { rule }) }] };
}

/**
 * A row by column name: the file's columns, then the columns of look-up tables, then the date. Refilled for each row.
 */
export class RowColumns implements Columns {
  readonly #positions = new Map<string, number>();
  readonly #tables: readonly { key: (columns: Columns) => string; table: CsvMapping['tables'][number] }[];
  /** The columns of the file that the mapping reads. */
  readonly #read: readonly string[];
  #values: string[] = [];

  /** @param header the file's columns, and those that `unpivot` adds */
  constructor(mapping: CsvMapping, header: readonly string[]) {
    const added = addedColumns(mapping).filter((column) => !header.includes(column));
    for (const [position, column] of [...header, ...added].entries()) this.#positions.set(column, position);
    const { unpivot } = mapping;
    const read = new Set([...requiredColumns(mapping), unpivot?.name, unpivot?.value]);
    this.#read = header.filter((column) => read.has(column));
    this.#tables = mapping.tables.map((table) => ({ key: compileTemplate(table.key), table }));
  }

  /** Loads a row. `lookUp` adds its columns of look-up tables. */
  load(fields: readonly string[]): void {
    this.#values = [...fields];
  }

  /** Adds the columns of look-up tables. Returns a refusal, or `leave-out`, if a table does not list the row or a cell is too long. */
  lookUp(): readonly RowRefusal[] | 'leave-out' {
    const long = this.#read.find((column) => this.get(column).length > CELL_CHARACTERS);
    if (long !== undefined) {
      const detail = `the cell has more than ${CELL_CHARACTERS} characters`;
      return [{ column: long, pointer: '', code: 'record.invalid', detail }];
    }
    for (const { key: keyOf, table } of this.#tables) {
      const key = keyOf(this);
      const found = Object.hasOwn(table.rows, key) ? table.rows[key] : table.otherwise;
      if (found === 'leave-out') return found;
      if (found === undefined) {
        const detail = `no row "${key}" in the mapping’s table of ${table.columns.join(', ')}: add it, or give the table an "otherwise"`;
        return [
          {
            column: columnsOf(table.key).length === 1 ? (columnsOf(table.key)[0] as string) : null,
            pointer: '',
            code: 'record.invalid',
            detail,
          },
        ];
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
