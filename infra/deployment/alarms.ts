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
  /** The name, which is also the heading of its section in docs/operations.md. */
  readonly name: string;
  readonly means: string;
  readonly metric: IMetric;
  readonly comparison: ComparisonOperator;
  readonly threshold: number;
  /** The number of breaching periods in a row after which the alarm is raised. */
  readonly periods: number;
  readonly missing: TreatMissingData;
}

/** CloudFront reports all its metrics in this region. */
export const CLOUDFRONT_METRICS_REGION = 'us-east-1';

const MINUTE = Duration.minutes(1);
const FIVE_MINUTES = Duration.minutes(5);
/** Longer than any function runs. An error is reported at the end of an invocation, but with the time of its start. */
const HOUR = Duration.hours(1);
/** Twice the longest invocation of the publisher, so that one of them ends in each period. */
const TEN_MINUTES = Duration.minutes(10);

/** A longer delay is noticeable to readers. */
const SLOW_PUBLICATION_MS = 60_000;
/** Each generation may be fast, but leave marks every time: then some markets wait for many generations. */
const LONG_BEHIND_MS = 15 * 60_000;
/** The stream keeps records for a day. A record older than this means that the function no longer reads the stream. */
const OLD_RECORD_MS = 5 * 60_000;
/**
 * Percent of requests. A single failure raises no alarm, because anybody can cause one without a credential: API Gateway
 * fails for a body of 6.5 MB.
 */
const FAILED_WRITES_PERCENT = 5;
/**
 * Percent of requests. Bots alone cause fewer. A wrong bucket policy or distribution causes nearly 100 once caches are no
 * longer fresh.
 */
const FORBIDDEN_PERCENT = 5;
/** The SDK repeats a throttled request, and DynamoDB splits a partition that stays hot. More than this does not end by itself. */
const THROTTLED_REQUESTS = 100;

const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD: AT_LEAST, LESS_THAN_THRESHOLD: BELOW } = ComparisonOperator;
const { NOT_BREACHING, BREACHING } = TreatMissingData;

/** A rule that one event breaches, unless `limits` changes that. */
function rule(name: string, metric: IMetric, means: string, limits: Partial<AlarmRule> = {}): AlarmRule {
  return { name, means, metric, comparison: AT_LEAST, threshold: 1, periods: 1, missing: NOT_BREACHING, ...limits };
}

/** The statistic of a metric, and its period. */
type Over = readonly [statistic: string, period: Duration];

/** The metrics of a deployment. */
export function deployedMetrics(configuration: Configuration) {
  const { namespace, dimension } = METRICS_OF_OURS;
  const metric = (space: string, metricName: string, of: Record<string, string>, [statistic, period]: Over) =>
    new Metric({ namespace: space, metricName, dimensionsMap: of, statistic, period });
  const ours = (name: FunctionName, metricName: string, over: Over) =>
    metric(namespace, metricName, { [dimension]: functionName(configuration, name) }, over);
  return {
    ofFunction: (name: FunctionName, metricName: string, ...over: Over) =>
      metric('AWS/Lambda', metricName, { FunctionName: functionName(configuration, name) }, over),
    /** From the publisher's log, written at the end of each invocation. */
    published: (what: 'completed' | 'duration' | 'behind' | 'deferredTooLong' | 'auditChanged', ...over: Over) =>
      ours('publish', PUBLISHER_METRICS[what], over),
    /** For how long the first region has shown a newer generation than the second. */
    copyBehind: (...over: Over) => ours('copy', COPY_BEHIND, over),
    /** The longest time that a batch has waited before it was processed. */
    workWaited: (...over: Over) => ours('worker', WORK_WAITED, over),
    /** The number of messages in the queue of failures. */
    failures: (...over: Over) =>
      metric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: failuresName(configuration) }, over),
  };
}

