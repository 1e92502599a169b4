import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fetchJwksOverHttps } from '../../lambdas/credentials/fetch-jwks.ts';
import { IssuerUnavailable, JWKS_REFRESH_SECONDS, JWKS_RETRY_SECONDS } from '../../lambdas/credentials/issuer-keys.ts';
import { createTokenVerifier } from '../../lambdas/credentials/jwt.ts';
import {
  AUDIENCE,
  type CredentialWorld,
  credentialWorld,
  goodClaims,
  headerOf,
  ISSUER,
  jwksOf,
  newSigningKey,
  publicJwk,
  type SigningKey,
  START_MS,
  START_SECONDS,
  signToken,
} from './credential-world.ts';

const one = newSigningKey('ES256', 'one');
const two = newSigningKey('EdDSA', 'two');
const rsa = newSigningKey('RS256', 'rsa');

/** A token that outlives every clock of these tests. */
function longTokenOf(key: SigningKey): string {
  return signToken(key, headerOf(key), { ...goodClaims(), exp: START_SECONDS + 24 * 3600 });
}

async function outcome({ authenticator }: CredentialWorld, key: SigningKey): Promise<string> {
  try {
    return Object.keys(await authenticator.authenticate(`Bearer ${longTokenOf(key)}`)).join();
  } catch (error) {
    return error instanceof IssuerUnavailable ? 'unavailable' : String(error);
  }
}

const ACCEPTED = 'principal';
const REFUSED = 'refused';
const UNAVAILABLE = 'unavailable';

describe("the issuer's keys", () => {
  it('are fetched once for many tokens', async () => {
    const world = await credentialWorld({ signingKeys: [one, two] });
    for (let round = 0; round < 10; round++) {
      expect(await outcome(world, one)).toBe(ACCEPTED);
      expect(await outcome(world, two)).toBe(ACCEPTED);
    }
    expect(world.counts.fetches).toBe(1);
  });

  it('are fetched once for many tokens at once', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(world, one)));
    expect(new Set(outcomes)).toEqual(new Set([ACCEPTED]));
    expect(world.counts.fetches).toBe(1);
  });

  it('stop counting when a fetched set no longer has them', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    world.issuer.jwks = jwksOf(two);
    expect(await outcome(world, two)).toBe(ACCEPTED);
    expect(await outcome(world, one)).toBe(REFUSED);
  });

  it('stop counting within JWKS_REFRESH_SECONDS of being withdrawn, though no new key is seen', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    world.issuer.jwks = jwksOf(two);
    world.clock.nowMs += JWKS_REFRESH_SECONDS * 1000 - 1;
    expect(await outcome(world, one)).toBe(ACCEPTED);
    world.clock.nowMs += 1;
    expect(await outcome(world, one)).toBe(REFUSED);
  });

  it('are fetched again, and new ones are found, after the clock was set back', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    expect(await outcome(world, two)).toBe(REFUSED);
    world.issuer.jwks = jwksOf(two);
    world.clock.nowMs -= JWKS_REFRESH_SECONDS * 1000;
    const tokenOfTwo = signToken(two, headerOf(two), { ...goodClaims(), iat: START_SECONDS - 700 });
    const { authenticator } = world;
    expect(await authenticator.authenticate(`Bearer ${tokenOfTwo}`)).toHaveProperty('principal');
    expect(await outcome(world, one)).toBe(REFUSED);
  });

  it('are replaced even under the same id', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    const successor = newSigningKey('ES256', 'one');
    world.issuer.jwks = jwksOf(successor);
    world.clock.nowMs += JWKS_REFRESH_SECONDS * 1000;
    expect(await outcome(world, successor)).toBe(ACCEPTED);
    expect(await outcome(world, one)).toBe(REFUSED);
  });

  it('may share an id when they are of different kinds', async () => {
    const keys = [newSigningKey('RS256', 'same'), newSigningKey('ES256', 'same'), newSigningKey('EdDSA', 'same')];
    const world = await credentialWorld({ signingKeys: keys });
    for (const key of keys) expect(await outcome(world, key)).toBe(ACCEPTED);
  });
});

