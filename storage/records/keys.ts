/** Spells keys, for this folder. */
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange, ShardedRange } from '../ports/paging.ts';
import { sha256Hex } from '../ports/sha256.ts';

/** How the partitions of the audit begin: their items are created, and then never change. */
export const APPEND_ONLY = 'audit/';

export function keyOf<Value>(partition: string, sort: string): ItemKey<Value> {
  return { partition, sort };
}

/** The key of the range with this rest after the range's prefix. */
export function keyIn<Value>({ partition, prefix = '' }: KeyRange<Value>, rest: string): ItemKey<Value> {
  return { partition, sort: prefix + rest };
}

/** How many partitions share a busy range: eight (docs/decisions/103). */
const SHARD_NAMES = ['0', '1', '2', '3', '4', '5', '6', '7'];
const HEX_DIGITS = 16;

/** The partitions of a busy range, in the order of the digests by which items are divided. */
export const shardsOf = (name: string): readonly string[] => SHARD_NAMES.map((shard) => `${name}/${shard}`);

/** Of these partitions, the one with everything about this subject. */
export const shardBy = (shards: readonly string[], subject: string): string =>
  shardOfDigest(shards, sha256Hex(subject));

/** By the digest of the subject, or by its beginning. */
export function shardOfDigest(shards: readonly string[], digest: string): string {
  const place = Math.floor((Number.parseInt(digest.charAt(0), HEX_DIGITS) * SHARD_NAMES.length) / HEX_DIGITS);
  return shards[place] as string;
}

/** The key of the range with this rest after the range's prefix, in the partition of the subject. */
export function keyInShard<Value>(
  { shards, prefix = '' }: ShardedRange<Value>,
  subject: string,
  rest: string,
): ItemKey<Value> {
  return { partition: shardBy(shards, subject), sort: prefix + rest };
}
