/** Both copies of an audit record, as part of the transaction that the record describes. */

import type { Change } from '../../storage/ledger.ts';
import { type AuditValue, auditActorPartition, auditTargetPartition } from '../../storage/records/review.ts';

/** One copy for the listing by actor, one for the listing by target. */
export function auditChanges(audit: AuditValue): readonly Change[] {
  const partitions = [auditActorPartition(audit.actor), auditTargetPartition(audit.target)];
  return partitions.map((partition) => {
    return { kind: 'put', key: { partition, sort: audit.id }, revision: 0, value: audit, if: { kind: 'absent' } };
  });
}
