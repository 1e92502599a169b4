/** Drafts a mapping for a file. */
import type { MappingFault } from '../declared/csv-mapping.ts';
import { parseMappingText } from '../declared/parse-mapping.ts';
import type { Column } from './column.ts';
import type { NoRows } from './document-rows.ts';
import { draftOf } from './draft.ts';
import { type ColumnGuess, guessColumns } from './guess-columns.ts';
import { type FileTable, linkColumn, readTable } from './table.ts';
import { MARKET_NAME, SLUG_NAME, writeMapping } from './write-mapping.ts';

export type BegunMapping =
  | {
      /** A mapping with comments (see `parseMappingText`). */
      readonly text: string;
      /** The places where a person must decide, in the form of `parseMappingText`. */
      readonly toFill: readonly MappingFault[];
    }
  /** Why no mapping can be drafted, and the remedy. */
  | NoRows;

/**
 * Reads the first MiB of a CSV file, or of a JSON or XML document, and writes a first mapping, with its guesses in comments. A
 * guess that the file does not support is left to a person: the text has `FILL IN` there.
 *
 * @param file the file from its beginning
 * @param name the name of the file, for the text and for a slug
 */
export async function beginMapping(file: AsyncIterable<Uint8Array>, name: string): Promise<BegunMapping> {
  const table = await readTable(file);
  if ('fault' in table) return table;
  const { columns, place } = table;
  const ownName = place.json?.name;
  const guess = guessColumns(columns, ownName);
  const headless = columns.find((column) => /^-?\d+([.,]\d+)?$/.test(column.name));
  if (place.csv !== undefined && headless !== undefined && guess.date?.column !== null) {
    const line = place.csv.linesBeforeHeader + 1;
    return { fault: `line ${line} must name the columns, but it has the number ${headless.name}: add a line above it` };
  }
  const named = ownName === undefined ? namesOfRows(table, guess) : columns.filter((column) => column.name === ownName);
  const areMarkets = named.length > 0 && named[0] !== guess.date?.column;
  const isList = areMarkets && guess.date === null;
  const isAlone = (isList && ownName !== undefined) || place.json?.value !== undefined;
  const market = areMarkets ? marketByNames(named, isAlone, guess.market) : guess.market;
  const text = writeMapping(name, draftOf(table, { ...guess, market }, isList));
  const result = parseMappingText(text);
  return { text, toFill: 'faults' in result ? result.faults : [] };
}

/**
 * The columns that name the rows, if all rows have the same date, and the columns of few values do not distinguish them: of
 * those whose text differs in each row, those called so, or the first one.
 */
function namesOfRows({ columns, rows }: FileTable, { date, values, market }: ColumnGuess): readonly Column[] {
  if (rows < 2 || market.isUnique || (date !== null && date.column?.distinct.size !== 1)) return [];
  const link = linkColumn(columns);
  const differing = columns.filter((column) => {
    const isText = column.number === null || SLUG_NAME.test(column.name);
    return isText && column !== link && !values.includes(column) && column.distinct.size === rows;
  });
  const called = differing.filter(({ name }) => SLUG_NAME.test(name) || MARKET_NAME.test(name));
  return called.length > 0 ? called : differing.slice(0, 1);
}

/**
 * If the rows are members of one object, their names differ. If they are single values, or have no date, only the name can
 * distinguish markets.
 */
function marketByNames(
  named: readonly Column[],
  isAlone: boolean,
  { match, others }: ColumnGuess['market'],
): ColumnGuess['market'] {
  const rest = isAlone ? [] : [...match, ...others].filter((column) => !named.includes(column));
  return { match: named, others: rest, isSure: rest.length === 0 && named.length === 1, isUnique: true };
}
