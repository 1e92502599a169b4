/**
 * Output for people and for programs. On a terminal: tables, colours and headings. On a pipe: one line of tab-separated
 * fields for each row, without headings, or JSON with `--json`. Messages go to the error stream.
 *
 * Everything that this command line prints passes through this file, because terminal controls are escaped only here.
 */
import { once } from 'node:events';
import { inspect, styleText } from 'node:util';
import { printable } from '../../server/terminal/printable.ts';
import { openProgressLine, type ProgressLine } from '../../server/terminal/progress-line.ts';

/** A cell; null is shown as nothing. */
export type Cell = string | number | boolean | null | undefined;

type Style = Parameters<typeof styleText>[0];

const { stdout, stderr } = process;
let progress: ProgressLine | null = null;

/** The only function of this command line that writes to its streams, so that all text from outside is escaped. */
async function write(stream: NodeJS.WriteStream, text: string, style: Style | null = null): Promise<void> {
  progress?.clear();
  const shown = printable(text);
  if (!stream.write(style === null ? shown : styleText(style, shown, { stream }))) await once(stream, 'drain');
}

/** Writes data, and waits for a slow reader. */
export async function print(text: string, style: Style | null = null): Promise<void> {
  await write(stdout, text, style);
}

/** Writes the bytes of a file unchanged. On a terminal, controls are escaped. */
export async function printRaw(text: string): Promise<void> {
  if (stdout.isTTY) return await print(text);
  progress?.clear();
  if (!stdout.write(text)) await once(stdout, 'drain');
}

/** Prints a message for the user, which is not part of the data. */
export function note(text: string): void {
  void write(stderr, `${text}\n`);
}

export function printError(message: string, hint: string | null): void {
  void write(stderr, 'error', ['red', 'bold']);
  note(` ${message}`);
  if (hint !== null) note(hint.replaceAll(/^/gm, '      '));
}

/** Prints a fault of this program with its stack. */
export function printUnexpected(error: unknown): void {
  note(inspect(error));
}

/** Prints a question; the person answers on the same line. */
export function printQuestion(text: string): void {
  void write(stderr, text);
}

/** The output of the parser: help as data, faults as messages. */
export const PARSER_OUTPUT = {
  writeOut: (text: string) => void write(stdout, text),
  writeErr: (text: string) => void write(stderr, text),
};

/** @param whenBroken called for a fault of the output, except a closed pipe such as that of `head` */
export function watchOutput(whenBroken: (error: NodeJS.ErrnoException) => number): void {
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : whenBroken(error)),
  );
}

/** Whether the data is shown to a person. */
export function isPersonReading(): boolean {
  return stdout.isTTY;
}

export function canAskPerson(): boolean {
  return process.stdin.isTTY && stderr.isTTY;
}

/** The progress of the command. Other output removes its line. */
export function progressOf({ json, quiet }: { readonly json?: boolean; readonly quiet?: boolean }): ProgressLine {
  progress = openProgressLine(stderr, json === true || quiet === true);
  return progress;
}

function shownCell(cell: Cell): string {
  return printable(String(cell ?? '')).replaceAll(/[\n\t]/g, ' ');
}

const GAP = '  ';
/** The widths of columns depend on this many first rows; later rows may be wider. */
const MEASURED_ROWS = 200;
const WIDEST_CELL = 60;

/** Prints rows as they arrive, so that a long list starts at once. */
export class Table {
  readonly #titles: readonly string[];
  #waiting: string[][] | null = [];
  #widths: number[] = [];

  constructor(titles: readonly string[]) {
    this.#titles = titles;
  }

  async add(cells: readonly Cell[]): Promise<void> {
    const row = cells.map(shownCell);
    if (!stdout.isTTY) return await print(`${row.join('\t')}\n`);
    if (this.#waiting === null) return await print(this.#line(row));
    this.#waiting.push(row);
    if (this.#waiting.length >= MEASURED_ROWS) await this.end();
  }

  /** Call it after the last row. */
  async end(): Promise<void> {
    const rows = this.#waiting ?? [];
    this.#waiting = null;
    if (!stdout.isTTY || rows.length === 0) return;
    this.#widths = this.#titles.map((title, index) =>
      Math.min(WIDEST_CELL, Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0))),
    );
    await print(this.#line(this.#titles), 'dim');
    for (const row of rows) await print(this.#line(row));
  }

  #line(row: readonly string[]): string {
    const cells = row.map((cell, index) => cell.padEnd(this.#widths[index] ?? 0));
    return `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** Prints the fields of one resource, one a line. */
export async function printFields(fields: readonly (readonly [name: string, value: Cell])[]): Promise<void> {
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    if (stdout.isTTY) await print(shownCell(name).padEnd(width) + GAP, 'dim');
    else await print(`${shownCell(name)}\t`);
    await print(`${shownCell(value)}\n`);
  }
}

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints a JSON array, one item after the other. */
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

/** Prints the items of a list, as rows of a table or as a JSON array. @returns their number */
export async function printItems<Item>(
  items: AsyncIterable<Item>,
  asJson: boolean,
  titles: readonly string[],
  rowOf: (item: Item) => readonly Cell[],
): Promise<number> {
  const [table, list] = [new Table(titles), new JsonList()];
  let count = 0;
  for await (const item of items) {
    await (asJson ? list.add(item) : table.add(rowOf(item)));
    count++;
  }
  await (asJson ? list : table).end();
  return count;
}
