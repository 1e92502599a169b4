/** What calls of a ledger ask of IAM, action by action, and whether a role allows it. */
import type { Ledger } from '../../storage/ledger.ts';

/** One action that IAM decides about. */
export interface TableCall {
  readonly action: string;
  readonly partition: string;
}

/** As `storage/dynamodb-ledger.ts` maps them; IAM looks at each part of a transaction by itself. */
const ACTION_OF_CHANGE = {
  put: 'dynamodb:PutItem',
  delete: 'dynamodb:DeleteItem',
  check: 'dynamodb:ConditionCheckItem',
  count: 'dynamodb:UpdateItem',
} as const;

/** A ledger that notes what each call of it would ask. */
export function recordAccess(ledger: Ledger, calls: TableCall[]): Ledger {
  const note = (action: string, partition: string) => calls.push({ action, partition });
  return {
    transact(changes, options) {
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

/** A statement of a role's policy. */
export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: conditions are looked into as the JSON that they are.
  readonly Condition?: any;
}

/** Whether the role allows the call, as `storage/dynamodb-ledger.ts` makes it. */
export function allows(statements: readonly Statement[], { action, partition }: TableCall): boolean {
  const holds = ({ Effect, Action, Condition = {} }: Statement) => {
    if (Effect !== 'Allow' || !Action.includes(action)) return false;
    const patterns: readonly string[] = Condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? ['*'];
    return patterns.some((pattern) => isLike(partition, pattern));
  };
  return statements.some(holds);
}

/** IAM's `StringLike`, of which we use the asterisk alone. */
function isLike(value: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(value);
}
