/** The rows of a batch, and the market of each. */
import type { IngestRecord, ObservationRecord, RetractionRecord } from '../../contract/ingest/ingest-records.ts';
import { orderKey } from '../../storage/records/markets.ts';

/** One row of a batch, with its index. Made by {@link rowOf}. */
export interface Row {
  readonly index: number;
  readonly record: IngestRecord;
  /** The place of the first version of the row's observation; null for a market's definition. */
  readonly order: string | null;
}

export function rowOf(index: number, record: IngestRecord): Row {
  return { index, record, order: record.type === 'market' ? null : orderOfRow(record, 0) };
}

/** The place of this version of the row's observation. */
export function orderOfRow(record: ObservationRecord | RetractionRecord, ordinal: number): string {
  const { market, metric, observedAt, sourceUrl } = record;
  return orderKey({ market, metric, observedAt, sourceUrl, ordinal });
}

/** The rows of one market, in the order in which they are decided. */
export interface MarketRows {
  readonly slug: string;
  readonly rows: readonly Row[];
}

/**
 * Groups rows by market, in an order that does not depend on other rows: markets by slug; in each market the
 * definition, then observations from the oldest on.
 */
export function groupByMarket(rows: readonly Row[]): readonly MarketRows[] {
  const groups = Map.groupBy(rows, ({ record }) => slugOf(record));
  return [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([slug, rows]) => ({ slug, rows: rows.sort(byOrder) }));
}

function byOrder({ order: left }: Row, { order: right }: Row): number {
  if (left === right) return 0;
  return left === null || (right !== null && left < right) ? -1 : 1;
}

/** The market that a record is about. */
export function slugOf(record: IngestRecord): string {
  return record.type === 'market' ? record.slug : record.market;
}
