/**
 * The size of a market's record. It grows with the sources and metrics of many rows, so a limit on single rows cannot bound it.
 */
import { announce } from '../../storage/records/announced-values.ts';
import type { MarketRecordValue, PlacedMetric } from '../../storage/records/markets.ts';
import { valuesIn, withValue } from '../../storage/records/newest-values.ts';
import { refused } from './market-decision.ts';

/**
 * The limit of the record's JSON without its standing, which other writers change. The ledger accepts 400 KiB. A standing never
 * takes more than 100 KB: one URL for each source, and some ids and instants for each metric.
 */
const RECORD_BYTES_MAX = 300_000;

/**
 * With every text at its longest, and six bytes for each character, a source or a metric takes less than 20 KB. So this many
 * always fit.
 */
const ALWAYS_FITTING = 15;

export const TOO_LARGE = refused(
  'record.invalid',
  '',
  'with this row the record of the market would be too large: shorten texts, or use another market',
);

type Texts = Pick<MarketRecordValue, 'announced' | 'latest' | 'sources'>;

/** Places of announced values count together as one text: each takes at most 90 bytes. */
const PLACES_AS_A_TEXT = 200;

/** The number of sources and shown values in the record. */
export function textsIn({ announced = {}, latest, sources }: Texts): number {
  let count = sources.length;
  for (const { later = [] } of Object.values(announced)) count += 1 + Math.ceil(later.length / PLACES_AS_A_TEXT);
  for (const name in latest) count += valuesIn(latest[name] as MarketRecordValue['latest'][string]).length;
  return count;
}

/** Whether the record is so large that its size must be computed before one more source or value is added. */
export function mayOutgrow(value: Texts): boolean {
  return textsIn(value) >= ALWAYS_FITTING;
}

/** Whether the record is too large for the ledger. */
export function isTooLarge(value: MarketRecordValue): boolean {
  return mayOutgrow(value) && Buffer.byteLength(JSON.stringify({ ...value, standing: undefined })) > RECORD_BYTES_MAX;
}

/**
 * Whether the record would be too large with this observation. It holds only the newest value of each metric and source, and
 * the first announced one.
 */
export function isTooLargeWith(
  value: MarketRecordValue,
  name: string,
  observation: PlacedMetric,
  isAnnounced: boolean,
): boolean {
  const latest = isAnnounced ? value.latest : { ...value.latest, [name]: withValue(value.latest[name], observation) };
  const larger = { ...value, latest };
  if (isAnnounced) announce(larger, name, observation);
  return isTooLarge(larger);
}
