/**
 * The requests of the DynamoDB adapter, and its reactions to answers that no engine can be made to give. That it
 * keeps the port's promises is shown on engines: test/aws.
 */
import {
  BatchGetItemCommand,
  type CancellationReason,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type AwsClientStub, mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { MAX_RETRYING_MS, MAX_TRIES } from '../../storage/dynamodb/dynamodb-failures.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Condition, ItemKey, Ledger, QueryOptions } from '../../storage/ports/ledger.ts';

const KEY: ItemKey = { partition: 'shelf', sort: 'item' };
const PK_SK = { pk: { S: 'shelf' }, sk: { S: 'item' } };
const STORED = { ...PK_SK, revision: { N: '3' }, attemptId: { S: 'theirs' }, value: { S: '{"a":[1]}' } };
const FOUND = { ...KEY, revision: 3, attemptId: 'theirs', expiresAtMs: null, value: { a: [1] } };
const PLACE = { TableName: 'ledger', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };

let stub: AwsClientStub<ReturnType<typeof createDynamoDbClient>>;
let ledger: Ledger;
let clock: { nowMs: number; pauses: number[] };

beforeEach(() => {
  const client = createDynamoDbClient({ region: 'eu-central-1' });
  stub = mockClient(client);
  clock = { nowMs: 0, pauses: [] };
  const time = {
    nowMs: () => clock.nowMs,
    random: () => 0.5,
    pause: async (durationMs: number) => {
      clock.pauses.push(durationMs);
      clock.nowMs += durationMs;
    },
  };
  ledger = openDynamoDbLedger({ client, tableName: 'ledger', time });
});

/** The input of every call so far. */
const inputs = () => stub.calls().map(({ args: [command] }) => command.input as Record<string, unknown>);
const transact = (...changes: Change[]) => ledger.transact(changes, { attemptId: 'mine' });
const put = (sort: string, condition: Condition): Change => {
  return { kind: 'put', key: { partition: 'shelf', sort }, revision: 1, value: null, if: condition };
};
const ABSENT = put('item', { kind: 'absent' });
const count = (more: Partial<Change> = {}) =>
  ({ kind: 'count', key: KEY, by: 2, atLeast: 0, atMost: 5, ...more }) as Change;

const NONE: CancellationReason = { Code: 'None' };
const refused = (Item?: CancellationReason['Item']): CancellationReason => ({
  Code: 'ConditionalCheckFailed',
  ...(Item && { Item }),
});
const cancelled = (CancellationReasons?: CancellationReason[]) =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    ...(CancellationReasons && { CancellationReasons }),
  });
const named = (name: string) => Object.assign(new Error('said by AWS'), { name });

