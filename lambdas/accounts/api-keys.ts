/**
 * The handlers of API keys. A key is issued to the account of an approved waitlist request, and the request's record
 * lists the account's keys. So an erasure of the account knows all its keys, and a key issued at the same time is not
 * missed.
 *
 * Managing keys grants no additional rights: to issue or rotate a key, a credential must have all of its scopes and markets,
 * and its lifetime; to revoke one, its scopes and markets. Keys of the operators are for operators only.
 */
import { coversMarket } from '../../contract/files/feed-authority.ts';
import { ACCOUNT_SCOPES, type ApiKey } from '../../contract/operations/accounts/api-keys.ts';
import { UNLIMITED_SCOPES } from '../../contract/operations/operations.ts';
import type { Scope } from '../../contract/operations/scopes.ts';
import { canonicalInstant } from '../../contract/values/metric.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import {
  API_KEYS,
  type ApiKeyValue,
  accountOf,
  apiKeyKey,
  type EntitlementsValue,
  entitlementsKey,
  type WaitlistRequestValue,
  waitlistRequestKey,
  waitlistRequestOf,
} from '../../storage/records/accounts.ts';
import { knownEntitlements } from '../credentials/account-cache.ts';
import { formatApiKey, hashSecret, newApiKey, newSecret } from '../credentials/api-key-format.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';
import type { Principal } from '../credentials/principal.ts';
import { counterKey } from '../pipeline/counters.ts';
import {
  isRefused,
  type OperationRequest,
  type ReadHandler,
  type Refused,
  refuse,
  refuseInvalid,
  refuseScopes,
  writeHandler,
} from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { countedUses, limitOf, type Quota, unchangedLimits } from '../pipeline/quota.ts';

export const listApiKeys: ReadHandler<'listApiKeys'> = {
  answer: (request, tools) =>
    paginate(request, tools, {
      range: API_KEYS,
      valuesOf: (items) => items.map(({ value }) => toApiKey(value, request.nowMs)),
    }),
};

export const createApiKey = writeHandler<'createApiKey'>()({
  async read({ body: { waitlistRequest } }, reader) {
    if (waitlistRequest === null) return null;
    return await reader.getMany([waitlistRequestKey(waitlistRequest), entitlementsKey(accountOf(waitlistRequest))]);
  },
  decide(request, account, found) {
    const { body, principal, environment, now, nowMs } = request;
    const owner = account === null ? operatorOr(principal) : accountOr(request, account);
    if (isRefused(owner)) return owner;
    const { subject, approved, quota } = owner;
    const refused =
      refusedScopes(principal, body.scopes) ??
      refusedMarkets(principal, body.markets) ??
      refusedLimit(body.scopes, body.markets) ??
      refusedExpiry(body.expiresAt, nowMs) ??
      refusedLifetime(principal, body.expiresAt) ??
      (quota && refusedQuota(quota, found));
    if (refused !== null) return refused;

    const parts = newApiKey(environment, request.randomBytes);
    const value: ApiKeyValue = {
      id: parts.keyId,
      subject,
      label: body.label,
      scopes: [...body.scopes].sort(),
      markets: body.markets,
      secretHash: hashSecret(parts.secret),
      previousSecret: null,
      createdAt: now,
      expiresAt: body.expiresAt === null ? null : canonicalInstant(body.expiresAt),
      revokedAt: null,
    };
    return {
      target: targetOf(value.id),
      changes: [
        created(apiKeyKey(value.id), value, 1),
        ...(approved ? [putKeys(approved, (keys) => [...keys, value.id])] : []),
        ...(quota ? [...countedUses(quota, [{ feature: 'api-keys', amount: 1 }], found), unchangedLimits(quota)] : []),
      ],
      response: { body: { ...toApiKey(value, nowMs), key: formatApiKey(parts) } },
    };
  },
});

export const rotateApiKey = writeHandler<'rotateApiKey'>()({
  read: ({ params }, reader) => reader.get(apiKeyKey(params.id)),
  decide({ params, body, principal, environment, randomBytes, nowMs }, item) {
    if (item === null) return refuse('not-found', 'No such API key.');
    const before = item.value;
    const refused =
      refusedRotation(before, nowMs) ?? refusedPower(principal, before) ?? refusedLifetime(principal, before.expiresAt);
    if (refused !== null) return refused;

    const secret = newSecret(randomBytes);
    const validUntil = new Date(nowMs + body.overlapSeconds * 1000).toISOString();
    const value: ApiKeyValue = {
      ...before,
      secretHash: hashSecret(secret),
      previousSecret: body.overlapSeconds === 0 ? null : { hash: before.secretHash, validUntil },
    };
    return {
      target: targetOf(params.id),
      changes: [replaced(item, value)],
      response: {
        body: { ...toApiKey(value, nowMs), key: formatApiKey({ env: environment, keyId: params.id, secret }) },
      },
    };
  },
});

