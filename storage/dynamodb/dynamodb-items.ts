/**
 * Items and changes of the ledger as DynamoDB stores them.
 *
 * Keys are stored unchanged: DynamoDB orders strings by their UTF-8 bytes, as the port does. A value is stored as its JSON
 * text. A safe integer is stored as a number, so that DynamoDB can add to it.
 */
import type { AttributeValue, TransactWriteItem, Update } from '@aws-sdk/client-dynamodb';
import type { Json } from '../../contract/values/canonical-json.ts';
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY, TABLE_TTL_ATTRIBUTE } from '../aws/names.ts';
import { StorageCorrupt } from '../ports/errors.ts';
import type { Change, Condition, CountChange, Item, ItemKey } from '../ports/ledger.ts';
import { describeKey, parseValue } from '../ports/ledger-rules.ts';

export type Attributes = Record<string, AttributeValue>;

/** DynamoDB deletes an expired item at least this long after its expiry: its clock and the writer's may differ. */
const TTL_GRACE_SECONDS = 24 * 60 * 60;

export function keyAttributes({ partition, sort }: ItemKey<unknown>): Attributes {
  return { [TABLE_PARTITION_KEY]: { S: partition }, [TABLE_SORT_KEY]: { S: sort } };
}

/** @throws StorageCorrupt for attributes that this adapter cannot have written */
export function readItem(attributes: Attributes): Item {
  const { attemptId, revision, expiresAtMs, value } = attributes;
  const partition = attributes[TABLE_PARTITION_KEY]?.S;
  const sort = attributes[TABLE_SORT_KEY]?.S;
  try {
    return {
      partition: required(partition),
      sort: required(sort),
      revision: Number(required(revision?.N)),
      attemptId: required(attemptId?.S),
      expiresAtMs: expiresAtMs === undefined ? null : Number(required(expiresAtMs.N)),
      value: value?.N === undefined ? parseValue(required(value?.S)) : Number(value.N),
    };
  } catch (cause) {
    const name = describeKey({ partition: partition ?? '?', sort: sort ?? '?' });
    throw new StorageCorrupt(`the item ${name} was not written by Tidemark: restore the table, or delete the item`, {
      cause,
    });
  }
}

function required(text: string | undefined): string {
  if (text === undefined) throw new TypeError('an attribute is missing, or is of another type');
  return text;
}

/** One change of a transaction. `text` is the JSON of a put's value. */
export function transactItem(
  tableName: string,
  change: Change,
  text: string | null,
  attemptId: string,
): TransactWriteItem {
  const place = { TableName: tableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const Key = keyAttributes(change.key);
  switch (change.kind) {
    case 'put': {
      const Item: Attributes = {
        ...Key,
        revision: { N: String(change.revision) },
        attemptId: { S: attemptId },
        value: valueAttribute(change.value, text as string),
        ...expiryAttributes(change.expiresAtMs),
      };
      return { Put: { ...place, Item, ...conditionOf(change.if) } };
    }
    case 'delete':
      return { Delete: { ...place, Key, ...conditionOf(change.if) } };
    case 'check': {
      // DynamoDB requires a condition. This one always holds.
      const any = { ConditionExpression: `${EXISTS} OR ${EXISTS_NOT}` };
      return { ConditionCheck: { ...place, Key, ...any, ...conditionOf(change.if) } };
    }
    case 'count':
      return { Update: { ...place, Key, ...countExpressions(change, attemptId) } };
  }
}

/** Whether the refusal of this change means that an item exists. */
export function isRefusedByItem(change: Change): boolean {
  if (change.kind === 'count') return mayStart(change);
  return change.if.kind === 'absent' || change.if.kind === 'absent-or-expired';
}

const EXISTS = `attribute_exists(${TABLE_PARTITION_KEY})`;
const EXISTS_NOT = `attribute_not_exists(${TABLE_PARTITION_KEY})`;

interface ConditionExpression {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeValues?: Attributes;
}

/** A comparison with a missing attribute is false. */
function conditionOf(condition: Condition): ConditionExpression {
  switch (condition.kind) {
    case 'any':
      return {};
    case 'absent':
      return { ConditionExpression: EXISTS_NOT };
    case 'present':
      return { ConditionExpression: EXISTS };
    case 'revision-is':
      return {
        ConditionExpression: 'revision = :revision',
        ExpressionAttributeValues: { ':revision': { N: String(condition.revision) } },
      };
    case 'written-by':
      return {
        ConditionExpression: 'attemptId = :writer',
        ExpressionAttributeValues: { ':writer': { S: condition.attemptId } },
      };
    case 'absent-or-expired':
      return {
        ConditionExpression: `${EXISTS_NOT} OR expiresAtMs < :at`,
        ExpressionAttributeValues: { ':at': { N: String(condition.atMs) } },
      };
  }
}

/**
 * The bounds of the new count, expressed as bounds of the old count, because a condition sees only the old one. Exact
 * strings, because numbers would round. Two comparisons, because BETWEEN needs the lower bound first, and bounds that
 * no count fits must refuse instead of failing.
 */
function countExpressions(
  change: CountChange,
  attemptId: string,
): Pick<Update, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> {
  const { by, atLeast, atMost, expiresAtMs } = change;
  const fits = '#value >= :low AND #value <= :high';
  const set = '#value = if_not_exists(#value, :zero) + :by, revision = :zero, attemptId = :attemptId';
  return {
    UpdateExpression:
      expiresAtMs === undefined
        ? `SET ${set} REMOVE expiresAtMs, #ttl`
        : `SET ${set}, expiresAtMs = :expiresAtMs, #ttl = :ttl`,
    ConditionExpression: mayStart(change) ? `${EXISTS_NOT} OR (${fits})` : fits,
    ExpressionAttributeNames: { '#value': 'value', '#ttl': TABLE_TTL_ATTRIBUTE },
    ExpressionAttributeValues: {
      ':by': { N: String(by) },
      ':low': { N: String(BigInt(atLeast) - BigInt(by)) },
      ':high': { N: String(BigInt(atMost) - BigInt(by)) },
      ':zero': { N: '0' },
      ':attemptId': { S: attemptId },
      ...(expiresAtMs !== undefined && {
        ':expiresAtMs': { N: String(expiresAtMs) },
        ':ttl': { N: ttlOf(expiresAtMs) },
      }),
    },
  };
}

/** Whether a counter that does not exist yet may be counted. */
function mayStart({ by, atLeast, atMost }: CountChange): boolean {
  return atLeast <= by && by <= atMost;
}

function valueAttribute(value: Json, text: string): AttributeValue {
  return Number.isSafeInteger(value) ? { N: text } : { S: text };
}

function expiryAttributes(expiresAtMs: number | undefined): Attributes {
  if (expiresAtMs === undefined) return {};
  return { expiresAtMs: { N: String(expiresAtMs) }, [TABLE_TTL_ATTRIBUTE]: { N: ttlOf(expiresAtMs) } };
}

function ttlOf(expiresAtMs: number): string {
  return String(Math.ceil(expiresAtMs / 1000) + TTL_GRACE_SECONDS);
}
