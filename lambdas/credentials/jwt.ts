/**
 * Verifies the access tokens of one OIDC issuer: JWTs by RFC 9068, or those of Amazon Cognito.
 *
 * aws-jwt-verify checks signatures only. It accepts a token without `exp` or with a future `iat`, uses the machine's
 * clock, and caches a used key for ever. So this file checks the claims, and `issuer-keys.ts` caches the keys.
 */
import { type DecomposedJwt, decomposeUnverifiedJwt } from 'aws-jwt-verify/jwt';
import { verifyJwtSync } from 'aws-jwt-verify/jwt-verifier';
import { ALL_SCOPES, type Scope } from '../../contract/operations/scopes.ts';
import { parseJson } from '../../contract/values/strict-json.ts';
import {
  createIssuerKeys,
  type IssuerKey,
  type IssuerKeysOptions,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
} from './issuer-keys.ts';

export interface VerifiedToken {
  /** The `sub` claim. */
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** `refused` is the reason. It repeats no part of the token, and is a valid `error_description` (RFC 6750, section 3). */
export type TokenVerification = { readonly token: VerifiedToken } | { readonly refused: string };

export interface TokenVerifier {
  /** Rejects with `IssuerUnavailable` if the token's key is unknown and cannot be fetched. */
  verify(token: string): Promise<TokenVerification>;
}

export interface TokenVerifierOptions extends Pick<IssuerKeysOptions, 'fetchJwks' | 'nowMs'> {
  /** The exact `iss` of its tokens. */
  readonly issuer: string;
  /** A value that `aud` must contain. Cognito's access tokens have no `aud`; their `client_id` must be this value. */
  readonly audience: string;
  /**
   * Default: `.well-known/jwks.json` under the issuer, as Cognito has it. Other issuers name theirs in their discovery
   * document.
   */
  readonly jwksUri?: string;
  /**
   * The prefix of our scopes in the issuer's tokens, e.g. `tidemark/` of a Cognito resource server. Scopes without it
   * are ignored.
   */
  readonly scopePrefix?: string;
}

/** The longest time from `iat` to `exp`. */
const MAX_LIFETIME_SECONDS = 24 * 60 * 60;
/** How far the issuer's clock may differ from ours. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Printable ASCII without space and slash, because it becomes part of ledger keys and paths. */
const SUBJECT = /^[!-.0-~]{1,255}$/;

export function isSubjectClaim(sub: unknown): sub is string {
  return typeof sub === 'string' && SUBJECT.test(sub);
}

/** RFC 7515, section 7.1: three parts in base64url, without padding. */
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const NOT_A_JWT = 'The token is neither an API key, which begins with tdm_, nor a well-formed JWT.';
const BAD_SIGNATURE = 'The token is not signed with a key of the configured issuer.';

/** @throws TypeError if the issuer is not a URL */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { issuer, fetchJwks, nowMs, scopePrefix = '' } = options;
  const jwksUri = options.jwksUri ?? new URL(`${issuer.replace(/\/$/, '')}/.well-known/jwks.json`).href;
  const keys = createIssuerKeys({ jwksUri, fetchJwks, nowMs });

  return {
    async verify(token) {
      const decomposed = decompose(token);
      if (decomposed === null) return { refused: NOT_A_JWT };
      const { header, payload } = decomposed;
      // Checked before the signature, so that only an otherwise valid token can cause a fetch of keys.
      const fault = headerFault(header) ?? claimsFault(decomposed, options);
      if (fault !== null) return { refused: fault };
      const key = await keys.find(header.alg as SignatureAlgorithm, header.kid as string);
      if (key === null || !isSignedWith(key, token, issuer)) return { refused: BAD_SIGNATURE };
      return {
        token: {
          subject: payload.sub as string,
          scopes: readScopes(payload.scope ?? '', scopePrefix),
          expiresAt: new Date((payload.exp as number) * 1000).toISOString(),
        },
      };
    },
  };
}

