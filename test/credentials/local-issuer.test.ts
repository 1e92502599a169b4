import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../lambdas/credentials/jwt.ts';
import { issuerJwks, type MintTokenOptions, mintToken, newIssuerKey } from '../../lambdas/credentials/local-issuer.ts';
import { AUDIENCE, ISSUER, START_MS, START_SECONDS } from './credential-world.ts';

const privateJwk = newIssuerKey();

const options: MintTokenOptions = {
  privateJwk,
  issuer: ISSUER,
  audience: AUDIENCE,
  subject: 'alice',
  scopes: ['claims:read', 'claims:write'],
  nowMs: START_MS,
  lifetimeSeconds: 600,
  tokenId: 'token-1',
};

const verifierOf = (jwks: string) =>
  createTokenVerifier({ issuer: ISSUER, audience: AUDIENCE, nowMs: () => START_MS, fetchJwks: async () => jwks });

describe('the local issuer', () => {
  it('mints tokens that our verifier accepts', async () => {
    expect(await verifierOf(issuerJwks(privateJwk)).verify(mintToken(options))).toEqual({
      token: {
        subject: 'alice',
        scopes: new Set(['claims:read', 'claims:write']),
        expiresAt: new Date(START_MS + 600_000).toISOString(),
      },
    });
  });

  it('mints tokens by RFC 9068 that another library accepts', async () => {
    const keys = createLocalJWKSet(JSON.parse(issuerJwks(privateJwk)));
    const { payload } = await jwtVerify(mintToken(options), keys, {
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: 'at+jwt',
      currentDate: new Date(START_MS),
      requiredClaims: ['sub', 'jti'],
    });
    expect(payload).toEqual({
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'alice',
      scope: 'claims:read claims:write',
      iat: START_SECONDS,
      exp: START_SECONDS + 600,
      jti: 'token-1',
    });
  });

  it('publishes the public half of its key only', () => {
    const { d } = JSON.parse(privateJwk) as { d: string };
    expect(d).toHaveLength(43);
    expect(issuerJwks(privateJwk)).not.toContain(d);
    expect(mintToken(options)).not.toContain(d);
  });

  it('with another key is another issuer', async () => {
    expect(await verifierOf(issuerJwks(newIssuerKey())).verify(mintToken(options))).toHaveProperty('refused');
  });

  it.each([[''], ['alice bob'], ['a/b'], ['alice\n'], ['älice'], ['a'.repeat(256)]])(
    'does not mint for %j',
    (subject) => {
      expect(() => mintToken({ ...options, subject })).toThrow(RangeError);
    },
  );
});
