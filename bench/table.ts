/** Readable output: aligned tables, numbers with their spread. */
import { median } from './rounds.ts';

/** Prints a table: the first column to the left, all others to the right. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const aligned = lines.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  const [head, ...body] = aligned.map((cells) => `  ${cells.join('   ')}`.trimEnd());
  console.log([head, `  ${'-'.repeat((head ?? '').length - 2)}`, ...body, ''].join('\n'));
}

/** Prints what a benchmark is about to measure. */
export function printHeading(name: string, ...sentences: readonly string[]): void {
  console.log(`${name}\n  ${sentences.join('\n  ')}\n`);
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
