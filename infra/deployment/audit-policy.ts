/**
 * The policy of the ledger's table: no role may change an audit record, whatever the role's own policy allows.
 * Administrators are bound by it too, until they change this policy.
 */
import { PolicyDocument } from 'aws-cdk-lib/aws-iam';
import { APPEND_ONLY } from '../../storage/records/keys.ts';
import { denyAll } from './policies.ts';

/** Each of these actions changes or removes an item, or puts one without a condition. */
const CHANGES = [
  'dynamodb:BatchWriteItem',
  'dynamodb:DeleteItem',
  'dynamodb:PartiQLDelete',
  'dynamodb:PartiQLInsert',
  'dynamodb:PartiQLUpdate',
  'dynamodb:UpdateItem',
];

/** DynamoDB's own role, which writes the items of a replica in another region. It replaces items that it has copied before. */
const REPLICATION =
  'arn:aws:iam::*:role/aws-service-role/replication.dynamodb.amazonaws.com/AWSServiceRoleForDynamoDBReplication';

/** Denies all changes except a put in a transaction: IAM cannot distinguish a put that creates from a put that replaces. */
export function appendOnlyPolicy(): PolicyDocument {
  const ofTheAudit = {
    'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [`${APPEND_ONLY}*`] },
    ArnNotLike: { 'aws:PrincipalArn': REPLICATION },
  };
  // In the policy of a table, an asterisk means this table. Its ARN would make the table depend on itself.
  const thisTable = ['*'];
  return new PolicyDocument({
    statements: [
      denyAll('NobodyChangesTheAudit', CHANGES, thisTable, ofTheAudit),
      denyAll('TheAuditGrowsByTransactionsOnly', ['dynamodb:PutItem'], thisTable, {
        ...ofTheAudit,
        // `ForAllValues` is also true if there is no enclosing operation.
        'ForAllValues:StringNotEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] },
      }),
    ],
  });
}
