/** Readable output: aligned tables, numbers with their spread. */
import { quantile } from './rounds.ts';

export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  // With fewer than three dashes, some readers of Markdown do not recognise a table.
  const widths = header.map((_, column) => Math.max(3, ...[header, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Matches each table in a Markdown text. */
export const TABLES = /^\|.*\n(\|.*(\n|$))+/gm;

/**
 * Replaces each table of the document that has the same first cell as a new one. @throws Error if the document has no such
 * table
 */
export function withTables(document: string, tables: readonly string[]): string {
  const beginning = (table: string) => table.split('|')[1]?.trim();
  const missing = tables.find((table) => !document.match(TABLES)?.some((old) => beginning(old) === beginning(table)));
  if (missing !== undefined) throw new Error(`the document has no table ${beginning(missing)}`);
  return document.replace(TABLES, (old) => {
    const found = tables.find((table) => beginning(table) === beginning(old));
    return found === undefined ? old : `${found.trimEnd()}\n`;
  });
}

/** The median, with the lowest and the highest sample, e.g. `1.52 (1.49–1.60)`. */
export function withSpread(samples: readonly number[], digits: number): string {
  if (samples.length === 1) return number(samples[0] ?? 0, digits);
  const [low, high] = [Math.min(...samples), Math.max(...samples)];
  return `${number(quantile(samples, 0.5), digits)} (${number(low, digits)}–${number(high, digits)})`;
}

/** A number with grouped thousands. */
export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** A size, in megabytes of a million bytes. */
export function megabytes(value: number): string {
  return `${number(value / 1e6, value < 1e8 ? 1 : 0)} MB`;
}
