/** Log lines of the publisher's Lambda functions with metrics. */
import { type LoggedMetric, logLine } from '../../storage/aws/log-line.ts';
import { PUBLISHER_METRICS } from '../../storage/aws/names.ts';
import type { ItemKey } from '../../storage/ports/ledger.ts';
import { type Deferred, firstOf } from '../kernel/deferred.ts';

/** The outcome of one call of `publish`. */
export interface LoggedOutcome {
  readonly what: string;
  readonly startedMs: number;
  /** See `PublishOutcome`. Absent if the marks were not read. */
  readonly behindMs?: number;
  /** Markets that need a repair. Absent if they were not read. */
  readonly deferredTooLong?: readonly Deferred[];
}

/** Writes the line for the end of `publish`. */
export function logOutcome(
  { what, startedMs, behindMs, deferredTooLong }: LoggedOutcome,
  fields: Parameters<typeof logLine>[2] = {},
): void {
  const metrics: LoggedMetric[] = [
    { Name: PUBLISHER_METRICS.completed, Unit: 'Count', value: 1 },
    { Name: PUBLISHER_METRICS.duration, Unit: 'Milliseconds', value: Date.now() - startedMs },
  ];
  if (behindMs !== undefined) metrics.push({ Name: PUBLISHER_METRICS.behind, Unit: 'Milliseconds', value: behindMs });
  if (deferredTooLong !== undefined)
    metrics.push({ Name: PUBLISHER_METRICS.deferredTooLong, Unit: 'Count', value: deferredTooLong.length });
  if (!deferredTooLong?.length) logLine('info', what, fields, metrics);
  else logLine('error', what, { ...fields, toBeRepaired: firstOf(deferredTooLong) }, metrics);
}

/** The most keys that a line names. */
const NAMED_AT_MOST = 10;

/** Writes a line about audit records that were replaced or removed. */
export function logAuditChanged(keys: readonly ItemKey[]): void {
  const named = keys.slice(0, NAMED_AT_MOST).map(({ partition, sort }) => `${partition} ${sort}`);
  const metric = { Name: PUBLISHER_METRICS.auditChanged, Unit: 'Count', value: keys.length } as const;
  logLine('error', 'audit records were changed', { records: named.join(', ') }, [metric]);
}
