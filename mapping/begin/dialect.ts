/** Finds the dialect of a CSV file: its encoding, its delimiter, and the line with its column names. */
import { CsvError } from 'csv-parse';
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { textOf } from '../input/csv-input.ts';
import { type ParsedRow, parseCsvRows } from '../input/csv-rows.ts';

export type Dialect = CsvMapping['csv'];

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The size of the beginning that decides everything except the encoding. */
const HEAD_BYTES = 256 * 1024;

/** The most frequent of the encodings in which every byte is a character. So no bytes rule it out. */
const OTHER_ENCODING = 'windows-1252';

/** Null: no delimiter gives rows with several columns. */
export async function guessDialect(bytes: Uint8Array): Promise<Dialect | null> {
  const encoding = guessEncoding(bytes);
  const head = new TextDecoder(encoding).decode(bytes.subarray(0, HEAD_BYTES));
  // The last line may be cut off.
  const text = bytes.length <= HEAD_BYTES ? head : head.slice(0, head.lastIndexOf('\n') + 1);
  const tries = await Promise.all(DELIMITERS.map((delimiter) => tryDelimiter(text, delimiter)));
  const [best] = tries
    .filter((each) => each !== null)
    .sort((one, other) => other.rows - one.rows || other.width - one.width);
  if (best === undefined) return null;
  return { delimiter: best.delimiter, encoding, linesBeforeHeader: best.headerLine - 1, rowsAfterHeader: 0 };
}

function guessEncoding(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  // UTF-16 without a byte order mark: every second byte of Latin letters is NUL, which no text contains.
  if (bytes[1] === 0) return 'utf-16le';
  if (bytes[0] === 0) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return 'utf-8';
  } catch {
    return OTHER_ENCODING;
  }
}

/**
 * The header is the first row that is as wide as most rows, and as wide as the next row. A title row that a spreadsheet has
 * padded to that width has far fewer texts than the rows below it.
 */
async function tryDelimiter(text: string, delimiter: string) {
  const rows: (ParsedRow & { readonly line: number })[] = [];
  let line = 1;
  try {
    for await (const parsed of parseCsvRows(textOf(text, 'utf-8', 0), delimiter)) {
      for (const row of parsed) {
        rows.push({ ...row, line });
        line = row.endLine + 1;
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
  }
  const counts = new Map<number, number>();
  for (const { fields } of rows) {
    if (fields.length > 1) counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1);
  }
  const [most] = [...counts].sort((one, other) => other[1] - one[1]);
  if (most === undefined) return null;
  const [width, count] = most;
  const isWide = (row: ParsedRow | undefined) => row === undefined || row.fields.length === width;
  const texts = ({ fields }: ParsedRow) => fields.filter((text) => text.trim() !== '').length;
  const filled = rows
    .filter(isWide)
    .map(texts)
    .sort((one, other) => one - other);
  const usual = filled[filled.length >> 1] ?? 0;
  const isTitle = (row: ParsedRow) => texts(row) * 2 < usual;
  const header = rows.find((row, index) => isWide(row) && isWide(rows[index + 1]) && !isTitle(row));
  return header === undefined ? null : { delimiter, width, rows: count, headerLine: header.line };
}
