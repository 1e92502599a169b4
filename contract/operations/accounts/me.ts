/** The credential and its subject. */
import * as z from 'zod';
import { marketLimitSchema } from '../../files/feed-authority.ts';
import { instantSchema } from '../../values/metric.ts';
import { operationsOf } from '../operation.ts';
import { SUBJECT } from '../resources.ts';
import { ALL_SCOPES } from '../scopes.ts';

export const meSchema = z.strictObject({
  actor: z.string().describe('The credential, as the audit names it: `user:<sub>` or `key:<key id>`.'),
  subject: z.string().describe(SUBJECT),
  kind: z.enum(['user', 'api-key']).describe('Whether the credential is a token of a signed-in user or an API key.'),
  scopes: z.array(z.enum(ALL_SCOPES)).describe('The scopes of the credential, ordered by name.'),
  markets: marketLimitSchema,
  expiresAt: instantSchema
    .nullable()
    .describe('The credential is refused from this moment on. Null: it does not expire.'),
});

export const meOperations = operationsOf({ tag: 'Me' })({
  getMe: {
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Read your credential, its subject and its scopes',
    scopes: [],
    success: { status: 200, description: 'The credential, without its secret', body: meSchema },
    example: {
      response: {
        actor: 'user:alice',
        subject: 'user:alice',
        kind: 'user',
        scopes: ['watchlists:read', 'watchlists:write'],
        markets: null,
        expiresAt: '2026-11-20T13:00:00.000Z',
      },
    },
  },
});
