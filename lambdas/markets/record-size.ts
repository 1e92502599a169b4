/**
 * The size of a market's record. It grows with sources and metrics from many rows, so no limit on a single row bounds
 * it.
 */
import { valuesIn, withValue } from '../../storage/ports/newest-values.ts';
import type { MarketRecordValue, PlacedMetric } from '../../storage/records/markets.ts';

/**
 * For the record's JSON without its standing, which other writers change. The ledger takes 400 KiB. A standing never
 * takes more than 100 KB: one URL for each source, and some ids and instants for each metric.
 */
const RECORD_BYTES_MAX = 300_000;

/** With every text at its longest and six bytes for each character, a source or a metric takes less than 20 KB. */
const ALWAYS_FITTING = 15;

type Texts = Pick<MarketRecordValue, 'sources' | 'latest'>;

/** The number of sources and shown values in the record. */
export function textsIn({ sources, latest }: Texts): number {
  let count = sources.length;
  for (const name in latest) count += valuesIn(latest[name] as MarketRecordValue['latest'][string]).length;
  return count;
}

/** Whether the record holds so much that it must be measured before one more source or value is added. */
export function mayOutgrow(value: Texts): boolean {
  return textsIn(value) >= ALWAYS_FITTING;
}

/** Whether the record is too large for the ledger. */
export function isTooLarge(value: MarketRecordValue): boolean {
  return mayOutgrow(value) && Buffer.byteLength(JSON.stringify({ ...value, standing: undefined })) > RECORD_BYTES_MAX;
}

/** Whether the record would be too large with this observation. It holds only the newest of each metric and source. */
export function isTooLargeWith(value: MarketRecordValue, name: string, observation: PlacedMetric): boolean {
  return isTooLarge({ ...value, latest: { ...value.latest, [name]: withValue(value.latest[name], observation) } });
}
