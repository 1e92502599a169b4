/** Entitlements: what a subject may have of each feature. */
import * as z from 'zod';
import { ALL_FEATURES } from '../features.ts';
import { instantSchema } from '../metric.ts';
import { defineOperations } from './operation.ts';
import { subjectSchema } from './resources.ts';

export const entitlementSchema = z.strictObject({
  feature: z.enum(ALL_FEATURES),
  description: z.string(),
  /** `boolean`: allowed or not; `quota`: how many at once; `rate`: how many a day, by UTC. */
  kind: z.enum(['boolean', 'quota', 'rate']),
  /** 0 or 1 for a boolean one. */
  limit: z.int().min(0),
  /** Null for what is not counted: a boolean one, or a limit on each single thing. */
  used: z.int().min(0).nullable(),
  /** What is left of the limit: 0 too where more is used, since a limit can be lowered. */
  remaining: z.int().min(0).nullable(),
  /** When the count of a rate starts anew. */
  resetsAt: instantSchema.nullable(),
  source: z.enum(['default', 'granted']),
  /** When the grant ends, and the default holds again. */
  expiresAt: instantSchema.nullable(),
  /** The grant's; null without one. */
  revision: z.int().min(1).nullable(),
});

export type Entitlement = z.infer<typeof entitlementSchema>;

export const entitlementsSchema = z.strictObject({
  subject: z.string(),
  /** One for each feature. */
  entitlements: z.array(entitlementSchema),
});

const expiresAt = instantSchema.nullable().default(null);

/** By the feature's kind. */
const grantSchema = z.union([
  z.strictObject({ limit: z.int().min(0), expiresAt }),
  z.strictObject({ enabled: z.boolean(), expiresAt }),
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
const params = z.strictObject({ subject: subjectSchema, feature: z.enum(ALL_FEATURES) });

export const entitlementOperations = defineOperations({
  getEntitlements: {
    method: 'GET',
    path: '/api/v1/entitlements',
    tag,
    summary: 'Read what you are entitled to, with use and remainder',
    description: "With the scope `entitlements:admin` also anybody else's, by `subject`.",
    scopes: ['entitlements:read', 'entitlements:admin'],
    query: z.strictObject({ subject: subjectSchema.optional() }),
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
