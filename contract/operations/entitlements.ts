/** Entitlements: what a subject may have of each feature. */
import * as z from 'zod';
import { ALL_FEATURES } from '../features.ts';
import { instantSchema } from '../metric.ts';
import { defineOperations } from './operation.ts';
import { subjectSchema } from './resources.ts';

export const entitlementSchema = z.strictObject({
  feature: z.enum(ALL_FEATURES).describe('What the limit is on.'),
  description: z.string().describe('What the feature is, for people.'),
  kind: z
    .enum(['boolean', 'quota', 'rate'])
    .describe('`boolean`: allowed or not; `quota`: how many at once; `rate`: how many a day, by UTC.'),
  limit: z.int().min(0).describe('0 or 1 for a boolean feature.'),
  used: z
    .int()
    .min(0)
    .nullable()
    .describe('Null for what is not counted: a boolean feature, or a limit on each single thing.'),
  remaining: z
    .int()
    .min(0)
    .nullable()
    .describe('What is left of the limit: 0 too where more is used, since a limit can be lowered. Null as `used` is.'),
  resetsAt: instantSchema.nullable().describe('When the count of a rate starts anew; null for other kinds.'),
  source: z.enum(['default', 'granted']).describe('Whether the subject has a grant of its own.'),
  expiresAt: instantSchema
    .nullable()
    .describe('When the grant ends, and the default holds again; null: never, or there is no grant.'),
  revision: z.int().min(1).nullable().describe("The grant's: its ETag is this number. Null without a grant."),
});

export type Entitlement = z.infer<typeof entitlementSchema>;

export const entitlementsSchema = z.strictObject({
  subject: z.string().describe('Whose they are.'),
  entitlements: z.array(entitlementSchema).describe('One for each feature.'),
});

const expiresAt = instantSchema
  .nullable()
  .default(null)
  .describe('When the grant ends, and the default holds again; null: never.');

/** By the feature's kind. */
const grantSchema = z.union([
  z
    .strictObject({
      limit: z
        .int()
        .min(0)
        .describe("How many at once, or a day. At most the feature's `maxLimit`, see `x-tidemark-features`."),
      expiresAt,
    })
    .meta({ title: 'Of a quota or a rate' }),
  z
    .strictObject({ enabled: z.boolean().describe('Whether it is allowed.'), expiresAt })
    .meta({ title: 'Of a boolean feature' }),
]);

const example: Entitlement = {
  feature: 'watchlists',
  description: 'Watchlists',
  kind: 'quota',
  limit: 100,
  used: 3,
  remaining: 97,
  resetsAt: null,
  source: 'granted',
  expiresAt: null,
  revision: 1,
};

const tag = 'Entitlements';
const params = z.strictObject({
  subject: subjectSchema,
  feature: z.enum(ALL_FEATURES).describe('See `x-tidemark-features`.'),
});

export const entitlementOperations = defineOperations({
  getEntitlements: {
    method: 'GET',
    path: '/api/v1/entitlements',
    tag,
    summary: 'Read what you are entitled to, with use and remainder',
    description: "With the scope `entitlements:admin` also anybody else's, by `subject`.",
    scopes: ['entitlements:read', 'entitlements:admin'],
    query: z.strictObject({
      subject: subjectSchema.optional().describe('Whose to read; left out: your own.'),
    }),
    success: { status: 200, description: 'The entitlements', body: entitlementsSchema },
    example: { response: { subject: 'user:alice', entitlements: [example] } },
  },
  putEntitlement: {
    method: 'PUT',
    path: '/api/v1/entitlements/{subject}/{feature}',
    tag,
    summary: 'Grant a subject a limit of its own, or switch a feature on or off for it',
    description:
      'Takes `limit`, or `enabled` for a boolean feature. The ETag is that of the grant: changes of other features do ' +
      'not move it, and a grant that has expired is none. A limit below what is used takes nothing away: nothing more ' +
      'is allowed until the use has dropped.',
    scopes: ['entitlements:admin'],
    params,
    body: grantSchema,
    precondition: 'if-match-or-none-match',
    success: { status: 200, description: 'Granted', body: entitlementSchema, headers: ['ETag'] },
    example: { params: { subject: 'user:alice', feature: 'watchlists' }, body: { limit: 100 }, response: example },
  },
  deleteEntitlement: {
    method: 'DELETE',
    path: '/api/v1/entitlements/{subject}/{feature}',
    tag,
    summary: 'Withdraw a grant: the default holds again',
    scopes: ['entitlements:admin'],
    params,
    precondition: 'if-match',
    success: { status: 204, description: 'Withdrawn', body: null },
    problems: ['not-found'],
    example: { params: { subject: 'user:alice', feature: 'watchlists' } },
  },
});
