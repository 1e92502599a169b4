/**
 * A token issuer of this service, for testing with users and without an OIDC provider. Only for a server on the user's own
 * machine: the holder of its key can act as any user.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import type { Scope } from '../../contract/operations/scopes.ts';
import type { SignatureAlgorithm } from './issuer-keys.ts';
import { isSubjectClaim } from './jwt.ts';

const ALGORITHM: SignatureAlgorithm = 'EdDSA';

/** A new key: a private Ed25519 JWK (RFC 8037, section 2) as JSON. Keep it secret. */
export function newIssuerKey(): string {
  return JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));
}

/** Whether a text is a key of {@link newIssuerKey}. */
export function isIssuerKey(text: string): boolean {
  try {
    return createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

/** The JWKS, as JSON, that verifies tokens that {@link mintToken} signs with this key. */
export function issuerJwks(privateJwk: string): string {
  const { kty, crv, x } = JSON.parse(privateJwk) as JsonWebKey;
  return JSON.stringify({ keys: [{ kty, crv, x, kid: keyIdOf(privateJwk), alg: ALGORITHM, use: 'sig' }] });
}

export interface MintTokenOptions {
  readonly privateJwk: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly scopes: Iterable<Scope>;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  readonly lifetimeSeconds: number;
  /** The `jti`: unique for each token. */
  readonly tokenId: string;
}

/** Makes an access token by RFC 9068. @throws RangeError if the verifier would refuse the subject */
export function mintToken(options: MintTokenOptions): string {
  const { privateJwk, issuer, audience, subject, scopes, nowMs, lifetimeSeconds, tokenId } = options;
  if (!isSubjectClaim(subject)) {
    throw new RangeError('A user must be named by 1 to 255 printable ASCII characters without space and slash.');
  }
  const iat = Math.floor(nowMs / 1000);
  const header = { alg: ALGORITHM, typ: 'at+jwt', kid: keyIdOf(privateJwk) };
  const scope = [...scopes].join(' ');
  const claims = { iss: issuer, sub: subject, aud: audience, scope, iat, exp: iat + lifetimeSeconds, jti: tokenId };
  const signed = `${encode(header)}.${encode(claims)}`;
  const key = createPrivateKey({ key: JSON.parse(privateJwk) as JsonWebKey, format: 'jwk' });
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** The key's thumbprint (RFC 7638; members by RFC 8037, appendix A.3). */
function keyIdOf(privateJwk: string): string {
  const { kty, crv, x } = JSON.parse(privateJwk) as JsonWebKey;
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
