/** The audit's two copies of a record, as part of the transaction that does what it tells of. */

import type { Change } from '../../storage/ledger.ts';
import { type AuditValue, auditActorPartition, auditTargetPartition } from '../../storage/records/review.ts';

/** Puts the record where it is listed by actor, and where it is listed by target. */
export function auditChanges(audit: AuditValue): readonly Change[] {
  const partitions = [auditActorPartition(audit.actor), auditTargetPartition(audit.target)];
  return partitions.map((partition) => {
    return { kind: 'put', key: { partition, sort: audit.id }, revision: 0, value: audit, if: { kind: 'absent' } };
  });
}
