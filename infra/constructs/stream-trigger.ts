/** Invokes a function when items of certain partitions change, by the table's stream, and on a schedule. */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { TABLE_PARTITION_KEY } from '../../storage/aws/names.ts';
import { allow } from '../deployment/policies.ts';
import type { ServiceFunction } from './service-function.ts';

/** The kinds of changes that can invoke the function. */
export type ItemEvent = 'INSERT' | 'MODIFY' | 'REMOVE';

export interface StreamTriggerProps {
  readonly invoked: ServiceFunction;
  readonly tableStreamArn: string;
  /** Patterns of partitions. Each ends with `*`, which matches any rest. */
  readonly partitions: readonly string[];
  /** Removals are usually left out, because they mean that work is done. */
  readonly events: readonly ItemEvent[];
  /** The prefix of partitions whose items must never change: a change invokes the function. */
  readonly unchanging?: string;
  /** Records within this time cause one invocation. */
  readonly coalesce: Duration;
  /** Receives the position of records after the last retry. */
  readonly failures: IQueue;
}

const BATCH_RECORDS = 1_000;
const RETRIES = 3;
/** The maximum age of a record: by then the schedule has invoked the function many times. */
const OLDEST_RECORD = Duration.hours(1);

/** The permissions that the role of the invoked function needs. */
export function streamStatements(tableStreamArn: string, failuresArn: string): readonly PolicyStatement[] {
  return [
    allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [tableStreamArn]),
    // This action cannot be limited to a resource.
    allow(['dynamodb:ListStreams'], ['*']),
    allow(['sqs:SendMessage'], [failuresArn]),
  ];
}

export class StreamTrigger extends Construct {
  constructor(scope: Construct, id: string, props: StreamTriggerProps) {
    super(scope, id);
    const { invoked, tableStreamArn, partitions, events, unchanging, coalesce, failures } = props;
    const filter = (eventNames: readonly ItemEvent[], partition: unknown) =>
      FilterCriteria.filter({
        eventName: FilterRule.or(...eventNames),
        dynamodb: { Keys: { [TABLE_PARTITION_KEY]: { S: partition } } },
      });
    new EventSourceMapping(this, 'Stream', {
      target: invoked.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [
        filter(
          events,
          partitions.flatMap((partition) => FilterRule.beginsWith(partition.slice(0, -1))),
        ),
        ...(unchanging === undefined ? [] : [filter(['MODIFY', 'REMOVE'], FilterRule.beginsWith(unchanging))]),
      ],
      batchSize: BATCH_RECORDS,
      maxBatchingWindow: coalesce,
      parallelizationFactor: 1,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: RETRIES,
      maxRecordAge: OLDEST_RECORD,
      onFailure: new SqsDlq(failures),
    });
    addSchedule(this, 'Schedule', invoked, Duration.minutes(1));
  }
}

/**
 * The schedule invokes the function again soon enough. So there is no retry, and invocations do not queue up while the
 * account has no concurrency left.
 */
const ON_SCHEDULE = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };

export function addSchedule(
  scope: Construct,
  id: string,
  { function: invoked }: ServiceFunction,
  every: Duration,
): void {
  invoked.configureAsyncInvoke(ON_SCHEDULE);
  new Rule(scope, id, { schedule: Schedule.rate(every), targets: [new LambdaTarget(invoked, ON_SCHEDULE)] });
}
