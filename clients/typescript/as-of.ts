/**
 * A market as it was shown at an earlier moment, computed from the rows of its history. Pure: a reader needs only `GET
 * /api/v1/markets/{slug}/history`.
 */
import { BY_SOURCE_MAX } from '../../contract/files/limits.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';

/** The members of a row that this computation needs. Rows of CSV files have them, too. */
export type AsOfRow = Pick<
  PublicObservation,
  | 'announced'
  | 'id'
  | 'metric'
  | 'recordedAt'
  | 'releasedAt'
  | 'retraction'
  | 'sourceLabel'
  | 'supersededAt'
  | 'supersedes'
>;

/** A moment, and the clock that decides which rows count at that moment. */
export interface AsOf {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /**
   * - `recorded`: the values that this service showed at the moment.
   * - `released`: the values that the sources had published at the moment, as known today. A version counts from its
   *   `releasedAt`, or from its `recordedAt` if that is null, and then replaces the version before it. So a back-test on
   *   imported history sees no value, and no revision, before its release. Retractions state no release: they count from
   *   the moment when they were recorded.
   */
  readonly clock: 'recorded' | 'released';
}

/**
 * Reads a history as of a moment. Takes rows one by one, newest first, as pages have them. It keeps only the rows that the
 * market showed, so a long history needs little memory.
 */
export class AsOfReading<Row extends AsOfRow> {
  readonly #asOf: AsOf;
  /** Ids of versions that a later visible version has replaced. Versions of one observation are neighbours, newest first. */
  readonly #replaced = new Set<string>();
  readonly #shown = new Map<string, Map<string, Row>>();

  constructor(asOf: AsOf) {
    this.#asOf = asOf;
  }

  /**
   * Takes the next row. Returns whether it was visible at the moment. A visible row may state that a value never existed, or
   * may be announced and not effective yet.
   */
  add(row: Row): boolean {
    const isVisible = this.#asOf.clock === 'recorded' ? this.#stood(row) : this.#wasNewestRelease(row);
    // By the clock `released`, an announced value counts: its source has published it.
    const isEffective = !row.announced || this.#asOf.clock === 'released';
    if (isVisible && isEffective && row.retraction !== 'mistake') this.#show(row);
    return isVisible;
  }

  /** The values that the market showed: the newest one of each metric. A metric without a value is left out. */
  get metrics(): { readonly [metric: string]: Row } {
    return Object.fromEntries([...this.#shown].map(([metric, rows]) => [metric, first(rows)]));
  }

  /** For each metric of several sources, as on the market: the newest value of each source, newest first. */
  get bySource(): { readonly [metric: string]: readonly Row[] } {
    const several = [...this.#shown].filter(([, rows]) => rows.size > 1);
    return Object.fromEntries(several.map(([metric, rows]) => [metric, [...rows.values()].slice(0, BY_SOURCE_MAX)]));
  }

  #stood({ recordedAt, supersededAt }: Row): boolean {
    const { atMs } = this.#asOf;
    return Date.parse(recordedAt) <= atMs && (supersededAt === null || Date.parse(supersededAt) > atMs);
  }

  #wasNewestRelease({ id, recordedAt, releasedAt, supersedes }: Row): boolean {
    const isReplaced = this.#replaced.delete(id);
    const isKnown = Date.parse(releasedAt ?? recordedAt) <= this.#asOf.atMs;
    if (supersedes !== null && (isKnown || isReplaced)) this.#replaced.add(supersedes);
    return isKnown && !isReplaced;
  }

  /** Rows come newest first, and in the order of the tie rule at one moment. So the first row of a source is its newest. */
  #show(row: Row): void {
    const rows = this.#shown.get(row.metric) ?? new Map<string, Row>();
    if (!rows.has(row.sourceLabel)) rows.set(row.sourceLabel, row);
    this.#shown.set(row.metric, rows);
  }
}

/** The rows that stand, or that stood at the moment. @param rows newest first */
export async function rowsAt<Row extends AsOfRow & Pick<PublicObservation, 'supersededBy'>>(
  rows: AsyncIterable<Row>,
  asOf: AsOf | null,
): Promise<readonly Row[]> {
  const reading = asOf === null ? null : new AsOfReading<Row>(asOf);
  const found: Row[] = [];
  for await (const row of rows) if (reading === null ? row.supersededBy === null : reading.add(row)) found.push(row);
  return found;
}

function first<Row>(rows: ReadonlyMap<string, Row>): Row {
  return rows.values().next().value as Row;
}
