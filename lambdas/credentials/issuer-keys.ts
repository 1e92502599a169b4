/**
 * The public keys of an OIDC issuer: its JWKS (RFC 7517, section 5), fetched when needed and cached.
 *
 * An unknown key may be new, so the set is fetched again. Anybody can invent a key id, so after a fetch without success
 * there is a pause. An old set is fetched again too, so that a key that the issuer has withdrawn is no longer accepted.
 * While the issuer cannot be reached, the cached keys stay valid.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { isJwk, type Jwk } from 'aws-jwt-verify/jwk';
import type { Runtime } from '../../storage/aws/runtime.ts';

/**
 * After this time the set is fetched again. So while the issuer is reachable, a withdrawn key is accepted for at most this
 * time.
 */
export const JWKS_REFRESH_SECONDS = 600;
/** The pause after a fetch that failed, or that did not return the wanted key. */
export const JWKS_RETRY_SECONDS = 10;

/** Asymmetric algorithms only, so that a public key can never be used as a shared secret. */
export const SIGNATURE_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** A key for one algorithm only, so that the header of a token cannot choose another. */
export interface IssuerKey {
  readonly algorithm: SignatureAlgorithm;
  readonly jwk: Jwk;
  readonly publicKey: KeyObject;
}

export interface IssuerKeys {
  /** Null: the issuer has no such key. Rejects with {@link IssuerUnavailable} if its keys cannot be fetched. */
  find(algorithm: SignatureAlgorithm, keyId: string): Promise<IssuerKey | null>;
}

/** The issuer's keys could not be fetched, so a token that may be valid cannot be checked. Retry later. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

export interface IssuerKeysOptions extends Pick<Runtime, 'nowMs'> {
  readonly jwksUri: string;
  /** Returns the body of a 200 as text. Must stop after a few seconds. */
  readonly fetchJwks: (uri: string) => Promise<string>;
}

export function createIssuerKeys({ jwksUri, fetchJwks, nowMs }: IssuerKeysOptions): IssuerKeys {
  let keys: ReadonlyMap<string, IssuerKey> = new Map();
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let pausedAtMs = Number.NEGATIVE_INFINITY;
  let failure: unknown = null;
  let fetching: Promise<void> | null = null;

  async function fetchKeys(): Promise<void> {
    const startedAtMs = nowMs();
    try {
      keys = readKeys(await fetchJwks(jwksUri));
      fetchedAtMs = startedAtMs;
      failure = null;
    } catch (error) {
      failure = error;
      pause();
    }
  }

  function pause(): void {
    pausedAtMs = nowMs();
  }

  /** An absolute difference, because the clock may be set back. */
  const isWithin = (atMs: number, seconds: number) => Math.abs(nowMs() - atMs) < seconds * 1000;

  return {
    async find(algorithm, keyId) {
      const name = nameOf(algorithm, keyId);
      const known = keys.get(name);
      if (known !== undefined && isWithin(fetchedAtMs, JWKS_REFRESH_SECONDS)) return known;
      const mayAsk = !isWithin(pausedAtMs, JWKS_RETRY_SECONDS);
      if (mayAsk) {
        fetching ??= fetchKeys().finally(() => {
          fetching = null;
        });
        await fetching;
      }
      const found = keys.get(name);
      if (found !== undefined) return found;
      if (failure !== null) {
        throw new IssuerUnavailable(`The keys of the token issuer could not be fetched from ${jwksUri}.`, {
          cause: failure,
        });
      }
      // Only after a fetch. Otherwise a client with many invented key ids could prevent that a new key is ever fetched.
      if (mayAsk) pause();
      return null;
    },
  };
}

function nameOf(algorithm: SignatureAlgorithm, keyId: string): string {
  return `${algorithm} ${keyId}`;
}

/** Every key of the set that we support; others are ignored (RFC 7517, section 5). Throws if the text is not a set. */
function readKeys(text: string): ReadonlyMap<string, IssuerKey> {
  const set: unknown = JSON.parse(text);
  const members = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : null;
  if (!Array.isArray(members)) throw new TypeError('A JWKS must be a JSON object with an array "keys".');
  const keys = new Map<string, IssuerKey>();
  for (const jwk of members) {
    const key = readKey(jwk);
    if (key !== null) keys.set(nameOf(key.algorithm, key.jwk.kid as string), key);
  }
  return keys;
}

/** RFC 7518, section 3.3. */
const MIN_RSA_BITS = 2048;

function readKey(jwk: Jwk): IssuerKey | null {
  if (!isJwk(jwk) || jwk.kid === undefined || (jwk.use ?? 'sig') !== 'sig') return null;
  const algorithm = algorithmOf(jwk);
  if (algorithm === null || (jwk.alg ?? algorithm) !== algorithm) return null;
  try {
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const bits = publicKey.asymmetricKeyDetails?.modulusLength;
    if (bits !== undefined && bits < MIN_RSA_BITS) return null;
    return { algorithm, jwk, publicKey };
  } catch {
    // A member is missing or out of range.
    return null;
  }
}

function algorithmOf({ kty, crv }: Jwk): SignatureAlgorithm | null {
  if (kty === 'RSA') return 'RS256';
  if (kty === 'EC' && crv === 'P-256') return 'ES256';
  if (kty === 'OKP' && crv === 'Ed25519') return 'EdDSA';
  return null;
}
