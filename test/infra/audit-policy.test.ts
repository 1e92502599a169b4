/**
 * Audit records cannot be changed, by policy: each role is held against what could change one, and the policy of the table
 * denies the same to every role, also to one that is not ours. The last request that could change one is a put in a
 * transaction without its condition, which IAM does not see: test/attack/audit-records.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { AUDIT_BY_DAY, AUDIT_BY_SYSTEM, patternsOf } from '../../infra/deployment/partitions.ts';
import { FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';
import { AUDIT_SEAL_PARTS, AUDIT_SEALS, auditKeys, auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { APPEND_ONLY } from '../../storage/records/keys.ts';
import { roleOf } from './access.ts';
import { isLike } from './recorded-access.ts';
import { onlyOf, type Properties } from './synthesised.ts';
import { synthesised } from './templates.ts';

const template = synthesised();
const policy: Properties[] = onlyOf(template('data'), 'AWS::DynamoDB::Table').ResourcePolicy.PolicyDocument.Statement;

/** All actions of DynamoDB that write to items. */
const WRITES = [
  'dynamodb:BatchWriteItem',
  'dynamodb:DeleteItem',
  'dynamodb:PartiQLDelete',
  'dynamodb:PartiQLInsert',
  'dynamodb:PartiQLUpdate',
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
];

const AUDIT = {
  ...{ id: 'aud_01KAH4Q2Z3N5R7T9V1X3Z5B7D9', at: '2026-11-20T12:00:00Z', actor: 'user:alice', action: 'x' },
  ...{ target: 'market/gold-usd', requestId: 'r', fingerprint: '' },
};
const COPIES = auditKeys(AUDIT).map(({ partition }) => partition);

interface Request {
  readonly action: string;
  readonly partition: string;
  /** Of the operation that it is a part of; none for a single item. */
  readonly enclosing?: string;
  /** Who asks. Default: an administrator. */
  readonly principal?: string;
}

const ADMINISTRATOR = 'arn:aws:iam::123456789012:role/Administrator';
const REPLICATION =
  'arn:aws:iam::123456789012:role/aws-service-role/replication.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBReplication';

/** The operators of IAM that our statements use, as IAM's reference defines them. */
function holds(condition: Properties, { partition, enclosing, principal = ADMINISTRATOR }: Request): boolean {
  const keys: Record<string, readonly string[]> = {
    'dynamodb:LeadingKeys': [partition],
    'dynamodb:EnclosingOperation': enclosing === undefined ? [] : [enclosing],
    'aws:PrincipalArn': [principal],
  };
  const operators: Record<string, (values: readonly string[], key: readonly string[]) => boolean> = {
    ArnNotLike: (patterns, key) => !key.some((value) => patterns.some((pattern) => isLike(value, pattern))),
    'ForAnyValue:StringLike': (patterns, key) =>
      key.some((value) => patterns.some((pattern) => isLike(value, pattern))),
    'ForAllValues:StringLike': (patterns, key) =>
      key.every((value) => patterns.some((pattern) => isLike(value, pattern))),
    'ForAnyValue:StringEquals': (values, key) => key.some((value) => values.includes(value)),
    'ForAllValues:StringNotEquals': (values, key) => key.every((value) => !values.includes(value)),
    Null: ([isNull], key) => String(key.length === 0) === isNull,
  };
  return Object.entries<Properties>(condition).every(([operator, tests]) => {
    const decide = operators[operator];
    if (decide === undefined) throw new RangeError(`not an operator of this test: ${operator}`);
    return Object.entries<Properties>(tests).every(([key, values]) => decide([values].flat(), keys[key] ?? []));
  });
}

const applies = (statement: Properties, request: Request) =>
  [statement.Action].flat().includes(request.action) && holds(statement.Condition ?? {}, request);

const isDenied = (request: Request) => policy.some((statement) => applies(statement, request));

/** Single items, and each kind of operation with parts. */
const OPERATIONS = [undefined, 'BatchWriteItem', 'BatchExecuteStatement', 'ExecuteTransaction', 'TransactWriteItems'];
const REQUESTS = OPERATIONS.flatMap((enclosing) =>
  WRITES.map((action) => ({ action, ...(enclosing === undefined ? {} : { enclosing }) })),
);
/** The only one that appends. */
const APPENDING = { action: 'dynamodb:PutItem', enclosing: 'TransactWriteItems' };
const isAppending = ({ action, enclosing }: { action: string; enclosing?: string }) =>
  action === APPENDING.action && enclosing === APPENDING.enclosing;

describe('the policy of the table', () => {
  it('is about everybody, and only denies', () => {
    for (const { Effect, Principal, Resource } of policy) {
      expect([Effect, Principal, Resource]).toEqual(['Deny', { AWS: '*' }, '*']);
    }
  });

  it.each(REQUESTS.filter((request) => !isAppending(request)))(
    'denies $action in $enclosing, of any audit record',
    (request) => {
      for (const partition of COPIES) expect(isDenied({ ...request, partition })).toBe(true);
    },
  );

  it("lets DynamoDB's own role copy audit records to another region, and no role that is named like it", () => {
    const isCopyDenied = (principal: string) =>
      COPIES.map((partition) => isDenied({ action: 'dynamodb:UpdateItem', partition, principal }));
    expect(new Set(isCopyDenied(REPLICATION))).toEqual(new Set([false]));
    const other = REPLICATION.replace('aws-service-role/replication.dynamodb.amazonaws.com/', '');
    expect(new Set(isCopyDenied(other))).toEqual(new Set([true]));
  });

  it('leaves the one way to append, and all other records', () => {
    for (const partition of COPIES) expect(isDenied({ ...APPENDING, partition })).toBe(false);
    for (const request of REQUESTS) expect(isDenied({ ...request, partition: 'market/gold-usd' })).toBe(false);
  });

  it('knows every partition of the audit', () => {
    const granted = patternsOf([
      AUDIT_BY_DAY,
      AUDIT_BY_SYSTEM,
      auditOfActor,
      auditOfTarget,
      AUDIT_SEALS,
      AUDIT_SEAL_PARTS,
    ]);
    for (const partition of [...granted, ...COPIES]) expect(partition.startsWith(APPEND_ONLY)).toBe(true);
  });
});

// permissions.test.ts shows that no role may change the policy of the table: it has no actions but those of its row.
it.each(FUNCTION_NAMES)('the role of %s allows no write to an audit record but a put in a transaction', (name) => {
  for (const partition of COPIES) {
    const allowed = REQUESTS.filter((request) =>
      roleOf(name).some((statement) => applies(statement, { ...request, partition })),
    );
    expect(allowed.filter((request) => !isAppending(request))).toEqual([]);
  }
});
