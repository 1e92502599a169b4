/** Log lines of the publisher's Lambda functions: one JSON object each. */
import { PUBLISHER_METRICS } from '../../contract/aws.ts';
import { firstOf, type PutOffMarket } from '../plan/put-off.ts';

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function logLine(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  write({ level, time: new Date().toISOString(), what, ...fields });
}

/** The outcome of one call of `publish`. */
export interface LoggedOutcome {
  readonly what: string;
  readonly startedMs: number;
  /** Markets that need a repair. Absent if they were not looked at. */
  readonly putOffTooLong?: readonly PutOffMarket[];
}

/**
 * Writes the line for the end of `publish`, from which CloudWatch Logs takes metrics: embedded metric format,
 * specification 0. Lambda sets the function's name in the environment.
 */
export function logOutcome({ what, startedMs, putOffTooLong }: LoggedOutcome, fields: Fields = {}): void {
  const { namespace, dimension } = PUBLISHER_METRICS;
  const nowMs = Date.now();
  const metrics = [
    { Name: PUBLISHER_METRICS.completed, Unit: 'Count', value: 1 },
    { Name: PUBLISHER_METRICS.duration, Unit: 'Milliseconds', value: nowMs - startedMs },
    ...(putOffTooLong === undefined
      ? []
      : [{ Name: PUBLISHER_METRICS.putOffTooLong, Unit: 'Count', value: putOffTooLong.length }]),
  ];
  const isAnyTooLong = putOffTooLong !== undefined && putOffTooLong.length > 0;
  write({
    level: isAnyTooLong ? 'error' : 'info',
    time: new Date(nowMs).toISOString(),
    what,
    ...fields,
    ...(isAnyTooLong ? { toBeRepaired: firstOf(putOffTooLong) } : {}),
    [dimension]: process.env.AWS_LAMBDA_FUNCTION_NAME,
    ...Object.fromEntries(metrics.map(({ Name, value }) => [Name, value])),
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [[dimension]],
          Metrics: metrics.map(({ Name, Unit }) => ({ Name, Unit })),
        },
      ],
    },
  });
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
