/** Rows of histories, for the tests of the pages. */
import type { PublicObservation } from '../../../contract/values/metric.ts';

/** A price of a day of January 2026, in its first version. */
export function row(day: number, more: Partial<PublicObservation> = {}): PublicObservation {
  const observedAt = new Date(Date.UTC(2026, 0, day)).toISOString().replace('.000Z', 'Z');
  return {
    ...{ id: `obs_${day}`, metric: 'price', kind: 'money', amountMinor: 100 * day, currency: 'USD', minorDigits: 2 },
    ...{ decimal: `${day}.00`, decimalPerUnit: `${day}.00`, sourceLabel: 'one', sourceUrl: 'https://one.example/' },
    ...{ observedAt, recordedAt: observedAt, releasedAt: null, confidence: 'high', status: 'final' },
    ...{ sourceValue: null, rounded: false, unknownReason: null, retraction: null },
    ...{ supersededAt: null, supersedes: null, supersededBy: null, ...more },
  } as PublicObservation;
}
