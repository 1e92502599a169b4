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
}

export class RefusalCount {
  readonly #groups = new Map<
    string,
    { count: number; readonly column: string | null; readonly first: MappedRefusal }
  >();

  add(refusal: MappedRefusal, column: string | null): void {
    const key = JSON.stringify([refusal.code, refusal.pointer, column]);
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { count: 1, column, first: refusal });
    else group.count += 1;
  }

  /** The largest ones first. */
  groups(): readonly RefusalGroup[] {
    const groups = [...this.#groups.values()].map(({ first, ...group }) => {
      return { code: first.code, pointer: first.pointer, ...group, first };
    });
    return groups.sort((one, other) => other.count - one.count);
  }
}
