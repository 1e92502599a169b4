/** A second value of one source at one moment, under another `sourceUrl`. */
import type { ObservationRecord, RowError } from '../../contract/ingest-records.ts';
import { valuesIn } from '../../storage/newest-values.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';

/**
 * The fault of a new observation at the moment for which the market already shows a value of the same source, by its
 * label, from another `sourceUrl`. Otherwise null. The tie rule would choose one of the two by their URLs. So a feed that
 * may not correct could replace a published value, and a file with changing URLs would hide its own corrections.
 */
export function rivalFault(record: ObservationRecord, { latest }: Pick<MarketRecordValue, 'latest'>): RowError | null {
  const values = latest[record.metric];
  if (values === undefined) return null;
  const rival = valuesIn(values).find(
    ({ metric: { observedAt, sourceLabel, sourceUrl } }) =>
      sourceLabel === record.sourceLabel && observedAt === record.observedAt && sourceUrl !== record.sourceUrl,
  );
  if (rival === undefined) return null;
  const detail =
    `this source has a value at this moment from ${rival.metric.sourceUrl}: correct that one under its sourceUrl, or ` +
    'give a source of its own another sourceLabel';
  return { pointer: '/sourceUrl', code: 'conflict.existing', detail };
}
