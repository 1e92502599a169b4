/** The copies of an audit record, as part of the transaction that the record describes. */
import type { Runtime } from '../../storage/aws/runtime.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import { type AuditValue, auditKeys, auditOfTargetKey, changeAuditId } from '../../storage/records/audit.ts';
import type { BatchValue } from '../../storage/records/batches.ts';
import { marketTarget, slugOfRecordKey } from '../../storage/records/markets.ts';
import { chainOf } from './audit-chains.ts';

/** The copies for the listings by day, by actor and by target; and one for each market that the write changes. */
export function auditChanges(audit: AuditValue, changes: readonly Change[] = []): readonly Change[] {
  const markets = changes.flatMap((change) => (change.kind === 'put' ? slugOfRecordKey(change.key) : []));
  const others = markets.map(marketTarget).filter((target) => target !== audit.target);
  const keys = [...auditKeys(audit), ...others.map((target) => auditOfTargetKey(target, audit.id))];
  return keys.map((key) => created(key, audit));
}

/**
 * Records for the listing by market: one for each market whose record these changes put.
 *
 * @param work the work of the service itself. `requestId` names it: the report of a batch has the rows
 * @param action also used as the actor, unless the work has one. Default: the worker has applied a part of a batch
 */
export function marketAudits(
  { id: work, actor }: Pick<BatchValue, 'id' | 'actor'>,
  changes: readonly Change[],
  atMs: number,
  action = 'system:ingest',
): readonly Change[] {
  const at = new Date(atMs).toISOString();
  return changes.flatMap((change) => {
    if (change.kind !== 'put') return [];
    return slugOfRecordKey(change.key).map((slug) => {
      const id = changeAuditId(work, slug, change.revision, atMs);
      const target = marketTarget(slug);
      // The members are in the order of canonical JSON.
      const audit = { action, actor: actor ?? action, at, fingerprint: '', id, requestId: work, target };
      return created(auditOfTargetKey(target, id), audit);
    });
  });
}

/**
 * The records of a transaction that the service itself makes, with their copies: one record for each target, in a separate
 * chain.
 *
 * @param action also used as the actor
 */
export function serviceAudits(
  action: string,
  targets: readonly string[],
  { newId, at, requestId }: Pick<Runtime, 'newId'> & { readonly at: string; readonly requestId?: string },
): readonly Change[] {
  const audits = targets.map((target): AuditValue => {
    const id = newId('aud');
    return { id, at, actor: action, action, target, requestId: requestId ?? id, fingerprint: '' };
  });
  return chainOf(audits).flatMap((audit) => auditChanges(audit));
}