function decompose(token: string): DecomposedJwt | null {
  if (!COMPACT_JWT.test(token)) return null;
  const parts = token.split('.').map((part) => Buffer.from(part, 'base64url'));
  // A token has one spelling: extra bits at the end of a part are refused.
  if (parts.map((part) => part.toString('base64url')).join('.') !== token) return null;
  // Two readers must not see two different tokens, so names are unique (RFC 7515, section 4; RFC 7519, section 4).
  if (parts.slice(0, 2).some((part) => 'faults' in parseJson(part.toString('utf8')))) return null;
  try {
    return decomposeUnverifiedJwt(token);
  } catch {
    // A part is not an object, or a registered claim has a wrong type.
    return null;
  }
}

type Header = DecomposedJwt['header'];

/** `jwk`, `jku`, `x5c` and `x5u` are ignored: a token cannot say which keys to trust. */
function headerFault(header: Header): string | null {
  if (!SIGNATURE_ALGORITHMS.some((algorithm) => algorithm === header.alg)) {
    return `The token is not signed with one of ${SIGNATURE_ALGORITHMS.join(', ')}.`;
  }
  if (!header.kid) return 'The token does not name the key of its signature (kid).';
  // RFC 7515, section 4.1.11: unknown extensions must not be ignored, and we know no extension.
  if ('crit' in header) return 'The token has critical header parameters.';
  return null;
}

function claimsFault({ header, payload }: DecomposedJwt, options: TokenVerifierOptions): string | null {
  const { issuer, audience, nowMs } = options;
  const { iss, sub, aud, exp, iat, nbf } = payload;
  if (iss !== issuer) return 'The token is not of the configured issuer.';
  if (!isAccessToken(header, payload.token_use)) {
    return 'The token is not an access token: send one of type at+jwt (RFC 9068), or with token_use access.';
  }
  const audiences = aud === undefined && payload.token_use === 'access' ? [payload.client_id] : [aud].flat();
  if (!audiences.includes(audience)) return 'The token is for another audience.';
  // RFC 9449, section 7.1, and RFC 8705, section 3: such a token needs a further proof, which we cannot check.
  if (payload.cnf !== undefined) return 'The token is bound to a key of its holder, so it is not a bearer token.';
  if (!isSubjectClaim(sub)) {
    return 'The subject of the token (sub) must be 1 to 255 printable ASCII characters without space and slash.';
  }
  if (exp === undefined || iat === undefined)
    return 'The token must state when it was issued and when it expires (iat, exp).';
  if (exp <= iat || exp - iat > MAX_LIFETIME_SECONDS) {
    return `The token must expire within ${MAX_LIFETIME_SECONDS} seconds of being issued.`;
  }
  const nowSeconds = nowMs() / 1000;
  if (exp + CLOCK_TOLERANCE_SECONDS <= nowSeconds) return 'The token has expired.';
  if (Math.max(iat, nbf ?? iat) > nowSeconds + CLOCK_TOLERANCE_SECONDS) return 'The token is not valid yet.';
  return null;
}

/** An ID token informs a client about a sign-in. It is no permission to act for the user. */
function isAccessToken({ typ }: Header, tokenUse: unknown): boolean {
  if (tokenUse !== undefined) return tokenUse === 'access';
  return typeof typ === 'string' && /^(application\/)?at\+jwt$/i.test(typ);
}

function isSignedWith({ jwk, publicKey }: IssuerKey, token: string, issuer: string): boolean {
  try {
    // Times are checked above with our clock. An infinite grace switches off the library's check.
    const checks = { issuer, audience: null, graceSeconds: Number.POSITIVE_INFINITY };
    verifyJwtSync(token, jwk, checks, () => publicKey);
    return true;
  } catch {
    // Also errors of node:crypto, which throws if a signature is too short.
    return false;
  }
}

function readScopes(claim: string, prefix: string): ReadonlySet<Scope> {
  const granted = new Set(claim.split(' '));
  return new Set(ALL_SCOPES.filter((scope) => granted.has(prefix + scope)));
}
