/** Groups the faults of a file by kind. People read the first fault of each kind in full, and the lines of the others. */

export interface FileFault {
  readonly line: number;
  /** As in `MappedRefusal`. */
  readonly row?: number;
  /** The column of a CSV file, or the field of a record; null: the whole row. */
  readonly column: string | null;
  readonly code: string;
  readonly detail: string;
  /** The place in the record. */
  readonly pointer?: string;
  readonly rule?: string;
}

/** Faults of one kind: the same code and rule, the same field of the record, the same column. */
export interface FaultGroup<Fault extends FileFault = FileFault> {
  readonly code: Fault['code'];
  readonly column: string | null;
  readonly count: number;
  readonly first: Fault;
  /** The lines of the next faults of this kind. */
  readonly lines: readonly number[];
  /** Other details of the same kind, such as each key that a table lacks: the first ones, each once. */
  readonly others: readonly string[];
}

const LINES_MAX = 5;
const OTHERS_MAX = 10;

export class FaultGroups<Fault extends FileFault> {
  readonly #groups = new Map<
    string,
    {
      count: number;
      readonly first: Fault;
      readonly lines: number[];
      readonly others: Map<string, string>;
    }
  >();

  add(fault: Fault): void {
    const { code, pointer, column, rule, line, detail } = fault;
    const key = JSON.stringify([code, pointer, column, rule]);
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, { count: 1, first: fault, lines: [], others: new Map() });
      return;
    }
    group.count += 1;
    if (group.lines.length < LINES_MAX) group.lines.push(line);
    if (group.others.size === OTHERS_MAX) return;
    const kind = withoutNumbers(detail);
    if (kind !== withoutNumbers(group.first.detail) && !group.others.has(kind)) group.others.set(kind, detail);
  }

  /** The groups, in the order of their first faults. */
  groups(): FaultGroup<Fault>[] {
    return [...this.#groups.values()].map((group) => ({
      code: group.first.code,
      column: group.first.column,
      ...group,
      others: [...group.others.values()],
    }));
  }
}

/** Details that differ only in a date or an amount are equal. A quoted text is a key, and must be equal. */
function withoutNumbers(detail: string): string {
  return detail.replaceAll(/"(?:[^"\\]|\\.)*"|\d[\d.:TZ-]*/g, (found) => (found.startsWith('"') ? found : '#'));
}
