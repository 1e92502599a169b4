/** The beginning of a file as a table, for every form of file. */
import { type CsvFault, readCsv } from '../input/csv-rows.ts';
import { Column } from './column.ts';
import { guessDialect } from './dialect.ts';
import { type FilePlace, type FoundRows, jsonRows, LIKE_DATE, type NoRows, xmlRows } from './document-rows.ts';
import { beginningOf, wholeRows } from './file-head.ts';

export interface FileTable {
  readonly place: FilePlace;
  readonly columns: readonly Column[];
  /** The line of each row, from 1 on. Empty for a document, whose rows have no lines. */
  readonly lines: readonly number[];
  readonly rows: number;
  /** The number of unreadable rows, and the first of their faults. */
  readonly faults: number;
  readonly firstFault: string;
  /** Rows at the end, such as a total, that are no data. They are not among the rows and cells. */
  readonly footers: readonly string[];
  /** Whether the file continues. */
  readonly isCut: boolean;
}

/** @returns the table; or why the file has none, and the remedy */
export async function readTable(file: AsyncIterable<Uint8Array>): Promise<FileTable | NoRows> {
  const { bytes, isCut } = await beginningOf(file);
  const form = formOf(bytes);
  const found = await { csv: csvRows, json: jsonRows, xml: xmlRows }[form](bytes, isCut);
  if ('fault' in found) return found;
  const { place, rows } = found;
  let header: readonly string[] = [];
  const [cells, lines, faults] = [[] as string[][], [] as number[], [] as CsvFault[]];
  for await (const row of rows) {
    if (row.kind === 'fault') faults.push(row);
    else if (row.kind === 'header') {
      header = row.fields;
      cells.push(...header.map(() => []));
    } else {
      lines.push(row.line);
      for (const [index, cell] of row.fields.entries()) cells[index]?.push(cell);
    }
  }
  const footers = form === 'csv' && !isCut ? takeFooters(cells, lines) : [];
  const [first] = faults;
  const firstFault = first === undefined ? '' : `line ${first.line}: ${first.detail}`;
  if (first !== undefined && ((form !== 'csv' && first.fatal) || lines.length === 0)) return { fault: firstFault };
  if (lines.length === 0) return { fault: 'no row follows the names of the columns' };
  const all = header.map((name, index) => new Column(name, cells[index] ?? []));
  // The texts in the head of a document are the same for each row. Only a date among them describes the rows.
  const ofHead = ({ name, cells, distinct }: Column) =>
    form === 'xml' && name.startsWith('../') && new Set(cells).size <= 1 && !LIKE_DATE.test([...distinct][0] ?? '');
  const columns = all.filter((column) => !ofHead(column));
  return {
    place,
    columns,
    lines: form === 'csv' ? lines : [],
    rows: lines.length,
    faults: faults.length,
    firstFault,
    footers,
    isCut,
  };
}

const FOOTER =
  /^[^\p{L}\p{N}]*(grand|total|sub-?total|sum|summe|gesamt|somme|average|mean|source|quelle|note|footnote)/iu;

/** Removes rows from the end that begin with such a word and leave half of the columns blank. Returns their places. */
function takeFooters(cells: readonly string[][], lines: number[]): readonly string[] {
  const footers: string[] = [];
  while (lines.length > 1) {
    const texts = cells.map((column) => column.at(-1) ?? '').filter((text) => text.trim() !== '');
    if (!FOOTER.test(texts[0] ?? '') || 2 * texts.length > cells.length) break;
    footers.unshift(`line ${lines.pop()}, ${texts[0]}`);
    for (const column of cells) column.pop();
  }
  return footers;
}

async function csvRows(head: Uint8Array, isCut: boolean): Promise<FoundRows | NoRows> {
  const bytes = isCut ? wholeRows(head) : head;
  const csv = await guessDialect(bytes);
  if (csv !== null) return { place: { csv }, rows: readCsv([bytes], csv) };
  return {
    fault:
      'no line has two fields, separated by a comma, semicolon, tab or bar: a CSV file needs a line of column names',
  };
}

/** The form, by the first character of the file. */
function formOf(bytes: Uint8Array): 'json' | 'xml' | 'csv' {
  const [first] = new TextDecoder().decode(bytes.subarray(0, 1000)).trimStart();
  return first === '{' || first === '[' ? 'json' : first === '<' ? 'xml' : 'csv';
}

/** The only column whose cells are complete links. Null: no column has them, or several have. */
export function linkColumn(columns: readonly Column[]): Column | null {
  const links = columns.filter(({ filled, blank, distinct }) => {
    return filled > 0 && blank === 0 && [...distinct].every((text) => /^https?:\/\/[^\s/]+\S*$/i.test(text));
  });
  return links.length === 1 ? (links[0] ?? null) : null;
}
