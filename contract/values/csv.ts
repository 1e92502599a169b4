/** CSV by RFC 4180, safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null | undefined;

/** One record, without its line end. An unknown value is an empty field. */
export function csvRecord(cells: readonly CsvCell[]): string {
  return cells.map(csvField).join(',');
}

/**
 * A spreadsheet treats a cell that begins with one of these signs as a formula, which may send data of the sheet elsewhere
 * (OWASP, CSV injection). Some also accept the full-width signs. Where the decimal sign is a comma, spreadsheets end a cell
 * at a semicolon, and quotes inside a cell do not protect: so a sign after a semicolon, a tab or a line end begins a cell
 * there.
 */
const FORMULA = /(^|[;\t\r\n]"*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** Some programs skip these characters, and examine the next one. */
const SKIPPED = /^[\t\r]/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Puts an apostrophe before each such sign. Numbers stay unchanged. */
function csvField(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const text = DECIMAL.test(cell) ? cell : cell.replaceAll(FORMULA, "$1'$2").replace(SKIPPED, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
