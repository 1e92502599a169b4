/**
 * The handlers of entitlements. All grants of a subject are in one item, so that a write checks them all at once. Each grant is
 * a resource. Its revision is the item's revision at its last change, and `If-Match` names that revision.
 */

import type { Entitlement } from '../../contract/operations/accounts/entitlements.ts';
import type { BodyOf } from '../../contract/operations/operations.ts';
import type { ProblemError } from '../../contract/problems/problems.ts';
import { ALL_FEATURES, FEATURES, type Feature } from '../../contract/values/features.ts';
import { canonicalInstant } from '../../contract/values/metric.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import { type EntitlementGrant, type EntitlementsValue, entitlementsKey } from '../../storage/records/accounts.ts';
import { knownEntitlements } from '../credentials/account-cache.ts';
import { refusal, scopesRefusal } from '../http/refused-request.ts';
import { type Counters, readCounters, usedOf } from '../pipeline/counters.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { checkPrecondition, unchanged } from '../pipeline/preconditions.ts';
import { endOfDayMs, grantOf } from '../pipeline/quota.ts';

type Grants = EntitlementsValue['features'];

export const getEntitlements: ReadHandler<'getEntitlements'> = async ({ principal, query, nowMs }, { reader }) => {
  const { subject = principal.subject } = query;
  if (subject !== principal.subject && !principal.scopes.has('entitlements:admin')) {
    const detail = 'The entitlements of another subject need a credential with the scope entitlements:admin.';
    throw scopesRefusal(['entitlements:admin'], detail);
  }
  const { actor } = principal;
  const [item, counters] = await Promise.all([
    reader.get(entitlementsKey(subject)),
    readCounters(reader, { subject, actor, nowMs }, ALL_FEATURES),
  ]);
  const { features } = knownEntitlements(item);
  const entitlements = ALL_FEATURES.map((feature) => {
    return toEntitlement(feature, grantOf(features, feature, nowMs), counters.get(feature), nowMs);
  });
  return { body: { subject, entitlements } };
};

export const putEntitlement = writeHandler<'putEntitlement'>()({
  read: ({ params: { subject, feature }, principal: { actor }, nowMs }, reader) =>
    Promise.all([reader.get(entitlementsKey(subject)), readCounters(reader, { subject, actor, nowMs }, [feature])]),
  decide(request, [item, counters]) {
    const { params, body, now, nowMs } = request;
    const counter = counters.get(params.feature);
    const { features } = knownEntitlements(item);
    const before = grantOf(features, params.feature, nowMs);
    checkGrant(params.feature, body, nowMs);
    checkPrecondition(request, before);
    const grant: EntitlementGrant = {
      limit: 'enabled' in body ? Number(body.enabled) : body.limit,
      revision: (item?.revision ?? 0) + 1,
      grantedAt: now,
      expiresAt: body.expiresAt === null ? null : canonicalInstant(body.expiresAt),
    };
    if (item !== null && before?.limit === grant.limit && before.expiresAt === grant.expiresAt) {
      const body = toEntitlement(params.feature, before, counter, nowMs);
      return unchanged(targetOf(params), item, { body, revision: before.revision });
    }
    return {
      target: targetOf(params),
      changes: [putGrants(params.subject, item, { ...features, [params.feature]: grant })],
      response: { body: toEntitlement(params.feature, grant, counter, nowMs), revision: grant.revision },
    };
  },
});

export const deleteEntitlement = writeHandler<'deleteEntitlement'>()({
  read: ({ params }, reader) => reader.get(entitlementsKey(params.subject)),
  decide(request, item) {
    const { params, nowMs } = request;
    const { features } = knownEntitlements(item);
    const before = grantOf(features, params.feature, nowMs);
    if (before === null) throw refusal('not-found', 'No such grant: the default applies.');
    checkPrecondition(request, before);
    const { [params.feature]: _, ...others } = features;
    return {
      target: targetOf(params),
      changes: [putGrants(params.subject, item, others)],
      response: { body: null },
    };
  },
});

function checkGrant(feature: Feature, body: BodyOf<'putEntitlement'>, nowMs: number): void {
  const { kind, maxLimit } = FEATURES[feature];
  const errors: ProblemError[] = [];
  if ('enabled' in body !== (kind === 'boolean')) {
    const detail = kind === 'boolean' ? `${feature} takes "enabled", not "limit"` : `${feature} takes "limit"`;
    errors.push({ pointer: 'enabled' in body ? '/enabled' : '/limit', code: 'invalid', detail });
  } else if ('limit' in body && body.limit > maxLimit) {
    errors.push({ pointer: '/limit', code: 'invalid', detail: `must be at most ${maxLimit}` });
  }
  if (body.expiresAt !== null && Date.parse(body.expiresAt) <= nowMs) {
    errors.push({ pointer: '/expiresAt', code: 'invalid', detail: 'must be in the future' });
  }
  if (errors.length > 0) throw refusal('validation-failed', 'This cannot be granted: see errors.', { errors });
}

type OneGrant = OperationRequest<'putEntitlement' | 'deleteEntitlement'>;

/**
 * Also refused if another feature has changed meanwhile. Then everything is read again, and only the feature's own grant
 * decides.
 */
function putGrants(subject: string, item: Item<EntitlementsValue> | null, features: Grants): Change {
  return item === null ? created(entitlementsKey(subject), { features }, 1) : replaced(item, { features });
}

function targetOf({ subject, feature }: OneGrant['params']): string {
  return `entitlements/${subject}/${feature}`;
}

/** Features whose limit applies to each resource separately: they have no count for the subject. */
const LIMITS_OF_ONE_THING: ReadonlySet<Feature> = new Set(['watchlist-items']);

function toEntitlement(
  feature: Feature,
  grant: EntitlementGrant | null,
  counters: Counters | undefined,
  nowMs: number,
): Entitlement {
  const { kind, description, defaultLimit } = FEATURES[feature];
  const limit = grant?.limit ?? defaultLimit;
  const isCounted = kind !== 'boolean' && !LIMITS_OF_ONE_THING.has(feature);
  // These are read one by one. So a reserve may be read after a refill, and its counter before it: the sum could be negative.
  const used = counters === undefined ? 0 : Math.max(0, usedOf(counters));
  return {
    feature,
    description,
    kind,
    limit,
    used: isCounted ? used : null,
    remaining: isCounted ? Math.max(0, limit - used) : null,
    resetsAt: kind === 'rate' ? new Date(endOfDayMs(nowMs)).toISOString() : null,
    source: grant === null ? 'default' : 'granted',
    expiresAt: grant?.expiresAt ?? null,
    revision: grant?.revision ?? null,
  };
}
