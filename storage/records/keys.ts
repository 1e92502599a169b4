/** Spells keys, for this folder. */
import type { ItemKey } from '../ports/ledger.ts';
import type { KeyRange, ShardedRange } from '../ports/paging.ts';
import { sha256Hex } from '../ports/sha256.ts';

/** The beginning of the audit's partitions: their items are created, and never change. */
export const APPEND_ONLY = 'audit/';

export function keyOf<Value>(partition: string, sort: string): ItemKey<Value> {
  return { partition, sort };
}

/** The key in the range, from the range's prefix and this rest. */
export function keyIn<Value>({ partition, prefix = '' }: KeyRange<Value>, rest: string): ItemKey<Value> {
  return { partition, sort: prefix + rest };
}

/** The partitions of a busy range: eight (docs/decisions/103). */
const SHARD_NAMES = ['0', '1', '2', '3', '4', '5', '6', '7'];
const HEX_DIGITS = 16;

/** The partitions of a busy range, in the order of the digests that assign items to them. */
export const shardsOf = (name: string): readonly string[] => SHARD_NAMES.map((shard) => `${name}/${shard}`);

/** The partition that holds everything about this subject. */
export const shardBy = (shards: readonly string[], subject: string): string =>
  shardOfDigest(shards, sha256Hex(subject));

/** The partition for a digest of a subject, or for the beginning of one. */
export function shardOfDigest(shards: readonly string[], digest: string): string {
  const place = Math.floor((Number.parseInt(digest.charAt(0), HEX_DIGITS) * SHARD_NAMES.length) / HEX_DIGITS);
  return shards[place] as string;
}

/** The key in the range, from the range's prefix and this rest, in the partition of the subject. */
export function keyInShard<Value>(
  { shards, prefix = '' }: ShardedRange<Value>,
  subject: string,
  rest: string,
): ItemKey<Value> {
  return { partition: shardBy(shards, subject), sort: prefix + rest };
}
