/**
 * The rules that every ledger adapter checks before it touches storage, so that no adapter accepts what another cannot
 * store.
 */
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { APPEND_ONLY } from '../records/keys.ts';
import { StorageCorrupt } from './errors.ts';
import {
  type Change,
  type Condition,
  type CountChange,
  type Item,
  type ItemKey,
  MAX_GET_KEYS,
  MAX_TRANSACT_CHANGES,
  type QueryOptions,
} from './ledger.ts';

/** DynamoDB's limits in bytes: a partition key, a sort key, one item, one transaction. */
const MAX_PARTITION_BYTES = 2048;
const MAX_SORT_BYTES = 1024;
export const MAX_ITEM_BYTES = 400 * 1024;
export const MAX_TRANSACT_BYTES = 4 * 1024 * 1024;

const MAX_QUERY_LIMIT = 1000;

/** DynamoDB also counts the names of attributes and its numbers. Ours never take more than this. */
const ITEM_OVERHEAD_BYTES = 128;

/**
 * Checks a transaction and serialises its values: one JSON text per change; null for a change without a value.
 *
 * @throws RangeError if the transaction breaks a rule of the port
 * @throws TypeError for a value that is not JSON
 */
export function checkTransact(changes: readonly Change[], attemptId: string): (string | null)[] {
  if (changes.length < 1 || changes.length > MAX_TRANSACT_CHANGES) {
    throw new RangeError(`a transaction holds 1 to ${MAX_TRANSACT_CHANGES} changes, not ${changes.length}`);
  }
  const attemptBytes = checkText('attemptId', attemptId, MAX_SORT_BYTES);
  const seen = new Set<string>();
  let totalBytes = 0;
  return changes.map((change) => {
    const { key } = change;
    const keyBytes = checkKey(key);
    const identity = `${key.partition.length} ${key.partition}${key.sort}`;
    if (seen.has(identity)) throw new RangeError(`two changes of one transaction to ${describeKey(key)}: merge them`);
    seen.add(identity);
    if (change.kind === 'count') return checkCount(change);
    checkCondition(key, change.if);
    if (change.kind !== 'put') return null;
    checkInteger('revision', key, change.revision);
    if (change.expiresAtMs !== undefined) checkInteger('expiresAtMs', key, change.expiresAtMs);
    const text = canonicalJson(change.value);
    const itemBytes = ITEM_OVERHEAD_BYTES + keyBytes + attemptBytes + Buffer.byteLength(text);
    if (itemBytes > MAX_ITEM_BYTES) {
      const name = describeKey(key);
      throw new RangeError(`${name} takes ${itemBytes} bytes, more than an item may (${MAX_ITEM_BYTES}): split it`);
    }
    totalBytes += itemBytes;
    if (totalBytes > MAX_TRANSACT_BYTES) {
      throw new RangeError(`a transaction of more than ${MAX_TRANSACT_BYTES} bytes: split it`);
    }
    return text;
  });
}

/**
 * Checks that a transaction only adds to the audit. The ledgers that keep data check this themselves, because IAM cannot:
 * it does not see conditions.
 *
 * @throws RangeError for any other change of an audit record
 */
export function checkAppendOnly(changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === 'check' || !change.key.partition.startsWith(APPEND_ONLY)) continue;
    if (change.kind === 'put' && change.if.kind === 'absent' && change.expiresAtMs === undefined) continue;
    throw new RangeError(
      `${describeKey(change.key)} may only be created, for good: put it with the condition "absent"`,
    );
  }
}

/** @throws RangeError for too many keys, or an invalid key */
export function checkGetMany(keys: readonly ItemKey[]): void {
  if (keys.length > MAX_GET_KEYS) throw new RangeError(`at most ${MAX_GET_KEYS} keys at once, not ${keys.length}`);
  for (const key of keys) checkKey(key);
}

/** @throws RangeError for a limit or bound outside the port's rules */
export function checkQuery(partition: string, options: QueryOptions): void {
  checkText('partition', partition, MAX_PARTITION_BYTES);
  if (!Number.isInteger(options.limit) || options.limit < 1 || options.limit > MAX_QUERY_LIMIT) {
    throw new RangeError(`the limit of a query is 1 to ${MAX_QUERY_LIMIT}, not ${options.limit}`);
  }
  if (options.prefix) checkText('prefix', options.prefix, MAX_SORT_BYTES);
  if (options.after !== undefined) checkText('after', options.after, MAX_SORT_BYTES);
}

/** @throws RangeError for a moment or a limit outside the port's rules */
export function checkRemoval(beforeMs: number, limit: number): void {
  if (!Number.isSafeInteger(beforeMs)) throw new RangeError(`${beforeMs} is not a moment in milliseconds`);
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`the limit of a removal is at least 1, not ${limit}`);
}

/**
 * The size of the key in bytes.
 *
 * @throws RangeError for a key with an empty, too long or ill-formed part
 */
export function checkKey(key: ItemKey<unknown>): number {
  return checkText('partition', key.partition, MAX_PARTITION_BYTES) + checkText('sort key', key.sort, MAX_SORT_BYTES);
}

/** Compares sort keys by their UTF-8 bytes. */
export function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** A text for messages. Distinct keys have distinct texts. */
export function describeKey(key: ItemKey<unknown>): string {
  return `${JSON.stringify(key.partition)}, ${JSON.stringify(key.sort)}`;
}

/** The inverse of the serialisation in {@link checkTransact}. */
export function parseValue(text: string): Json {
  return JSON.parse(text) as Json;
}

/** The new count depends on the stored count, so there is no text to write yet. */
function checkCount({ key, by, atLeast, atMost, expiresAtMs = 0 }: CountChange): null {
  for (const [what, number] of Object.entries({ by, atLeast, atMost, expiresAtMs })) checkInteger(what, key, number);
  return null;
}

/** The count that a counter item holds. @throws StorageCorrupt for an item that is not a counter */
export function countOf(item: Item | null): number {
  if (item === null) return 0;
  const { value } = item;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new StorageCorrupt(`the item ${describeKey(item)} is used as a counter, but holds no integer`);
}

export function countHolds({ by, atLeast, atMost }: CountChange, found: Item | null): boolean {
  const count = countOf(found) + by;
  return count >= atLeast && count <= atMost;
}

function checkCondition(key: ItemKey, condition: Condition): void {
  switch (condition.kind) {
    case 'revision-is':
      checkInteger('condition', key, condition.revision);
      break;
    case 'absent-or-expired':
      checkInteger('condition', key, condition.atMs);
      break;
    case 'written-by':
      checkText('attemptId of a condition', condition.attemptId, MAX_SORT_BYTES);
      break;
    case 'any':
    case 'absent':
    case 'present':
      break;
    default:
      throw new RangeError(`unknown condition on ${describeKey(key)}: ${JSON.stringify(condition satisfies never)}`);
  }
}

/** The size of the text in bytes. */
function checkText(what: string, text: string, maxBytes: number): number {
  if (text === '') throw new RangeError(`the ${what} is empty`);
  // UTF-8 cannot represent it, so it would be read back as another string.
  if (!text.isWellFormed()) throw new RangeError(`the ${what} ${JSON.stringify(text)} holds a lone surrogate`);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) throw new RangeError(`the ${what} takes ${bytes} bytes, more than ${maxBytes}`);
  return bytes;
}

function checkInteger(what: string, key: ItemKey, value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`${what} of ${describeKey(key)}: ${value} is not a safe integer`);
  }
}
