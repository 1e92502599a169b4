/** One line of CSV (RFC 4180), with LF as most tools write it. */
import type { Cell } from '../output.ts';

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvField).join(',')}\n`;
}

function csvField(cell: Cell): string {
  const text = String(cell ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