describe('a transaction is sent as', () => {
  const written = { revision: { N: '7' }, attemptId: { S: 'mine' } };
  const base = { kind: 'put', key: KEY, revision: 7, value: null, if: { kind: 'any' } } as const;

  /** Without an explicit token: the SDK makes one for each call. */
  async function expectSent(change: Change, expected: object): Promise<void> {
    stub.on(TransactWriteItemsCommand).resolves({});
    expect(await transact(change)).toEqual({ committed: true });
    expect(inputs().at(-1)).toEqual({ TransactItems: [expected] });
  }

  it.each<[string, object, object]>([
    ['JSON', { value: { b: 1, a: 'é' } }, { value: { S: '{"a":"é","b":1}' } }],
    [
      'an integer, with an expiry that DynamoDB acts upon a day late',
      { value: -4, expiresAtMs: 1_800_000_000_001 },
      { value: { N: '-4' }, expiresAtMs: { N: '1800000000001' }, ttl: { N: '1800086401' } },
    ],
    ['a number that is no integer', { value: 0.5 }, { value: { S: '0.5' } }],
  ])('a put of %s', async (_what, fields, stored) => {
    await expectSent({ ...base, ...fields }, { Put: { ...PLACE, Item: { ...PK_SK, ...written, ...stored } } });
  });

  it.each<[object, RegExp, object]>([
    [{}, / REMOVE expiresAtMs, #ttl$/, {}],
    [{ expiresAtMs: 1000 }, /, expiresAtMs = :expiresAtMs, #ttl = :ttl$/, { ':ttl': { N: '86401' } }],
  ])('a count that leaves no earlier expiry: %j', async (more, UpdateExpression, values) => {
    const ExpressionAttributeValues = expect.objectContaining(values);
    const Update = { UpdateExpression: expect.stringMatching(UpdateExpression), ExpressionAttributeValues };
    await expectSent(count(more), { Update: expect.objectContaining(Update) });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a transaction', () => transact(ABSENT, ABSENT)],
    ['a read', () => ledger.get({ partition: '', sort: 's' })],
    ['a read of many', () => ledger.getMany([KEY, { partition: 'p', sort: '' }])],
    ['a query', () => ledger.query('shelf', { limit: 0 })],
  ])('nothing at all when the port does not admit it: %s', async (_what, call) => {
    await expect(call()).rejects.toBeInstanceOf(RangeError);
    expect(inputs()).toEqual([]);
  });
});

describe('a cancelled transaction', () => {
  const changes = [
    put('a', { kind: 'absent' }),
    put('b', { kind: 'any' }),
    put('c', { kind: 'revision-is', revision: 1 }),
  ];

  it('is refused by the changes at the positions of the reasons, with the found items', async () => {
    stub.on(TransactWriteItemsCommand).rejects(cancelled([refused(STORED), NONE, refused()]));
    expect(await transact(...changes)).toEqual({
      committed: false,
      refusals: [
        { index: 0, found: FOUND },
        { index: 2, found: null },
      ],
    });
    expect(inputs()).toHaveLength(1);
  });

  it.each<[string, CancellationReason[]]>([
    ['alone', [refused({ ...STORED, attemptId: { S: 'mine' } }), NONE, NONE]],
    [
      'beside contention, and a refusal that came later',
      [refused({ ...STORED, attemptId: { S: 'mine' } }), { Code: 'TransactionConflict' }, refused(STORED)],
    ],
  ])('was committed before when an item that refuses bears its attempt: %s', async (_what, reasons) => {
    stub.on(TransactWriteItemsCommand).rejects(cancelled(reasons));
    expect(await transact(...changes)).toEqual({ committed: true });
    expect(inputs()).toHaveLength(1);
  });

  const CONTENTION: readonly [string, CancellationReason[] | undefined][] = [
    ['a conflict with another transaction', [NONE, { Code: 'TransactionConflict' }, NONE]],
    ['too much traffic to one partition', [NONE, NONE, { Code: 'ProvisionedThroughputExceeded' }]],
    ['throttling', [{ Code: 'ThrottlingError' }, NONE, NONE]],
    ['a refusal beside a conflict, which may hide others', [refused(STORED), { Code: 'TransactionConflict' }, NONE]],
    ['fewer reasons than changes', [refused(STORED)]],
    ['no reasons', undefined],
    ['empty reasons', [NONE, NONE, NONE]],
    ['a refusal by an absent item', [refused(), NONE, NONE]],
  ];

  it.each(CONTENTION)('is tried again after %s, and may succeed', async (_what, reasons) => {
    stub.on(TransactWriteItemsCommand).rejectsOnce(cancelled(reasons)).resolvesOnce({});
    expect(await transact(...changes)).toEqual({ committed: true });
    const [first, second] = inputs();
    expect(second).toEqual(first);
    expect(clock.pauses).toHaveLength(1);
  });

  it.each(CONTENTION)('is tried so often after %s, and is then unavailable', async (_what, reasons) => {
    const error = cancelled(reasons);
    stub.on(TransactWriteItemsCommand).rejects(error);
    const failure = await transact(...changes).catch((reason) => reason);
    expect(failure).toBeInstanceOf(StorageUnavailable);
    expect(failure.cause.cause).toBe(error);
    expect(inputs()).toHaveLength(MAX_TRIES);
  });

  it('may be refused after contention', async () => {
    stub
      .on(TransactWriteItemsCommand)
      .rejectsOnce(cancelled([NONE, { Code: 'TransactionConflict' }, NONE]))
      .rejects(cancelled([refused(STORED), NONE, NONE]));
    expect(await transact(...changes)).toEqual({ committed: false, refusals: [{ index: 0, found: FOUND }] });
  });

  it('is tried again after pauses that double, up to a second', async () => {
    stub.on(TransactWriteItemsCommand).rejects(cancelled([]));
    await transact(ABSENT).catch(() => {});
    expect(clock.pauses).toEqual([12.5, 25, 50, 100, 200, 400, 500, 500, 500]);
  });

  it('is not tried again once it has taken too long', async () => {
    stub.on(TransactWriteItemsCommand).callsFake(async () => {
      clock.nowMs += MAX_RETRYING_MS / 3;
      throw cancelled([]);
    });
    await expect(transact(ABSENT)).rejects.toBeInstanceOf(StorageUnavailable);
    expect(inputs()).toHaveLength(3);
  });

  it.each(['ItemCollectionSizeLimitExceeded', 'SomethingNew'])(
    'is unavailable, without another try, when its reason is %s',
    async (Code) => {
      stub.on(TransactWriteItemsCommand).rejects(cancelled([{ Code, Message: 'why' }, NONE, NONE]));
      await expect(transact(...changes)).rejects.toBeInstanceOf(StorageUnavailable);
      expect(inputs()).toHaveLength(1);
    },
  );

  it.each([
    ['as a whole', named('ValidationException')],
    ['for one of its changes', cancelled([NONE, { Code: 'ValidationError', Message: 'too large' }, NONE])],
  ])('that is not valid %s gives a RangeError, because no later try can succeed', async (_, error) => {
    stub.on(TransactWriteItemsCommand).rejects(error);
    await expect(transact(...changes)).rejects.toBeInstanceOf(RangeError);
    expect(inputs()).toHaveLength(1);
  });

  it('is corrupt if a count finds an item that is not a counter', async () => {
    stub.on(TransactWriteItemsCommand).rejects(cancelled([refused(STORED)]));
    await expect(transact(count())).rejects.toBeInstanceOf(StorageCorrupt);
  });

  it.each<[string, Change]>([
    ['a count that could have started', count()],
    ['a put over an expired item', put('item', { kind: 'absent-or-expired', atMs: 1 })],
  ])('is tried again where the item is missing that must have refused %s', async (_what, change) => {
    stub
      .on(TransactWriteItemsCommand)
      .rejectsOnce(cancelled([refused()]))
      .rejects(cancelled([refused({ ...STORED, value: { N: '5' } })]));
    expect(await transact(change)).toEqual({
      committed: false,
      refusals: [{ index: 0, found: { ...FOUND, value: 5 } }],
    });
  });

  it.each<[string, Change]>([
    ['a count that cannot start', count({ by: 6 })],
    ['a put over an existing item', put('item', { kind: 'present' })],
    ['a put over what another must have written', put('item', { kind: 'written-by', attemptId: 'theirs' })],
  ])('is refused by an absence: %s', async (_what, change) => {
    stub.on(TransactWriteItemsCommand).rejects(cancelled([refused()]));
    expect(await transact(change)).toEqual({ committed: false, refusals: [{ index: 0, found: null }] });
  });
});

describe('other failures', () => {
  const CALLS: readonly [string, () => Promise<unknown>][] = [
    ['transact', () => transact(ABSENT)],
    ['get', () => ledger.get(KEY)],
    ['getMany', () => ledger.getMany([KEY])],
    ['query', () => ledger.query('shelf', { limit: 1 })],
  ];
  const FAILURES = [
    'AccessDeniedException',
    'CredentialsProviderError',
    'ExpiredTokenException',
    'InternalServerError',
    'ProvisionedThroughputExceededException',
    'ResourceNotFoundException',
    'ThrottlingException',
    'TimeoutError',
    'TransactionInProgressException',
    'UnrecognizedClientException',
  ];

  // The SDK has tried again before, under the same token. We would do so under another one, and a write whose answer
  // was lost could then happen twice.
  it.each(CALLS.flatMap(([method, call]) => FAILURES.map((name) => [method, name, call] as const)))(
    'makes storage unavailable for %s, without a try of our own: %s',
    async (_method, name, call) => {
      const error = named(name);
      stub.onAnyCommand().rejects(error);
      const failure = await call().then(null, (reason: Error) => reason);
      expect(failure).toBeInstanceOf(StorageUnavailable);
      expect(failure).toHaveProperty('cause', error);
      expect(inputs()).toHaveLength(1);
    },
  );

  it.each<[string, object]>([
    ['without a revision', { ...STORED, revision: undefined }],
    ['with a revision that is text', { ...STORED, revision: { S: '3' } }],
    ['without an attempt', { ...STORED, attemptId: undefined }],
    ['without a value', { ...STORED, value: undefined }],
    ['with a value that is not JSON', { ...STORED, value: { S: '{' } }],
    ['with a value of another type', { ...STORED, value: { BOOL: true } }],
    ['with an expiry that is text', { ...STORED, expiresAtMs: { S: 'soon' } }],
    ['without a key', { ...STORED, pk: undefined }],
  ])('an item %s is corrupt', async (_what, stored) => {
    const Item = JSON.parse(JSON.stringify(stored));
    stub.on(GetItemCommand).resolves({ Item });
    await expect(ledger.get(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
  });
});

describe('reads are strongly consistent:', () => {
  it('one item', async () => {
    stub.on(GetItemCommand).resolvesOnce({ Item: { ...STORED, expiresAtMs: { N: '9' }, ttl: { N: '86401' } } });
    expect(await ledger.get(KEY)).toEqual({ ...FOUND, expiresAtMs: 9 });
    stub.on(GetItemCommand).resolves({});
    expect(await ledger.get(KEY)).toBeNull();
    expect(inputs()[0]).toEqual({ TableName: 'ledger', Key: PK_SK, ConsistentRead: true });
  });

  const keys = ['a', 'b', 'c', 'a'].map((sort) => ({ partition: 'shelf', sort }));
  const keyOf = (sort: string) => ({ ...PK_SK, sk: { S: sort } });
  const stored = (sort: string) => ({ ...STORED, sk: { S: sort } });

  it('many items, each asked for once, answered in any order and in parts', async () => {
    stub
      .on(BatchGetItemCommand)
      .resolvesOnce({
        Responses: { ledger: [stored('c')] },
        UnprocessedKeys: { ledger: { Keys: [keyOf('a'), keyOf('b')] } },
      })
      .resolvesOnce({ UnprocessedKeys: { ledger: { Keys: [keyOf('a'), keyOf('b')] } } })
      .resolvesOnce({ Responses: { ledger: [stored('a')] }, UnprocessedKeys: {} });
    expect((await ledger.getMany(keys)).map((item) => item?.sort ?? null)).toEqual(['a', null, 'c', 'a']);
    expect(inputs()).toEqual(
      [
        ['a', 'b', 'c'],
        ['a', 'b'],
        ['a', 'b'],
      ].map((sorts) => ({
        RequestItems: { ledger: { Keys: sorts.map(keyOf), ConsistentRead: true } },
      })),
    );
    expect(clock.pauses).toHaveLength(2);
  });

  it('many items of which some are never answered are unavailable', async () => {
    stub.on(BatchGetItemCommand).resolves({ UnprocessedKeys: { ledger: { Keys: [keyOf('a')] } } });
    await expect(ledger.getMany(keys)).rejects.toBeInstanceOf(StorageUnavailable);
    expect(inputs()).toHaveLength(MAX_TRIES);
  });

  it('no items, without asking', async () => {
    expect(await ledger.getMany([])).toEqual([]);
    expect(inputs()).toEqual([]);
  });

  const all = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: 'shelf' } } };
  const prefixed = {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': { S: 'shelf' }, ':prefix': { S: 'b/' } },
  };
  it.each<[string, Omit<QueryOptions, 'limit'>, object | null]>([
    ['everything', {}, all],
    ['everything backwards', { descending: true }, { ...all, ScanIndexForward: false }],
    ['an empty prefix', { prefix: '' }, all],
    ['a prefix', { prefix: 'b/' }, prefixed],
    ['what follows', { after: 'b' }, { ...all, ExclusiveStartKey: keyOf('b') }],
    ['later keys with a prefix', { prefix: 'b/', after: 'b/1' }, { ...prefixed, ExclusiveStartKey: keyOf('b/1') }],
    ['a prefix from a start before it', { prefix: 'b/', after: 'b' }, prefixed],
    ['a prefix after its end', { prefix: 'b/', after: 'b0' }, null],
    [
      'a prefix backwards from a start after it',
      { prefix: 'b/', after: 'b0', descending: true },
      { ...prefixed, ScanIndexForward: false },
    ],
    ['a prefix backwards before its beginning', { prefix: 'b/', after: 'b', descending: true }, null],
    [
      'a prefix from a start before it in UTF-8, though not in UTF-16',
      { prefix: '😀', after: '\uffff' },
      { ...prefixed, ExpressionAttributeValues: { ':pk': { S: 'shelf' }, ':prefix': { S: '😀' } } },
    ],
  ])('a query of %s', async (_what, options, expected) => {
    stub.on(QueryCommand).resolves({ Items: [] });
    expect(await ledger.query('shelf', { ...options, limit: 2 })).toEqual({ items: [], next: null });
    const fixed = { TableName: 'ledger', ConsistentRead: true, ScanIndexForward: true, Limit: 3 };
    expect(inputs()).toEqual(expected === null ? [] : [{ ...fixed, ...expected }]);
  });

  it.each<[string, string[], string | undefined, string[], string | null]>([
    ['ends where nothing follows', ['a', 'b'], undefined, ['a', 'b'], null],
    ['holds no more than asked for', ['a', 'b', 'c'], 'c', ['a', 'b'], 'b'],
    ['continues where DynamoDB stopped early', ['a'], 'a', ['a'], 'a'],
    ['continues even if DynamoDB stopped without an item', [], 'a', [], 'a'],
  ])('a page of a query %s', async (_what, sorts, last, expected, next) => {
    stub.on(QueryCommand).resolves({ Items: sorts.map(stored), ...(last && { LastEvaluatedKey: keyOf(last) }) });
    const page = await ledger.query('shelf', { limit: 2 });
    expect([page.items.map(({ sort }) => sort), page.next]).toEqual([expected, next]);
  });
});
