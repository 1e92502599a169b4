/** Begins a mapping for a file that nobody has described yet. */
import type { CsvMapping, MappingFault } from '../declared/csv-mapping.ts';
import { parseMappingText } from '../declared/parse-mapping.ts';
import type { ColumnProfile } from './column-profile.ts';
import { guessDialect, OTHER_ENCODING } from './dialect.ts';
import { draftOf } from './draft.ts';
import { beginningOf, wholeRows } from './file-head.ts';
import { type ColumnGuess, guessColumns } from './guess-columns.ts';
import type { MarketColumns } from './guess-market-columns.ts';
import { guessQuantity } from './guess-quantity.ts';
import { formOf, readJsonTable } from './json-table.ts';
import { quotedNumbers } from './quoted-numbers.ts';
import { profileTable, type TableProfile } from './table-profile.ts';
import { writeMapping } from './write-mapping.ts';
import { readXmlTable } from './xml-table.ts';

export type BegunMapping =
  | {
      /** A mapping with comments (see `parseMappingText`). */
      readonly text: string;
      /** The places where a person must decide, as `parseMappingText` reports them. */
      readonly toFill: readonly MappingFault[];
    }
  /** Why the file gives no mapping, and the remedy. */
  | { readonly fault: string };

/**
 * Looks at a CSV file, or JSON or XML document, and writes a starting mapping, with its guesses in comments. A guess that the file does not
 * support is left to a person: the text says `FILL IN`. Of a file of more than
 * 4 MiB, the beginning is read.
 *
 * @param open opens the file from its beginning
 * @param name of the file, for the text and for a slug
 */
export async function beginMapping(open: () => AsyncIterable<Uint8Array>, name: string): Promise<BegunMapping> {
  const { bytes, isCut } = await beginningOf(open());
  const form = await formOf(onlyPiece(bytes));
  if (form === 'csv') return await beginFromCsv(() => onlyPiece(isCut ? wholeRows(bytes) : bytes), name, null, isCut);
  const table = await (form === 'json' ? readJsonTable : readXmlTable)(bytes, isCut);
  return 'fault' in table ? table : await beginFromCsv(() => onlyPiece(table.csv), name, table.options, isCut);
}

/** Where the rows of a document are. */
type Place = NonNullable<CsvMapping['json'] | CsvMapping['xml']>;

async function* onlyPiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** @param place where the rows come from; null if the file is CSV itself */
async function beginFromCsv(
  open: () => AsyncIterable<Uint8Array>,
  name: string,
  place: Place | null,
  isCut: boolean,
): Promise<BegunMapping> {
  const json = place !== null && 'columns' in place ? place : null;
  let dialect = await guessDialect(open);
  if (dialect === null) {
    return {
      fault: 'no line has two fields by comma, semicolon, tab or bar: is it a CSV file with a line of column names?',
    };
  }
  let table = await profileTable(open(), dialect, place === null);
  if (table.isDamaged && dialect.encoding === 'utf-8') {
    dialect = { ...dialect, encoding: OTHER_ENCODING };
    table = await profileTable(open(), dialect, place === null);
  }
  if (table.rows === 0) {
    const { line, detail } = table.firstFault ?? {
      line: dialect.linesBeforeHeader + 1,
      detail: 'no row follows the header',
    };
    return { fault: `line ${line}: ${detail}` };
  }
  const headless = table.columns.find(({ name: column }) => /^-?\d+([.,]\d+)?$/.test(column));
  const guess = guessColumns(table, json?.name);
  if (place === null && headless !== undefined && guess.date?.column !== null) {
    const line = dialect.linesBeforeHeader + 1;
    return { fault: `line ${line} must name the columns, but it has the number ${headless.name}: add a line above it` };
  }
  const isXml = place !== null && json === null;
  const named = isXml ? onlyName(table, guess) : table.columns.find(({ name: column }) => column === json?.name);
  const isMarket = named !== undefined && named !== guess.date?.column;
  const isList = isMarket && guess.date === null && json?.name !== undefined;
  const market = isMarket ? marketByName(named, isList || json?.value !== undefined, guess.market) : guess.market;
  const draft = draftOf(table, { ...guess, market }, isList);
  const quantities = await guessQuantity(quotedNumbers(open(), dialect, draft));
  const text = writeMapping(name, place ?? dialect, draft, quantities, isCut);
  const result = parseMappingText(text);
  return { text, toFill: 'faults' in result ? result.faults : [] };
}

/** The one text that is another in each row, if all rows are of one date. */
function onlyName({ columns, rows }: TableProfile, { date, values }: ColumnGuess): ColumnProfile | undefined {
  if (date?.column?.distinct?.size !== 1) return undefined;
  const names = columns.filter((column) => {
    return !values.includes(column) && column.numberFormat() === null && column.distinct?.size === rows;
  });
  return names.length === 1 ? names[0] : undefined;
}

/** The members of one object have different names. If they are single values, or have no date, nothing else could tell markets apart. */
function marketByName(named: ColumnProfile, isAlone: boolean, { match, others }: MarketColumns): MarketColumns {
  const rest = isAlone ? [] : [...match, ...others].filter((column) => column !== named);
  return { match: [named], others: rest, isSure: rest.length === 0, isUnique: true };
}
