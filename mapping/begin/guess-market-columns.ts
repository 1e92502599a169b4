/** Guesses the columns that tell one market from another. */
import type { ColumnProfile } from './column-profile.ts';
import type { TableProfile } from './table-profile.ts';

export interface MarketColumns {
  /** Columns that identify or describe a market. */
  readonly match: readonly ColumnProfile[];
  /** Those of them that tell all markets apart, without a second name for the same. */
  readonly key: readonly ColumnProfile[];
  /** Columns of few values that differ within a market. */
  readonly other: readonly ColumnProfile[];
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
  const places = new Map(table.columns.map((column, index) => [column, index]));
  const groups = (columns: readonly (ColumnProfile | null)[]): number => {
    const used = columns.flatMap((column) => (column === null ? [] : [places.get(column) as number]));
    return new Set(table.sample.map((row) => JSON.stringify(used.map((place) => row[place])))).size;
  };
  const few = candidates.filter((column) => hasFewValues(column, table.rows));
  let match = few;
  const other: ColumnProfile[] = [];
  for (const column of few) {
    if (column.name === currency) continue;
    const rest = match.filter((each) => each !== column);
    const differsWithin = groups(rest) < groups(match);
    if (!differsWithin || groups([...rest, date]) < groups([...match, date])) continue;
    match = rest;
    other.push(column);
  }
  // Of a name and an identifier that always come together, the longer one is left out.
  let key: readonly ColumnProfile[] = match;
  for (const column of match.toSorted((one, another) => textLength(another) - textLength(one))) {
    const rest = key.filter((each) => each !== column);
    const together = (each: ColumnProfile) => groups([each, column]);
    if (rest.some((each) => groups([each]) === together(each) && groups([column]) === together(each))) key = rest;
  }
  return { match, key, other };
}

/** Numbers with decimals measure something. A number that is nearly always another counts rows. */
function hasFewValues(column: ColumnProfile, rows: number): boolean {
  if (column.distinct === null || column.blank > rows / 100 || column.filled === 0) return false;
  const isText = column.numberFormat() === null;
  if (!isText && column.integers < column.filled - column.wordCount) return false;
  return column.distinct.size <= rows / (isText ? 2 : 10);
}

function textLength({ distinct }: ColumnProfile): number {
  const texts = [...(distinct?.keys() ?? [])];
  return texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
}
