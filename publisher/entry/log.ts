/** Log lines of the publisher's Lambda functions: one JSON object each. */
import { type LoggedMetric, measuredLine } from '../../storage/aws/measured-line.ts';
import { PUBLISHER_METRICS } from '../../storage/aws/names.ts';
import type { ItemKey } from '../../storage/ports/ledger.ts';
import { type Deferred, firstOf } from '../kernel/deferred.ts';

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function logLine(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  write({ level, time: new Date().toISOString(), what, ...fields });
}

/** A line with one metric. */
export function logCopied(metric: LoggedMetric, fields: Fields): void {
  write(measuredLine('info', Date.now(), [metric], fields));
}

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
export function logOutcome({ what, startedMs, behindMs, deferredTooLong }: LoggedOutcome, fields: Fields = {}): void {
  const nowMs = Date.now();
  const isAnyTooLong = deferredTooLong !== undefined && deferredTooLong.length > 0;
  const metrics: readonly LoggedMetric[] = [
    { Name: PUBLISHER_METRICS.completed, Unit: 'Count', value: 1 },
    { Name: PUBLISHER_METRICS.duration, Unit: 'Milliseconds', value: nowMs - startedMs },
    ...(behindMs === undefined
      ? []
      : [{ Name: PUBLISHER_METRICS.behind, Unit: 'Milliseconds', value: behindMs } as const]),
    ...(deferredTooLong === undefined
      ? []
      : [{ Name: PUBLISHER_METRICS.deferredTooLong, Unit: 'Count', value: deferredTooLong.length } as const]),
  ];
  const level = isAnyTooLong ? 'error' : 'info';
  write(
    measuredLine(level, nowMs, metrics, {
      what,
      ...fields,
      ...(isAnyTooLong ? { toBeRepaired: firstOf(deferredTooLong) } : {}),
    }),
  );
}

/** The most keys that a line names. */
const NAMED_AT_MOST = 10;

/** Writes a line about audit records that were replaced or removed. */
export function logAuditChanged(keys: readonly ItemKey[]): void {
  const named = keys.slice(0, NAMED_AT_MOST).map(({ partition, sort }) => `${partition} ${sort}`);
  const metrics = [{ Name: PUBLISHER_METRICS.auditChanged, Unit: 'Count', value: keys.length }] as const;
  write(measuredLine('error', Date.now(), metrics, { what: 'audit records were changed', records: named.join(', ') }));
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
