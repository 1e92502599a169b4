/**
 * Finds values that differ so much from a neighbour that an operator must check them: a slipped decimal point, minor units
 * instead of major ones, pounds instead of kilograms, another token's price under the same symbol. Nothing is dropped or
 * changed: the row is set aside, and accepted when it is sent again with the operator's confirmation. A new value, even in a
 * backfill or a correction, is compared with the nearest one on each side in time: see `neighbours.ts`. A correction is also
 * compared with the value that it replaces. Otherwise a wrong unit in a whole file would replace every neighbour, too.
 *
 * Prices that cross zero, as those of electric power do, have no ratio. Such a value is compared by its distance from the
 * middle of many neighbours. A market may use that rule for all of its values, or have no check: `docs/mapping.md`.
 */
import { OUTLIER_NEIGHBOURS_MAX, type OutlierRule } from '../../../contract/values/market.ts';
import type { Metric, Observation } from '../../../contract/values/metric.ts';
import { firstOrderOf, type PlacedMetric } from '../../../storage/records/markets.ts';

/**
 * The factor for money. In the bundled sample (175 pairs, two and a half years, steps of up to a fortnight), every
 * value that differs tenfold from its neighbour is wrong, and no right value does. A slip of a decimal point or of
 * minor units is a factor of ten or more.
 */
const MONEY_FACTOR = 10;

/**
 * The factor for scalars. Traded volumes can differ tenfold around a holiday. A wrong unit is usually a factor of a
 * thousand.
 */
const SCALAR_FACTOR = 100;

/** Of two amounts with the same digits, one ten times the other, the smaller may have been rounded by half a minor unit. */
const ROUNDING_MINOR_UNITS = MONEY_FACTOR / 2;

/** Smaller amounts count as this many minor units, because 3 cents are known to one digit only. */
const COARSE_MINOR_UNITS = 100;

/** Values that are further apart in time are not compared. More than a year, so that yearly series are compared. */
const COMPARABLE_MS = 400 * 24 * 60 * 60 * 1000;

/**
 * Whether an observation differs too much from another one of the same metric to be accepted without confirmation. A zero is
 * not an outlier: it needs its own confirmation (`zeroAsserted`), and nothing can be compared with it.
 */
export function isOutlier(metric: Metric, reference: Metric): boolean {
  return isLeap(metric, reference) && timeBetweenMs(metric, reference) <= COMPARABLE_MS;
}

/**
 * The rule for money with at least this many negative neighbours, in a market without its own rule. The new value itself does
 * not count, and a single old value with a wrong sign must not weaken the check. So an operator confirms the first large
 * negative values, or gives the market a rule.
 */
const CROSSES_ZERO = { factor: 20, neighbours: OUTLIER_NEIGHBOURS_MAX, leastNegative: 3 } as const;

/** The comparable values of the metric around a moment, the nearest first on each side. */
export interface Neighbours {
  readonly before: readonly PlacedMetric[];
  readonly after: readonly PlacedMetric[];
  /** For a correction: the value that it replaces. It may be unknown or zero. */
  readonly replaced?: Metric | undefined;
}

/** The neighbours in the ledger of some rows. */
export interface NeighboursRead {
  /** By the order of the row. */
  readonly of: ReadonlyMap<string, Neighbours>;
  /** Whether each side has as many neighbours as any rule needs, or only the nearest. */
  readonly areAll: boolean;
}

/**
 * The value from which this one differs too much, or null.
 *
 * @param rule the market's own rule; undefined: it has none
 * @param areAll whether the neighbours are as many as any rule needs, or all of the history. If not, they are the nearest on
 *   each side. Then money that crosses zero is refused, too: read all neighbours, and call again
 */
export function contradictionOf(
  metric: Metric,
  { before, after, replaced }: Neighbours,
  rule: OutlierRule | undefined,
  areAll: boolean,
): Metric | null {
  if (rule === 'off') return null;
  const [earlier, later] = [before[0]?.metric, after[0]?.metric];
  if (rule !== undefined) {
    const others = nearest(metric, { before, after, replaced }, rule.neighbours);
    return isBeyond(metric, others, rule.factor) ? (earlier ?? later ?? replaced ?? null) : null;
  }
  const other = [replaced, earlier, later].find((one) => one !== undefined && isOutlier(metric, one));
  if (other === undefined || !areAll || metric.kind !== 'money') return other ?? null;
  const others = nearest(metric, { before, after, replaced }, CROSSES_ZERO.neighbours);
  const crossesZero = others.filter((one) => numberIn(one) < 0).length >= CROSSES_ZERO.leastNegative;
  return crossesZero && !isBeyond(metric, others, CROSSES_ZERO.factor) ? null : other;
}

/** The values that are nearest in time, at most `most`. */
function nearest(metric: Metric, { before, after, replaced }: Neighbours, most: number): readonly Metric[] {
  const others = [...before.slice(0, most), ...after.slice(0, most)].map((placed) => placed.metric);
  return [...(replaced !== undefined && isComparable(replaced) ? [replaced] : []), ...others]
    .filter((other) => isSameMeasure(metric, other) && timeBetweenMs(metric, other) <= COMPARABLE_MS)
    .sort((left, right) => timeBetweenMs(metric, left) - timeBetweenMs(metric, right))
    .slice(0, most);
}

