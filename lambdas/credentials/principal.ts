/** Authentication: reads the Authorization header, and finds the signed-in user or the API key. */
import type { Scope } from '../../contract/operations/scopes.ts';
import { type ApiKeyValue, endOfKey } from '../../storage/records/accounts.ts';
import { type AccountCache, type AccountCacheOptions, createAccountCache, type Entitlements } from './account-cache.ts';
import { API_KEY_PREFIX, type ApiKeyEnvironment, parseApiKey, secretMatches } from './api-key-format.ts';
import { createFailureLimit } from './failure-limit.ts';
import type { TokenVerifier } from './jwt.ts';

export interface Principal {
  readonly kind: 'user' | 'api-key';
  /** The credential: `user:<sub>` or `key:<key id>`. */
  readonly actor: string;
  /** The owner: `user:<sub>`, or the subject in the key's record. */
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The markets that an API key is limited to; null: all. */
  readonly markets: readonly string[] | null;
  /** RFC 3339, or null. */
  readonly expiresAt: string | null;
  /** The cached entitlements; a write's transaction checks them. */
  readonly entitlements: Entitlements;
}

/** `rate-limited`: the sender's network has failed too often, and the credential was not checked. */
export interface RefusedCredential {
  readonly code: 'unauthenticated' | 'rate-limited';
  /** The fault. It repeats no part of the credential. */
  readonly detail: string;
  /** `WWW-Authenticate` (RFC 6750, section 3), or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
}

export type Authentication = { readonly principal: Principal } | { readonly refused: RefusedCredential };

export interface Authenticator {
  /**
   * Takes the value of the Authorization header, and the sender's address if its failures are to be limited. Reads the ledger
   * at most once, and never for text that is not a key. Rejects with `StorageUnavailable` or `IssuerUnavailable` if a
   * credential that may be valid cannot be checked.
   */
  authenticate(authorization: string | undefined, address?: string): Promise<Authentication>;
  /** Stores a subject's entitlements item that a write has returned; null: there was no item. */
  learn: AccountCache['learn'];
  /** Makes the next use of the key read its record again, because this process has changed the key. */
  forget(keyId: string): void;
}

export interface AuthenticatorOptions extends AccountCacheOptions {
  /** Keys of other environments are refused. */
  readonly env: ApiKeyEnvironment;
  /** Null: users cannot sign in here. */
  readonly tokenIssuer: TokenVerifier | null;
}

const MAX_AUTHORIZATION_LENGTH = 8192;

/** RFC 6750, section 2.1, with a single space. The scheme's name in any case (RFC 9110, section 11.1). */
const BEARER = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** A wrong secret reads the key's record again at most once in this time, so guessing secrets costs few reads. */
const SECOND_LOOK_MS = 1000;

const TOO_MANY = 'Too many credentials from your network were refused: wait, and correct yours.';

/** One text for every reason, so that it reveals nothing: unknown, wrong secret, another environment, expired or revoked. */
const KEY_REFUSED = 'The API key is unknown, expired or revoked.';

export function createAuthenticator({ tokenIssuer, ...options }: AuthenticatorOptions): Authenticator {
  const { nowMs, env } = options;
  const cache = createAccountCache(options);
  const failures = createFailureLimit(options);

  async function authenticateKey(text: string): Promise<Authentication> {
    const parts = parseApiKey(text);
    if (parts === null) return refused('The API key is incomplete or mistyped: its checksum is wrong.');
    if (parts.env !== env) return refused(KEY_REFUSED);
    let record = await cache.apiKey(parts.keyId);
    // The new secret of a rotated key must work at once, so a wrong secret reads the record again.
    if (record !== null && !isOneOf(record, parts.secret)) {
      record = await cache.apiKey(parts.keyId, SECOND_LOOK_MS);
    }
    if (!opens(record, parts.secret, nowMs())) return refused(KEY_REFUSED);
    const { subject, markets = null, expiresAt } = record;
    const scopes = new Set(record.scopes);
    const entitlements = cache.cachedEntitlements(subject);
    const actor = `key:${parts.keyId}`;
    return { principal: { kind: 'api-key', actor, subject, scopes, markets, expiresAt, entitlements } };
  }

  async function authenticateUser(text: string): Promise<Authentication> {
    if (tokenIssuer === null) return refused('Users cannot sign in here: send an API key.');
    const verification = await tokenIssuer.verify(text);
    if ('refused' in verification) return refused(verification.refused);
    const { subject: sub, scopes, expiresAt } = verification.token;
    const subject = `user:${sub}`;
    const entitlements = cache.cachedEntitlements(subject);
    return { principal: { kind: 'user', actor: subject, subject, scopes, markets: null, expiresAt, entitlements } };
  }

  return {
    async authenticate(authorization, address = '') {
      if (authorization === undefined) return NO_CREDENTIAL;
      if (authorization.length > MAX_AUTHORIZATION_LENGTH) return refused('The credential is too long.');
      const token = BEARER.exec(authorization)?.[1];
      if (token === undefined) return NO_CREDENTIAL;
      const retryAfterSeconds = address === '' ? 0 : failures.waitSeconds(token, address);
      if (retryAfterSeconds > 0) {
        const headers = { 'retry-after': String(retryAfterSeconds) };
        return { refused: { code: 'rate-limited', detail: TOO_MANY, headers } };
      }
      const result = await (token.startsWith(API_KEY_PREFIX) ? authenticateKey(token) : authenticateUser(token));
      if ('principal' in result) failures.succeeded(token);
      else if (address !== '') failures.failed(address);
      return result;
    },
    learn: cache.learn,
    forget: cache.forget,
  };
}

/** Compared with the secret of a key that does not exist, so that this refusal takes as long as any other. */
const HASH_OF_NOTHING = '0'.repeat(64);

function opens(record: ApiKeyValue | null, secret: string, nowMs: number): record is ApiKeyValue {
  const isCurrent = secretMatches(secret, record?.secretHash ?? HASH_OF_NOTHING);
  const isPrevious = secretMatches(secret, record?.previousSecret?.hash ?? HASH_OF_NOTHING);
  if (record === null || endOfKey(record, nowMs) !== null) return false;
  if (isCurrent) return true;
  return isPrevious && record.previousSecret !== null && nowMs < Date.parse(record.previousSecret.validUntil);
}

function isOneOf({ secretHash, previousSecret }: ApiKeyValue, secret: string): boolean {
  return secretMatches(secret, secretHash) || secretMatches(secret, previousSecret?.hash ?? HASH_OF_NOTHING);
}

const REALM = 'Bearer realm="tidemark"';

/** Without an error code, because the request had no credential (RFC 6750, section 3.1). */
const NO_CREDENTIAL: Authentication = {
  refused: {
    code: 'unauthenticated',
    detail: 'Send "Authorization: Bearer <token>" once, with an access token or an API key.',
    headers: { 'www-authenticate': REALM },
  },
};

function refused(detail: string): Authentication {
  const challenge = `${REALM}, error="invalid_token", error_description="${detail}"`;
  return { refused: { code: 'unauthenticated', detail, headers: { 'www-authenticate': challenge } } };
}
