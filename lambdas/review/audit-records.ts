import { auditOfActor, auditOfTarget } from '../../storage/records/review.ts';
import type { ReadHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listAuditRecords: ReadHandler<'listAuditRecords'> = {
  answer(request, tools) {
    const { actor, target } = request.query;
    return paginate(request, tools, {
      // The operation's schema requires at least one of the two.
      range: actor === undefined ? auditOfTarget(target as string) : auditOfActor(actor),
      filter: { ...(actor === undefined ? {} : { actor }), ...(target === undefined ? {} : { target }) },
      valuesOf: (items) =>
        items
          .filter(({ value }) => target === undefined || value.target === target)
          .map(({ value: { fingerprint: _, ...shown } }) => shown),
    });
  },
};
