/** What is watched, and from when on somebody is told. docs/operations.md has a section for each, by the same name. */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Configuration } from './configuration.ts';
import { FUNCTION_NAMES, type FunctionName } from './permissions.ts';
import type { ApiStack } from './stacks/api.ts';

export interface AlarmRule {
  /** Also the heading of its section in docs/operations.md. */
  readonly name: string;
  readonly means: string;
  readonly metric: IMetric;
  readonly comparison: ComparisonOperator;
  readonly threshold: number;
  /** How many periods in a row. */
  readonly periods: number;
  readonly missing: TreatMissingData;
}

/** Where CloudFront's metrics are, wherever everything else is. */
export const CLOUDFRONT_METRICS_REGION = 'us-east-1';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);

/** More than this is felt by readers as "not yet". */
const SLOW_PUBLICATION_MS = 60_000;
/** The stream holds records for a day; what is older than this is not being taken. */
const OLD_RECORD_MS = 5 * 60_000;

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD: AT_LEAST, LESS_THAN_THRESHOLD: BELOW } = ComparisonOperator;
const { NOT_BREACHING, BREACHING } = TreatMissingData;

/** One is enough. */
function anyOf(name: string, metric: IMetric, means: string): AlarmRule {
  return { name, means, metric, comparison: AT_LEAST, threshold: 1, periods: 1, missing: NOT_BREACHING };
}

export function metricOf(api: ApiStack, name: FunctionName, metricName: string, statistic: string, period: Duration) {
  const { functionName } = api.functionOf(name).function;
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: functionName },
    statistic,
    period,
  });
}

export function distributionMetric(distributionId: string, metricName: string, statistic: string, period: Duration) {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    region: CLOUDFRONT_METRICS_REGION,
    statistic,
    period,
  });
}

export function apiAlarms(api: ApiStack, configuration: Configuration): readonly AlarmRule[] {
  const sum = (name: FunctionName, metricName: string, period = FIVE_MINUTES) =>
    metricOf(api, name, metricName, Stats.SUM, period);
  const highest = (name: FunctionName, metricName: string) => metricOf(api, name, metricName, Stats.MAXIMUM, MINUTE);
  const verifyPeriod = Duration.hours(configuration.verifyEveryHours);
  // With concurrency reserved, a sweep that comes while another one runs is turned away, as it should be.
  const turnedAwayByFault = FUNCTION_NAMES.filter(
    (name) => name !== 'publish' || !configuration.reservePublisherConcurrency,
  );
  // Those that nothing else below tells of.
  const others: readonly FunctionName[] = ['write-api', 'worker', 'collect-garbage'];
  return [
    {
      ...anyOf('publisher-lag', sum('publish', 'Errors', MINUTE), 'Nothing has been published for three minutes.'),
      periods: 3,
    },
    {
      ...anyOf('publisher-slow', highest('publish', 'Duration'), 'Publications take more than a minute.'),
      threshold: SLOW_PUBLICATION_MS,
      periods: 3,
    },
    {
      ...anyOf('publisher-stopped', sum('publish', 'Invocations'), 'The sweep does not come any more.'),
      comparison: BELOW,
      missing: BREACHING,
    },
    ...(['publish', 'worker'] as const).map((name) => ({
      ...anyOf(`${name}-stream-age`, highest(name, 'IteratorAge'), 'Records of the stream are not being taken.'),
      threshold: OLD_RECORD_MS,
      periods: 3,
    })),
    ...others.map((name) => anyOf(`${name}-errors`, sum(name, 'Errors'), 'Invocations fail.')),
    anyOf(
      'throttles',
      new MathExpression({
        expression: 'SUM(METRICS())',
        label: 'Throttles of all functions',
        usingMetrics: Object.fromEntries(turnedAwayByFault.map((name, index) => [`m${index}`, sum(name, 'Throttles')])),
        period: FIVE_MINUTES,
      }),
      'Invocations are turned away: there is no concurrency left.',
    ),
    anyOf('verify-failed', sum('verify', 'Errors', verifyPeriod), 'What is published breaks a promise.'),
    {
      ...anyOf('verify-stopped', sum('verify', 'Invocations', verifyPeriod), 'Nobody looks any more.'),
      comparison: BELOW,
      // One may begin just before the hour and the next just after another.
      periods: 2,
      missing: BREACHING,
    },
    anyOf(
      'write-api-5xx',
      new Metric({
        namespace: 'AWS/ApiGateway',
        metricName: '5xx',
        dimensionsMap: { ApiId: api.endpoint.api.apiId },
        statistic: Stats.SUM,
        period: FIVE_MINUTES,
      }),
      'Writers are answered with errors of ours.',
    ),
    anyOf(
      'failures-queued',
      api.failures.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
      'Something was given up: it waits in the queue of failures.',
    ),
    anyOf(
      'republish-failed',
      api.republish.metricFailed({ period: FIVE_MINUTES, statistic: Stats.SUM }),
      'A full republish has not come to its commit.',
    ),
  ];
}

/** Rates in per cent of all requests, by the minute. */
export function edgeAlarms(distributionId: string): readonly AlarmRule[] {
  const rate = (metricName: string) => distributionMetric(distributionId, metricName, Stats.AVERAGE, MINUTE);
  return [
    {
      ...anyOf(
        'read-5xx',
        rate('5xxErrorRate'),
        'Readers are answered with errors: the origin fails, stale bodies run out.',
      ),
      periods: 3,
    },
    {
      // The router answers none, so each is the object store's: who may read what is set up wrongly.
      ...anyOf('read-403', rate('403ErrorRate'), 'The object store turns the CDN away.'),
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      threshold: 0,
      periods: 2,
    },
  ];
}
