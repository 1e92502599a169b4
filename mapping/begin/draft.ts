/** The guesses from which the parts of a starting mapping are written. */
import type { Column } from './column.ts';
import type { ColumnGuess } from './guess-columns.ts';
import type { FileTable } from './table.ts';

/** The guesses, and their consequences for the whole mapping. */
export interface Draft {
  readonly table: FileTable;
  readonly guess: ColumnGuess;
  /** The columns that `unpivot` adds; null for a file that is not wide. */
  readonly added: { readonly name: string; readonly value: string } | null;
  readonly match: readonly string[];
  /** Whether the rows have names and no date. Then they state current values, such as a vendor's prices. */
  readonly isList: boolean;
  /** Whether all values are rates in percent, and so no money. */
  readonly isPercent: boolean;
}

export function draftOf(table: FileTable, guess: ColumnGuess, isList: boolean): Draft {
  const { wide, date, currency } = guess;
  const inHeader = date?.column === null ? 'date' : currency.kind === 'header' ? 'currency' : 'market';
  const name = freeName(table.columns, inHeader);
  const added = wide === null ? null : { name, value: freeName(table.columns, 'value') };
  // In a wide table, the header contains the names of markets, or dates.
  const isByHeader = wide !== null && date?.column !== null;
  const isRate = ({ name: own, signs }: Column) => /%|percent|prozent/i.test(own) || [...signs].join() === '%';
  const isPercent = guess.values.length > 0 && guess.values.every(isRate);
  return {
    table,
    guess,
    added,
    isPercent,
    match: isByHeader ? [name] : guess.market.match.map((column) => column.name),
    isList,
  };
}

/** A name that no column of the file has, for a column that the mapping adds. */
export function freeName(columns: readonly Column[], wish: string): string {
  return columns.some(({ name }) => name === wish) ? freeName(columns, `${wish}_`) : wish;
}