/**
 * Whether a value is further from the median of others than this many times their usual size, which is the median of their
 * absolute values. A single wrong neighbour hardly changes either median.
 */
function isBeyond(metric: Metric, others: readonly Metric[], factor: number): boolean {
  if (others.length === 0 || !isComparable(metric)) return false;
  const least = metric.kind === 'money' ? COARSE_MINOR_UNITS : 0;
  const size = Math.max(medianOf(others.map((other) => Math.abs(numberIn(other)))), least);
  return Math.abs(numberIn(metric) - medianOf(others.map(numberIn))) > factor * size;
}

function medianOf(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low + (high - low) / 2;
}

/** The number of a metric; 0 for an unknown value. */
function numberIn(metric: Metric): number {
  return metric.kind === 'money' ? (metric.amountMinor ?? 0) : Number(metric.value ?? 0);
}

function isSameMeasure(metric: Metric, other: Metric): boolean {
  if (metric.kind === 'money') return other.kind === 'money' && metric.currency === other.currency;
  return other.kind === 'scalar' && metric.unit === other.unit;
}

function isLeap(metric: Metric, reference: Metric): boolean {
  if (!isSameMeasure(metric, reference) || !isComparable(metric) || !isComparable(reference)) return false;
  const [value, other] = [numberIn(metric), numberIn(reference)];
  if (metric.kind === 'money') return isMoneyLeap(value, other);
  // Values that swing around zero, as rates of change do, have no scale to compare them by.
  return value * other > 0 && Math.max(value / other, other / value) > SCALAR_FACTOR;
}

/** Whether other values can be compared with this one: it is known and not zero. */
export function isComparable(metric: Metric): boolean {
  return numberIn(metric) !== 0;
}

/** Milliseconds between two observations, in either order. */
function timeBetweenMs(one: Metric, other: Metric): number {
  return Math.abs(Date.parse(one.observedAt) - Date.parse(other.observedAt));
}

/**
 * For amounts of one sign: whether one is ten times the other or more, but for rounding. It is computed as a distance, so that it
 * also works across zero: WTI fell from 18.27 to −36.98 USD in a day, and that was not a slip.
 */
function isMoneyLeap(one: number, other: number): boolean {
  const smaller = Math.max(Math.min(Math.abs(one), Math.abs(other)), COARSE_MINOR_UNITS);
  return Math.abs(one - other) >= (MONEY_FACTOR - 1) * smaller - ROUNDING_MINOR_UNITS;
}

/** Compares the rows of one market with the ledger's values, and with the rows before them. */
export class OutlierGuard {
  readonly #neighbours: NeighboursRead | undefined;
  /** For each metric, the comparable values of earlier rows, newest first. Rows come in order of time. */
  readonly #previous = new Map<string, readonly PlacedMetric[]>();

  /** @param neighbours undefined: no value is an outlier */
  constructor(neighbours: NeighboursRead | undefined) {
    this.#neighbours = neighbours;
  }

  /** Adds the newest version of a row's observation, for comparison with later rows. */
  add(newest: Observation, first: string): void {
    if (this.#neighbours === undefined || !isComparable(newest)) return;
    const before = this.#previous.get(newest.metric) ?? [];
    const kept = before.slice(0, OUTLIER_NEIGHBOURS_MAX - 1);
    this.#previous.set(newest.metric, [{ order: first, metric: newest }, ...kept]);
  }

  /**
   * The value from which this one differs too much: a neighbour in time, from the batch or the ledger, or the value that it
   * replaces. Null: none.
   */
  contradictionOf(
    metric: Metric,
    name: string,
    { order, replaced }: { readonly order: string; readonly replaced: Metric | undefined },
    rule: OutlierRule | undefined,
  ): Metric | null {
    if (this.#neighbours === undefined) return null;
    const { of, areAll } = this.#neighbours;
    const { before: known, after } = of.get(order) ?? { before: [], after: [] };
    const rows = this.#previous.get(name) ?? [];
    // Without a rule of the market, only the nearest value counts, until it contradicts.
    const before = merged(rule === undefined && !areAll ? rows.slice(0, 1) : rows, known);
    return contradictionOf(metric, { before, after, replaced }, rule, areAll);
  }
}

/** Both lists are newest first. A row that is already in the ledger is in both. */
function merged(rows: readonly PlacedMetric[], known: readonly PlacedMetric[]): readonly PlacedMetric[] {
  const [oldestRow, newestKnown] = [rows.at(-1), known[0]];
  if (oldestRow === undefined || newestKnown === undefined) return oldestRow === undefined ? known : rows;
  // In a daily feed, every row is newer than the ledger.
  if (firstOrderOf(newestKnown.order) < oldestRow.order) return [...rows, ...known];
  const ofRows = new Set(rows.map(({ order }) => firstOrderOf(order)));
  const others = known.filter(({ order }) => !ofRows.has(firstOrderOf(order)));
  return [...rows, ...others].sort((left, right) => (left.order < right.order ? 1 : -1));
}
