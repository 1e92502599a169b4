import { type AuditValue, auditActorPartition, auditTargetPartition } from '../../storage/records/review.ts';
import type { ReadHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listAuditRecords: ReadHandler<'listAuditRecords'> = {
  answer(request, tools) {
    const { actor, target } = request.query;
    return paginate(request, tools, {
      // The operation's schema requires at least one of the two.
      partition: actor === undefined ? auditTargetPartition(target as string) : auditActorPartition(actor),
      filter: { ...(actor === undefined ? {} : { actor }), ...(target === undefined ? {} : { target }) },
      valuesOf: (items) =>
        items
          .map(({ value }) => value as AuditValue)
          .filter((record) => target === undefined || record.target === target)
          .map(({ fingerprint: _, ...shown }) => shown),
    });
  },
};
