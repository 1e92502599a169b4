/**
 * The size of a market's record. It grows with sources and metrics from many rows, so no limit on a single row bounds
 * it.
 */
import type { MarketRecordValue } from '../../storage/records/markets.ts';

/**
 * For the record's JSON without its standing, which other writers change. The ledger takes 400 KiB. A standing never
 * takes more than 100 KB: one URL for each source, and some ids and instants for each metric.
 */
const RECORD_BYTES_MAX = 300_000;

/** With every text at its longest and six bytes for each character, a source or a metric takes less than 20 KB. */
const ALWAYS_FITTING = 15;

/** Whether the record holds so much that it must be measured before one more source or metric is added. */
export function mayOutgrow({ sources, latest }: Pick<MarketRecordValue, 'sources' | 'latest'>): boolean {
  return sources.length + Object.keys(latest).length >= ALWAYS_FITTING;
}

/** Whether the record is too large for the ledger. */
export function isTooLarge(value: MarketRecordValue): boolean {
  return mayOutgrow(value) && Buffer.byteLength(JSON.stringify({ ...value, standing: undefined })) > RECORD_BYTES_MAX;
}

/** Whether the record would be too large with this observation. It holds only the latest observation of each metric. */
export function isTooLargeWith(
  value: MarketRecordValue,
  name: string,
  observation: MarketRecordValue['latest'][string],
): boolean {
  const latest = value.latest[name];
  if (latest !== undefined && latest.order > observation.order) return false;
  return isTooLarge({ ...value, latest: { ...value.latest, [name]: observation } });
}
