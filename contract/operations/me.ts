/** Who a credential speaks for. */
import * as z from 'zod';
import { instantSchema } from '../metric.ts';
import { ALL_SCOPES } from '../scopes.ts';
import { defineOperations } from './operation.ts';

export const meSchema = z.strictObject({
  /** The credential, by which the audit names it: `user:<sub>` or `key:<key id>`. */
  actor: z.string(),
  /** The owner of what it writes. */
  subject: z.string(),
  kind: z.enum(['user', 'api-key']),
  /** In order of their names. */
  scopes: z.array(z.enum(ALL_SCOPES)),
  expiresAt: instantSchema.nullable(),
});

export const meOperations = defineOperations({
  getMe: {
    method: 'GET',
    path: '/api/v1/me',
    tag: 'Me',
    summary: 'Read what your credential is and may do',
    scopes: [],
    success: { status: 200, description: 'The credential, without its secret', body: meSchema },
    example: {
      response: {
        actor: 'user:alice',
        subject: 'user:alice',
        kind: 'user',
        scopes: ['watchlists:read', 'watchlists:write'],
        expiresAt: '2026-11-20T13:00:00.000Z',
      },
    },
  },
});
