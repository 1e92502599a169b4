/** Wakes a function for what is new in a partition of the ledger: by the table's stream, and by the clock. */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { TABLE_PARTITION_KEY } from '../../contract/aws.ts';
import { allow } from '../policies.ts';
import type { ServiceFunction } from './service-function.ts';

/** How an item of a partition may have changed. */
export type RingingEvent = 'INSERT' | 'MODIFY';

export interface DoorbellProps {
  readonly woken: ServiceFunction;
  readonly tableStreamArn: string;
  readonly partitions: readonly string[];
  /** Removal is never news: it says that something is done. */
  readonly events: readonly RingingEvent[];
  /** Rings within this time are one ring. */
  readonly coalesce: Duration;
  /** Told of records that were given up. */
  readonly failures: IQueue;
}

const MOST_RECORDS = 1_000;
const TRIES_AGAIN = 3;
/** Later the sweep has been there many times. */
const OLDEST_RING = Duration.hours(1);

/** What the role of a function with a doorbell needs for it. */
export function doorbellStatements(tableStreamArn: string, failuresArn: string): readonly PolicyStatement[] {
  return [
    allow(['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'], [tableStreamArn]),
    // Knows no resources.
    allow(['dynamodb:ListStreams'], ['*']),
    allow(['sqs:SendMessage'], [failuresArn]),
  ];
}

export class Doorbell extends Construct {
  constructor(scope: Construct, id: string, props: DoorbellProps) {
    super(scope, id);
    const { woken, tableStreamArn, partitions, events, coalesce, failures } = props;
    const key = { [TABLE_PARTITION_KEY]: { S: FilterRule.or(...partitions) } };
    new EventSourceMapping(this, 'Stream', {
      target: woken.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [FilterCriteria.filter({ eventName: FilterRule.or(...events), dynamodb: { Keys: key } })],
      batchSize: MOST_RECORDS,
      maxBatchingWindow: coalesce,
      parallelizationFactor: 1,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: TRIES_AGAIN,
      maxRecordAge: OLDEST_RING,
      onFailure: new SqsDlq(failures),
    });
    addSchedule(this, 'Sweep', woken, Duration.minutes(1));
  }
}

/** The next one comes soon enough: nothing is gained by trying one again. */
export function addSchedule(scope: Construct, id: string, woken: ServiceFunction, every: Duration): void {
  const target = new LambdaTarget(woken.function, { retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(scope, id, { schedule: Schedule.rate(every), targets: [target] });
}
