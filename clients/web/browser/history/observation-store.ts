/** The versions of observations that the page has read, in the order of the market's history. Pure. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { ascending, finished, PAUSE_EVERY, type Work } from './turns.ts';

/** The limit of rows, so that the memory of a phone is enough. */
export const KEPT_ROWS_MAX = 200_000;

export class ObservationStore {
  /** Rows by moment, in milliseconds. Versions of one observation are neighbours, newest first. */
  readonly #moments = new Map<number, PublicObservation[]>();
  readonly #byId = new Map<string, PublicObservation>();
  readonly #metrics = new Set<string>();
  #newestFirst: readonly PublicObservation[] | null = null;
  /** Changes after each modification. */
  version = 0;

  get size(): number {
    return this.#byId.size;
  }

  get metrics(): ReadonlySet<string> {
    return this.#metrics;
  }

  byId(id: string): PublicObservation | undefined {
    return this.#byId.get(id);
  }

  /**
   * Adds rows that are neighbours in the history, newest first: a page, or a reversed file. A known row is replaced. Rows of
   * one moment keep the service's order, because that decides which one a market shows (by a digest of `sourceUrl`).
   */
  add(rows: readonly PublicObservation[]): void {
    this.version++;
    this.#newestFirst = null;
    let [lastMs, at] = [Number.NaN, 0];
    for (const row of rows) {
      const ms = Date.parse(row.observedAt);
      let known = this.#moments.get(ms);
      if (known === undefined) {
        known = [];
        this.#moments.set(ms, known);
      }
      if (ms !== lastMs) at = this.#byId.has(row.id) ? -1 : placeOfFirst(known, row, rows);
      const index = this.#byId.has(row.id) ? known.findIndex(({ id }) => id === row.id) : -1;
      if (index === -1) known.splice(at, 0, row);
      else known[index] = row;
      at = (index === -1 ? at : index) + 1;
      lastMs = ms;
      this.#byId.set(row.id, row);
      this.#metrics.add(row.metric);
    }
  }

  newestFirst(): readonly PublicObservation[] {
    return finished(this.inOrder());
  }

  /** The same rows, with pauses. Rows that are added meanwhile are left out. */
  *inOrder(): Work<readonly PublicObservation[]> {
    if (this.#newestFirst !== null) return this.#newestFirst;
    const { version } = this;
    const moments = (yield* ascending(this.#moments.keys(), this.#moments.size)).reverse();
    const rows: PublicObservation[] = [];
    for (const [at, ms] of moments.entries()) {
      rows.push(...(this.#moments.get(ms) as PublicObservation[]));
      if (at % PAUSE_EVERY === 0) yield;
    }
    if (version === this.version) this.#newestFirst = rows;
    return rows;
  }
}

/** The place of the first new row of a moment: beside a version of the same observation, before a neighbour, or at the end. */
function placeOfFirst(
  known: readonly PublicObservation[],
  row: PublicObservation,
  rows: readonly PublicObservation[],
): number {
  if (known.length === 0) return 0;
  const newer = known.findIndex(({ supersedes }) => supersedes === row.id);
  if (newer !== -1) return newer + 1;
  const older = known.findIndex(({ id }) => id === row.supersedes);
  if (older !== -1) return older;
  const ids = new Set(known.map(({ id }) => id));
  const next = rows.slice(rows.indexOf(row)).find(({ id }) => ids.has(id));
  return next === undefined ? known.length : known.findIndex(({ id }) => id === next.id);
}
