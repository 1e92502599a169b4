/** CSV by RFC 4180, safe to open in a spreadsheet. */

export type CsvCell = string | number | boolean | null | undefined;

/** One record, without its line end. An unknown value is an empty field. */
export function csvRecord(cells: readonly CsvCell[]): string {
  return cells.map(csvField).join(',');
}

/** A spreadsheet takes a text with such a beginning for a formula, which may send what is in the sheet elsewhere. */
const FORMULA = /^[=+\-@\t\r]/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Such a text gets a leading apostrophe. Numbers stay as they are. */
function csvField(cell: CsvCell): string {
  const written = String(cell ?? '');
  const text = FORMULA.test(written) && !DECIMAL.test(written) ? `'${written}` : written;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
