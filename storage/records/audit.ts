/**
 * The audit of every write.
 *
 * | partition               | sort         | holds                                                          |
 * |-------------------------|--------------|----------------------------------------------------------------|
 * | `audit/day/<day>`       | `<audit id>` | {@link AuditValue}                                             |
 * | `audit/actor/<actor>`   | `<audit id>` | the same, for the listing by actor                             |
 * | `audit/target/<target>` | `<audit id>` | the same, for the listing by target, and by each changed market |
 *
 * A batch has one record, of the request that sent it. Beside that, each of its transactions adds a record to the listing
 * of each market that it changes, and only there.
 */
import type { KeyRange } from '../paging.ts';
import { digestedUlid } from '../ulid.ts';
import { keyIn } from './keys.ts';

/** The actor, action and target of one write. Never changed, never deleted; revision 0. */
export type AuditValue = {
  id: string;
  /** RFC 3339. */
  at: string;
  actor: string;
  /** The id of the operation, or `system:…` for the service itself. */
  action: string;
  target: string;
  /** Of the request; the id of the batch or the erasure, if the service itself has written. */
  requestId: string;
  fingerprint: string;
};

/** The UTC day of an RFC 3339 instant in UTC, e.g. `2026-11-20`. */
export const dayOf = (at: string): string => at.slice(0, '2026-11-20'.length);

export const auditOfDay = (day: string): KeyRange<AuditValue> => ({ partition: `audit/day/${day}` });
export const auditOfActor = (actor: string): KeyRange<AuditValue> => ({ partition: `audit/actor/${actor}` });
export const auditOfTarget = (target: string): KeyRange<AuditValue> => ({ partition: `audit/target/${target}` });
/** The three places of an audit record. */
export const auditKeys = ({ id, at, actor, target }: AuditValue) =>
  [auditOfDay(dayOf(at)), auditOfActor(actor), auditOfTarget(target)].map((range) => keyIn(range, id));

export const auditOfTargetKey = (target: string, id: string) => keyIn(auditOfTarget(target), id);

/** The id of the record of a change of a market by a batch: the same change gives the same id. */
export function changeAuditId(batch: string, slug: string, revision: number, atMs: number): string {
  return `aud_${digestedUlid(atMs, `${batch}\n${slug}\n${revision}`)}`;
}
