/** How large a market's record may become: it adds up what many rows have brought, so no limit of one row bounds it. */
import type { MarketRecordValue } from '../../storage/records/markets.ts';

/**
 * Of the record's JSON without its standing, which other writers change. The ledger takes 400 KiB, and a standing never
 * more than 100 KB: one URL for each source, and some ids and instants for each metric.
 */
const RECORD_BYTES_MAX = 300_000;

/** With every text as long as it may be, and six bytes for each character, a source or a metric takes less than 20 KB. */
const ALWAYS_FITTING = 15;

/** Whether there is so much in the record that one more source or metric must be measured. */
export function mayOutgrow({ sources, latest }: Pick<MarketRecordValue, 'sources' | 'latest'>): boolean {
  return sources.length + Object.keys(latest).length >= ALWAYS_FITTING;
}

/** Whether the record is too large for the ledger. */
export function isTooLarge(value: MarketRecordValue): boolean {
  return mayOutgrow(value) && Buffer.byteLength(JSON.stringify({ ...value, standing: undefined })) > RECORD_BYTES_MAX;
}

/** Whether it becomes so with an observation of a metric: it holds the latest of each alone. */
export function isTooLargeWith(
  value: MarketRecordValue,
  name: string,
  observation: MarketRecordValue['latest'][string],
): boolean {
  const latest = value.latest[name];
  if (latest !== undefined && latest.order > observation.order) return false;
  return isTooLarge({ ...value, latest: { ...value.latest, [name]: observation } });
}