describe('invented key ids', () => {
  const invented = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...one, kid: `invented-${index}` }));

  it('cause one fetch in JWKS_RETRY_SECONDS', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    for (const key of invented(100)) expect(await outcome(world, key)).toBe(REFUSED);
    expect(world.counts.fetches).toBe(2);
    world.clock.nowMs += JWKS_RETRY_SECONDS * 1000;
    for (const key of invented(100)) expect(await outcome(world, key)).toBe(REFUSED);
    expect(world.counts.fetches).toBe(3);
  });

  it('do not keep tokens of known keys out', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    for (const key of invented(10)) await outcome(world, key);
    expect(await outcome(world, one)).toBe(ACCEPTED);
  });

  it('keep a new key out for JWKS_RETRY_SECONDS at most, however many keep coming', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    for (const key of invented(3)) expect(await outcome(world, key)).toBe(REFUSED);
    world.issuer.jwks = jwksOf(one, two);
    for (let second = 1; second < JWKS_RETRY_SECONDS; second++) {
      world.clock.nowMs += 1000;
      for (const key of invented(3)) expect(await outcome(world, key)).toBe(REFUSED);
    }
    world.clock.nowMs += 1000;
    expect(await outcome(world, two)).toBe(ACCEPTED);
    expect(world.counts.fetches).toBe(2);
  });
});

describe('when the issuer cannot be reached', () => {
  const DOWN = new Error('The test has cut the line to the issuer.');

  it('no token can be judged before the first fetch', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    world.issuer.jwks = DOWN;
    expect(await Promise.all([outcome(world, one), outcome(world, one)])).toEqual([UNAVAILABLE, UNAVAILABLE]);
    expect(await outcome(world, one)).toBe(UNAVAILABLE);
    expect(world.counts.fetches).toBe(1);
    world.issuer.jwks = jwksOf(one);
    world.clock.nowMs += JWKS_RETRY_SECONDS * 1000;
    expect(await outcome(world, one)).toBe(ACCEPTED);
    expect(await outcome(world, two)).toBe(REFUSED);
  });

  it('tokens of known keys are accepted, however old the keys are, and others cannot be judged', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
    world.issuer.jwks = DOWN;
    world.clock.nowMs += 10 * JWKS_REFRESH_SECONDS * 1000;
    expect(await outcome(world, one)).toBe(ACCEPTED);
    expect(await outcome(world, two)).toBe(UNAVAILABLE);
    expect(await outcome(world, one)).toBe(ACCEPTED);
    expect(world.counts.fetches).toBe(2);
  });

  it('tokens that are wrong in any case are refused without asking', async () => {
    const world = await credentialWorld({ signingKeys: [one] });
    world.issuer.jwks = DOWN;
    const foreign = signToken(one, headerOf(one), { ...goodClaims(), iss: 'https://evil.test' });
    expect(await world.authenticator.authenticate(`Bearer ${foreign}`)).toHaveProperty('refused');
    expect(world.counts.fetches).toBe(0);
  });

  it('a fetcher that throws before it promises counts as the same', async () => {
    let fetches = 0;
    const verifier = createTokenVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      nowMs: () => START_MS,
      fetchJwks: () => {
        if (fetches++ === 0) throw DOWN;
        return Promise.resolve(jwksOf(one));
      },
    });
    await expect(verifier.verify(longTokenOf(one))).rejects.toBeInstanceOf(IssuerUnavailable);
    await expect(verifier.verify(longTokenOf(one))).rejects.toBeInstanceOf(IssuerUnavailable);
    expect(fetches).toBe(1);
  });

  it.each([
    ['HTML', '<html>'],
    ['a list', '[]'],
    ['an object without keys', '{}'],
    ['keys that are no list', '{"keys":{}}'],
  ])('answers that are no key set count as the same: %s', async (_, jwks) => {
    const world = await credentialWorld({ signingKeys: [] });
    world.issuer.jwks = jwks;
    expect(await outcome(world, one)).toBe(UNAVAILABLE);
  });
});

