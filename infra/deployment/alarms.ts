/** The alarms and their thresholds. docs/operations.md has a section for each, by the same name. */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { COPY_BEHIND, METRICS_OF_OURS, PUBLISHER_METRICS, WORK_WAITED } from '../../storage/aws/names.ts';
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
  /** The number of breaching periods in a row that raise the alarm. */
  readonly periods: number;
  readonly missing: TreatMissingData;
}

/** CloudFront reports all its metrics in this region. */
export const CLOUDFRONT_METRICS_REGION = 'us-east-1';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
/** Longer than any function runs. An error is reported at the end of an invocation, with the time of its beginning. */
const HOUR = Duration.hours(1);
/** Twice the longest invocation of the publisher, so that one of them ends in it. */
const TEN_MINUTES = Duration.minutes(10);

/** Readers notice a longer delay. */
const SLOW_PUBLICATION_MS = 60_000;
/** Each generation may be fast, and never take all marks: then markets wait for one more generation after the other. */
const LONG_BEHIND_MS = 15 * 60_000;
/** The stream keeps records for a day. An older record than this means that the function no longer reads the stream. */
const OLD_RECORD_MS = 5 * 60_000;
/**
 * Per cent of requests. A single failure raises no alarm, because anybody can cause one without a credential: API
 * Gateway fails on a body of 6.5 MB.
 */
const FAILED_WRITES_PERCENT = 5;
/**
 * Bots alone cause fewer. A wrong bucket policy or distribution causes nearly 100 as soon as caches are no longer
 * fresh.
 */
const FORBIDDEN_PERCENT = 5;
/** The SDK tries a throttled request again, and DynamoDB splits a partition that stays hot. More than this does not end by itself. */
const THROTTLED_REQUESTS = 100;

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD: AT_LEAST, LESS_THAN_THRESHOLD: BELOW } = ComparisonOperator;
const { NOT_BREACHING, BREACHING } = TreatMissingData;

/** One event is enough. */
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

/** A metric of the publisher's log, written at the end of each invocation. */
export function publisherMetric(
  configuration: Configuration,
  what: 'completed' | 'duration' | 'behind' | 'deferredTooLong' | 'auditChanged',
  statistic: string,
  period: Duration,
) {
  const { namespace, dimension, [what]: metricName } = PUBLISHER_METRICS;
  const dimensionsMap = { [dimension]: functionName(configuration, 'publish') };
  return new Metric({ namespace, metricName, dimensionsMap, statistic, period });
}

/** For how long the first region has shown a generation that the second does not show. */
export function copyBehindMetric(configuration: Configuration, statistic: string, period: Duration) {
  const { namespace, dimension } = METRICS_OF_OURS;
  const dimensionsMap = { [dimension]: functionName(configuration, 'copy') };
  return new Metric({ namespace, metricName: COPY_BEHIND, dimensionsMap, statistic, period });
}

/** How long a batch has waited, at most, before it was worked off. */
export function workWaitedMetric(configuration: Configuration, statistic: string, period: Duration) {
  const dimensionsMap = { [METRICS_OF_OURS.dimension]: functionName(configuration, 'worker') };
  return new Metric({
    namespace: METRICS_OF_OURS.namespace,
    metricName: WORK_WAITED,
    dimensionsMap,
    statistic,
    period,
  });
}

