/** The permissions of each function: those of its row in the table of accesses, and within the promised limits. */
import { describe, expect, it } from 'vitest';
import { patternsOf } from '../../infra/deployment/partitions.ts';
import {
  ACCESS,
  ALL_FUNCTION_NAMES,
  type FunctionName,
  type ObjectAccess,
} from '../../infra/deployment/permissions.ts';
import { batchKey, WORK_QUEUE } from '../../storage/records/batches.ts';
import { GENERATIONS, HEAD_KEY } from '../../storage/records/publication.ts';
import { roleOf } from './access.ts';
import { allows } from './recorded-access.ts';
import { SECOND_REGION } from './synthesised.ts';
import { synthesised } from './templates.ts';

const actionsOf = (name: FunctionName) => roleOf(name).flatMap(({ Action }) => Action);
const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

const TABLE_ACTIONS = {
  read: ['BatchGetItem', 'GetItem', 'Query', 'ConditionCheckItem'],
  put: ['PutItem'],
  count: ['UpdateItem'],
  delete: ['DeleteItem'],
} as const;
const OBJECT_ACTIONS = {
  read: 'GetObject',
  put: 'PutObject',
  delete: 'DeleteObject',
  tag: 'PutObjectTagging',
} as const;
const STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator'].map((action) => [
  `dynamodb:${action}`,
  '<Ledger StreamArn>',
]);
const TO_FAILURES = ['sqs:SendMessage', '<Failures>'];
const OF_STREAM = [...STREAM, ['dynamodb:ListStreams', '*'], TO_FAILURES];
/** What the trigger of a function needs. */
const OF_TRIGGER: Partial<Record<FunctionName, readonly (readonly string[])[]>> = {
  worker: OF_STREAM,
  publish: OF_STREAM,
  'upload-arrived': [TO_FAILURES],
};

/** Each action with its partition, or with its resource, as the row of the table says. */
function rowOf(name: FunctionName): (readonly string[])[] {
  const { table = {}, publicObjects, secondObjects, uploads, secret, invalidate, signLog } = ACCESS[name];
  const inTable = (Object.keys(TABLE_ACTIONS) as (keyof typeof TABLE_ACTIONS)[]).flatMap((kind) =>
    patternsOf(table[kind] ?? []).flatMap((partition) =>
      TABLE_ACTIONS[kind].map((action) => [`dynamodb:${action}`, partition]),
    ),
  );
  const inBucket = (bucket: string, access: ObjectAccess = {}) => [
    ...(Object.keys(OBJECT_ACTIONS) as (keyof typeof OBJECT_ACTIONS)[]).flatMap((kind) =>
      (access[kind] ?? []).map((key) => [`s3:${OBJECT_ACTIONS[kind]}`, `${bucket}/${key}`]),
    ),
    ...(access.read === undefined ? [] : [['s3:ListBucket', bucket]]),
  ];
  const group = `arn:<AWS::Partition>:logs:us-east-1:<AWS::AccountId>:log-group:/aws/lambda/tidemark-${name}`;
  return [
    ...inTable,
    ...inBucket('<PublicObjects>', publicObjects),
    // Only the copy is read from a deployment with a second region.
    ...(name === 'copy' ? inBucket(SECOND_BUCKET, secondObjects) : []),
    ...inBucket('<Uploads>', uploads),
    ...(secret ? ['<Secret>', '<OriginSecret1>'].map((arn) => ['secretsmanager:GetSecretValue', arn]) : []),
    ...(invalidate ? [['cloudfront:CreateInvalidation', DISTRIBUTION]] : []),
    ...(signLog ? ['GetPublicKey', 'Sign'].map((action) => [`kms:${action}`, '<Log1Key>']) : []),
    ...['CreateLogStream', 'PutLogEvents'].map((action) => [`logs:${action}`, `${group}:log-stream:*`]),
    ...(OF_TRIGGER[name] ?? []),
  ];
}

const SECOND_BUCKET = 'arn:<AWS::Partition>:s3:::tidemark-public-eu-west-1-<AWS::AccountId>';
const DISTRIBUTION = 'arn:<AWS::Partition>:cloudfront::<AWS::AccountId>:distribution/<DistributionId>';

