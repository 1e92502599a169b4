/** The faults of a file: the first of each kind in full, the others by their lines, all of them in the report file. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { CommandError } from '../exit-codes.ts';
import type { SourceFault } from './source-records.ts';

interface Kind {
  readonly code: string;
  readonly column: string | null;
  readonly first: string;
  count: number;
  readonly lines: number[];
}

/** So many lines are named; the report file has all. */
const LINES_NAMED = 5;

export interface FaultKind {
  readonly code: string;
  readonly column: string | null;
  readonly count: number;
  /** The first fault, as `file:line column: code: detail`. */
  readonly first: string;
  /** The lines of the next ones. */
  readonly lines: readonly number[];
}

/** All files of a command have one report: a JSON object a line. */
export class ReportFile {
  readonly #file: number | null;

  /** @throws CommandError if it exists already, or cannot be made */
  constructor(path: string | undefined) {
    try {
      this.#file = path === undefined ? null : openSync(path, 'wx');
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why = code === 'EEXIST' ? 'exists already: name another file, or remove it' : `cannot be made: ${message}`;
      throw new CommandError('usage', `The report ${path} ${why}.`, null, { cause });
    }
  }

  write(entry: object): void {
    if (this.#file !== null) writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}

export class FaultLog {
  readonly #name: string;
  readonly #report: ReportFile;
  readonly #kinds = new Map<string, Kind>();

  constructor(name: string, report: ReportFile) {
    this.#name = name;
    this.#report = report;
  }

  add({ line, column, code, detail }: SourceFault, batch: string | null): void {
    this.#report.write({ file: this.#name, line, column, code, detail, batch });
    const name = `${code} ${column}`;
    const kind = this.#kinds.get(name);
    if (kind === undefined) {
      const place = column === null ? '' : ` ${column}`;
      const first = `${this.#name}:${line}${place}: ${code}: ${detail}`;
      this.#kinds.set(name, { code, column, first, count: 1, lines: [] });
      return;
    }
    kind.count += 1;
    if (kind.lines.length < LINES_NAMED) kind.lines.push(line);
  }

  /** In the order in which they were met. */
  kinds(): readonly FaultKind[] {
    return [...this.#kinds.values()];
  }

  /** For people. */
  *lines(): Generator<string> {
    for (const { first, count, lines } of this.#kinds.values()) {
      yield first;
      const others = count - 1;
      if (others === 0) continue;
      const more = others > lines.length ? ' …' : '';
      yield `  and ${others} more of this kind, on ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more}`;
    }
  }
}
