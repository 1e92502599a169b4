/** Readable output: aligned tables, numbers with their spread. */
import { median } from './rounds.ts';

/** For the console: the first column to the left, all others to the right. */
export function consoleTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(header, rows);
  const line = (cells: readonly string[]) => {
    const aligned = widths.map((width, column) => {
      const cell = cells[column] ?? '';
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `  ${aligned.join('   ')}`.trimEnd();
  };
  const [head = '', ...body] = [header, ...rows].map(line);
  return [head, `  ${'-'.repeat(head.length - 2)}`, ...body, ''].join('\n');
}

export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(header, rows);
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

function widthsOf(header: readonly string[], rows: readonly (readonly string[])[]): readonly number[] {
  // Three dashes are the fewest that make a table for all readers of Markdown.
  return header.map((_, column) => Math.max(3, ...[header, ...rows].map((row) => (row[column] ?? '').length)));
}

/** The median, with the lowest and highest sample, e.g. `1.52 (1.49–1.60)`. */
export function withSpread(samples: readonly number[], digits: number): string {
  if (samples.length === 1) return number(samples[0] ?? 0, digits);
  const [low, high] = [Math.min(...samples), Math.max(...samples)];
  return `${number(median(samples), digits)} (${number(low, digits)}–${number(high, digits)})`;
}

/** A number with thousands set apart. */
export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** A size in bytes, in the largest decimal unit that leaves at least one digit before the point. */
export function bytes(value: number): string {
  if (value >= 1e9) return `${number(value / 1e9, 2)} GB`;
  if (value >= 1e6) return `${number(value / 1e6, 1)} MB`;
  return value >= 1e3 ? `${number(value / 1e3, 1)} KB` : `${number(value)} B`;
}
