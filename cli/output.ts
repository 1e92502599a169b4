/**
 * Output for people and for programs. On a terminal: tables, colours and headings. On a pipe: one line of
 * tab-separated fields for each row, without headings, or JSON with `--json`. Messages go to the error stream.
 */
import { once } from 'node:events';
import { stripVTControlCharacters, styleText } from 'node:util';

/** A cell; null is shown as nothing. */
export type Cell = string | number | boolean | null | undefined;

/** Other people wrote what servers and files say: a terminal must not take it for commands. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}--\n]/gv, '\ufffd');
}

function shownCell(cell: Cell): string {
  return printable(String(cell ?? '')).replaceAll('\n', ' ');
}

/** Writes, and waits while the reader is slower. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** A message for the person, which is no data. */
export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function dim(text: string): string {
  return styleText('dim', text, { stream: process.stdout });
}

const GAP = '  ';
/** Widths follow from this many rows; later rows may be wider. */
const MEASURED_ROWS = 200;
const WIDEST_CELL = 60;

/** Prints rows as they come, so that a long list begins at once. */
export class Table {
  readonly #titles: readonly string[];
  #waiting: string[][] | null = [];
  #widths: number[] = [];

  constructor(titles: readonly string[]) {
    this.#titles = titles;
  }

  async add(cells: readonly Cell[]): Promise<void> {
    const row = cells.map(shownCell);
    if (!process.stdout.isTTY) return await print(`${row.join('\t')}\n`);
    if (this.#waiting === null) return await print(this.#line(row));
    this.#waiting.push(row);
    if (this.#waiting.length >= MEASURED_ROWS) await this.end();
  }

  /** To be called after the last row. */
  async end(): Promise<void> {
    const rows = this.#waiting ?? [];
    this.#waiting = null;
    if (!process.stdout.isTTY || rows.length === 0) return;
    this.#widths = this.#titles.map((title, index) =>
      Math.min(WIDEST_CELL, Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0))),
    );
    await print(`${dim(this.#line(this.#titles).trimEnd())}\n`);
    for (const row of rows) await print(this.#line(row));
  }

  #line(row: readonly string[]): string {
    const cells = row.map((cell, index) => cell.padEnd(this.#widths[index] ?? 0));
    return `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** One thing with its fields, one a line. */
export async function printFields(fields: readonly (readonly [name: string, value: Cell])[]): Promise<void> {
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    const label = process.stdout.isTTY ? dim(name.padEnd(width)) + GAP : `${name}\t`;
    await print(`${label}${shownCell(value)}\n`);
  }
}

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value, null, 2)}\n`);
}

/** A JSON array whose items come one after the other. */
export class JsonList {
  #isEmpty = true;

  async add(item: unknown): Promise<void> {
    await print(`${this.#isEmpty ? '[\n' : ',\n'}${JSON.stringify(item)}`);
    this.#isEmpty = false;
  }

  async end(): Promise<void> {
    await print(this.#isEmpty ? '[]\n' : '\n]\n');
  }
}

const numbers = new Intl.NumberFormat('en-GB');

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** In the greatest unit of which there are at least two: 90 seconds, 47 hours, 2 days. */
export function durationInWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ['second', 1];
  return counted(Math.floor(seconds / size), unit);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numbers.format(count)} ${count === 1 ? one : many}`;
}
