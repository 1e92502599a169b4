/** Groups the refusals of a file by kind. */
import type { RowErrorCode } from '../../contract/ingest-records.ts';
import type { MappedRefusal } from '../map-csv.ts';

/** Refusals of one kind: the same code, the same field of the record, the same column. */
export interface RefusalGroup {
  readonly code: RowErrorCode;
  readonly pointer: string;
  /** All value columns of a wide table are one, by the name that `unpivot` gives it. */
  readonly column: string | null;
  readonly count: number;
  readonly first: MappedRefusal;
  /** Other details of the same kind, such as each key that a table lacks: the first ones, without repetition. */
  readonly others: readonly string[];
}

const OTHERS_MAX = 10;

interface OpenGroup {
  count: number;
  readonly column: string | null;
  readonly first: MappedRefusal;
  readonly others: string[];
}

export class RefusalCount {
  readonly #groups = new Map<string, OpenGroup>();

  add(refusal: MappedRefusal, column: string | null): void {
    const key = JSON.stringify([refusal.code, refusal.pointer, column]);
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, { count: 1, column, first: refusal, others: [] });
      return;
    }
    group.count += 1;
    const { detail } = refusal;
    if (group.others.length === OTHERS_MAX || detail === group.first.detail || group.others.includes(detail)) return;
    group.others.push(detail);
  }

  /** The largest ones first. */
  groups(): readonly RefusalGroup[] {
    const groups = [...this.#groups.values()].map(({ first, ...group }) => {
      return { code: first.code, pointer: first.pointer, ...group, first };
    });
    return groups.sort((one, other) => other.count - one.count);
  }
}
