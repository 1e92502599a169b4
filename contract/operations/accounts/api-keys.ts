/** API keys: issued to the account of an approved waitlist request, by operators. */
import * as z from 'zod';
import { marketLimitSchema } from '../../files/feed-authority.ts';
import { instantSchema } from '../../values/metric.ts';
import { OPERATORS_ONLY, operationsOf } from '../operation.ts';
import { idSchema, lineSchema, pageQuery, pageSchema } from '../resources.ts';
import { ALL_SCOPES, type Scope } from '../scopes.ts';

/**
 * The scopes that an account's key can have. They cover the account's own resources, and contributions that are recorded
 * with their source. Reviewing claims, granting, publishing, purging, contacts, keys and the audit concern other people. So
 * these stay with operators, and no key can make itself or another key more powerful.
 *
 * The scopes of feeds are included because a feed must not run with an operator's key. As with every scope, only a
 * credential that has it can give it.
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
  'ingest:correct',
  'markets:write',
] as const satisfies readonly Scope[];

export const apiKeyIdSchema = z.string().regex(/^[0-9A-Za-z]{16}$/, { error: 'must be the id of an API key' });

export const apiKeySchema = z.strictObject({
  id: apiKeyIdSchema.describe('The part of the key between the environment and the secret. It is not secret.'),
  subject: z
    .string()
    .describe('The owner of the resources that the key creates: `account:<waitlist request id>`, or `operator`.'),
  label: z.string().describe('For people, to tell keys apart.'),
  scopes: z.array(z.enum(ALL_SCOPES)).describe('All scopes of the key.'),
  markets: marketLimitSchema,
  createdAt: instantSchema,
  expiresAt: instantSchema.nullable().describe('The key is refused from this moment on. Null: it does not expire.'),
  revokedAt: instantSchema.nullable().describe('Null: the key is not revoked.'),
  previousSecretValidUntil: instantSchema
    .nullable()
    .describe('The secret before the last rotation is accepted until this moment. Null: it is not accepted.'),
});

export const issuedApiKeySchema = apiKeySchema.extend({
  key: z
    .string()
    .startsWith('tdm_')
    .describe('The whole key with its secret. Only this answer and its replays show it.'),
});

const apiKeyInputSchema = z.strictObject({
  waitlistRequest: idSchema('req')
    .nullable()
    .describe('The id of an approved request: the key belongs to its account. Null: the key belongs to the operators.'),
  label: lineSchema(100).describe('For people, to tell keys apart. One line.'),
  scopes: z
    .array(z.enum(ALL_SCOPES))
    .min(1)
    .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'names a scope twice' })
    .describe(
      'All scopes of the key, each once. Your credential must have each of them. The key of an account can have ' +
        `${ACCOUNT_SCOPES.join(', ')}. A key with \`markets\` cannot have entitlements:admin, publications:write, recipes:write or ` +
        'waitlist:admin, because not all that they allow can be bound to markets.',
    ),
  markets: marketLimitSchema.default(null),
  expiresAt: instantSchema
    .nullable()
    .default(null)
    .describe(
      'The key is refused from this moment on. Null: it does not expire. An API key that expires can only issue keys ' +
        'that expire no later.',
    ),
});

const DAY_SECONDS = 24 * 60 * 60;

const rotationSchema = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(7 * DAY_SECONDS)
    .default(DAY_SECONDS)
    .describe('How long the old secret is still accepted; 0 ends it at once.'),
});

export type ApiKey = z.infer<typeof apiKeySchema>;

const ID = '4f8TqLw0ZkXcY2Rb';
const REQUEST = 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const example: ApiKey = {
  id: ID,
  subject: `account:${REQUEST}`,
  label: 'Weekly chart',
  scopes: ['watchlists:read', 'watchlists:write'],
  markets: null,
  createdAt: '2026-11-20T12:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  previousSecretValidUntil: null,
};
const exampleKey = `tdm_live_${ID}_<secret>`;

const params = z.strictObject({ id: apiKeyIdSchema });

export const apiKeyOperations = operationsOf({
  tag: 'API keys',
  scopes: ['keys:admin'],
  marketLimit: 'keys-within-the-limit',
  unlimitedBecause: OPERATORS_ONLY,
})({
  listApiKeys: {
    method: 'GET',
    path: '/api/v1/api-keys',
    summary: 'List all API keys, also revoked ones',
    description: 'Ordered by id; ids are random. Neither secrets nor their digests are shown.',
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of API keys', body: pageSchema(apiKeySchema) },
    example: { response: { data: [example], page: { nextCursor: null } } },
  },
  createApiKey: {
    method: 'POST',
    path: '/api/v1/api-keys',
    summary: 'Turn an approved waitlist request into an API key, or issue another operator key',
    description:
      "The key belongs to the account of the request. Until it is revoked, it counts as one of the account's " +
      '`api-keys`, no matter which operator issues it. A key without a request is a key of the operators: only an ' +
      'operator can issue it. The answer shows the key; only a digest of it is kept. If ' +
      'the answer is lost, send the request again with the same idempotency key. For 72 hours the answer, kept ' +
      'encrypted, holds the same key. A request with a new idempotency key issues another key.',
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
    summary: 'Give an API key a new secret',
    description:
      'The id stays the same. The old secret is accepted until the overlap ends; an even older secret ends at ' +
      'once. The new secret is accepted everywhere within 30 seconds. Your credential must have every scope of ' +
      'the key, all of its markets, and at least its lifetime. Only an operator can rotate or revoke a key of the ' +
      'operators. The key must be neither revoked nor expired. If the answer is lost, send the request again with ' +
      'the same idempotency key, as for `createApiKey`.',
    params,
    body: rotationSchema,
    success: { status: 200, description: 'Rotated', body: issuedApiKeySchema },
    problems: ['state-transition'],
    example: {
      params: { id: ID },
      body: { overlapSeconds: 3_600 },
      response: { ...example, key: exampleKey, previousSecretValidUntil: '2026-11-20T13:00:00.000Z' },
    },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api/v1/api-keys/{id}',
    summary: 'Revoke an API key for good',
    description:
      'The key is refused everywhere within 30 seconds. Its record stays in the list. To revoke it again changes ' +
      'nothing.',
    params,
    unlimitedBecause: 'a leaked key must always be revocable',
    success: { status: 204, description: 'Revoked', body: null },
    example: { params: { id: ID } },
  },
});
