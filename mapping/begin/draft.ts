/** The guesses from which the parts of a starting mapping are written. */
import { ADDED, type ColumnGuess } from './guess-columns.ts';
import type { TableProfile } from './table-profile.ts';

/** The guesses, and the names of the columns that the mapping adds. */
export interface MappingDraft {
  readonly table: TableProfile;
  readonly guess: ColumnGuess;
  /** The columns that `unpivot` adds; null for a file that is not wide. */
  readonly added: { readonly name: string; readonly value: string } | null;
  readonly match: readonly string[];
  /** Whether the rows are named and have no date: what holds now, such as the prices of a vendor. */
  readonly isList: boolean;
}

export function draftOf(table: TableProfile, guess: ColumnGuess, isList: boolean): MappingDraft {
  const { wide, date, currency } = guess;
  const inHeader = date?.column === null ? ADDED.date : currency.kind === 'header' ? ADDED.currency : ADDED.market;
  const name = freeName(table.columns, inHeader);
  const added = wide === null ? null : { name, value: freeName(table.columns, ADDED.value) };
  // In a wide table, the header names markets or dates.
  const isByHeader = wide !== null && date?.column !== null;
  return { table, guess, added, match: isByHeader ? [name] : guess.market.match.map((column) => column.name), isList };
}

/** A name for a column that the mapping adds, which no column of the file has. */
export function freeName(columns: TableProfile['columns'], wish: string): string {
  return columns.some(({ name }) => name === wish) ? freeName(columns, `${wish}_`) : wish;
}