describe.each(ALL_FUNCTION_NAMES)('the role of %s', (name) => {
  it('allows what its row of the table says, and no more', () => {
    const granted = roleOf(name).flatMap(({ Action, Resource, Condition }) => {
      const partitions: readonly string[] | undefined =
        Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
      if (partitions !== undefined) expect(Resource).toEqual(['<Ledger>']);
      return Action.flatMap((action) => (partitions ?? Resource).map((one) => [action, one]));
    });
    expect(granted.map(String).sort()).toEqual(rowOf(name).map(String).sort());
    expect(roleOf(name).every(({ Effect }) => Effect === 'Allow')).toBe(true);
  });

  it('writes to the table only in transactions and in listed partitions', () => {
    for (const { Action, Condition } of roleOf(name)) {
      if (!Action.some((action) => action.startsWith('dynamodb:') && !/Stream|Records|Shard/.test(action))) continue;
      expect(Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']).not.toContain('*');
      expect(Condition.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
      if (!Action.some((action) => WRITES.includes(action))) continue;
      expect(Condition['ForAnyValue:StringEquals']).toEqual({
        'dynamodb:EnclosingOperation': ['TransactWriteItems'],
      });
    }
  });

  it('may not delete uploads', () => {
    const uploads = roleOf(name).filter(({ Resource }) => Resource.some((arn) => arn.startsWith('<Uploads>')));
    expect(uploads.flatMap(({ Action }) => Action).filter((action) => /Delete/.test(action))).toEqual([]);
  });
});

it('no role has a policy that CDK has added to its own', () => {
  expect(synthesised(SECOND_REGION)('api').findResources('AWS::IAM::Policy')).toEqual({});
});

describe('among all functions', () => {
  const able = (holds: (name: FunctionName) => boolean) => ALL_FUNCTION_NAMES.filter(holds);

  it.each<[string, string, readonly FunctionName[]]>([
    ['public objects', 'public/api/v1/markets.json', ['collect-garbage']],
    ['layouts', 'layout/1-a.json.zst', ['collect-garbage']],
    ['redo bundles', 'redo/1-a.json.zst', ['publish', 'collect-garbage']],
    ['anything else', 'other/1', []],
  ])('%s (%s) can be deleted only by %j', (_what, key, deleting) => {
    const call = { action: 's3:DeleteObject', resource: `<PublicObjects>/${key}` };
    expect(able((name) => allows(roleOf(name), call))).toEqual(deleting);
  });

  it('an upload is marked as ended, so that it may expire, by those who know that it has', () => {
    const call = { action: 's3:PutObjectTagging', resource: '<Uploads>/uploads/upl_1' };
    expect(able((name) => allows(roleOf(name), call))).toEqual(['worker', 'upload-arrived']);
  });

  it('HEAD cannot be deleted; records of generations only by garbage collection', () => {
    const deleting = (partition: string) =>
      able((name) => allows(roleOf(name), { action: 'dynamodb:DeleteItem', partition }));
    expect(deleting(HEAD_KEY.partition)).toEqual([]);
    expect(deleting(GENERATIONS.partition)).toEqual(['collect-garbage']);
  });

  it.each([
    ['requests of users and keys', 'audit/actor/user:alice', ['write-api']],
    ['work of the service', 'audit/actor/system:erasure', ['write-api', 'worker', 'first-key']],
  ])('the audit of %s has no other writers', (_what, partition, tellers) => {
    expect(able((name) => allows(roleOf(name), { action: 'dynamodb:PutItem', partition }))).toEqual(tellers);
  });

  it('work items are written by the write API, the arrival of uploads, the runner of sources and the publisher; by the worker for leases, by a repair to migrate', () => {
    const call = { action: 'dynamodb:PutItem', partition: WORK_QUEUE.shards[0] as string };
    const names = ['write-api', 'worker', 'upload-arrived', 'sources', 'publish', 'repair'];
    expect(able((name) => allows(roleOf(name), call))).toEqual(names);
  });

  it('HEAD is moved by the publisher, and by a person with a repair', () => {
    const call = { action: 'dynamodb:PutItem', partition: HEAD_KEY.partition };
    expect(able((name) => allows(roleOf(name), call))).toEqual(['publish', 'repair']);
  });

  it('batches of senders are read and written by the write API and the worker alone', () => {
    const partition = batchKey('bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A').partition;
    for (const action of ['dynamodb:GetItem', 'dynamodb:PutItem']) {
      expect(able((name) => allows(roleOf(name), { action, partition }))).toEqual(['write-api', 'worker']);
    }
  });

  it('only the write API knows the secret', () => {
    expect(able((name) => actionsOf(name).includes('secretsmanager:GetSecretValue'))).toEqual(['write-api']);
  });

  it('only the publisher signs the log, and only with the algorithm of signed notes', () => {
    expect(able((name) => actionsOf(name).includes('kms:Sign'))).toEqual(['publish']);
    const signing = roleOf('publish').filter(({ Action }) => Action.includes('kms:Sign'));
    expect(signing).toMatchObject([
      { Action: ['kms:Sign'], Condition: { StringEquals: { 'kms:SigningAlgorithm': 'ED25519_SHA_512' } } },
    ]);
  });

  it.each(['entitlements/user:alice', 'usage/user:alice', 'api-keys', 'waitlist', 'audit/actor/user:alice', 'claim/1'])(
    'the publisher cannot even read %s: paid or personal data has no influence',
    (partition) => {
      for (const action of ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query']) {
        for (const name of ['publish', 'repair'] as const) {
          expect(allows(roleOf(name), { action, partition })).toBe(false);
        }
      }
    },
  );
});
