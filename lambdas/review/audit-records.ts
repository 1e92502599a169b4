import type { KeyRange } from '../../storage/paging.ts';
import { type AuditValue, auditOfActor, auditOfDay, auditOfTarget, dayOf } from '../../storage/records/audit.ts';
import type { OperationRequest, ReadHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listAuditRecords: ReadHandler<'listAuditRecords'> = {
  answer(request, tools) {
    const { day, actor, target } = request.query;
    return paginate(request, tools, {
      range: rangeOf(request),
      filter: { ...(day && { day }), ...(actor && { actor }), ...(target && { target }) },
      valuesOf: (items) =>
        items
          .filter(({ value }) => actor === undefined || value.actor === actor)
          .map(({ value: { fingerprint: _, chain: __, ...shown } }) => shown),
    });
  },
};

/** A market's listing holds records with other targets, too, so it is never searched for by the target in a record. */
function rangeOf({ query: { day, actor, target }, now }: OperationRequest<'listAuditRecords'>): KeyRange<AuditValue> {
  if (target !== undefined) return auditOfTarget(target);
  if (actor !== undefined && day === undefined) return auditOfActor(actor);
  return auditOfDay(day ?? dayOf(now));
}
