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
  endOfKey,
  entitlementsKey,
  type WaitlistRequestValue,
  waitlistRequestKey,
  waitlistRequestOf,
} from '../../storage/records/accounts.ts';
import { knownEntitlements } from '../credentials/account-cache.ts';
import { formatApiKey, hashSecret, newApiKey, newSecret } from '../credentials/api-key-format.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';
import type { Principal } from '../credentials/principal.ts';
import { refusal, scopesRefusal } from '../http/refused-request.ts';
import { counterKey } from '../pipeline/counters.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { countedUses, limitOf, type Quota, unchangedLimits } from '../pipeline/quota.ts';

export const listApiKeys: ReadHandler<'listApiKeys'> = (request, tools) =>
  paginate(request, tools, {
    range: API_KEYS,
    valuesOf: (items) => items.map(({ value }) => toApiKey(value, request.nowMs)),
  });

export const createApiKey = writeHandler<'createApiKey'>()({
  async read({ body: { waitlistRequest } }, reader) {
    if (waitlistRequest === null) return null;
    return await reader.getMany([waitlistRequestKey(waitlistRequest), entitlementsKey(accountOf(waitlistRequest))]);
  },
  decide(request, account, found) {
    const { body, principal, environment, now, nowMs } = request;
    const owner = account === null ? operator(principal) : approvedAccount(request, account);
    const { subject, approved, quota } = owner;
    checkScopes(principal, body.scopes);
    checkMarketsOfKey(principal, body.markets);
    checkLimit(body.scopes, body.markets);
    checkExpiry(body.expiresAt, nowMs);
    checkLifetime(principal, body.expiresAt);
    if (quota !== null) checkQuota(quota, found);

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
    if (item === null) throw refusal('not-found', 'No such API key.');
    const before = item.value;
    checkRotation(before, nowMs);
    checkPower(principal, before);
    checkLifetime(principal, before.expiresAt);

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
    if (key === null) throw refusal('not-found', 'No such API key.');
    const { value } = key;
    // Otherwise a credential that may only issue keys to accounts could revoke the keys of operators.
    checkPower(principal, value);
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
function operator({ subject }: Principal): KeyOwner {
  if (subject === OPERATOR_SUBJECT) return { subject, approved: null, quota: null };
  throw refusal('forbidden', 'Only an operator key can issue another operator key: name an approved waitlist request.');
}

function approvedAccount(
  { body: { waitlistRequest, scopes }, nowMs }: OperationRequest<'createApiKey'>,
  [application, entitlements]: readonly [Item<WaitlistRequestValue> | null, Item<EntitlementsValue> | null],
): KeyOwner {
  const errors = scopes.flatMap((scope, index) => {
    if ((ACCOUNT_SCOPES as readonly Scope[]).includes(scope)) return [];
    return [{ pointer: `/scopes/${index}`, code: 'invalid', detail: `the key of an account cannot have ${scope}` }];
  });
  if (errors.length > 0) throw refusal('validation-failed', 'These scopes stay with operators.', { errors });
  const approved = checkApproved(application);
  const subject = accountOf(waitlistRequest ?? '');
  return {
    subject,
    approved,
    quota: { subject, actor: subject, entitlements: knownEntitlements(entitlements), nowMs },
  };
}

function checkApproved(item: Item<WaitlistRequestValue> | null): Item<WaitlistRequestValue> {
  if (item === null) {
    const errors = [{ pointer: '/waitlistRequest', code: 'invalid', detail: 'no such waitlist request' }];
    throw refusal('validation-failed', 'An API key needs a waitlist request.', { errors });
  }
  const { state } = item.value;
  if (state === 'approved') return item;
  throw refusal('conflict', `The waitlist request is ${state}: only an approved one can be turned into an API key.`);
}

function checkScopes({ scopes }: Principal, given: readonly Scope[]): void {
  const lacking = given.filter((scope) => !scopes.has(scope));
  if (lacking.length === 0) return;
  throw scopesRefusal(
    lacking,
    `A credential can only give and take scopes that it has: this one lacks ${lacking.join(', ')}.`,
  );
}

function checkMarketsOfKey({ markets }: Principal, given: readonly string[] | null): void {
  if (markets === null || given?.every((pattern) => coversMarket(markets, pattern))) return;
  throw refusal('forbidden', 'A credential that is limited to some markets can only give and take keys for these.');
}

/**
 * Refuses scopes whose operations cannot all be limited to markets. These operations refuse limited keys that already have such
 * a scope.
 */
function checkLimit(scopes: readonly Scope[], markets: readonly string[] | null): void {
  const errors = scopes.flatMap((scope, index) => {
    if (markets === null || !UNLIMITED_SCOPES.includes(scope)) return [];
    const detail = `a key that is limited to markets cannot have ${scope}, which is about all of them`;
    return [{ pointer: `/scopes/${index}`, code: 'invalid', detail }];
  });
  if (errors.length === 0) return;
  throw refusal('validation-failed', 'Leave these scopes out, or issue the key without "markets".', { errors });
}

/** Refuses a credential with fewer rights than the key. */
function checkPower(principal: Principal, key: ApiKeyValue): void {
  // Otherwise it could rotate a key of the operators that has few scopes, and then act as an operator.
  if (key.subject === OPERATOR_SUBJECT && principal.subject !== OPERATOR_SUBJECT) {
    throw refusal('forbidden', 'This is a key of the operators: only an operator key can rotate or revoke it.');
  }
  checkScopes(principal, key.scopes);
  checkMarketsOfKey(principal, key.markets ?? null);
}

/** A user's token always expires soon, and the user gets a new one. So only the expiry of API keys is compared. */
function checkLifetime(principal: Principal, expiresAt: string | null): void {
  if (principal.kind !== 'api-key' || principal.expiresAt === null) return;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(principal.expiresAt)) return;
  throw refusal('forbidden', `This API key ends at ${principal.expiresAt}, so it can only give keys that end by then.`);
}

function checkExpiry(expiresAt: string | null, nowMs: number): void {
  if (expiresAt === null || Date.parse(expiresAt) > nowMs) return;
  const errors = [{ pointer: '/expiresAt', code: 'invalid', detail: 'must be in the future' }];
  throw refusal('validation-failed', 'The key would never be valid.', { errors });
}

/** Compares the count of the refused counter with the limit, which may have been read again meanwhile. */
function checkQuota(quota: Quota, found: ConflictItems): void {
  const counter = found.get(counterKey(quota, 'api-keys'));
  if (counter === undefined) return;
  const used = counter?.value ?? 0;
  const limit = limitOf(quota, 'api-keys');
  if (used < limit) return;
  throw refusal('quota-exceeded', `The account has ${used} API keys of ${limit}: revoke one, or grant it more.`);
}

function checkRotation(key: ApiKeyValue, nowMs: number): void {
  const state = endOfKey(key, nowMs);
  if (state === null) return;
  throw refusal('state-transition', `The API key is ${state}, so it cannot get a new secret: issue another key.`);
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
