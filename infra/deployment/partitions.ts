/**
 * The ledger's partitions in the form that policies use, with `*` for a variable rest. IAM can decide by partition, because
 * the partition is the table's hash key.
 */
import { auditOfActor, auditOfDay } from '../../storage/records/audit.ts';
import { batchPartition } from '../../storage/records/batches.ts';
import { logChunksIn } from '../../storage/records/log.ts';

type Partition = string | { readonly partition: string } | { readonly shards: readonly string[] };

/** Partitions, as storage/records/ spells them: each by its name, by a key or a range in it, or by a function of its variable rest. */
export type Partitions = readonly (Partition | ((rest: never) => Partition))[];

const ANY = '*' as never;

export function patternsOf(partitions: Partitions): readonly string[] {
  return partitions.map((partition) => patternOf(typeof partition === 'function' ? partition(ANY) : partition));
}

function patternOf(partition: Partition): string {
  if (typeof partition === 'string') return partition;
  if ('partition' in partition) return partition.partition;
  return (partition.shards[0] ?? '').replace(/[^/]+$/, ANY);
}

/** The asterisk stands for the day, and for the shards of a day. */
export const AUDIT_BY_DAY = auditOfDay(ANY).shards.at(-1) ?? '';
/** Records that the service itself writes. */
export const AUDIT_BY_SYSTEM = auditOfActor(`system:${ANY}`);
export const LOG_ENTRIES = logChunksIn(ANY);
/** Large files, without other batches. */
export const UPLOADS = batchPartition(`upl_${ANY}`);
