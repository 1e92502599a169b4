/**
 * Files that show the newest values of all markets. Values come back, so their bytes would come back, and with them their
 * ETag. A late request that names that ETag could then put an older file. So each file says which generation changed it
 * last (docs/decisions/101). Without the schema library.
 */

/** The file with the generation. `null`: as an earlier version wrote it. */
export type FileAt = (generation: number | null) => string;

/** @param members the members before it, such as `"data":[]` */
export function jsonFileAt(members: string): FileAt {
  return (generation) => (generation === null ? `{${members}}` : `{${members},"generation":${generation}}`);
}

const CSV_COLUMN = ',generation';

/** A column of its own, the last one, because CSV has no other place. A table without rows does not have it. */
export function csvFileAt(header: string, rows: readonly string[]): FileAt {
  return (generation) => {
    const [column, end] = generation === null || rows.length === 0 ? ['', '\r\n'] : [CSV_COLUMN, `,${generation}\r\n`];
    return `${header}${column}\r\n${rows.map((row) => row + end).join('')}`;
  };
}

/** Null: an earlier version wrote the file, or it has no rows. */
export function generationOfFile(text: string): number | null {
  const isCsv = !text.startsWith('{');
  if (isCsv && !text.slice(0, text.indexOf('\r\n')).endsWith(CSV_COLUMN)) return null;
  const [, digits] = (isCsv ? /,([1-9]\d{0,14})\r\n$/ : /,"generation":([1-9]\d{0,14})\}$/).exec(text.slice(-40)) ?? [];
  return digits === undefined ? null : Number(digits);
}
