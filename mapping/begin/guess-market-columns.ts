/** Guesses the columns that distinguish markets. */
import type { Column } from './column.ts';

export interface MarketColumns {
  /** The columns that identify a market, or may do so. */
  readonly match: readonly Column[];
  /** Other columns that may identify a market: their values differ within a market, or are many. */
  readonly others: readonly Column[];
  /** Whether there is no doubt: see `doubtsOf`. */
  readonly isSure: boolean;
  /** Whether each row has a different combination of these columns and the date. */
  readonly isUnique: boolean;
}

/** The number of compared rows: the first ones are enough. */
const ROWS_COMPARED = 5_000;

/**
 * Starts with all columns of few values. Leaves out columns, such as a flag, whose values differ within a market but are not
 * needed to distinguish the rows of one date.
 *
 * @param candidates columns that are neither the date nor the value
 * @param currency the name of the currency column, which is kept
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
 * There is no doubt if each row of a date belongs to another market, each column is needed for that, and no other column could
 * distinguish markets. These columns determine the identity of all observations, so a person must decide in any doubt.
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
  // If no column could name a market, the doubt is about the date.
  const isNameless = match.length === 0 && others.length === 0;
  return { isUnique, isSure: isNameless || (isUnique && others.length === 0 && match.every(isNeeded)) };
}

/** The number of different combinations of these columns. */
function groups(columns: readonly (Column | null)[]): number {
  const used = columns.filter((column) => column !== null);
  const rows = Math.min(ROWS_COMPARED, used[0]?.cells.length ?? 0);
  return new Set(Array.from({ length: rows }, (_, row) => JSON.stringify(used.map(({ cells }) => cells[row])))).size;
}

/**
 * Whether a column may name something. Numbers with decimals are measurements. A number that differs in nearly every row counts
 * the rows.
 */
function hasFewValues({ cells, blank, filled, distinct, number, isIntegers }: Column): boolean {
  if (blank > cells.length / 100 || filled === 0) return false;
  if (number !== null && !isIntegers) return false;
  return distinct.size <= cells.length / (number === null ? 2 : 10);
}
