import type { ColumnProfile } from './column-profile.ts';
import type { TableProfile } from './table-profile.ts';

export interface MarketColumns {
  /** Columns that identify a market, or may. */
  readonly match: readonly ColumnProfile[];
  /** Other columns that may: they differ within a market, or have many values. */
  readonly others: readonly ColumnProfile[];
  /** Whether the file leaves no doubt: see `isSureOf`. */
  readonly isSure: boolean;
  /** Whether no two rows agree in these columns and in their date. */
  readonly isUnique: boolean;
}

/**
 * Begins with all columns of few values. Leaves out those that differ within a market but are not needed to tell the
 * rows of one date apart, such as a flag. Looks at the first rows only.
 *
 * @param candidates columns that are neither the date nor the value
 * @param currency the name of the column of currencies, which stays
 */
export function guessMarketColumns(
  table: TableProfile,
  candidates: readonly ColumnProfile[],
  date: ColumnProfile | null,
  currency: string | null,
): MarketColumns {
  const groups = groupCounter(table);
  const few = candidates.filter((column) => hasFewValues(column, table.rows));
  let match = few;
  const others: ColumnProfile[] = [];
  for (const column of few) {
    if (column.name === currency) continue;
    const rest = match.filter((each) => each !== column);
    const differsWithin = groups(rest) < groups(match);
    if (!differsWithin || groups([...rest, date]) < groups([...match, date])) continue;
    match = rest;
    others.push(column);
  }
  others.push(...candidates.filter((column) => !few.includes(column) && isText(column)));
  return { match, others, ...doubtsOf(groups, table, match, { others, date, currency }) };
}

/** The market of a table that has its dates in the header: every column of texts names it. */
export function namingColumns(
  table: TableProfile,
  match: readonly ColumnProfile[],
  currency: string | null,
): MarketColumns {
  return { match, others: [], ...doubtsOf(groupCounter(table), table, match, { others: [], date: null, currency }) };
}

/**
 * There is no doubt if each row of a date is of another market, each column is needed for that, and no other column could
 * tell markets apart. The identity of all observations hangs on these columns, so any doubt is left to a person.
 */
function doubtsOf(
  groups: ReturnType<typeof groupCounter>,
  table: TableProfile,
  match: readonly ColumnProfile[],
  {
    others,
    date,
    currency,
  }: {
    readonly others: readonly ColumnProfile[];
    readonly date: ColumnProfile | null;
    readonly currency: string | null;
  },
): Pick<MarketColumns, 'isSure' | 'isUnique'> {
  const all = groups([...match, date]);
  const isNeeded = (column: ColumnProfile) =>
    column.name === currency || groups([...match.filter((each) => each !== column), date]) < all;
  const isUnique = all === table.sample.length;
  // Without any column that could name a market, the doubt is one of the date.
  const isNameless = match.length === 0 && others.length === 0;
  return { isUnique, isSure: isNameless || (isUnique && others.length === 0 && match.every(isNeeded)) };
}

/** Counts the different rows of the first ones, by some of their columns. */
function groupCounter(table: TableProfile): (columns: readonly (ColumnProfile | null)[]) => number {
  const places = new Map(table.columns.map((column, index) => [column, index]));
  return (columns) => {
    const used = columns.flatMap((column) => (column === null ? [] : [places.get(column) as number]));
    return new Set(table.sample.map((row) => JSON.stringify(used.map((place) => row[place])))).size;
  };
}

function isText(column: ColumnProfile): boolean {
  return column.filled > 0 && column.numberFormat() === null && column.integers < column.filled;
}

/** Numbers with decimals measure something. A number that is nearly always another counts rows. */
function hasFewValues(column: ColumnProfile, rows: number): boolean {
  if (column.distinct === null || column.blank > rows / 100 || column.filled === 0) return false;
  const isText = column.numberFormat() === null;
  if (!isText && column.integers < column.filled - column.wordCount) return false;
  return column.distinct.size <= rows / (isText ? 2 : 10);
}
