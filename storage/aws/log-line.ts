/** Log lines of the Lambda functions: one JSON object each, without anything that looks like a credential. */
import { redact } from '../../contract/values/redact.ts';
import { METRICS_OF_OURS } from './names.ts';

export interface LoggedMetric {
  readonly Name: string;
  readonly Unit: 'Count' | 'Milliseconds';
  readonly value: number;
}

/** Writes to standard output, which Lambda stores line by line. CloudWatch Logs takes the metrics from the line. */
export function logLine(
  level: 'info' | 'error',
  what: string,
  fields: { readonly [name: string]: string | number | boolean | null } = {},
  metrics: readonly LoggedMetric[] = [],
): void {
  const nowMs = Date.now();
  const measured = metrics.length === 0 ? {} : embedded(metrics, nowMs);
  const line = { level, time: new Date(nowMs).toISOString(), what, ...fields, ...measured };
  const text = JSON.stringify(line, (_, value) => (typeof value === 'string' ? redact(value) : value));
  process.stdout.write(`${text}\n`);
}

/** Embedded metric format, specification 0. Lambda sets the function's name in the environment. */
function embedded(metrics: readonly LoggedMetric[], nowMs: number): object {
  const { namespace, dimension } = METRICS_OF_OURS;
  return {
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
  };
}