/** The number of messages in the queue of failures. */
export function failuresMetric(configuration: Configuration, statistic: string, period: Duration) {
  const dimensionsMap = { QueueName: failuresName(configuration) };
  const metricName = 'ApproximateNumberOfMessagesVisible';
  return new Metric({ namespace: 'AWS/SQS', metricName, dimensionsMap, statistic, period });
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

/** Requests to the ledger that a partition, or the account, had no capacity for. */
export function tableThrottles(tableName: string, period: Duration): IMetric {
  const events = (metricName: string) =>
    new Metric({
      ...{ namespace: 'AWS/DynamoDB', metricName, dimensionsMap: { TableName: tableName } },
      ...{ statistic: Stats.SUM, period },
    });
  return new MathExpression({
    expression: 'SUM(METRICS())',
    label: 'Throttled reads and writes of the ledger',
    usingMetrics: { reads: events('ReadThrottleEvents'), writes: events('WriteThrottleEvents') },
    period,
  });
}

export function apiAlarms(configuration: Configuration, tableName: string): readonly AlarmRule[] {
  const sum = (name: FunctionName, metricName: string, period = FIVE_MINUTES) =>
    metricOf(configuration, name, metricName, Stats.SUM, period);
  const highest = (name: FunctionName, metricName: string) =>
    metricOf(configuration, name, metricName, Stats.MAXIMUM, MINUTE);
  // An alarm has at most ten metrics, so `copy` is left out; `copy-behind` covers it. With concurrency reserved, a scheduled
  // invocation is throttled while another one runs. That is expected.
  const turnedAwayByFault = FUNCTION_NAMES.filter(
    (name) => name !== 'publish' || !configuration.reservePublisherConcurrency,
  );
  // Functions without an alarm of their own below, and the period of their alarm.
  const others: readonly (readonly [FunctionName, Duration])[] = [
    ['write-api', FIVE_MINUTES],
    ['upload-arrived', FIVE_MINUTES],
    ['worker', HOUR],
    ['sources', HOUR],
    ['collect-garbage', HOUR],
    ['export', HOUR],
  ];
  return [
    {
      // One alarm for failures, timeouts, throttles and a stopped schedule: after each of them the metric is missing.
      ...anyOf(
        'publisher-lag',
        publisherMetric(configuration, 'completed', Stats.SUM, MINUTE),
        'The publisher has not completed an invocation for five minutes.',
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
    {
      ...anyOf(
        'publisher-behind',
        publisherMetric(configuration, 'behind', Stats.MAXIMUM, FIVE_MINUTES),
        'More markets change than are published.',
      ),
      threshold: LONG_BEHIND_MS,
      periods: 2,
    },
    {
      ...anyOf(
        'worker-behind',
        workWaitedMetric(configuration, Stats.MAXIMUM, FIVE_MINUTES),
        'Batches wait for more than a quarter of an hour before they are worked off.',
      ),
      threshold: LONG_BEHIND_MS,
      periods: 2,
    },
    anyOf(
      'markets-deferred',
      publisherMetric(configuration, 'deferredTooLong', Stats.MAXIMUM, FIVE_MINUTES),
      'Markets have been deferred for more than five minutes: their records and observations do not add up.',
    ),
    anyOf(
      'audit-changed',
      publisherMetric(configuration, 'auditChanged', Stats.SUM, FIVE_MINUTES),
      'An audit record was replaced or removed. No Tidemark code does that.',
    ),
    ...(['publish', 'worker'] as const).map((name) => ({
      ...anyOf(
        `${name}-stream-age`,
        highest(name, 'IteratorAge'),
        'The function does not read its records of the stream.',
      ),
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
      'Invocations are throttled: the account has no concurrency left.',
    ),
    {
      ...anyOf(
        'ledger-throttles',
        tableThrottles(tableName, FIVE_MINUTES),
        'A partition of the ledger takes more requests than DynamoDB allows.',
      ),
      threshold: THROTTLED_REQUESTS,
      periods: 2,
    },
    ...(configuration.secondRegion === undefined ? [] : [copyBehind(configuration)]),
    anyOf(
      'verify-failed',
      sum('verify', 'Errors', Duration.hours(configuration.verifyEveryHours)),
      'A published object breaks a promise of the contract.',
    ),
    {
      ...anyOf(
        'verify-stopped',
        new MathExpression({
          // Hours before the deployment do not count, because nothing was published in them.
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
      // The first run is due this long after the deployment. One hour more because hours begin at full hours, one for
      // the run.
      periods: configuration.verifyEveryHours + 2,
      missing: BREACHING,
    },
    anyOf(
      'failures-queued',
      failuresMetric(configuration, Stats.MAXIMUM, FIVE_MINUTES),
      'An event was given up. It waits in the queue of failures.',
    ),
  ];
}

/** Also raised while everything is copied for the first time. */
function copyBehind(configuration: Configuration): AlarmRule {
  return {
    ...anyOf(
      'copy-behind',
      copyBehindMetric(configuration, Stats.MAXIMUM, FIVE_MINUTES),
      'The second region is more than a quarter of an hour behind, or the copy has stopped.',
    ),
    threshold: LONG_BEHIND_MS,
    periods: 2,
    missing: BREACHING,
  };
}

/** The distributions of the public reads and of the write host, by their ids, and the functions that run at the edge. */
export interface EdgeIds {
  readonly reads: string;
  readonly writes: string;
  readonly functions: readonly string[];
}

/** Rates in per cent of all requests. */
export function edgeAlarms({ reads, writes, functions }: EdgeIds): readonly AlarmRule[] {
  const rate = (metricName: string) => distributionMetric(reads, metricName, Stats.AVERAGE, MINUTE);
  const failures = functions.flatMap((name) =>
    ['FunctionExecutionErrors', 'FunctionValidationErrors', 'FunctionThrottles'].map(
      (metricName) =>
        new Metric({
          ...{ namespace: 'AWS/CloudFront', metricName, dimensionsMap: { FunctionName: name, Region: 'Global' } },
          ...{ region: CLOUDFRONT_METRICS_REGION, statistic: Stats.SUM, period: FIVE_MINUTES },
        }),
    ),
  );
  return [
    anyOf(
      'edge-function-errors',
      new MathExpression({
        expression: 'SUM(METRICS())',
        label: 'Failures of the functions at the edge',
        usingMetrics: Object.fromEntries(failures.map((metric, index) => [`m${index}`, metric])),
        period: FIVE_MINUTES,
      }),
      'A function at the edge fails: its readers get 503.',
    ),
    {
      ...anyOf(
        'read-5xx',
        rate('5xxErrorRate'),
        'Readers get errors: the origin fails, and stale bodies have expired.',
      ),
      periods: 3,
    },
    {
      // A few are normal: CloudFront answers 403 to methods that it does not allow, to a GET with a body, and for the
      // web ACL. If the object store refuses CloudFront, every body that is not fresh is 403.
      ...anyOf(
        'read-403',
        rate('403ErrorRate'),
        'The object store refuses CloudFront, or a client sends requests that are not reads.',
      ),
      threshold: FORBIDDEN_PERCENT,
      periods: 3,
    },
    {
      // The rate has no minimum number of requests, so one failure among few requests is a high rate. Three periods in
      // a row keep a few failures from raising the alarm. A period without requests has no rate.
      ...anyOf(
        'write-api-5xx',
        distributionMetric(writes, '5xxErrorRate', Stats.AVERAGE, FIVE_MINUTES),
        'The write API returns 5xx, or CloudFront cannot reach it.',
      ),
      threshold: FAILED_WRITES_PERCENT,
      periods: 3,
    },
  ];
}
