/** The ledger in one DynamoDB table: a transaction of the port is one TransactWriteItems (docs/decisions/003). */
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../aws/names.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type {
  Change,
  Item,
  ItemKey,
  ItemsOf,
  Ledger,
  QueryOptions,
  QueryPage,
  Refusal,
  TransactResult,
} from '../ports/ledger.ts';
import {
  byBytes,
  checkAppendOnly,
  checkGetMany,
  checkKey,
  checkQuery,
  checkTransact,
  countOf,
  describeKey,
} from '../ports/ledger-rules.ts';
import { createDynamoDbClient } from './dynamodb-client.ts';
import {
  DynamoDbContention,
  INVALID,
  PROCESS_TIME,
  portError,
  type RetryTime,
  retryContention,
} from './dynamodb-failures.ts';
import { type Attributes, isRefusedByItem, keyAttributes, readItem, transactItem } from './dynamodb-items.ts';

export interface DynamoDbLedgerOptions {
  /** A client with explicit timeouts, which the caller destroys. Default: {@link createDynamoDbClient}'s, for background work. */
  readonly client?: DynamoDBClient;
  readonly tableName: string;
  readonly time?: RetryTime;
}

/** Reasons for which DynamoDB cancels a transaction that may succeed a moment later. */
const CONTENTION_CODES = ['TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError'];

/**
 * The ledger in an existing table with the keys of storage/aws/names.ts. Any number of processes may use it.
 *
 * Retries: the SDK repeats requests that are throttled or not answered, and repeats a transaction under one token. It never
 * repeats a transaction that DynamoDB cancelled. This adapter repeats it if contention was the reason: a cancelled
 * transaction has certainly not happened.
 */
export function openDynamoDbLedger({
  client = createDynamoDbClient(),
  tableName,
  time = PROCESS_TIME,
}: DynamoDbLedgerOptions): Ledger {
  const unavailable = (error: unknown): never => {
    throw portError(error, tableName);
  };

  return {
    async transact(changes, { attemptId }) {
      checkAppendOnly(changes);
      const texts = checkTransact(changes, attemptId);
      const TransactItems = changes.map((change, index) =>
        transactItem(tableName, change, texts[index] ?? null, attemptId),
      );
      return retryContention(time, async () => {
        try {
          await client.send(new TransactWriteItemsCommand({ TransactItems }));
          return { committed: true };
        } catch (error) {
          if (error instanceof TransactionCanceledException) return resultOfCancelled(error, changes, attemptId);
          return unavailable(error);
        }
      });
    },

    async get<Value>(key: ItemKey<Value>) {
      checkKey(key);
      const command = new GetItemCommand({ TableName: tableName, Key: keyAttributes(key), ConsistentRead: true });
      const { Item } = await client.send(command).catch(unavailable);
      return Item === undefined ? null : (readItem(Item) as Item<Value>);
    },

    async getMany<const Keys extends readonly ItemKey[]>(keys: Keys) {
      checkGetMany(keys);
      const found = new Map<string, Item>();
      // DynamoDB accepts each key only once.
      const distinct = new Map(keys.map((key) => [describeKey(key), key]));
      let pending: Attributes[] = [...distinct.values()].map(keyAttributes);
      await retryContention(time, async () => {
        if (pending.length === 0) return;
        const RequestItems = { [tableName]: { Keys: pending, ConsistentRead: true } };
        const answer = await client.send(new BatchGetItemCommand({ RequestItems })).catch(unavailable);
        for (const item of (answer.Responses?.[tableName] ?? []).map(readItem)) found.set(describeKey(item), item);
        pending = answer.UnprocessedKeys?.[tableName]?.Keys ?? [];
        if (pending.length > 0) throw new DynamoDbContention(`${pending.length} items were left unread`);
      });
      return keys.map((key) => found.get(describeKey(key)) ?? null) as ItemsOf<Keys>;
    },

    async query(partition, options) {
      checkQuery(partition, options);
      if (isPastPrefix(options)) return { items: [], next: null };
      const command = new QueryCommand({ TableName: tableName, ConsistentRead: true, ...range(partition, options) });
      const { Items = [], LastEvaluatedKey } = await client.send(command).catch(unavailable);
      return pageOf(Items.map(readItem), LastEvaluatedKey, options.limit);
    },
  };
}

