/** The faults of a file: as messages for a person, and in the report file. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { type FaultGroup, FaultGroups, type FileFault } from '../../mapping/check/fault-groups.ts';
import { CommandError } from '../program/exit-codes.ts';

/** The report of a command, for all its files: one JSON object a line. */
export class ReportFile {
  readonly #path: string | undefined;
  #file: number | null;
  #fault: Error | null = null;

  /** @throws CommandError if it exists already, or cannot be made */
  constructor(path: string | undefined) {
    this.#path = path;
    try {
      this.#file = path === undefined ? null : openSync(path, 'wx');
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const why = code === 'EEXIST' ? 'exists already: name another file, or remove it' : `cannot be made: ${message}`;
      throw new CommandError('usage', `The report ${path} ${why}.`, null, { cause });
    }
  }

  /** A full disk must not end the run in the middle. */
  write(entry: object): void {
    if (this.#file === null) return;
    try {
      writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    } catch (cause) {
      this.#fault = cause as Error;
      this.close();
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /** @throws CommandError if a fault could not be written to it */
  checkWhole(): void {
    if (this.#fault === null) return;
    const message = `The report ${this.#path} is not complete: ${this.#fault.message}.`;
    const hint = 'Everything was handled as the summary says. Make room, and look for the faults with --dry-run.';
    throw new CommandError('findings', message, hint, { cause: this.#fault });
  }
}

export class FaultLog {
  readonly #name: string;
  readonly #report: ReportFile;
  readonly #groups = new FaultGroups<FileFault>();

  constructor(name: string, report: ReportFile) {
    this.#name = name;
    this.#report = report;
  }

  add({ line, column, code, detail, ...fault }: FileFault, batch: string | null): void {
    this.#report.write({ file: this.#name, line, column, code, detail, batch });
    this.#groups.add({ line, column, code, detail, ...fault });
  }

  groups(): readonly FaultGroup[] {
    return this.#groups.groups();
  }
}

/** A line for the first fault of each kind, and at least one line for its other faults. */
export function* faultLines(file: string, groups: readonly FaultGroup[]): Generator<string> {
  for (const { count, first, lines, others } of groups) {
    yield firstFault(file, first);
    if (count === 1) continue;
    const more = count - 1 > lines.length ? ' …' : '';
    // Details of the same rule differ only in a value, so the rule is printed once.
    const [rule, values] = [ruleOf(first.detail), others.filter((detail) => ruleOf(detail) === ruleOf(first.detail))];
    const shown = values.map((detail) => VALUE.exec(detail)?.[0] ?? '').join(', ');
    const details = others.filter((detail) => ruleOf(detail) !== rule);
    const such = shown === '' ? '' : `, with ${shown}${count - 1 > values.length ? ' …' : ''}`;
    const end = details.length === 0 ? '' : ', such as:';
    yield `  and ${count - 1} more of this kind, on ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more}${such}${end}`;
    for (const detail of details) yield `    ${detail}`;
  }
}

/** The value that a detail names. */
const VALUE = /"(?:[^"\\]|\\.)*"/;

function ruleOf(detail: string): string {
  return detail.replace(VALUE, '""');
}

/** Names the column, or else the field of the record. */
export function firstFault(file: string, { line, column, pointer = '', code, detail }: FileFault): string {
  const field = column ?? pointer.slice(1).replaceAll('/', '.');
  return `${file}:${line}${field === '' ? '' : ` ${field}`}: ${code}: ${detail}`;
}
