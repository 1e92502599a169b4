/** Compares the rows of one market with the ledger's values, and with the rows before them. */
import { OUTLIER_NEIGHBOURS_MAX, type OutlierRule } from '../../contract/values/market.ts';
import type { Metric, Observation } from '../../contract/values/metric.ts';
import { firstOrderOf, type PlacedMetric } from '../../storage/records/markets.ts';
import { contradictionOf, isComparable, type Neighbours, type NeighboursRead } from './outlier.ts';

const NO_NEIGHBOURS: Neighbours = { before: [], after: [] };

export class OutlierGuard {
  readonly #neighbours: NeighboursRead | undefined;
  /** The newest comparable values that the rows so far gave for a metric, the newest first. Rows come in order of time. */
  readonly #previous = new Map<string, readonly PlacedMetric[]>();

  /** @param neighbours undefined: no value is an outlier */
  constructor(neighbours: NeighboursRead | undefined) {
    this.#neighbours = neighbours;
  }

  /** The newest version of a row's observation: later rows are compared with it. */
  add(newest: Observation, first: string): void {
    if (this.#neighbours === undefined || !isComparable(newest)) return;
    const before = this.#previous.get(newest.metric) ?? [];
    const kept = before.slice(0, OUTLIER_NEIGHBOURS_MAX - 1);
    this.#previous.set(newest.metric, [{ order: first, metric: newest }, ...kept]);
  }

  /** A neighbour in time, in the batch or in the ledger, if the value is too far from them. */
  contradictionOf(metric: Metric, name: string, order: string, rule: OutlierRule | undefined): Metric | null {
    if (this.#neighbours === undefined) return null;
    const { before, after } = this.#neighbours.of.get(order) ?? NO_NEIGHBOURS;
    const all = merged(this.#previous.get(name) ?? [], before);
    return contradictionOf(metric, { before: all, after }, rule, this.#neighbours.areAll);
  }
}

/** Both are newest first. A row that the ledger has already is in both. */
function merged(rows: readonly PlacedMetric[], known: readonly PlacedMetric[]): readonly PlacedMetric[] {
  if (rows.length === 0 || known.length === 0) return rows.length === 0 ? known : rows;
  const ofRows = new Set(rows.map(({ order }) => firstOrderOf(order)));
  const others = known.filter(({ order }) => !ofRows.has(firstOrderOf(order)));
  return [...rows, ...others].sort((left, right) => (left.order < right.order ? 1 : -1));
}
