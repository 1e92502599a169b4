/** Turns {@link Access}, which is data, into the statements of a function's role. Actions and keys are limited to that data. */
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type Partitions, patternsOf } from './partitions.ts';
import type { Access, ObjectAccess, TableAccess } from './permissions.ts';

/** The resources of one deployment, by ARN; `logGroup` is the function's own. */
export interface AccessTargets {
  readonly table: string;
  readonly publicBucket: string;
  /** Undefined: the deployment has no second region. */
  readonly secondBucket: string | undefined;
  readonly uploadsBucket: string;
  /** The deployment's secret, and the secrets of the write host. */
  readonly secrets: readonly string[];
  readonly distribution: string;
  readonly logKeys: readonly string[];
  readonly logGroup: string;
}

/** The policy of a function's role: its access, its log and its trigger. */
export function accessPolicy(
  access: Access,
  targets: AccessTargets,
  more: readonly PolicyStatement[] = [],
): PolicyDocument {
  const statements = [
    ...tableStatements(access.table ?? {}, targets.table),
    ...objectStatements(access.publicObjects ?? {}, targets.publicBucket),
    ...(targets.secondBucket === undefined ? [] : objectStatements(access.secondObjects ?? {}, targets.secondBucket)),
    ...objectStatements(access.uploads ?? {}, targets.uploadsBucket),
    ...(access.secret ? [allow(['secretsmanager:GetSecretValue'], targets.secrets)] : []),
    ...(access.invalidate ? [allow(['cloudfront:CreateInvalidation'], [targets.distribution])] : []),
    ...(access.signLog ? signStatements(targets.logKeys) : []),
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [`${targets.logGroup}:log-stream:*`]),
    ...more,
  ];
  return new PolicyDocument({ statements });
}

export function allow(actions: readonly string[], resources: readonly string[], conditions = {}): PolicyStatement {
  return new PolicyStatement({ effect: Effect.ALLOW, actions: [...actions], resources: [...resources], conditions });
}

/** Signatures are allowed only with the algorithm of signed notes. */
function signStatements(keys: readonly string[]): readonly PolicyStatement[] {
  return [
    allow(['kms:GetPublicKey'], keys),
    allow(['kms:Sign'], keys, { StringEquals: { 'kms:SigningAlgorithm': 'ED25519_SHA_512' } }),
  ];
}

/** A statement for the policy of a bucket: it limits every role, whatever the role's own policy allows. */
export function denyAll(sid: string, actions: string[], resources: string[], conditions = {}): PolicyStatement {
  return new PolicyStatement({
    sid,
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions,
    resources,
    conditions,
  });
}

const READS = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];

/**
 * IAM checks each part of a transaction as a separate action, by the partition of that part. Writes are allowed only inside
 * transactions, because only transactions carry the conditions that keep the ledger consistent.
 */
function tableStatements(access: TableAccess, table: string): readonly PolicyStatement[] {
  const grant = (actions: readonly string[], partitions: Partitions = [], inTransaction = true) => {
    if (partitions.length === 0) return [];
    const conditions = {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patternsOf(partitions) },
      // `ForAllValues` is also true if there is no value.
      Null: { 'dynamodb:LeadingKeys': 'false' },
      ...(inTransaction
        ? { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } }
        : {}),
    };
    return [allow(actions, [table], conditions)];
  };
  return [
    // `ConditionCheckItem` exists only in transactions, so it needs no condition.
    ...grant([...READS, 'dynamodb:ConditionCheckItem'], access.read, false),
    ...grant(['dynamodb:PutItem'], access.put),
    ...grant(['dynamodb:UpdateItem'], access.count),
    ...grant(['dynamodb:DeleteItem'], access.delete),
  ];
}

function objectStatements(access: ObjectAccess, bucket: string): readonly PolicyStatement[] {
  const grant = (action: string, keys: readonly string[] = []) => {
    const resources = keys.map((key) => `${bucket}/${key}`);
    return keys.length === 0 ? [] : [allow([action], resources)];
  };
  return [
    ...grant('s3:GetObject', access.read),
    ...(access.read === undefined ? [] : [allow(['s3:ListBucket'], [bucket])]),
    ...grant('s3:PutObject', access.put),
    ...grant('s3:DeleteObject', access.delete),
    ...grant('s3:PutObjectTagging', access.tag),
  ];
}
