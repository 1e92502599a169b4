/** The audit: each write with its actor, action and target. */
import * as z from 'zod';
import { instantSchema } from '../values/metric.ts';
import { operationsOf } from './operation.ts';
import { idSchema, pageQuery, pageSchema } from './resources.ts';

export const auditRecordSchema = z.strictObject({
  id: idSchema('aud'),
  at: instantSchema.describe('When the write was committed.'),
  actor: z.string().describe('The credential: `user:<sub>` or `key:<key id>`. `system:…` for the service itself.'),
  action: z.string().describe('The `operationId`. `system:…` for the service itself.'),
  target: z.string().describe('The resource that was written, e.g. `watchlist/<id>`.'),
  requestId: z
    .string()
    .describe(
      'The same id as in the `instance` of problems and in the logs. Of `system:ingest` the id of the batch, of ' +
        '`system:erasure` the id of the erasure, of `system:announced` the moment and the market.',
    ),
});

/** A name becomes part of a ledger key, so its form is restricted. */
const nameSchema = z
  .string()
  .max(512)
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable ASCII without spaces' });

export const auditRecordOperations = operationsOf({ tag: 'Audit' })({
  listAuditRecords: {
    method: 'GET',
    path: '/api/v1/audit-records',
    summary: 'List the writes of a day, of a credential, or to a resource, newest first',
    description:
      'Every write leaves one record, in its own transaction. Without a filter: the writes of today, by UTC. With ' +
      '`actor` and another filter, a page may hold fewer records, or no record, although more follow: continue until ' +
      '`nextCursor` is null. `target=market/<slug>` answers who wrote a number: it lists each change of the market by ' +
      'an accepted claim, a source verification, an erasure, a batch (`system:ingest`), or an announced value that became effective (`system:announced`). The report of the batch, ' +
      '`/api/v1/ingest/batches/<requestId>`, has the rest. These records of batches are not in the other listings, ' +
      'which have the request that sent the batch.',
    scopes: ['audit:read'],
    query: z
      .strictObject({
        ...pageQuery,
        day: z.iso
          .date({ error: 'must be a day such as 2026-11-20' })
          .optional()
          .describe('Only the writes of this day, by UTC. Not together with `target`.'),
        actor: nameSchema
          .optional()
          .describe('Only the writes of this credential, e.g. `user:alice` or `key:<key id>`.'),
        target: nameSchema
          .optional()
          .describe('Only the writes to this resource, e.g. `watchlist/<id>` or `market/<slug>`.'),
      })
      .refine(({ day, target }) => day === undefined || target === undefined, {
        error: 'takes day or target, not both',
      }),
    success: { status: 200, description: 'A page of audit records', body: pageSchema(auditRecordSchema) },
    example: {
      query: { day: '2026-11-20' },
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
