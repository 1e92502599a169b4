/** The correction that a claim asserts, as a record of a correcting batch. */
import type { ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import type { ClaimAssertion } from '../../contract/operations/accounts/claims.ts';

export type Correction = Extract<ClaimAssertion, { type: 'correction' }>;

/** The claim itself asserts the value, so all confirmations are set. */
export function correctionOf({ corrected, ...assertion }: Correction, sourceLabel: string): ObservationRecord {
  const { market, metric, observedAt, sourceUrl } = assertion;
  const word = { zeroAsserted: true, dateConfirmed: true, outlierConfirmed: true, reinstated: true };
  return { type: 'observation', market, metric, observedAt, sourceUrl, sourceLabel, ...corrected, ...word };
}
