/** Guesses the columns that tell markets apart. */
import type { Column } from './column.ts';

export interface MarketColumns {
  /** Columns that identify a market, or may. */
  readonly match: readonly Column[];
  /** Other columns that may: they differ within a market, or have many values. */
  readonly others: readonly Column[];
  /** Whether the file leaves no doubt: see `doubtsOf`. */
  readonly isSure: boolean;
  /** Whether no two rows agree in these columns and in their date. */
  readonly isUnique: boolean;
}

/** The first rows show enough. */
const ROWS_COMPARED = 5_000;

/**
 * Begins with all columns of few values. Leaves out those that differ within a market but are not needed to tell the
 * rows of one date apart, such as a flag.
 *
 * @param candidates columns that are neither the date nor the value
 * @param currency the name of the column of currencies, which stays
 */
export function guessMarketColumns(
  candidates: readonly Column[],
  date: Column | null,
  currency: string | null,
): MarketColumns {
  const few = candidates.filter(hasFewValues);
  let match = few;
  const others: Column[] = [];
  for (const column of few) {
    if (column.name === currency) continue;
    const rest = match.filter((each) => each !== column);
    const differsWithin = groups(rest) < groups(match);
    if (!differsWithin || groups([...rest, date]) < groups([...match, date])) continue;
    match = rest;
    others.push(column);
  }
  others.push(...candidates.filter((column) => !few.includes(column) && column.filled > 0 && column.number === null));
  return { match, others, ...doubtsOf(match, others, date, currency) };
}

/**
 * There is no doubt if each row of a date is of another market, each column is needed for that, and no other column could
 * tell markets apart. The identity of all observations hangs on these columns, so any doubt is left to a person.
 */
export function doubtsOf(
  match: readonly Column[],
  others: readonly Column[],
  date: Column | null,
  currency: string | null,
): Pick<MarketColumns, 'isSure' | 'isUnique'> {
  const all = groups([...match, date]);
  const isNeeded = (column: Column) =>
    column.name === currency || groups([...match.filter((each) => each !== column), date]) < all;
  const rows = [...match, ...others, date].find((column) => column !== null)?.cells.length ?? 0;
  const isUnique = all === Math.min(rows, ROWS_COMPARED);
  // Without any column that could name a market, the doubt is one of the date.
  const isNameless = match.length === 0 && others.length === 0;
  return { isUnique, isSure: isNameless || (isUnique && others.length === 0 && match.every(isNeeded)) };
}

/** How many rows are different by these columns. */
function groups(columns: readonly (Column | null)[]): number {
  const used = columns.filter((column) => column !== null);
  const rows = Math.min(ROWS_COMPARED, used[0]?.cells.length ?? 0);
  return new Set(Array.from({ length: rows }, (_, row) => JSON.stringify(used.map(({ cells }) => cells[row])))).size;
}

/** Numbers with decimals measure something. A number that is nearly always another counts rows. */
function hasFewValues({ cells, blank, filled, distinct, number, isIntegers }: Column): boolean {
  if (blank > cells.length / 100 || filled === 0) return false;
  if (number !== null && !isIntegers) return false;
  return distinct.size <= cells.length / (number === null ? 2 : 10);
}
