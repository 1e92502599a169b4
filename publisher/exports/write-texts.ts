/** Writes NDJSON and CSV, compressed. The texts are the same everywhere; their compressed bytes depend on Node's zlib. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ExportCell, ExportRow, ExportTable } from '../../contract/export-tables.ts';
import { ROWS_IN_A_STRETCH } from './observation-rows.ts';

/** Changes when the form of a file changes, so that its files get other names. */
const FORM = 'tidemark export 1\n';

export interface WrittenText {
  readonly bytes: Buffer;
  /** SHA-256 of the text and the version of its form, in hex. */
  readonly contentDigest: string;
}

/** One JSON object a line, with all columns. */
export function ndjsonOf(rows: readonly ExportRow[], breathe: () => Promise<void>): Promise<WrittenText> {
  return packed('', rows, (row) => JSON.stringify(row), '\n', breathe);
}

/** RFC 4180, with a header. An unknown value is an empty field. */
export function csvOf(
  { columns }: ExportTable,
  rows: readonly ExportRow[],
  breathe: () => Promise<void>,
): Promise<WrittenText> {
  const names = columns.map(({ name }) => name);
  const line = (row: ExportRow) => names.map((name) => field(row[name] ?? null)).join(',');
  return packed(`${names.join(',')}\r\n`, rows, line, '\r\n', breathe);
}

async function packed(
  header: string,
  rows: readonly ExportRow[],
  line: (row: ExportRow) => string,
  end: string,
  breathe: () => Promise<void>,
): Promise<WrittenText> {
  const digest = createHash('sha256').update(FORM);
  const chunks: Buffer[] = [];
  async function* texts(): AsyncGenerator<Buffer> {
    if (header !== '') yield Buffer.from(header);
    for (let start = 0; start < rows.length; start += ROWS_IN_A_STRETCH) {
      let text = '';
      for (const row of rows.slice(start, start + ROWS_IN_A_STRETCH)) text += line(row) + end;
      const some = Buffer.from(text);
      digest.update(some);
      yield some;
      await breathe();
    }
  }
  await pipeline(texts, createGzip(), async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) chunks.push(chunk);
  });
  return { bytes: Buffer.concat(chunks), contentDigest: digest.digest('hex') };
}

/** A spreadsheet runs a text that begins with one of these as a formula. A number may begin with a minus. */
const FORMULA = /^[=+\-@\t\r]/;
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;
const NEEDS_QUOTES = /[",\r\n]/;

/** With an apostrophe before a text that spreadsheets would run (OWASP, CSV injection). */
function field(cell: ExportCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) && !PLAIN_NUMBER.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
