/** Counts the answers of the write API. */

export interface CountedWrite {
  /** Null: not an operation of the write API. */
  readonly operation: string | null;
  readonly status: number;
}

/** Counts by operation and status; there are few of both. */
export class WriteCounts {
  readonly #counts = new Map<string, CountedWrite & { count: number }>();

  add({ operation, status }: CountedWrite): void {
    const key = `${operation} ${status}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { operation, status, count: 1 });
    else known.count++;
  }

  all(): Iterable<CountedWrite & { readonly count: number }> {
    return this.#counts.values();
  }
}