export function edgeMetric(of: Readonly<Record<string, string>>, metricName: string, ...[statistic, period]: Over) {
  return new Metric({
    ...{ namespace: 'AWS/CloudFront', metricName, dimensionsMap: { ...of, Region: 'Global' } },
    ...{ region: CLOUDFRONT_METRICS_REGION, statistic, period },
  });
}

function sumOf(label: string, metrics: readonly IMetric[], names = metrics.map((_, index) => `m${index}`)): IMetric {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [names[index] as string, metric]));
  return new MathExpression({ expression: 'SUM(METRICS())', label, usingMetrics, period: FIVE_MINUTES });
}

/** Requests to the ledger for which a partition or the account had no capacity. */
export function tableThrottles(tableName: string): IMetric {
  const events = ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
    (metricName) =>
      new Metric({
        ...{ namespace: 'AWS/DynamoDB', metricName, dimensionsMap: { TableName: tableName } },
        ...{ statistic: Stats.SUM, period: FIVE_MINUTES },
      }),
  );
  return sumOf('Throttled reads and writes of the ledger', events, ['reads', 'writes']);
}

export function apiAlarms(configuration: Configuration, tableName: string): readonly AlarmRule[] {
  const { ofFunction, published, workWaited, copyBehind, failures } = deployedMetrics(configuration);
  const { verifyEveryHours, secondRegion } = configuration;
  const errors = (name: FunctionName, period: Duration) =>
    rule(`${name}-errors`, ofFunction(name, 'Errors', Stats.SUM, period), 'Invocations fail.');
  const streamAge = (name: FunctionName) => {
    const age = ofFunction(name, 'IteratorAge', Stats.MAXIMUM, MINUTE);
    const means = 'The function does not read its records of the stream.';
    return rule(`${name}-stream-age`, age, means, { threshold: OLD_RECORD_MS, periods: 3 });
  };
  // An alarm can have at most ten metrics, so `copy` is left out; `copy-behind` covers it. With reserved concurrency, a
  // scheduled invocation is throttled while another one runs. That is expected.
  const turnedAwayByFault = FUNCTION_NAMES.filter(
    (name) => name !== 'publish' || !configuration.reservePublisherConcurrency,
  );
  const behindInSecondRegion = rule(
    'copy-behind',
    copyBehind(Stats.MAXIMUM, FIVE_MINUTES),
    'The second region is more than a quarter of an hour behind, or the copy has stopped.',
    // This alarm is also raised while everything is copied for the first time.
    { threshold: LONG_BEHIND_MS, periods: 2, missing: BREACHING },
  );
  return [
    rule(
      'publisher-lag',
      published('completed', Stats.SUM, MINUTE),
      'The publisher has not completed an invocation for five minutes.',
      // One alarm covers failures, timeouts, throttles and a stopped schedule: in each case the metric is missing.
      { comparison: BELOW, periods: 5, missing: BREACHING },
    ),
    rule('publisher-slow', published('duration', Stats.MAXIMUM, TEN_MINUTES), 'Generations take more than a minute.', {
      threshold: SLOW_PUBLICATION_MS,
      periods: 2,
    }),
    rule(
      'publisher-behind',
      published('behind', Stats.MAXIMUM, FIVE_MINUTES),
      'More markets change than are published.',
      { threshold: LONG_BEHIND_MS, periods: 2 },
    ),
    rule(
      'worker-behind',
      workWaited(Stats.MAXIMUM, FIVE_MINUTES),
      'Batches wait for more than a quarter of an hour before they are worked off.',
      { threshold: LONG_BEHIND_MS, periods: 2 },
    ),
    rule(
      'markets-deferred',
      published('deferredTooLong', Stats.MAXIMUM, FIVE_MINUTES),
      'Markets have been deferred for more than five minutes: their records and observations do not add up.',
    ),
    rule(
      'audit-changed',
      published('auditChanged', Stats.SUM, FIVE_MINUTES),
      'An audit record was replaced or removed. No Tidemark code does that.',
    ),
    ...[streamAge('publish'), streamAge('worker')],
    ...[errors('write-api', FIVE_MINUTES), errors('upload-arrived', FIVE_MINUTES)],
    ...[errors('worker', HOUR), errors('sources', HOUR), errors('collect-garbage', HOUR), errors('export', HOUR)],
    rule(
      'throttles',
      sumOf(
        'Throttles of all functions',
        turnedAwayByFault.map((name) => ofFunction(name, 'Throttles', Stats.SUM, FIVE_MINUTES)),
      ),
      'Invocations are throttled: the account has no concurrency left.',
    ),
    rule(
      'ledger-throttles',
      tableThrottles(tableName),
      'A partition of the ledger takes more requests than DynamoDB allows.',
      { threshold: THROTTLED_REQUESTS, periods: 2 },
    ),
    ...(secondRegion === undefined ? [] : [behindInSecondRegion]),
    rule(
      'verify-failed',
      ofFunction('verify', 'Errors', Stats.SUM, Duration.hours(verifyEveryHours)),
      'A published object breaks a promise of the contract.',
    ),
    rule(
      'verify-stopped',
      new MathExpression({
        // Hours before the deployment do not count, because nothing was published then.
        expression: 'IF(FILL(published, 0) > 0, FILL(runs, 0), 1)',
        label: 'Runs of verify',
        usingMetrics: {
          published: published('completed', Stats.SUM, HOUR),
          runs: ofFunction('verify', 'Invocations', Stats.SUM, HOUR),
        },
        period: HOUR,
      }),
      '`verify` has stopped running.',
      // The first run is due this long after the deployment. One more hour is for the start of a full hour, and one for the
      // run.
      { comparison: BELOW, periods: verifyEveryHours + 2, missing: BREACHING },
    ),
    rule(
      'failures-queued',
      failures(Stats.MAXIMUM, FIVE_MINUTES),
      'An event was given up. It waits in the queue of failures.',
    ),
  ];
}

