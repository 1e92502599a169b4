/** Writes NDJSON and CSV, compressed. The texts are the same everywhere; their compressed bytes depend on Node's zlib. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createGzip } from 'node:zlib';
import type { ExportRow, ExportTable } from '../../../contract/bodies/export-tables.ts';
import { csvRecord } from '../../../contract/values/csv.ts';

/** Changes when the form of a file changes, so that its files get other names. */
const FORM = 'tidemark export 1\n';

export interface WrittenText {
  readonly bytes: Buffer;
  /** SHA-256 of the text and the version of its form, in hex. */
  readonly contentDigest: string;
}

/** A text that grows by rows. Only its compressed bytes are kept. */
export interface TextFile {
  add(rows: readonly ExportRow[]): Promise<void>;
  end(): Promise<WrittenText>;
}

/** One JSON object a line, with all columns. */
export function ndjsonLine(row: ExportRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** RFC 4180: the first line of a file, and the line of a row. An unknown value is an empty field. */
export function csvTexts({ columns }: ExportTable) {
  const names = columns.map(({ name }) => name);
  return {
    header: `${names.join(',')}\r\n`,
    line: (row: ExportRow) => `${csvRecord(names.map((name) => row[name]))}\r\n`,
  };
}

export function growingText(line: (row: ExportRow) => string, header = ''): TextFile {
  const digest = createHash('sha256').update(FORM);
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  const ended = once(
    gzip.on('data', (chunk: Buffer) => chunks.push(chunk)),
    'end',
  );
  // The fault is thrown when the file ends.
  ended.catch(() => undefined);
  const write = async (text: string) => {
    const bytes = Buffer.from(text);
    digest.update(bytes);
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), ended]);
  };
  let isBegun = header === '';
  return {
    async add(rows) {
      const text = rows.map(line).join('');
      await write(isBegun ? text : header + text);
      isBegun = true;
    },
    async end() {
      gzip.end();
      await ended;
      return { bytes: Buffer.concat(chunks), contentDigest: digest.digest('hex') };
    },
  };
}
