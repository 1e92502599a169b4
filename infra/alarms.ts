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
import { TURN_METRICS } from '../contract/aws.ts';
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
/** Longer than any function runs: an error has the time at which its invocation began, and is told at its end. */
const HOUR = Duration.hours(1);
/** Two turns of the publisher at their longest, so that one ends in it. */
const TEN_MINUTES = Duration.minutes(10);

/** More than this is felt by readers as "not yet". */
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

/** What the publisher says of its turns, with the time at which each ended. */
export function turnMetric(api: ApiStack, metricName: string, statistic: string, period: Duration) {
  const { namespace, dimension } = TURN_METRICS;
  const { functionName } = api.functionOf('publish').function;
  return new Metric({ namespace, metricName, dimensionsMap: { [dimension]: functionName }, statistic, period });
}

/** What API Gateway counts of the write API's requests, those too that it answers by itself. */
function requestMetric(api: ApiStack, metricName: '5xx' | 'Count') {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiId: api.endpoint.api.apiId },
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

export function apiAlarms(api: ApiStack, configuration: Configuration): readonly AlarmRule[] {
  const sum = (name: FunctionName, metricName: string, period = FIVE_MINUTES) =>
    metricOf(api, name, metricName, Stats.SUM, period);
  const highest = (name: FunctionName, metricName: string) => metricOf(api, name, metricName, Stats.MAXIMUM, MINUTE);
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
      // Whatever keeps turns from their end is told by their absence: failures, timeouts, throttles, a stopped schedule.
      ...anyOf(
        'publisher-lag',
        turnMetric(api, TURN_METRICS.turns, Stats.SUM, MINUTE),
        'No turn of the publisher has come to its end for five minutes.',
      ),
      comparison: BELOW,
      periods: 5,
      missing: BREACHING,
    },
    {
      ...anyOf(
        'publisher-slow',
        turnMetric(api, TURN_METRICS.duration, Stats.MAXIMUM, TEN_MINUTES),
        'Publications take more than a minute.',
      ),
      threshold: SLOW_PUBLICATION_MS,
      periods: 2,
    },
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
          // Before there was a deployment nothing is missed: its publisher had no turns then.
          expression: 'IF(FILL(turns, 0) > 0, FILL(runs, 0), 1)',
          label: 'Runs of verify',
          usingMetrics: {
            turns: turnMetric(api, TURN_METRICS.turns, Stats.SUM, HOUR),
            runs: sum('verify', 'Invocations', HOUR),
          },
          period: HOUR,
        }),
        'Nobody looks any more.',
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
          usingMetrics: { failed: requestMetric(api, '5xx'), requests: requestMetric(api, 'Count') },
          period: FIVE_MINUTES,
        }),
        'Writers are answered with errors of ours.',
      ),
      threshold: FAILED_WRITES_PERCENT,
      periods: 3,
    },
    anyOf(
      'failures-queued',
      api.failures.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
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