export const revokeApiKey = writeHandler<'revokeApiKey'>()({
  async read({ params }, reader) {
    const key = await reader.get(apiKeyKey(params.id));
    const application = key === null ? null : waitlistRequestOf(key.value.subject);
    return { key, application: application === null ? null : await reader.get(waitlistRequestKey(application)) };
  },
  decide({ params, now, nowMs, principal }, { key, application }, found) {
    if (key === null) return refuse('not-found', 'No such API key.');
    const { value } = key;
    // Otherwise a credential that may only issue keys to accounts could revoke the keys of operators.
    const refused = refusedPower(principal, value);
    if (refused !== null) return refused;
    const target = targetOf(params.id);
    if (value.revokedAt !== null) {
      return { isUnchanged: true, target, changes: [], response: { body: null } };
    }
    const changes = [replaced(key, revoked(value, now)), ...takenFromAccount(value, application, nowMs, found)];
    return { target, changes, response: { body: null } };
  },
});

/** The record of a key after its revocation. */
export function revoked(value: ApiKeyValue, now: string): ApiKeyValue {
  return { ...value, previousSecret: null, revokedAt: now };
}

/** The account's part of the revocation of one of its keys. Empty for an operator's key, because operators have no request. */
export function takenFromAccount(
  { id, subject }: ApiKeyValue,
  application: Item<WaitlistRequestValue> | null,
  nowMs: number,
  found: ConflictItems,
): readonly Change[] {
  if (application === null) return [];
  const others = putKeys(application, (keys) => keys.filter((other) => other !== id));
  return [others, ...giveBackKeys(subject, 1, nowMs, found)];
}

/** Gives used quota back when keys of an account are revoked. */
export function giveBackKeys(account: string, count: number, nowMs: number, found: ConflictItems): readonly Change[] {
  // No limit applies, so the account's entitlements do not matter.
  const quota = { subject: account, actor: account, entitlements: knownEntitlements(null), nowMs };
  return countedUses(quota, [{ feature: 'api-keys', amount: -count }], found);
}

function putKeys(item: Item<WaitlistRequestValue>, change: (keys: readonly string[]) => string[]): Change {
  return replaced(item, { ...item.value, keys: change(item.value.keys) });
}

/** The owner of a new key. Operators have no request, and no quota of keys. */
interface KeyOwner {
  readonly subject: string;
  readonly approved: Item<WaitlistRequestValue> | null;
  readonly quota: Quota | null;
}

/** Only operators can issue keys to operators. Other credentials with `keys:admin` issue keys to accounts. */
function operatorOr({ subject }: Principal): KeyOwner | Refused {
  if (subject === OPERATOR_SUBJECT) return { subject, approved: null, quota: null };
  return refuse('forbidden', 'Only an operator key can issue another operator key: name an approved waitlist request.');
}

function accountOr(
  { body: { waitlistRequest, scopes }, nowMs }: OperationRequest<'createApiKey'>,
  [application, entitlements]: readonly [Item<WaitlistRequestValue> | null, Item<EntitlementsValue> | null],
): KeyOwner | Refused {
  const errors = scopes.flatMap((scope, index) => {
    if ((ACCOUNT_SCOPES as readonly Scope[]).includes(scope)) return [];
    return [{ pointer: `/scopes/${index}`, code: 'invalid', detail: `the key of an account cannot have ${scope}` }];
  });
  if (errors.length > 0) return refuse('validation-failed', 'These scopes stay with operators.', { errors });
  const approved = approvedOr(application);
  if (isRefused(approved)) return approved;
  const subject = accountOf(waitlistRequest ?? '');
  return {
    subject,
    approved,
    quota: { subject, actor: subject, entitlements: knownEntitlements(entitlements), nowMs },
  };
}

