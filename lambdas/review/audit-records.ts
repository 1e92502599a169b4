import type { QueryOf } from '../../contract/operations/operations.ts';
import type { AnyRange } from '../../storage/ports/paging.ts';
import { type AuditValue, auditOfActor, auditOfDay, auditOfTarget, dayOf } from '../../storage/records/audit.ts';
import type { ReadHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listAuditRecords: ReadHandler<'listAuditRecords'> = (request, tools) => {
  const { day } = request.query;
  const [actor, target] = [request.query.actor, request.query.target].map((name) => name && tools.pseudonymOf(name));
  return paginate(request, tools, {
    range: rangeOf({ day, actor, target }, request.now),
    valuesOf: (items) =>
      items
        .filter(({ value }) => actor === undefined || value.actor === actor)
        .map(({ value: { fingerprint: _, chain: __, ...shown } }) => shown),
  });
};

/**
 * A market's listing contains records with other targets, too. So a market's records are found by that listing, not by their
 * targets.
 */
function rangeOf({ day, actor, target }: QueryOf<'listAuditRecords'>, now: string): AnyRange<AuditValue> {
  if (target !== undefined) return auditOfTarget(target);
  if (actor !== undefined && day === undefined) return auditOfActor(actor);
  return auditOfDay(day ?? dayOf(now));
}
