/**
 * The audit of every write (docs/decisions/025).
 *
 * | partition               | sort         | holds                                                          |
 * |-------------------------|--------------|----------------------------------------------------------------|
 * | `audit/day/<day>/<shard>` | `<audit id>` | {@link AuditValue}                                           |
 * | `audit/day/<day>`       | `<audit id>` | the same, written before format 4: never moved                 |
 * | `audit/actor/<actor>`   | `<audit id>` | the same, for the listing by actor                             |
 * | `audit/target/<target>` | `<audit id>` | the same, for the listing by target, and by each changed market |
 * | `audit/seals`           | `<day>`      | {@link SealValue}                                              |
 * | `audit/seal-parts`      | `<day>/<n>`  | {@link SealPartValue}, from 0 on; none for a day with few chains |
 *
 * A batch has one record for the request that sent it. Its transactions add further records, only to the listing of each
 * market that they change.
 */
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { Item, ItemKey } from '../ports/ledger.ts';
import type { KeyRange, ShardedRange } from '../ports/paging.ts';
import { sha256Hex } from '../ports/sha256.ts';
import { digestedUlid } from '../ports/ulid.ts';
import { keyIn, keyInShard, shardsOf } from './keys.ts';

/** The actor, action and target of one write. Never changed, never deleted; revision 0. */
export type AuditValue = {
  id: string;
  /** RFC 3339. */
  at: string;
  actor: string;
  /** The id of the operation, or `system:…` if the service itself has written. */
  action: string;
  target: string;
  /** The id of the request; or of the batch or the erasure, if the service itself has written. */
  requestId: string;
  fingerprint: string;
  /** Absent in records of batches in the listings of markets, and in records of earlier versions. */
  chain?: ChainLink;
};

/**
 * The place of a record in its chain. A chain is written by one process, on one day. `previous` is the digest of the
 * record before it, null for the first one; `id` is the id of the first one.
 */
export type ChainLink = { id: string; place: number; previous: string | null };

export type ChainedAudit = AuditValue & { chain: ChainLink };

/** The end of each chain of a day. Written when the day is over, and never changed. Revision 0. */
export type SealValue = {
  day: string;
  /** The ends of chains; if there are parts, only of chains with records after the last part. */
  ends: ChainEnds;
  /** The digests of the earlier parts, in order. Absent: there are no parts. */
  parts?: string[];
  /** The digest of the seal of the day before; null for the first seal. */
  previous: string | null;
};

export type ChainEnds = { [chain: string]: { records: number; digest: string } };

/** The end of each chain with records in one part of the day: after the previous part, up to `upTo`. Revision 0. */
export type SealPartValue = { day: string; upTo: string; ends: ChainEnds };

const PART_DIGITS = 6;

export const digestOfAudit = (value: AuditValue | SealValue | SealPartValue): string => sha256Hex(canonicalJson(value));

/** The UTC day of an RFC 3339 instant in UTC, e.g. `2026-11-20`. */
export const dayOf = (at: string): string => at.slice(0, '2026-11-20'.length);

/** The partition of a day before format 4, and the prefix of a later day's partitions. No audit record is ever moved. */
const wholeDay = (day: string): string => `audit/day/${day}`;
export const auditOfDay = (day: string): ShardedRange<AuditValue> => ({
  shards: [...shardsOf(wholeDay(day)), wholeDay(day)],
});
export const auditOfActor = (actor: string): KeyRange<AuditValue> => ({ partition: `audit/actor/${actor}` });
export const auditOfTarget = (target: string): KeyRange<AuditValue> => ({ partition: `audit/target/${target}` });
/** The three keys of an audit record. */
export const auditKeys = ({ id, at, actor, target }: AuditValue) => [
  keyInShard(auditOfDay(dayOf(at)), id, id),
  ...[auditOfActor(actor), auditOfTarget(target)].map((range) => keyIn(range, id)),
];
/** The three keys of a record that was found in the listing of its day. */
export function placesOfFound({ partition, sort, value }: Item<AuditValue>): readonly ItemKey<AuditValue>[] {
  const isOfWholeDay = partition === wholeDay(dayOf(value.at));
  return auditKeys(value).map((key, place) => (isOfWholeDay && place === 0 ? { partition, sort } : key));
}

export const AUDIT_SEALS: KeyRange<SealValue> = { partition: 'audit/seals' };
export const auditSealKey = (day: string) => keyIn(AUDIT_SEALS, day);
export const AUDIT_SEAL_PARTS: KeyRange<SealPartValue> = { partition: 'audit/seal-parts' };
export const auditSealPartsOf = (day: string): KeyRange<SealPartValue> => ({ ...AUDIT_SEAL_PARTS, prefix: `${day}/` });
export const auditSealPartKey = (day: string, part: number) =>
  keyIn(auditSealPartsOf(day), String(part).padStart(PART_DIGITS, '0'));

export const auditOfTargetKey = (target: string, id: string) => keyIn(auditOfTarget(target), id);

/** The id of the audit record about a market that a batch changes: the same change gives the same id. */
export function changeAuditId(batch: string, slug: string, revision: number, atMs: number): string {
  return `aud_${digestedUlid(atMs, `${batch}\n${slug}\n${revision}`)}`;
}
