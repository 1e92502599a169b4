/** The permissions of each function: as in its golden file, and within the promised limits. */
import { describe, expect, it } from 'vitest';
import { ALL_FUNCTION_NAMES, type FunctionName } from '../../infra/deployment/permissions.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import { GENERATIONS, HEAD_KEY } from '../../storage/records/publication.ts';
import { statementsOf } from './access.ts';
import { allows, type Statement } from './recorded-access.ts';
import { MINIMAL, synthesised } from './synthesised.ts';

const api = synthesised()('api');
const inTwoRegions = synthesised({ ...MINIMAL, secondRegion: 'eu-west-1' })('api');
const ROLES = new Map(
  ALL_FUNCTION_NAMES.map((name) => [name, statementsOf(name === 'copy' ? inTwoRegions : api, name)]),
);
const roleOf = (name: FunctionName) => ROLES.get(name) as readonly Statement[];

const actionsOf = (name: FunctionName) => roleOf(name).flatMap(({ Action }) => Action);
const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];

describe.each(ALL_FUNCTION_NAMES)('the role of %s', (name) => {
  it('is as written down', async () => {
    await expect(`${JSON.stringify(roleOf(name), null, 2)}\n`).toMatchFileSnapshot(`golden/role-${name}.json`);
  });

  it('names each action, and allows `*` only for an action without resources', () => {
    expect(actionsOf(name).filter((action) => action.includes('*'))).toEqual([]);
    const everywhere = roleOf(name).filter(({ Resource }) => Resource.includes('*'));
    expect(everywhere.flatMap(({ Action }) => Action).filter((action) => action !== 'dynamodb:ListStreams')).toEqual(
      [],
    );
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

  it('may neither delete uploads nor scan the table', () => {
    const uploads = roleOf(name).filter(({ Resource }) => Resource.some((arn) => arn.startsWith('<Uploads>')));
    expect(uploads.flatMap(({ Action }) => Action).filter((action) => /Delete/.test(action))).toEqual([]);
    expect(actionsOf(name)).not.toContain('dynamodb:Scan');
  });
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
