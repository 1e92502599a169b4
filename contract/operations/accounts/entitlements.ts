/** Entitlements: the limit that a subject has for each feature. */
import * as z from 'zod';
import { ALL_FEATURES } from '../../values/features.ts';
import { instantSchema } from '../../values/metric.ts';
import { OPERATORS_ONLY, operationsOf } from '../operation.ts';
import { subjectSchema } from '../resources.ts';

export const entitlementSchema = z.strictObject({
  feature: z.enum(ALL_FEATURES).describe('The feature that the limit applies to.'),
  description: z.string().describe('A description of the feature, for people.'),
  kind: z
    .enum(['boolean', 'quota', 'rate'])
    .describe('`boolean`: allowed or not. `quota`: how many at once. `rate`: how many a day (UTC).'),
  limit: z.int().min(0).describe('0 or 1 for a boolean feature.'),
  used: z
    .int()
    .min(0)
    .nullable()
    .describe('Null if nothing is counted: for a boolean feature, or for a limit on each single resource.'),
  remaining: z
    .int()
    .min(0)
    .nullable()
    .describe(
      'The rest of the limit. 0 also when more is used, because a limit can be lowered. Null when `used` is null.',
    ),
  resetsAt: instantSchema
    .nullable()
    .describe('The moment when the count of a rate starts again at 0. Null for other kinds.'),
  source: z.enum(['default', 'granted']).describe('Whether the subject has a grant of its own.'),
  expiresAt: instantSchema
    .nullable()
    .describe('When the grant ends; then the default applies again. Null: it does not end, or there is no grant.'),
  revision: z
    .int()
    .min(1)
    .nullable()
    .describe('The revision of the grant. Its ETag is this number. Null: there is no grant.'),
});

export type Entitlement = z.infer<typeof entitlementSchema>;

export const entitlementsSchema = z.strictObject({
  subject: z.string().describe('The subject of these entitlements.'),
  entitlements: z.array(entitlementSchema).meta({ maxItems: ALL_FEATURES.length }).describe('One for each feature.'),
});

const expiresAt = instantSchema
  .nullable()
  .default(null)
  .describe('When the grant ends; then the default applies again. Null: it does not end.');

/** The shape follows from the feature's kind. */
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
    .strictObject({ enabled: z.boolean().describe('Whether the feature is allowed.'), expiresAt })
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

const params = z.strictObject({
  subject: subjectSchema,
  feature: z.enum(ALL_FEATURES).describe('See `x-tidemark-features`.'),
});

export const entitlementOperations = operationsOf({
  tag: 'Entitlements',
  marketLimit: 'refused-for-limited-keys',
  unlimitedBecause: OPERATORS_ONLY,
})({
  getEntitlements: {
    method: 'GET',
    path: '/api/v1/entitlements',
    summary: 'Read your entitlements, with used and remaining amounts',
    description: 'With the scope `entitlements:admin`, also those of another `subject`.',
    scopes: ['entitlements:read', 'entitlements:admin'],
    query: z.strictObject({
      subject: subjectSchema.optional().describe('The subject to read. If left out: your own.'),
    }),
    success: { status: 200, description: 'The entitlements', body: entitlementsSchema },
    example: { response: { subject: 'user:alice', entitlements: [example] } },
  },
  putEntitlement: {
    method: 'PUT',
    path: '/api/v1/entitlements/{subject}/{feature}',
    summary: 'Grant a subject a limit of its own, or switch a feature on or off for it',
    description:
      'Takes `limit`, or `enabled` for a boolean feature. The ETag is that of this one grant: changes of other ' +
      'features do not change it. An expired grant counts as absent. If the new limit is below the used amount, ' +
      'nothing is taken away. Nothing more is allowed until the used amount is below the limit.',
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
    summary: 'Withdraw a grant: the default applies again',
    scopes: ['entitlements:admin'],
    params,
    precondition: 'if-match',
    success: { status: 204, description: 'Withdrawn', body: null },
    example: { params: { subject: 'user:alice', feature: 'watchlists' } },
  },
});