describe('keys of a set that we cannot use', () => {
  const good = publicJwk(one);
  const weakKey: JsonWebKey = { ...publicJwk(rsa), kid: 'one', n: Buffer.alloc(128, 0xff).toString('base64url') };
  const unusable: readonly (readonly [name: string, jwk: unknown])[] = [
    ['for encryption', { ...good, use: 'enc' }],
    ['of another algorithm', { ...good, alg: 'ES384' }],
    ['of another curve', { ...good, crv: 'P-384' }],
    ['symmetric', { kty: 'oct', kid: 'one', k: 'c2VjcmV0' }],
    ['not on their curve', { ...good, x: good.y }],
    ['without a coordinate', { ...good, y: undefined }],
    ['without an id', { ...good, kid: undefined }],
    ['of no kind', { kid: 'one' }],
    ['RSA of 1024 bits', weakKey],
    ['null', null],
  ];

  it.each(unusable)('are passed over: %s', async (_, jwk) => {
    const world = await credentialWorld({ signingKeys: [] });
    world.issuer.jwks = JSON.stringify({ keys: [jwk, publicJwk(two)] });
    expect(await outcome(world, one)).toBe(REFUSED);
    expect(await outcome(world, { ...one, kid: 'undefined' })).toBe(REFUSED);
    expect(await outcome(world, two)).toBe(ACCEPTED);
  });

  it.each(unusable)('do not hide one with the same id: %s', async (_, jwk) => {
    const world = await credentialWorld({ signingKeys: [] });
    world.issuer.jwks = JSON.stringify({ keys: [good, jwk] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
  });

  it('are RSA keys of 1024 bits although the token is signed with them', async () => {
    const weak: SigningKey = { kid: 'weak', alg: 'RS256', ...generateKeyPairSync('rsa', { modulusLength: 1024 }) };
    const world = await credentialWorld({ signingKeys: [weak] });
    expect(await outcome(world, weak)).toBe(REFUSED);
  });

  it('without "use" and "alg" are accepted by their type', async () => {
    const { use, alg, ...bare } = good;
    const world = await credentialWorld({ signingKeys: [] });
    world.issuer.jwks = JSON.stringify({ keys: [bare] });
    expect(await outcome(world, one)).toBe(ACCEPTED);
  });
});

describe('a verifier', () => {
  const options = {
    issuer: ISSUER,
    audience: AUDIENCE,
    nowMs: () => START_MS,
    fetchJwks: async () => jwksOf(one, rsa),
  };

  it.each([
    [undefined, 'https://issuer.test/pool', 'https://issuer.test/pool/.well-known/jwks.json'],
    [undefined, 'https://issuer.test/', 'https://issuer.test/.well-known/jwks.json'],
    ['https://issuer.test/keys', 'https://issuer.test', 'https://issuer.test/keys'],
  ])('given the key URL %s of the issuer %s fetches %s', async (jwksUri, issuer, expected) => {
    const asked: string[] = [];
    const fetchJwks = async (uri: string) => {
      asked.push(uri);
      return jwksOf(one);
    };
    const verifier = createTokenVerifier({
      ...options,
      issuer,
      fetchJwks,
      ...(jwksUri === undefined ? {} : { jwksUri }),
    });
    const token = signToken(one, headerOf(one), { ...goodClaims(), iss: issuer });
    expect(await verifier.verify(token)).toHaveProperty('token');
    expect(asked).toEqual([expected]);
  });

  it('is not made for an issuer that is no URL', () => {
    expect(() => createTokenVerifier({ ...options, issuer: 'issuer' })).toThrow(TypeError);
  });
});

describe('fetchJwksOverHttps', () => {
  it.each(['http://127.0.0.1:9/jwks', 'https://127.0.0.1:9/jwks', 'jwks'])('rejects for %s', async (uri) => {
    await expect(fetchJwksOverHttps(uri)).rejects.toThrow();
  });
});