function approvedOr(item: Item<WaitlistRequestValue> | null): Item<WaitlistRequestValue> | Refused {
  if (item === null) {
    const error = { pointer: '/waitlistRequest', code: 'invalid', detail: 'no such waitlist request' };
    return refuseInvalid('An API key needs a waitlist request.', error);
  }
  const { state } = item.value;
  if (state === 'approved') return item;
  return refuse('conflict', `The waitlist request is ${state}: only an approved one can be turned into an API key.`);
}

function refusedScopes({ scopes }: Principal, given: readonly Scope[]): Refused | null {
  const lacking = given.filter((scope) => !scopes.has(scope));
  if (lacking.length === 0) return null;
  return refuseScopes(
    lacking,
    `A credential can only give and take scopes that it has: this one lacks ${lacking.join(', ')}.`,
  );
}

function refusedMarkets({ markets }: Principal, given: readonly string[] | null): Refused | null {
  if (markets === null || given?.every((pattern) => coversMarket(markets, pattern))) return null;
  return refuse('forbidden', 'A credential that is limited to some markets can only give and take keys for these.');
}

/**
 * Refuses scopes whose operations cannot all be limited to markets. These operations refuse limited keys that already have such
 * a scope.
 */
function refusedLimit(scopes: readonly Scope[], markets: readonly string[] | null): Refused | null {
  const errors = scopes.flatMap((scope, index) => {
    if (markets === null || !UNLIMITED_SCOPES.includes(scope)) return [];
    const detail = `a key that is limited to markets cannot have ${scope}, which is about all of them`;
    return [{ pointer: `/scopes/${index}`, code: 'invalid', detail }];
  });
  if (errors.length === 0) return null;
  return refuse('validation-failed', 'Leave these scopes out, or issue the key without "markets".', { errors });
}

/** Refuses a credential with fewer rights than the key. */
function refusedPower(principal: Principal, key: ApiKeyValue): Refused | null {
  // Otherwise it could rotate a key of the operators that has few scopes, and then act as an operator.
  if (key.subject === OPERATOR_SUBJECT && principal.subject !== OPERATOR_SUBJECT) {
    return refuse('forbidden', 'This is a key of the operators: only an operator key can rotate or revoke it.');
  }
  return refusedScopes(principal, key.scopes) ?? refusedMarkets(principal, key.markets ?? null);
}

/** A user's token always expires soon, and the user gets a new one. So only the expiry of API keys is compared. */
function refusedLifetime(principal: Principal, expiresAt: string | null): Refused | null {
  if (principal.kind !== 'api-key' || principal.expiresAt === null) return null;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(principal.expiresAt)) return null;
  return refuse('forbidden', `This API key ends at ${principal.expiresAt}, so it can only give keys that end by then.`);
}

function refusedExpiry(expiresAt: string | null, nowMs: number): Refused | null {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return null;
  const error = { pointer: '/expiresAt', code: 'invalid', detail: 'must be in the future' };
  return refuseInvalid('The key would never be valid.', error);
}

/** Compares the count of the refused counter with the limit, which may have been read again meanwhile. */
function refusedQuota(quota: Quota, found: ConflictItems): Refused | null {
  const counter = found.get(counterKey(quota, 'api-keys'));
  if (counter === undefined) return null;
  const used = counter?.value ?? 0;
  const limit = limitOf(quota, 'api-keys');
  if (used < limit) return null;
  return refuse('quota-exceeded', `The account has ${used} API keys of ${limit}: revoke one, or grant it more.`);
}

function refusedRotation({ revokedAt, expiresAt }: ApiKeyValue, nowMs: number): Refused | null {
  const isExpired = expiresAt !== null && Date.parse(expiresAt) <= nowMs;
  if (revokedAt === null && !isExpired) return null;
  const state = revokedAt === null ? 'expired' : 'revoked';
  return refuse('state-transition', `The API key is ${state}, so it cannot get a new secret: issue another key.`);
}

function targetOf(id: string): string {
  return `api-key/${id}`;
}

function toApiKey(value: ApiKeyValue, nowMs: number): ApiKey {
  const { id, subject, label, scopes, markets = null, previousSecret, createdAt, expiresAt, revokedAt } = value;
  const overlaps = previousSecret !== null && Date.parse(previousSecret.validUntil) > nowMs;
  const previousSecretValidUntil = overlaps ? previousSecret.validUntil : null;
  return { id, subject, label, scopes, markets, createdAt, expiresAt, revokedAt, previousSecretValidUntil };
}
