/** The IAM actions of ledger and object store calls, and whether a role allows them. */
import type { Ledger } from '../../storage/ports/ledger.ts';
import { checkAppendOnly } from '../../storage/ports/ledger-rules.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/** One action that IAM decides about. */
export interface TableCall {
  readonly action: string;
  readonly partition: string;
}

/** The same, of objects: a bucket, or a key in it, as roles name them. */
export interface ObjectCall {
  readonly action: string;
  readonly resource: string;
}

export type AccessCall = TableCall | ObjectCall;

/** As `storage/dynamodb/dynamodb-ledger.ts` maps them. IAM checks each part of a transaction separately. */
const ACTION_OF_CHANGE = {
  put: 'dynamodb:PutItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
  count: 'dynamodb:UpdateItem',
} as const;

/** A ledger that records the IAM actions of each call, and refuses as the ledger in DynamoDB does. */
export function recordAccess(ledger: Ledger, calls: AccessCall[]): Ledger {
  const note = (action: string, partition: string) => calls.push({ action, partition });
  return {
    transact(changes, options) {
      checkAppendOnly(changes);
      for (const { kind, key } of changes) note(ACTION_OF_CHANGE[kind], key.partition);
      return ledger.transact(changes, options);
    },
    get(key) {
      note('dynamodb:GetItem', key.partition);
      return ledger.get(key);
    },
    getMany(keys) {
      for (const { partition } of keys) note('dynamodb:BatchGetItem', partition);
      return ledger.getMany(keys);
    },
    query(partition, options) {
      note('dynamodb:Query', partition);
      return ledger.query(partition, options);
    },
  };
}

const BUCKET = '<PublicObjects>';

/**
 * A store of public objects that notes what each call of it would ask, as `storage/s3/s3-objects.ts` maps it. A put or a
 * deletion with `If-Match` reads, too.
 */
export function recordObjectAccess(objects: ObjectStore, calls: AccessCall[]): ObjectStore {
  const note = (key: string, ...actions: readonly string[]) => {
    for (const action of actions) calls.push({ action, resource: `${BUCKET}/${key}` });
  };
  return {
    get(key, options) {
      note(key, 's3:GetObject');
      return objects.get(key, options);
    },
    stat(key) {
      note(key, 's3:GetObject');
      return objects.stat(key);
    },
    put(key, body, metadata, condition) {
      note(key, 's3:PutObject', ...(condition.kind === 'matches' ? ['s3:GetObject'] : []));
      return objects.put(key, body, metadata, condition);
    },
    delete(key, etag) {
      note(key, 's3:DeleteObject', 's3:GetObject');
      return objects.delete(key, etag);
    },
    list(prefix, options) {
      calls.push({ action: 's3:ListBucket', resource: BUCKET });
      return objects.list(prefix, options);
    },
  };
}

/** A statement of a role's policy. */
export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: conditions are plain JSON.
  readonly Condition?: any;
}

/** Whether the role allows the call, as the adapters make it. */
export function allows(statements: readonly Statement[], call: AccessCall): boolean {
  const holds = ({ Effect, Action, Resource, Condition = {} }: Statement) => {
    if (Effect !== 'Allow' || !Action.includes(call.action)) return false;
    if ('resource' in call) return Resource.some((pattern) => isLike(call.resource, pattern));
    const patterns: readonly string[] = Condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? ['*'];
    return patterns.some((pattern) => isLike(call.partition, pattern));
  };
  return statements.some(holds);
}

/** IAM's `StringLike`, of which we use the asterisk alone. */
export function isLike(value: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(value);
}
