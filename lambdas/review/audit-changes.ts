/** Both copies of an audit record, as part of the transaction that the record describes. */
import { created } from '../../storage/changes.ts';
import type { Change } from '../../storage/ledger.ts';
import { type AuditValue, auditKeys } from '../../storage/records/review.ts';

/** One copy for the listing by actor, one for the listing by target. */
export function auditChanges(audit: AuditValue): readonly Change[] {
  return auditKeys(audit).map((key) => created(key, audit));
}
