/** Reasons for the public. Each belongs to a correction or a retraction; a record whose reason would be lost is refused. Pure. */

import type { ObservationRecord, RetractionRecord } from '../../contract/ingest/ingest-records.ts';
import { ROW_REMEDIES } from '../../contract/problems/row-remedies.ts';
import type { Metric, Observation } from '../../contract/values/metric.ts';
import { type KnownObservation, type RowOutcome, refused } from './market-decision.ts';
import { isSameContent } from './observation-value.ts';

const POINTER = '/publicReason';

type Reasoned = Pick<ObservationRecord | RetractionRecord, 'publicReason'>;

/** Whether the record gives another reason than the version has. A record without a reason makes no statement about it. */
export function hasOtherReason({ publicReason }: Reasoned, version: Observation): boolean {
  return publicReason !== undefined && publicReason !== version.publicReason;
}

/**
 * Whether a record of a correcting batch repeats a known observation. Null: it brings a new value or a correction. A correction
 * with another reason is a new correction. A record with a reason is refused if it corrects nothing.
 *
 * @param metric the metric of the record
 */
export function repetition(
  record: ObservationRecord,
  metric: Metric,
  before: KnownObservation | undefined,
): RowOutcome | null {
  if (before === undefined) {
    const detail =
      'a public reason is for a correction, and no observation of this market, metric, observedAt and sourceUrl is known: check these, or leave it out';
    return record.publicReason === undefined ? null : refused('observation.unknown', POINTER, detail);
  }
  const { newest, stated } = before;
  if (isSameContent(newest, metric, record)) {
    if (!hasOtherReason(record, newest)) return { kind: 'unchanged' };
    const detail = 'a public reason is for a correction, and the record says what is known already: leave it out';
    return newest.supersedes === null ? refused('conflict.existing', POINTER, detail) : null;
  }
  // A source may repeat a value that an operator has retracted. Its files would otherwise bring the value back each day.
  if (newest.retraction === null || record.reinstated || !isSameContent(stated, metric, record)) return null;
  const remedy = ROW_REMEDIES['conflict.existing'];
  const detail = `a public reason is for a correction, and this value was retracted: ${remedy}`;
  return hasOtherReason(record, stated) ? refused('conflict.existing', POINTER, detail) : { kind: 'unchanged' };
}
