import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
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

describe('the local issuer', () => {
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

  it.each([[''], ['alice bob'], ['a/b'], ['alice\n'], ['älice'], ['a'.repeat(256)]])(
    'does not mint for %j',
    (subject) => {
      expect(() => mintToken({ ...options, subject })).toThrow(RangeError);
    },
  );
});
