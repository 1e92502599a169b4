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
import { PUBLISHER_METRICS } from '../contract/aws.ts';
import type { Configuration } from './configuration.ts';
import { failuresName, functionName } from './names.ts';
import { FUNCTION_NAMES, type FunctionName } from './permissions.ts';

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
/** Longer than any function runs: an error has the time at which its invocation began, and is told at its end. */
const HOUR = Duration.hours(1);
/** Two invocations of the publisher at their longest, so that one ends in it. */
const TEN_MINUTES = Duration.minutes(10);

/** Readers notice that something is missing when it takes longer. */
const SLOW_PUBLICATION_MS = 60_000;
/** The stream holds records for a day; what is older than this is not being taken. */
const OLD_RECORD_MS = 5 * 60_000;
/** Of requests. One alone is told to whoever sent it, and anybody can have one: API Gateway fails at 6.5 MB of nothing. */
const FAILED_WRITES_PERCENT = 5;
/** Bots alone do not come to so many; what is set up wrongly is near 100 as soon as caches are not fresh any more. */
const FORBIDDEN_PERCENT = 5;

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD: AT_LEAST, LESS_THAN_THRESHOLD: BELOW } = ComparisonOperator;
const { NOT_BREACHING, BREACHING } = TreatMissingData;

/** One is enough. */
function anyOf(name: string, metric: IMetric, means: string): AlarmRule {
  return { name, means, metric, comparison: AT_LEAST, threshold: 1, periods: 1, missing: NOT_BREACHING };
}

export function metricOf(
  configuration: Configuration,
  name: FunctionName,
  metricName: string,
  statistic: string,
  period: Duration,
) {
  const dimensionsMap = { FunctionName: functionName(configuration, name) };
  return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic, period });
}

/** What the publisher says of itself, each time that it has come to an end. */
export function publisherMetric(
  configuration: Configuration,
  what: 'completed' | 'duration' | 'putOffTooLong',
  statistic: string,
  period: Duration,
) {
  const { namespace, dimension, [what]: metricName } = PUBLISHER_METRICS;
  const dimensionsMap = { [dimension]: functionName(configuration, 'publish') };
  return new Metric({ namespace, metricName, dimensionsMap, statistic, period });
}

/** How many messages wait in the queue of failures. */
export function failuresMetric(configuration: Configuration, statistic: string, period: Duration) {
  const dimensionsMap = { QueueName: failuresName(configuration) };
  const metricName = 'ApproximateNumberOfMessagesVisible';
  return new Metric({ namespace: 'AWS/SQS', metricName, dimensionsMap, statistic, period });
}

/** What API Gateway counts of the write API's requests, those too that it answers by itself. */
function requestMetric(apiId: string, metricName: '5xx' | 'Count') {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiId: apiId },
    statistic: Stats.SUM,
    period: FIVE_MINUTES,
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

/** @param apiId of the write API's HTTP API, which has no name that metrics go by */
export function apiAlarms(apiId: string, configuration: Configuration): readonly AlarmRule[] {
  const sum = (name: FunctionName, metricName: string, period = FIVE_MINUTES) =>
    metricOf(configuration, name, metricName, Stats.SUM, period);
  const highest = (name: FunctionName, metricName: string) =>
    metricOf(configuration, name, metricName, Stats.MAXIMUM, MINUTE);
  // With concurrency reserved, a sweep that comes while another one runs is turned away, as it should be.
  const turnedAwayByFault = FUNCTION_NAMES.filter(
    (name) => name !== 'publish' || !configuration.reservePublisherConcurrency,
  );
  // Those that nothing else below tells of, and over how long they are looked at.
  const others: readonly (readonly [FunctionName, Duration])[] = [
    ['write-api', FIVE_MINUTES],
    ['upload-arrived', FIVE_MINUTES],
    ['worker', HOUR],
    ['collect-garbage', HOUR],
  ];
  return [
    {
      // Absence tells of failures, timeouts, throttles and a stopped schedule alike.
      ...anyOf(
        'publisher-lag',
        publisherMetric(configuration, 'completed', Stats.SUM, MINUTE),
        'The publisher has completed nothing for five minutes.',
      ),
      comparison: BELOW,
      periods: 5,
      missing: BREACHING,
    },
    {
      ...anyOf(
        'publisher-slow',
        publisherMetric(configuration, 'duration', Stats.MAXIMUM, TEN_MINUTES),
        'Generations take more than a minute.',
      ),
      threshold: SLOW_PUBLICATION_MS,
      periods: 2,
    },
    anyOf(
      'markets-put-off',
      publisherMetric(configuration, 'putOffTooLong', Stats.MAXIMUM, FIVE_MINUTES),
      'Markets have been put off for more than five minutes: their records and observations do not add up.',
    ),
    ...(['publish', 'worker'] as const).map((name) => ({
      ...anyOf(`${name}-stream-age`, highest(name, 'IteratorAge'), 'Records of the stream are not being taken.'),
      threshold: OLD_RECORD_MS,
      periods: 3,
    })),
    ...others.map(([name, period]) => anyOf(`${name}-errors`, sum(name, 'Errors', period), 'Invocations fail.')),
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
    anyOf(
      'verify-failed',
      sum('verify', 'Errors', Duration.hours(configuration.verifyEveryHours)),
      'What is published breaks a promise.',
    ),
    {
      ...anyOf(
        'verify-stopped',
        new MathExpression({
          // Hours before the deployment do not count: nothing was published in them.
          expression: 'IF(FILL(published, 0) > 0, FILL(runs, 0), 1)',
          label: 'Runs of verify',
          usingMetrics: {
            published: publisherMetric(configuration, 'completed', Stats.SUM, HOUR),
            runs: sum('verify', 'Invocations', HOUR),
          },
          period: HOUR,
        }),
        '`verify` has stopped running.',
      ),
      comparison: BELOW,
      // The first run is due this long after the deployment; one hour more for where hours begin, one for the run.
      periods: configuration.verifyEveryHours + 2,
      missing: BREACHING,
    },
    {
      // A rate without a least number of requests: where few are made, each counts. What keeps a few of them from an alarm
      // is that they must go on: three periods in a row. One without requests has no rate: as far as CloudWatch looks back
      // for others, about half an hour, it breaks no row.
      ...anyOf(
        'write-api-5xx',
        new MathExpression({
          expression: '100 * FILL(failed, 0) / requests',
          label: 'Failed requests in per cent',
          usingMetrics: { failed: requestMetric(apiId, '5xx'), requests: requestMetric(apiId, 'Count') },
          period: FIVE_MINUTES,
        }),
        'Writers are answered with errors of ours.',
      ),
      threshold: FAILED_WRITES_PERCENT,
      periods: 3,
    },
    anyOf(
      'failures-queued',
      failuresMetric(configuration, Stats.MAXIMUM, FIVE_MINUTES),
      'Something was given up: it waits in the queue of failures.',
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
      // Some are always there: CloudFront itself answers so to methods that it does not allow, to a GET with a body, and
      // for the web ACL. An object store that turns it away does so for every body that is not fresh.
      ...anyOf(
        'read-403',
        rate('403ErrorRate'),
        'The object store turns the CDN away, or somebody sends what is no read.',
      ),
      threshold: FORBIDDEN_PERCENT,
      periods: 3,
    },
  ];
}