/** The distributions of the public reads and of the write host, by their ids, and the functions that run at the edge. */
export interface EdgeIds {
  readonly reads: string;
  readonly writes: string;
  readonly functions: readonly string[];
}

/** Rates are in percent of all requests. */
export function edgeAlarms({ reads, writes, functions }: EdgeIds): readonly AlarmRule[] {
  const rate = (metricName: string) => edgeMetric({ DistributionId: reads }, metricName, Stats.AVERAGE, MINUTE);
  const failures = functions.flatMap((name) =>
    ['FunctionExecutionErrors', 'FunctionValidationErrors', 'FunctionThrottles'].map((metricName) =>
      edgeMetric({ FunctionName: name }, metricName, Stats.SUM, FIVE_MINUTES),
    ),
  );
  return [
    rule(
      'edge-function-errors',
      sumOf('Failures of the functions at the edge', failures),
      'A function at the edge fails: its readers get 503.',
    ),
    rule('read-5xx', rate('5xxErrorRate'), 'Readers get errors: the origin fails, and stale bodies have expired.', {
      periods: 3,
    }),
    // A few are normal: CloudFront answers 403 to methods that it does not allow, to a GET with a body, and for the web
    // ACL. If the object store refuses CloudFront, every request without a fresh body gets 403.
    rule(
      'read-403',
      rate('403ErrorRate'),
      'The object store refuses CloudFront, or a client sends requests that are not reads.',
      { threshold: FORBIDDEN_PERCENT, periods: 3 },
    ),
    // The rate has no minimum number of requests, so one failure among few requests is a high rate. Three periods in a row
    // are required, so that a few failures do not raise the alarm. A period without requests has no rate.
    rule(
      'write-api-5xx',
      edgeMetric({ DistributionId: writes }, '5xxErrorRate', Stats.AVERAGE, FIVE_MINUTES),
      'The write API returns 5xx, or CloudFront cannot reach it.',
      { threshold: FAILED_WRITES_PERCENT, periods: 3 },
    ),
  ];
}
