/** API keys: issued to the account of an approved waitlist request, by operators. */
import * as z from 'zod';
import { instantSchema } from '../metric.ts';
import { ALL_SCOPES, type Scope } from '../scopes.ts';
import { defineOperations } from './operation.ts';
import { idSchema, lineSchema, pageQuery, pageSchema } from './resources.ts';

/**
 * What an account's key can be given: what concerns its own things, and what is recorded as its own contribution, with
 * its source. Whatever reaches into the affairs of others stays with operators, so that no key can make itself or
 * another one more powerful: reviewing claims, granting, publishing and purging, contacts, keys, the audit.
 *
 * `ingest:write` is among them, because a feed must not run with an operator's key; like every scope, it can be given
 * only by a credential that has it.
 */
export const ACCOUNT_SCOPES = [
  'watchlists:read',
  'watchlists:write',
  'claims:read',
  'claims:write',
  'sources:read',
  'sources:verify',
  'entitlements:read',
  'ingest:write',
] as const satisfies readonly Scope[];

export const apiKeyIdSchema = z.string().regex(/^[0-9A-Za-z]{16}$/, { error: 'must be the id of an API key' });

export const apiKeySchema = z.strictObject({
  id: apiKeyIdSchema.describe('The part of the key between the environment and the secret. No secret itself.'),
  subject: z.string().describe('The owner of what it writes: `account:<waitlist request id>`, or `operator`.'),
  label: z.string().describe('For people, to tell keys apart.'),
  scopes: z.array(z.enum(ALL_SCOPES)).describe('All that the key may be used for.'),
  createdAt: instantSchema,
  expiresAt: instantSchema.nullable().describe('From when on it is refused; null: never.'),
  revokedAt: instantSchema.nullable().describe('Null while it is not revoked.'),
  previousSecretValidUntil: instantSchema
    .nullable()
    .describe('Until when the secret before the last rotation is taken too; null when there is none, or no longer.'),
});

export const issuedApiKeySchema = apiKeySchema.extend({
  key: z
    .string()
    .startsWith('tdm_')
    .describe('The whole key, secret included: shown by this answer and its replays alone.'),
});

const apiKeyInputSchema = z.strictObject({
  waitlistRequest: idSchema('req').describe('The id of an approved request: the key belongs to its account.'),
  label: lineSchema(100).describe('For people, to tell keys apart. One line.'),
  scopes: z
    .array(z.enum(ACCOUNT_SCOPES))
    .min(1)
    .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'names a scope twice' })
    .describe('All that the key may be used for, each once: only scopes that your credential has.'),
  expiresAt: instantSchema.nullable().default(null).describe('From when on it is refused; null: never.'),
});

const DAY_SECONDS = 24 * 60 * 60;

const rotationSchema = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(7 * DAY_SECONDS)
    .default(DAY_SECONDS)
    .describe('For how long the old secret is still taken; 0 ends it at once.'),
});

export type ApiKey = z.infer<typeof apiKeySchema>;

const ID = '4f8TqLw0ZkXcY2Rb';
const REQUEST = 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: ApiKey = {
  id: ID,
  subject: `account:${REQUEST}`,
  label: 'Weekly chart',
  scopes: ['watchlists:read', 'watchlists:write'],
  createdAt: '2026-11-20T12:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  previousSecretValidUntil: null,
};
const exampleKey = `tdm_live_${ID}_<secret>`;

const tag = 'API keys';
const params = z.strictObject({ id: apiKeyIdSchema });

export const apiKeyOperations = defineOperations({
  listApiKeys: {
    method: 'GET',
    path: '/api/v1/api-keys',
    tag,
    summary: 'List all API keys, those that are revoked too',
    description: 'In order of their ids, which are random. Neither secrets nor their digests are shown.',
    scopes: ['keys:admin'],
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of API keys', body: pageSchema(apiKeySchema) },
    example: { response: { data: [example], page: { nextCursor: null } } },
  },
  createApiKey: {
    method: 'POST',
    path: '/api/v1/api-keys',
    tag,
    summary: 'Turn an approved waitlist request into an API key',
    description:
      'The key belongs to the account of the request, and counts as one of its `api-keys` until it is revoked, whoever ' +
      'issues it. The answer shows the key; only a digest is kept. When the answer is lost, send the request again with ' +
      'the same idempotency key: for 72 hours it is answered with the same key, kept encrypted. A request with a new ' +
      'idempotency key issues another key.',
    scopes: ['keys:admin'],
    body: apiKeyInputSchema,
    success: { status: 201, description: 'Issued', body: issuedApiKeySchema },
    problems: ['conflict', 'quota-exceeded'],
    example: {
      body: { waitlistRequest: REQUEST, label: 'Weekly chart', scopes: ['watchlists:read', 'watchlists:write'] },
      response: { ...example, key: exampleKey },
    },
  },
  rotateApiKey: {
    method: 'POST',
    path: '/api/v1/api-keys/{id}/rotation',
    tag,
    summary: 'Give an API key a new secret',
    description:
      'The id stays. The old secret is taken until the overlap ends; one that is older still ends at once. The new one ' +
      'is taken everywhere within 30 seconds. Needs a credential with every scope of the key, and a key that is ' +
      'neither revoked nor expired. A lost answer is sent again as that of `createApiKey` is.',
    scopes: ['keys:admin'],
    params,
    body: rotationSchema,
    success: { status: 200, description: 'Rotated', body: issuedApiKeySchema },
    problems: ['not-found', 'state-transition'],
    example: {
      params: { id: ID },
      body: { overlapSeconds: 3_600 },
      response: { ...example, key: exampleKey, previousSecretValidUntil: '2026-11-20T13:00:00.000Z' },
    },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api/v1/api-keys/{id}',
    tag,
    summary: 'Revoke an API key for good',
    description:
      'It is refused everywhere within 30 seconds. Its record stays in the list. Revoking it again changes nothing.',
    scopes: ['keys:admin'],
    params,
    success: { status: 204, description: 'Revoked', body: null },
    problems: ['not-found'],
    example: { params: { id: ID } },
  },
});
