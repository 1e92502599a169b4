/**
 * An event source mapping of the table's stream: reads it from its beginning, keeps what its filters let through, and
 * invokes the function with up to a batch of records.
 *
 * Not as in Lambda: a failed batch is tried again at once, and its age is not checked.
 */
import { setTimeout } from 'node:timers/promises';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { FunctionName } from '../../../infra/deployment/permissions.ts';
import { matches } from './event-pattern.ts';
import { THROTTLED } from './hosted-function.ts';
import type { StreamMapping } from './stacks.ts';

/** As often as Lambda asks. */
const POLL_MS = 250;

export interface MappingOptions {
  readonly client: DynamoDBStreamsClient;
  readonly mapping: StreamMapping;
  readonly invoke: (event: unknown) => Promise<unknown>;
  /** Called for records that were given up. */
  readonly givenUp: (name: FunctionName, records: readonly unknown[]) => void;
  /** Called for a stream that cannot be read, which is then tried again. */
  readonly failed: (error: unknown) => void;
}

export interface RunningMapping {
  /** A disabled mapping continues later from its place. */
  isEnabled: boolean;
  /** Does not wait for running invocations, because their function may be gone. */
  stop(): void;
}

export function startMapping({ client, mapping, invoke, givenUp, failed }: MappingOptions): RunningMapping {
  const { functionName, streamArn, patterns, batchSize, windowSeconds, retries } = mapping;
  const iterators = new Map<string, string | undefined>();
  let waiting: object[] = [];
  let waitingSinceMs = 0;
  let isStopped = false;

  async function read(): Promise<void> {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn: streamArn }));
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const shard = ShardId as string;
      if (!iterators.has(shard)) {
        const from = { StreamArn: streamArn, ShardId: shard, ShardIteratorType: 'TRIM_HORIZON' } as const;
        iterators.set(shard, (await client.send(new GetShardIteratorCommand(from))).ShardIterator);
      }
      const ShardIterator = iterators.get(shard);
      // A shard that has been read to its end.
      if (ShardIterator === undefined) continue;
      const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator }));
      iterators.set(shard, NextShardIterator);
      const records = Records.map((record) => asEvent(record, streamArn));
      const wanted = records.filter((record) => patterns.some((pattern) => matches(pattern, record)));
      if (waiting.length === 0) waitingSinceMs = Date.now();
      waiting.push(...wanted);
    }
  }

  async function deliver(records: readonly object[], tries: number): Promise<void> {
    const firstFailed = await invoke({ Records: records }).then(
      (answer) => firstFailure(answer, records),
      (error: Error) => (error.name === THROTTLED ? THROTTLED : 0),
    );
    if (firstFailed === null || isStopped) return;
    if (firstFailed === THROTTLED) {
      await setTimeout(POLL_MS);
      return await deliver(records, tries);
    }
    const again = records.slice(firstFailed);
    if (tries === 0) return givenUp(functionName, again);
    const half = Math.ceil(again.length / 2);
    for (const part of [again.slice(0, half), again.slice(half)]) {
      if (part.length > 0 && !isStopped) await deliver(part, tries - 1);
    }
  }

  const running: RunningMapping = {
    isEnabled: true,
    stop() {
      isStopped = true;
    },
  };
  void (async () => {
    while (!isStopped) {
      await setTimeout(POLL_MS);
      if (!running.isEnabled) continue;
      await read().catch(failed);
      const isDue = waiting.length >= batchSize || Date.now() - waitingSinceMs >= windowSeconds * 1000;
      if (waiting.length === 0 || !isDue || isStopped) continue;
      const batch = waiting.slice(0, batchSize);
      waiting = waiting.slice(batchSize);
      await deliver(batch, retries);
    }
  })();
  return running;
}

/** As Lambda passes it on: in seconds since the epoch, of which the SDK has made a date. */
function asEvent(record: StreamRecord, streamArn: string): object {
  const { ApproximateCreationDateTime, ...dynamodb } = record.dynamodb ?? {};
  const seconds = Math.floor((ApproximateCreationDateTime?.getTime() ?? 0) / 1000);
  return { ...record, dynamodb: { ApproximateCreationDateTime: seconds, ...dynamodb }, eventSourceARN: streamArn };
}

/** The first record that the function wants again; the first of all if it names an unknown one. */
function firstFailure(answer: unknown, records: readonly object[]): number | null {
  const { batchItemFailures = [] } = (answer ?? {}) as { batchItemFailures?: { itemIdentifier: string }[] };
  if (batchItemFailures.length === 0) return null;
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const numbers = (records as StreamRecord[]).map(({ dynamodb }) => dynamodb?.SequenceNumber ?? '');
  return Math.max(
    numbers.findIndex((number) => failed.has(number)),
    0,
  );
}
