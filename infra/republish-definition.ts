/**
 * Publishing everything when it is more than one function can do in its time: the state machine's definition (Amazon
 * States Language), for the steps of publisher/republish.ts.
 *
 *   plan ──► render, of all ranges at once ──► commit ──► apply, of all ranges at once ──► finish
 *
 * The swap of HEAD stays in one place. Whatever fails for good before it is abandoned, so that ordinary publications go
 * on; after it they would apply the rest themselves.
 */
import type { RepublishCommitEvent, RepublishRangeEvent } from '../contract/aws.ts';

export interface RepublishFunctions {
  readonly partition: string;
  readonly planArn: string;
  readonly rangeArn: string;
  readonly commitArn: string;
}

/** What the plan must answer. Each range is named by its number. */
export interface RepublishPlanned {
  readonly republish: string;
  readonly ranges: readonly number[];
}

/** Few enough to leave the table's partitions and the account's concurrency to others. */
export const RANGES_AT_ONCE = 20;

/** A function's own limit, with time for its answer. */
const TASK_SECONDS = 910;

/** Every step may be done again. What cannot succeed any more, such as one that is superseded, is not tried again. */
const RETRY = [
  {
    ErrorEquals: [
      'Lambda.ClientExecutionTimeoutException',
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.TooManyRequestsException',
      'Lambda.Unknown',
      'StorageUnavailable',
    ],
    IntervalSeconds: 2,
    MaxAttempts: 5,
    BackoffRate: 2,
    JitterStrategy: 'FULL',
  },
];

/** Keeps the plan, which says what to abandon. */
const ABANDON = [{ ErrorEquals: ['States.ALL'], ResultPath: '$.fault', Next: 'Abandon' }];

/** Pure: the same functions give the same definition. */
export function republishDefinition({ partition, planArn, rangeArn, commitArn }: RepublishFunctions) {
  const invoke = (functionArn: string, payload: { Payload: object } | { 'Payload.$': string }) => ({
    Type: 'Task',
    Resource: `arn:${partition}:states:::lambda:invoke`,
    Parameters: { FunctionName: functionArn, ...payload },
    TimeoutSeconds: TASK_SECONDS,
    Retry: RETRY,
  });
  const commit = (step: RepublishCommitEvent['step']) => ({
    ...invoke(commitArn, { Payload: { step, 'republish.$': '$.republish' } }),
    // The plan goes on to the next state; what was done is in the ledger.
    ResultPath: null,
  });
  const ranges = (step: RepublishRangeEvent['step']) => ({
    Type: 'Map',
    ItemsPath: '$.ranges',
    ItemSelector: { step, 'republish.$': '$.republish', 'range.$': '$$.Map.Item.Value' },
    MaxConcurrency: RANGES_AT_ONCE,
    // All or nothing: a list without one of its ranges would be torn.
    ToleratedFailureCount: 0,
    ItemProcessor: {
      // Each with a history of its own: that of one execution would not hold two thousand.
      ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
      StartAt: 'Range',
      // What all of them answer together must fit a state.
      States: { Range: { ...invoke(rangeArn, { 'Payload.$': '$' }), ResultSelector: { done: true }, End: true } },
    },
    ResultPath: null,
  });
  return {
    Comment: 'Publishes every market: plan, render, commit once, apply, finish.',
    StartAt: 'Plan',
    States: {
      Plan: { ...invoke(planArn, { Payload: {} }), OutputPath: '$.Payload', Next: 'Render' },
      Render: { ...ranges('render'), Catch: ABANDON, Next: 'Commit' },
      Commit: { ...commit('commit'), Catch: ABANDON, Next: 'Apply' },
      Apply: { ...ranges('apply'), Next: 'Finish' },
      Finish: { ...commit('finish'), End: true },
      Abandon: { ...commit('abandon'), Next: 'Abandoned' },
      Abandoned: {
        Type: 'Fail',
        Error: 'Abandoned',
        Cause: 'Nothing of it is public: see the state that failed, and start it again.',
      },
    },
  };
}
