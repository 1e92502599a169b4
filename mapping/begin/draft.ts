/** The guesses from which the parts of a starting mapping are written. */
import type { Column } from './column.ts';
import type { ColumnGuess } from './guess-columns.ts';
import type { FileTable } from './table.ts';

/** The guesses, and what follows from them for the whole mapping. */
export interface Draft {
  readonly table: FileTable;
  readonly guess: ColumnGuess;
  /** The columns that `unpivot` adds; null for a file that is not wide. */
  readonly added: { readonly name: string; readonly value: string } | null;
  readonly match: readonly string[];
  /** Whether the rows are named and have no date: what holds now, such as the prices of a vendor. */
  readonly isList: boolean;
}

export function draftOf(table: FileTable, guess: ColumnGuess, isList: boolean): Draft {
  const { wide, date, currency } = guess;
  const inHeader = date?.column === null ? 'date' : currency.kind === 'header' ? 'currency' : 'market';
  const name = freeName(table.columns, inHeader);
  const added = wide === null ? null : { name, value: freeName(table.columns, 'value') };
  // In a wide table, the header names markets or dates.
  const isByHeader = wide !== null && date?.column !== null;
  return { table, guess, added, match: isByHeader ? [name] : guess.market.match.map((column) => column.name), isList };
}

/** A name for a column that the mapping adds, which no column of the file has. */
export function freeName(columns: readonly Column[], wish: string): string {
  return columns.some(({ name }) => name === wish) ? freeName(columns, `${wish}_`) : wish;
}
