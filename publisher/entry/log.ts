/** Log lines of the publisher's Lambda functions: one JSON object each. */
import { TURN_METRICS } from '../../contract/aws.ts';

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function log(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  write({ level, time: new Date().toISOString(), what, ...fields });
}

/**
 * Tells of a turn that has come to its end, in a line from which CloudWatch Logs takes two metrics: its embedded metric
 * format, specification 0. Lambda gives each function its name.
 */
export function logTurn(what: string, startedMs: number, fields: Fields = {}): void {
  const { namespace, dimension, turns, duration } = TURN_METRICS;
  const nowMs = Date.now();
  const metrics = [
    { Name: turns, Unit: 'Count' },
    { Name: duration, Unit: 'Milliseconds' },
  ];
  write({
    level: 'info',
    time: new Date(nowMs).toISOString(),
    what,
    ...fields,
    [dimension]: process.env.AWS_LAMBDA_FUNCTION_NAME,
    [turns]: 1,
    [duration]: nowMs - startedMs,
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [{ Namespace: namespace, Dimensions: [[dimension]], Metrics: metrics }],
    },
  });
}

function write(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** A failure as text, with its stack and its causes. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${faultText(error.cause)}`;
}
