/** The audit: each write with its actor, action and target. */
import * as z from 'zod';
import { instantSchema } from '../metric.ts';
import { defineOperations } from './operation.ts';
import { idSchema, pageQuery, pageSchema } from './resources.ts';

export const auditRecordSchema = z.strictObject({
  id: idSchema('aud'),
  at: instantSchema.describe('When the write was committed.'),
  actor: z.string().describe('The credential: `user:<sub>` or `key:<key id>`. `system:…` for the service itself.'),
  action: z.string().describe('The `operationId`. `system:…` for the service itself.'),
  target: z.string().describe('The resource that was written, e.g. `watchlist/<id>`.'),
  requestId: z.string().describe('The same id as in the `instance` of problems and in the logs.'),
});

/** Becomes part of a ledger key. */
const nameSchema = z
  .string()
  .max(512)
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable ASCII without spaces' });

export const auditRecordOperations = defineOperations({
  listAuditRecords: {
    method: 'GET',
    path: '/api/v1/audit-records',
    tag: 'Audit',
    summary: 'List the writes of a credential, or the writes to a resource, newest first',
    description:
      'Every write leaves one record, in its own transaction. Give `actor`, `target` or both. With both, a page ' +
      'may hold fewer records, or no record, although more follow: continue until `nextCursor` is null.',
    scopes: ['audit:read'],
    query: z
      .strictObject({
        ...pageQuery,
        actor: nameSchema
          .optional()
          .describe('Only the writes of this credential, e.g. `user:alice` or `key:<key id>`.'),
        target: nameSchema.optional().describe('Only the writes to this resource, e.g. `watchlist/<id>`.'),
      })
      .refine(({ actor, target }) => actor !== undefined || target !== undefined, {
        error: 'needs actor, target or both',
      }),
    success: { status: 200, description: 'A page of audit records', body: pageSchema(auditRecordSchema) },
    example: {
      query: { actor: 'user:alice' },
      response: {
        data: [
          {
            id: 'aud_01JD8N5W5XQ6M4T0VZ8R2K7C3B',
            at: '2026-11-20T12:00:00.000Z',
            actor: 'user:alice',
            action: 'createWatchlist',
            target: 'watchlist/wl_01JD8N5W5XQ6M4T0VZ8R2K7C3A',
            requestId: '01JD8N5W5XQ6M4T0VZ8R2K7C3D',
          },
        ],
        page: { nextCursor: null },
      },
    },
  },
});
