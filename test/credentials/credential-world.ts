/** A deployment with one issuer and one API key, a clock that stands still, and everything counted. */
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { Json } from '../../contract/values/canonical-json.ts';
import { type ApiKeyParts, formatApiKey, hashSecret, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { createTokenVerifier } from '../../lambdas/credentials/jwt.ts';
import { type Authenticator, createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Item, ItemKey } from '../../storage/ports/ledger.ts';
import { type ApiKeyValue, apiKeyKey } from '../../storage/records/accounts.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

/** Far from the machine's own clock, which nothing may read. */
export const START_MS = Date.UTC(2031, 4, 6, 12);
export const START_SECONDS = START_MS / 1000;

export const ISSUER = 'https://issuer.test/pool';
export const AUDIENCE = 'https://tidemark.test/api';

export interface SigningKey {
  readonly kid: string;
  readonly alg: 'RS256' | 'ES256' | 'EdDSA';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Makes a key pair; slow for RSA. */
export function newSigningKey(alg: SigningKey['alg'], kid: string): SigningKey {
  if (alg === 'RS256') return { kid, alg, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
  if (alg === 'ES256') return { kid, alg, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
  return { kid, alg, ...generateKeyPairSync('ed25519') };
}

export function publicJwk({ publicKey, kid, alg }: SigningKey): JsonWebKey {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

export function jwksOf(...keys: readonly SigningKey[]): string {
  return JSON.stringify({ keys: keys.map(publicJwk) });
}

export type Claims = Readonly<Record<string, unknown>>;

/** The claims of a good token. */
export function goodClaims(): Claims {
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'alice',
    scope: 'openid watchlists:read watchlists:write',
    iat: START_SECONDS,
    exp: START_SECONDS + 3600,
  };
}

export function encode(part: unknown): string {
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  return Buffer.from(text).toString('base64url');
}

/** Signs anything at all: a header or claims that are a string are taken as they are. */
export function signToken(key: SigningKey, header: unknown, claims: unknown): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  const digest = key.alg === 'EdDSA' ? null : 'sha256';
  const signature = sign(digest, Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

export function signWithSharedSecret(secret: string | Buffer, header: unknown, claims: unknown): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

export function headerOf({ alg, kid }: SigningKey, more: Claims = {}): Claims {
  return { alg, kid, typ: 'at+jwt', ...more };
}

/** A valid token with these changes; undefined removes a claim. */
export function tokenOf(key: SigningKey, claims: Claims = {}, header: Claims = {}): string {
  return signToken(key, headerOf(key, header), { ...goodClaims(), ...claims });
}

export interface CredentialWorld {
  readonly authenticator: Authenticator;
  readonly clock: { nowMs: number };
  /** The issuer's answer to a fetch of its keys; an error is thrown. */
  readonly issuer: { jwks: string | Error };
  readonly counts: { reads: number; fetches: number };
  /** Whether the ledger is unreachable; otherwise the delay of its answers, and a promise that they wait for. */
  readonly storage: { down: boolean; answerMs: number; answers: Promise<void> };
  /** A good key, and its parts. */
  readonly key: ApiKeyParts;
  readonly keyText: string;
  /** Stores a key's record with these changes. */
  putKey(keyId: string, changes?: Partial<ApiKeyValue>): Promise<void>;
}

export interface WorldOptions {
  readonly signingKeys: readonly SigningKey[];
  readonly scopePrefix?: string;
}

export async function credentialWorld({ signingKeys, scopePrefix }: WorldOptions): Promise<CredentialWorld> {
  const ledger = openSqliteLedger(':memory:');
  const clock = { nowMs: START_MS };
  const issuer: CredentialWorld['issuer'] = { jwks: jwksOf(...signingKeys) };
  const counts = { reads: 0, fetches: 0 };
  const storage = { down: false, answerMs: 0, answers: Promise.resolve() };
  const key = newApiKey('test', randomBytes);
  const nowMs = () => clock.nowMs;

  const countingLedger = {
    async get<Value>(itemKey: ItemKey<Value>): Promise<Item<Value> | null> {
      counts.reads++;
      if (storage.down) throw new StorageUnavailable('The test has cut the line to the ledger.');
      const { answers } = storage;
      const item = await ledger.get(itemKey);
      await answers;
      clock.nowMs += storage.answerMs;
      return item;
    },
  };
  const tokenIssuer = createTokenVerifier({
    issuer: ISSUER,
    audience: AUDIENCE,
    nowMs,
    async fetchJwks() {
      counts.fetches++;
      if (issuer.jwks instanceof Error) throw issuer.jwks;
      return issuer.jwks;
    },
    ...(scopePrefix === undefined ? {} : { scopePrefix }),
  });

  const world: CredentialWorld = {
    authenticator: createAuthenticator({ ledger: countingLedger, nowMs, env: 'test', tokenIssuer }),
    clock,
    issuer,
    counts,
    storage,
    key,
    keyText: formatApiKey(key),
    async putKey(keyId, changes = {}) {
      const record: ApiKeyValue = {
        id: keyId,
        subject: 'account:req_1',
        label: 'Test',
        scopes: ['ingest:write'],
        markets: null,
        secretHash: hashSecret(key.secret),
        previousSecret: null,
        createdAt: '2031-01-01T00:00:00.000Z',
        expiresAt: null,
        revokedAt: null,
        ...changes,
      };
      const put = {
        kind: 'put',
        key: apiKeyKey(keyId),
        revision: 1,
        value: record as Json,
        if: { kind: 'any' },
      } as const;
      await ledger.transact([put], { attemptId: createHash('sha256').update(randomBytes(8)).digest('hex') });
    },
  };
  await world.putKey(key.keyId);
  return world;
}
