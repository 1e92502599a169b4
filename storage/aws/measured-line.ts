/** Log lines from which CloudWatch Logs takes metrics: embedded metric format, specification 0. */
import { METRICS_OF_OURS } from './names.ts';

export interface LoggedMetric {
  readonly Name: string;
  readonly Unit: 'Count' | 'Milliseconds';
  readonly value: number;
}

/** One line of the log. Lambda sets the function's name in the environment. */
export function measuredLine(
  level: 'info' | 'error',
  nowMs: number,
  metrics: readonly LoggedMetric[],
  fields: { readonly [name: string]: string | number | boolean | null },
): object {
  const { namespace, dimension } = METRICS_OF_OURS;
  return {
    level,
    time: new Date(nowMs).toISOString(),
    ...fields,
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