/**
 * The result of a cancelled transaction. DynamoDB gives its reasons in the order of the changes. An answer without a
 * reason, or without an item that must have refused, cannot be used: the caller would treat an existing item as absent.
 *
 * @throws DynamoDbContention if the same transaction may succeed soon
 */
function resultOfCancelled(
  error: TransactionCanceledException,
  changes: readonly Change[],
  attemptId: string,
): TransactResult {
  const reasons = error.CancellationReasons ?? [];
  if (reasons.length !== changes.length) {
    throw new DynamoDbContention(`${reasons.length} reasons for ${changes.length} changes`, { cause: error });
  }
  const refusals = changes.flatMap((_change, index): Refusal[] => {
    const { Code, Item } = reasons[index] ?? {};
    return Code === 'ConditionalCheckFailed' ? [{ index, found: Item === undefined ? null : readItem(Item) }] : [];
  });
  // The keys of one transaction are distinct, so only an earlier attempt of this transaction can have written its id there.
  if (refusals.some(({ found }) => found?.attemptId === attemptId)) return { committed: true };
  for (const { Code = 'None', Message } of reasons) {
    if (CONTENTION_CODES.includes(Code)) throw new DynamoDbContention(Code, { cause: error });
    if (Code === 'ValidationError')
      throw new RangeError(`DynamoDB refuses a change (${Message}): ${INVALID}`, { cause: error });
    if (Code !== 'None' && Code !== 'ConditionalCheckFailed') {
      throw new StorageUnavailable(`DynamoDB refused a transaction (${Code}: ${Message})`, { cause: error });
    }
  }
  if (refusals.length === 0) throw new DynamoDbContention('cancelled without a reason', { cause: error });
  for (const { index, found } of refusals) {
    const change = changes[index] as Change;
    if (found === null && isRefusedByItem(change)) {
      throw new DynamoDbContention(`${describeKey(change.key)} refused, but DynamoDB did not return its item`, {
        cause: error,
      });
    }
    // An item that is not a counter also refuses the change, and no retry of the caller would help.
    if (change.kind === 'count') countOf(found);
  }
  return { committed: false, refusals };
}

/** Whether `after` is past every key with the prefix. DynamoDB refuses to start outside the range of the query. */
function isPastPrefix({ prefix = '', after, descending = false }: QueryOptions): boolean {
  if (after === undefined || after.startsWith(prefix)) return false;
  return byBytes(after, prefix) < 0 === descending;
}

/** One item more than the caller wants shows whether more follow: DynamoDB itself only says where it stopped. */
function range(partition: string, { prefix = '', after, descending = false, limit }: QueryOptions) {
  const hasPrefix = prefix !== '';
  return {
    KeyConditionExpression: `${TABLE_PARTITION_KEY} = :pk${hasPrefix ? ` AND begins_with(${TABLE_SORT_KEY}, :prefix)` : ''}`,
    ExpressionAttributeValues: { ':pk': { S: partition }, ...(hasPrefix && { ':prefix': { S: prefix } }) },
    ScanIndexForward: !descending,
    Limit: limit + 1,
    ...(after?.startsWith(prefix) && { ExclusiveStartKey: keyAttributes({ partition, sort: after }) }),
  };
}

/** A page that DynamoDB ended early, at 1 MB, may be the last page although it says where to continue. */
function pageOf(items: readonly Item[], last: Attributes | undefined, limit: number): QueryPage {
  if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.sort ?? null };
  return { items, next: last?.[TABLE_SORT_KEY]?.S ?? null };
}
