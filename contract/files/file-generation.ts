/**
 * Files that show the newest values of all markets. Values may return to an earlier state; then the bytes and the ETag
 * would be the same as before, and a late request that names that ETag could put an older file. So each file names the
 * generation that changed it last (docs/decisions/101). Without the schema library.
 */

/** Writes the file for a generation. `null`: in the form of an earlier version, without a generation. */
export type FileAt = (generation: number | null) => string;

/** @param members the members before `generation`, such as `"data":[]` */
export function jsonFileAt(members: string): FileAt {
  return (generation) => (generation === null ? `{${members}}` : `{${members},"generation":${generation}}`);
}

/** In each line, as its last member. @param lines JSON objects */
export function ndjsonFileAt(lines: readonly string[]): FileAt {
  return (generation) => {
    const end = generation === null ? '}\n' : `,"generation":${generation}}\n`;
    return lines.map((line) => line.slice(0, -1) + end).join('');
  };
}

const CSV_COLUMN = ',generation';

/** The generation is the last column, because CSV has no other place for it. A table without rows has no generation. */
export function csvFileAt(header: string, rows: readonly string[]): FileAt {
  return (generation) => {
    const [column, end] = generation === null || rows.length === 0 ? ['', '\r\n'] : [CSV_COLUMN, `,${generation}\r\n`];
    return `${header}${column}\r\n${rows.map((row) => row + end).join('')}`;
  };
}

/** The generation in the file. Null: an earlier version wrote the file, or it has no rows. */
export function generationOfFile(text: string): number | null {
  const isCsv = !text.startsWith('{');
  if (isCsv && !text.slice(0, text.indexOf('\r\n')).endsWith(CSV_COLUMN)) return null;
  const [, digits] =
    (isCsv ? /,([1-9]\d{0,14})\r\n$/ : /,"generation":([1-9]\d{0,14})\}\n?$/).exec(text.slice(-40)) ?? [];
  return digits === undefined ? null : Number(digits);
}
