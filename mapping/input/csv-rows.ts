/** Reads the rows of a CSV file (RFC 4180), one at a time. A fault names its line. */
import { CsvError, parse } from 'csv-parse';
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { type CsvInput, textOf } from './csv-input.ts';

/**
 * A row with as many fields as the header, with white space trimmed. The first one is the header itself. A column
 * without a name has an empty one.
 */
export interface CsvRow {
  readonly kind: 'header' | 'row';
  /** The line on which the row begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** The moment that its time stands for, if only the order of the rows shows it: see `bothHours`. */
  meantMs?: number;
}

/** A fault of a line. After a `fatal` fault nothing more is read, because later rows cannot be recognised. */
export interface CsvFault {
  readonly kind: 'fault';
  readonly line: number;
  readonly column: string | null;
  readonly detail: string;
  readonly fatal: boolean;
  /** Whether the row contains bytes that are invalid in the encoding. */
  readonly isDamaged: boolean;
}

/** A longer row means that a quote was never closed, or that the file is not CSV. */
const MAX_ROW_CHARACTERS = 1_000_000;

/** A row before its comparison with the header. */
export interface ParsedRow {
  readonly endLine: number;
  readonly fields: readonly string[];
}

/**
 * Accepts a byte order mark, quoted fields with line breaks, and LF, CRLF and CR. Blank lines are skipped. Yields the
 * header, then rows and faults in the order of the file. Keeps one piece of text in memory. An error of the file's
 * source is passed on.
 */
export async function* readCsv(csv: CsvInput, options: CsvMapping['csv']): AsyncGenerator<CsvRow | CsvFault> {
  const { delimiter, encoding, linesBeforeHeader } = options;
  let header: readonly string[] | null = null;
  let endLine = linesBeforeHeader;
  let rowsToSkip = options.rowsAfterHeader;
  try {
    for await (const rows of parseCsvRows(textOf(csv, encoding, linesBeforeHeader), delimiter)) {
      for (const parsed of rows) {
        const { fields } = parsed;
        const line = endLine + 1;
        endLine = parsed.endLine + linesBeforeHeader;
        if (fields.length === 1 && fields[0] === '') continue;
        if (header !== null && rowsToSkip > 0) {
          rowsToSkip -= 1;
          continue;
        }
        const faults = header === null ? headerFaults(line, fields) : rowFaults(line, fields, header, encoding);
        for (const each of faults) yield each;
        if (faults.some((each) => each.fatal)) return;
        if (faults.length === 0) yield { kind: header === null ? 'header' : 'row', line, fields };
        header ??= fields;
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield fault(endLine + 1, null, `${whyUnreadable(error)}; nothing after this line was read`, true);
    return;
  }
  if (header === null) {
    const line = linesBeforeHeader + 1;
    yield fault(line, null, `the file ends before line ${line}, which must name the columns`, true);
  }
}

/**
 * The rows of each piece of text, unchanged and including blank lines, up to the first unreadable one. Feeds the parser piece
 * by piece and takes its rows from a callback. As a stream, the parser would silently drop its pending rows when a later row is
 * malformed.
 *
 * @throws CsvError for the first unreadable row, after the rows before it
 */
export async function* parseCsvRows(
  text: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<readonly ParsedRow[]> {
  let rows: ParsedRow[] = [];
  /** Characters since the last row. The parser's own limit counts no delimiters, and a row of these alone would fill the memory. */
  let unfinished = 0;
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_ROW_CHARACTERS,
    on_record: (fields: string[], { lines }) => {
      rows.push({ endLine: lines, fields });
      unfinished = 0;
      return null;
    },
    // Tried in this order, because a file may mix line ends.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    trim: true,
  });
  let failure: Error | null = null;
  parser.on('error', (error) => {
    failure ??= error;
  });
  const take = () => {
    const taken = rows;
    rows = [];
    return taken;
  };
  try {
    let carried = '';
    for await (const next of text) {
      // Surrogate pairs stay together: the parser would lose a character that is divided between two pieces.
      const whole = carried + next;
      const cut = /[\uD800-\uDBFF]$/.test(whole) ? whole.length - 1 : whole.length;
      const piece = whole.slice(0, cut);
      carried = whole.slice(cut);
      unfinished += piece.length;
      await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
      yield take();
      if (unfinished > MAX_ROW_CHARACTERS) failure ??= new CsvError('CSV_MAX_RECORD_SIZE', 'the row is too long');
      if (failure !== null) throw failure;
    }
    await new Promise<void>((resolve) => parser.end(() => resolve()));
    yield take();
    if (failure !== null) throw failure;
  } finally {
    parser.destroy();
  }
}

function headerFaults(line: number, header: readonly string[]): CsvFault[] {
  const duplicates = new Set(header.filter((name, index) => name !== '' && header.indexOf(name) !== index));
  return [...duplicates].map((name) => {
    const positions = header.flatMap((other, index) => (other === name ? [index + 1] : [])).join(' and ');
    return fault(line, name, `columns ${positions} are both named ${JSON.stringify(name)}: rename all but one`, true);
  });
}

function rowFaults(line: number, record: readonly string[], header: readonly string[], encoding: string): CsvFault[] {
  if (record.length !== header.length) {
    const detail = `fields: ${record.length}, but the header has ${header.length}: is a delimiter missing, or a field with a delimiter not quoted?`;
    return [fault(line, null, detail, false)];
  }
  const damaged = record.findIndex((field) => field.includes('\uFFFD'));
  if (damaged === -1) return [];
  const detail = `holds bytes that are not ${encoding}: give the file's encoding as csv.encoding, e.g. "windows-1252"`;
  return [{ ...fault(line, header[damaged] || null, detail, false), isDamaged: true }];
}

function whyUnreadable(error: CsvError): string {
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote is opened in the row that begins here, and never closed';
    case 'CSV_MAX_RECORD_SIZE':
      return 'the row that begins here has more than 1,000,000 characters: is a quote never closed, or is this not a CSV file?';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'text follows a closing quote in the row that begins here: write a quote inside a quoted field twice';
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands inside an unquoted field in the row that begins here: quote the whole field and write the quote twice';
    default:
      return `not readable as CSV (${error.code})`;
  }
}

/** Nothing after this line is read. */
export function fatalFault(line: number, detail: string): CsvFault {
  return fault(line, null, detail, true);
}

function fault(line: number, column: string | null, detail: string, fatal: boolean): CsvFault {
  return { kind: 'fault', line, column, detail, fatal, isDamaged: false };
}
