/** Every way in that must be shut, beside the ways in that must be open. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiKeyParts, formatApiKey, hashSecret, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import type { ApiKeyValue } from '../../storage/records/accounts.ts';
import {
  AUDIENCE,
  type CredentialWorld,
  credentialWorld,
  encode,
  goodClaims,
  headerOf,
  ISSUER,
  newSigningKey,
  publicJwk,
  START_MS,
  START_SECONDS,
  signToken,
  signWithSharedSecret,
  tokenOf,
} from './credential-world.ts';

const rsa = newSigningKey('RS256', 'rsa-1');
const ec = newSigningKey('ES256', 'ec-1');
const ed = newSigningKey('EdDSA', 'ed-1');
/** The attacker's own, under names that the issuer uses, and under one that it does not. */
const forgedEc = newSigningKey('ES256', 'ec-1');
const forgedRsa = newSigningKey('RS256', 'rsa-1');
const strange = newSigningKey('ES256', 'strange');

const good = tokenOf(ec);
const [goodHeader, goodPayload, goodSignature] = good.split('.') as [string, string, string];
const rsaPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;

const second = (offset: number) => START_SECONDS + offset;
const isoAt = (offset: number) => new Date(START_MS + offset * 1000).toISOString();

/** The same token with the unused bits at its signature's end set: decoders that are not strict see no difference. */
function withStrayBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1);
}

function withoutKid(): string {
  return signToken(ec, { alg: 'ES256', typ: 'at+jwt' }, goodClaims());
}

describe('tokens that are accepted', () => {
  it.each([
    ['of type at+jwt, signed with ES256', good],
    ['signed with RS256', tokenOf(rsa)],
    ['signed with EdDSA', tokenOf(ed)],
    ['of type application/at+jwt', tokenOf(ec, {}, { typ: 'application/at+jwt' })],
    ['of type AT+JWT, since media types have no case', tokenOf(ec, {}, { typ: 'AT+JWT' })],
    [
      "of Cognito: no aud, the client's id, token_use access",
      tokenOf(ec, { aud: undefined, client_id: AUDIENCE, token_use: 'access' }, { typ: undefined }),
    ],
    ['for several audiences, us among them', tokenOf(ec, { aud: ['https://other.test', AUDIENCE] })],
    ['whose iat is ahead by less than the tolerance', tokenOf(ec, { iat: second(29) })],
    ['whose nbf is ahead by less than the tolerance', tokenOf(ec, { nbf: second(29) })],
    ['that expired within the tolerance', tokenOf(ec, { iat: second(-3600), exp: second(-29) })],
    ['with the longest lifetime', tokenOf(ec, { exp: second(24 * 3600) })],
    [
      'with jwk, jku and x5u, which are ignored',
      tokenOf(ec, {}, { jwk: publicJwk(strange), jku: 'https://evil.test/', x5u: 'https://evil.test/' }),
    ],
    ['with the longest subject', tokenOf(ec, { sub: 'a'.repeat(255) })],
  ])('%s', async (_, token) => {
    const world = await credentialWorld({ signingKeys: [rsa, ec, ed] });
    const answer = await world.authenticator.authenticate(`Bearer ${token}`);
    expect(answer).toMatchObject({ principal: { kind: 'user' } });
    expect(world.counts).toEqual({ reads: 0, fetches: 1 });
  });

  it('give the subject, the scopes and the expiry', async () => {
    const world = await credentialWorld({ signingKeys: [ec] });
    expect(await world.authenticator.authenticate(`bEARER ${good}`)).toEqual({
      principal: {
        kind: 'user',
        actor: 'user:alice',
        subject: 'user:alice',
        scopes: new Set(['watchlists:read', 'watchlists:write']),
        markets: null,
        expiresAt: isoAt(3600),
        entitlements: { revision: null, features: {} },
      },
    });
  });

  it('give no scope but those under the configured prefix', async () => {
    const world = await credentialWorld({ signingKeys: [ec], scopePrefix: 'tidemark/' });
    const token = tokenOf(ec, { scope: 'keys:admin tidemark/audit:read other/claims:read tidemark/nonsense' });
    const answer = await world.authenticator.authenticate(`Bearer ${token}`);
    expect(answer).toMatchObject({ principal: { scopes: new Set(['audit:read']) } });
  });

  it('give no scope without the claim', async () => {
    const world = await credentialWorld({ signingKeys: [ec] });
    const answer = await world.authenticator.authenticate(`Bearer ${tokenOf(ec, { scope: undefined })}`);
    expect(answer).toMatchObject({ principal: { scopes: new Set() } });
  });
});

/** Fetches of the issuer's keys: most attacks are seen through before anything is fetched. */
const tokenAttacks: readonly (readonly [name: string, token: string, fetches?: number])[] = [
  ['alg none', `${encode({ alg: 'none', typ: 'at+jwt', kid: 'ec-1' })}.${goodPayload}.`],
  [
    'alg none with a signature',
    `${encode({ alg: 'none', typ: 'at+jwt', kid: 'ec-1' })}.${goodPayload}.${goodSignature}`,
  ],
  ['alg None', `${encode({ alg: 'None', typ: 'at+jwt', kid: 'ec-1' })}.${goodPayload}.${goodSignature}`],
  ['no alg', tokenOf(ec, {}, { alg: undefined })],
  ['an alg that is a list', tokenOf(ec, {}, { alg: ['ES256'] })],
  [
    'HS256 with the public key as the secret',
    signWithSharedSecret(rsaPem, headerOf(rsa, { alg: 'HS256' }), goodClaims()),
  ],
  [
    "HS256 with the public key's modulus as the secret",
    signWithSharedSecret(
      Buffer.from(publicJwk(rsa).n as string, 'base64url'),
      headerOf(rsa, { alg: 'HS256' }),
      goodClaims(),
    ),
  ],
  ['an algorithm that is not pinned', tokenOf(rsa, {}, { alg: 'RS512' })],
  ["another key's algorithm", tokenOf(rsa, {}, { alg: 'ES256' }), 1],
  ['another audience', tokenOf(ec, { aud: 'https://other.test' })],
  ['other audiences', tokenOf(ec, { aud: ['https://other.test', `${AUDIENCE}/`] })],
  ['an audience that only begins like ours', tokenOf(ec, { aud: `${AUDIENCE}.evil.test` })],
  ['no audience', tokenOf(ec, { aud: undefined })],
  ['no audience, the client id in its place, but no token_use', tokenOf(ec, { aud: undefined, client_id: AUDIENCE })],
  ["another client's Cognito token", tokenOf(ec, { aud: undefined, client_id: 'other', token_use: 'access' })],
  [
    'our client id, but another audience',
    tokenOf(ec, { aud: 'https://other.test', client_id: AUDIENCE, token_use: 'access' }),
  ],
  ['another issuer', tokenOf(ec, { iss: 'https://evil.test' })],
  ['our issuer with a slash more', tokenOf(ec, { iss: `${ISSUER}/` })],
  ['no issuer', tokenOf(ec, { iss: undefined })],
  ['a kid that the issuer does not have', tokenOf(strange), 1],
  ['a kid that is a path', tokenOf(ec, {}, { kid: '../../dev/null' }), 1],
  ['a kid that every object has', tokenOf(ec, {}, { kid: 'constructor' }), 1],
  ['no kid', withoutKid()],
  ['an empty kid', tokenOf(ec, {}, { kid: '' })],
  ['no exp', tokenOf(ec, { exp: undefined })],
  ['an exp that is text', tokenOf(ec, { exp: String(second(3600)) })],
  [
    'an exp beyond all numbers',
    signToken(ec, headerOf(ec), JSON.stringify(goodClaims()).replace(/"exp":\d+/, '"exp":1e999')),
  ],
  ['an exp before iat', tokenOf(ec, { iat: second(10), exp: second(5) })],
  ['expired', tokenOf(ec, { iat: second(-3600), exp: second(-30) })],
  ['no iat', tokenOf(ec, { iat: undefined })],
  ['an iat in the future', tokenOf(ec, { iat: second(31) })],
  ['an nbf in the future', tokenOf(ec, { nbf: second(31) })],
  ['a lifetime that is too long', tokenOf(ec, { exp: second(24 * 3600 + 1) })],
  ['no sub', tokenOf(ec, { sub: undefined })],
  ['an empty sub', tokenOf(ec, { sub: '' })],
  ['a sub with a newline', tokenOf(ec, { sub: 'alice\nadmin' })],
  ['a sub that ends in a newline', tokenOf(ec, { sub: 'alice\n' })],
  ['a sub with NUL', tokenOf(ec, { sub: 'alice\0' })],
  ['a sub with a slash', tokenOf(ec, { sub: 'alice/../bob' })],
  ['a sub with a space', tokenOf(ec, { sub: 'alice bob' })],
  ['a sub beyond ASCII', tokenOf(ec, { sub: 'аlice' })],
  ['a sub that is too long', tokenOf(ec, { sub: 'a'.repeat(256) })],
  ['a sub that is a number', tokenOf(ec, { sub: 7 })],
  ['an ID token', tokenOf(ec, {}, { typ: 'JWT' })],
  ['an ID token without a type', tokenOf(ec, {}, { typ: undefined })],
  ['an ID token of Cognito', tokenOf(ec, { token_use: 'id' }, { typ: undefined })],
  ['an ID token that calls itself at+jwt', tokenOf(ec, { token_use: 'id' })],
  ['a refresh token of Cognito', tokenOf(ec, { token_use: 'refresh' }, { typ: undefined })],
  ["a token bound to its holder's key", tokenOf(ec, { cnf: { jkt: 'thumbprint' } })],
  ['scopes that are a list', tokenOf(ec, { scope: ['keys:admin'] })],
  ['signed by another key of the same kid', tokenOf(forgedEc), 1],
  ['signed by another RSA key of the same kid', tokenOf(forgedRsa), 1],
  [
    "the attacker's key in the header (jwk)",
    signToken(forgedEc, headerOf(ec, { jwk: publicJwk(forgedEc) }), goodClaims()),
    1,
  ],
  ["the attacker's keys by URL (jku)", tokenOf(strange, {}, { jku: 'https://evil.test/jwks' }), 1],
  [
    "the attacker's certificate (x5u, x5c)",
    signToken(forgedRsa, headerOf(rsa, { x5u: 'https://evil.test/', x5c: ['MIIB'] }), goodClaims()),
    1,
  ],
  ['a payload that was changed', `${goodHeader}.${encode({ ...goodClaims(), sub: 'mallory' })}.${goodSignature}`, 1],
  ['a header that was changed', `${encode(headerOf(ec, { x: 1 }))}.${goodPayload}.${goodSignature}`, 1],
  ["another token's signature", `${goodHeader}.${goodPayload}.${tokenOf(ec, { sub: 'bob' }).split('.')[2]}`, 1],
  ['a signature that was cut', `${goodHeader}.${goodPayload}.${goodSignature.slice(0, 40)}`, 1],
  ['a signature of zeros', `${goodHeader}.${goodPayload}.${Buffer.alloc(64).toString('base64url')}`, 1],
  [
    'a signature in DER',
    `${goodHeader}.${goodPayload}.${Buffer.from('3006020101020101', 'hex').toString('base64url')}`,
    1,
  ],
  ['no signature', `${goodHeader}.${goodPayload}.`],
  ['two parts', `${goodHeader}.${goodPayload}`],
  ['four parts', `${good}.${goodSignature}`],
  ['five parts, as if encrypted', `${goodHeader}.${goodPayload}.${goodPayload}.${goodPayload}.${goodSignature}`],
  ['a dot at the end', `${good}.`],
  ['a dot at the beginning', `.${good}`],
  ['nothing but dots', '..'],
  ['padding', `${good}==`],
  ['characters of plain base64', `${goodHeader}.${goodPayload}.+/${goodSignature.slice(2)}`],
  ['another spelling of the same signature', withStrayBits(good)],
  ['a crit header', tokenOf(ec, {}, { crit: ['exp'] })],
  ['a crit header that is empty', tokenOf(ec, {}, { crit: [] })],
  ['an unencoded payload (b64)', tokenOf(ec, {}, { b64: false, crit: ['b64'] })],
  ['a claim twice', signToken(ec, headerOf(ec), `{"sub":"mallory",${JSON.stringify(goodClaims()).slice(1)}`)],
  [
    'a claim twice, escaped',
    signToken(ec, headerOf(ec), `{"\\u0073ub":"mallory",${JSON.stringify(goodClaims()).slice(1)}`),
  ],
  ['a header parameter twice', signToken(ec, `{"alg":"none",${JSON.stringify(headerOf(ec)).slice(1)}`, goodClaims())],
  ['claims that are a list', signToken(ec, headerOf(ec), [goodClaims()])],
  ['claims that are null', signToken(ec, headerOf(ec), 'null')],
  ['claims that are no JSON', signToken(ec, headerOf(ec), 'sub=alice')],
  ['a header that is no JSON', signToken(ec, 'alg=ES256', goodClaims())],
  ['claims nested 2,500 deep', signToken(ec, headerOf(ec), '['.repeat(2500) + ']'.repeat(2500))],
  ['more than 8 KB', tokenOf(ec, { more: 'x'.repeat(8192) })],
];

describe('tokens that are refused', () => {
  it.each(tokenAttacks)('%s', async (_, token, fetches = 0) => {
    const world = await credentialWorld({ signingKeys: [rsa, ec, ed] });
    await expectRefused(world, `Bearer ${token}`);
    expect(world.counts).toEqual({ reads: 0, fetches });
  });

  it('where no issuer is configured, all of them', async () => {
    const { createAuthenticator } = await import('../../lambdas/credentials/principal.ts');
    const ledger = { get: async () => expect.unreachable() };
    const authenticator = createAuthenticator({ ledger, nowMs: () => START_MS, env: 'test', tokenIssuer: null });
    expect(await authenticator.authenticate(`Bearer ${good}`)).toMatchObject({ refused: { code: 'unauthenticated' } });
  });
});

interface KeyCase {
  readonly keyText: string;
  readonly parts: ApiKeyParts;
}

describe('headers that are refused', () => {
  it.each<readonly [name: string, header: (good: KeyCase) => string]>([
    ['empty', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['a key without a scheme', ({ keyText }) => keyText],
    ['a key as Basic', ({ keyText }) => `Basic ${Buffer.from(`${keyText}:`).toString('base64')}`],
    ['a key under another scheme', ({ keyText }) => `Token ${keyText}`],
    ['a token as DPoP', () => `DPoP ${good}`],
    ['two keys', ({ keyText }) => `Bearer ${keyText} ${keyText}`],
    ['two headers, as a gateway joins them', ({ keyText }) => `Bearer ${keyText},Bearer ${keyText}`],
    ['two headers, joined with a space', ({ keyText }) => `Bearer ${keyText}, Bearer ${good}`],
    ['a space before', ({ keyText }) => ` Bearer ${keyText}`],
    ['a space after', ({ keyText }) => `Bearer ${keyText} `],
    ['two spaces', ({ keyText }) => `Bearer  ${keyText}`],
    ['a tab', ({ keyText }) => `Bearer\t${keyText}`],
    ['a line break after', ({ keyText }) => `Bearer ${keyText}\n`],
    ['NUL after', ({ keyText }) => `Bearer ${keyText}\0`],
    ['quotes', ({ keyText }) => `Bearer "${keyText}"`],
    ['a letter beyond ASCII', ({ keyText }) => `Bearer ${keyText}é`],
    ['a space of another kind', ({ keyText }) => `Bearer\u00a0${keyText}`],
    ['a key among 8 KB', ({ keyText }) => `Bearer ${keyText}${'='.repeat(8192)}`],
  ])('%s', async (_, header) => {
    const world = await credentialWorld({ signingKeys: [ec] });
    await expectRefused(world, header({ keyText: world.keyText, parts: world.key }));
    expect(world.counts).toEqual({ reads: 0, fetches: 0 });
  });

  it('no credential: the challenge names no error', async () => {
    const world = await credentialWorld({ signingKeys: [ec] });
    const answer = await world.authenticator.authenticate(undefined);
    expect(answer).toMatchObject({
      refused: { code: 'unauthenticated', headers: { 'www-authenticate': 'Bearer realm="tidemark"' } },
    });
  });
});

/** A key's record, and the secret that is sent, if it is not the current one. */
type StoredKeyCase = readonly [name: string, changes: Partial<ApiKeyValue>, secret: string | null];

const PREVIOUS = newApiKey('test', randomBytes).secret;
const rotated = (validUntil: string): Partial<ApiKeyValue> => ({
  previousSecret: { hash: hashSecret(PREVIOUS), validUntil },
});

describe('API keys that are accepted', () => {
  it.each<StoredKeyCase>([
    ['without an end', {}, null],
    ['until they expire', { expiresAt: isoAt(1) }, null],
    ['with the new secret, after a rotation', rotated(isoAt(60)), null],
    ['with the old secret, during the overlap', rotated(isoAt(1)), PREVIOUS],
    ['with the new secret, after the overlap', rotated(isoAt(-60)), null],
  ])('%s', async (_name, changes, secret) => {
    const world = await credentialWorld({ signingKeys: [] });
    await world.putKey(world.key.keyId, changes);
    const text = formatApiKey({ ...world.key, secret: secret ?? world.key.secret });
    expect(await world.authenticator.authenticate(`Bearer ${text}`)).toEqual({
      principal: {
        kind: 'api-key',
        actor: `key:${world.key.keyId}`,
        subject: 'account:req_1',
        scopes: new Set(['ingest:write']),
        markets: null,
        expiresAt: changes.expiresAt ?? null,
        entitlements: { revision: null, features: {} },
      },
    });
    expect(world.counts).toEqual({ reads: 1, fetches: 0 });
  });
});

describe('API keys that are refused', () => {
  /** A header, and the number of ledger reads that it may cause. */
  const attacks: readonly (readonly [name: string, text: (good: KeyCase) => string, reads: number])[] = [
    ['with a wrong checksum', ({ keyText }) => keyText.slice(0, -1) + (keyText.endsWith('a') ? 'b' : 'a'), 0],
    ['truncated by a character', ({ keyText }) => keyText.slice(0, -1), 0],
    ['truncated to the prefix', () => 'tdm_', 0],
    ['without the checksum', ({ keyText }) => keyText.slice(0, -6), 0],
    ['with a character more', ({ keyText }) => `${keyText}a`, 0],
    ['with padding', ({ keyText }) => `${keyText}=`, 0],
    ['with the checksum of another key', ({ keyText }) => keyText.slice(0, -6) + otherKey.slice(-6), 0],
    ['in capitals', ({ keyText }) => keyText.toUpperCase(), 0],
    ['of another environment', ({ parts }) => formatApiKey({ ...parts, env: 'live' }), 0],
    ['of an environment that does not exist', ({ keyText }) => keyText.replace('_test_', '_prod_'), 0],
    ['with the key id alone and an empty secret', ({ parts }) => `tdm_test_${parts.keyId}_`, 0],
    ['unknown', () => otherKey, 1],
    ['with a wrong secret', ({ parts }) => formatApiKey({ ...newApiKey('test', randomBytes), keyId: parts.keyId }), 1],
    [
      'with the hash of the secret in its place',
      ({ parts }) => `tdm_test_${parts.keyId}_${hashSecret(parts.secret)}`,
      0,
    ],
    ['with the secret of nothing', ({ parts }) => formatApiKey({ ...parts, secret: '0'.repeat(33) }), 1],
  ];
  const otherKey = formatApiKey(newApiKey('test', randomBytes));

  it.each(attacks)('%s', async (_, text, reads) => {
    const world = await credentialWorld({ signingKeys: [ec] });
    const sent = text({ keyText: world.keyText, parts: world.key });
    expect(sent).not.toBe(world.keyText);
    await expectRefused(world, `Bearer ${sent}`);
    expect(world.counts).toEqual({ reads, fetches: 0 });
  });

  it.each<StoredKeyCase>([
    ['revoked', { revokedAt: isoAt(-60) }, null],
    ['revoked, with the old secret of a rotation', { ...rotated(isoAt(60)), revokedAt: isoAt(-60) }, PREVIOUS],
    ['expired', { expiresAt: isoAt(0) }, null],
    ['rotated out', rotated(isoAt(0)), PREVIOUS],
    ['whose stored hash is damaged', { secretHash: 'damaged' }, null],
    ['whose stored hash is empty', { secretHash: '' }, null],
  ])('%s', async (_name, changes, secret) => {
    const world = await credentialWorld({ signingKeys: [] });
    await world.putKey(world.key.keyId, changes);
    await expectRefused(world, `Bearer ${formatApiKey({ ...world.key, secret: secret ?? world.key.secret })}`);
    expect(world.counts.reads).toBe(1);
  });

  describe('with one answer for all reasons', () => {
    let world: CredentialWorld;
    beforeAll(async () => {
      world = await credentialWorld({ signingKeys: [] });
    });

    it.each<readonly [name: string, changes: Partial<ApiKeyValue> | null, parts: Partial<ApiKeyParts>]>([
      ['wrong secret', {}, { secret: PREVIOUS }],
      ['revoked', { revokedAt: isoAt(-60) }, {}],
      ['expired', { expiresAt: isoAt(-60) }, {}],
      ['rotated out', rotated(isoAt(-60)), { secret: PREVIOUS }],
      ['another environment', null, { env: 'live' }],
    ])('%s', async (_, changes, parts) => {
      const fresh = newApiKey('test', randomBytes);
      const unknown = await world.authenticator.authenticate(`Bearer ${formatApiKey(newApiKey('test', randomBytes))}`);
      if (changes !== null) await world.putKey(fresh.keyId, { secretHash: hashSecret(fresh.secret), ...changes });
      expect(await world.authenticator.authenticate(`Bearer ${formatApiKey({ ...fresh, ...parts })}`)).toEqual(unknown);
    });
  });
});

describe('any header', () => {
  it.each([
    ['any text', fc.string({ unit: 'binary' })],
    ['any bearer token', fc.string().map((text) => `Bearer ${text}`)],
    [
      'any JSON in three parts',
      fc.tuple(fc.json(), fc.json(), fc.string()).map((parts) => `Bearer ${parts.map(encode).join('.')}`),
    ],
    [
      'any key-like text',
      fc.string({ unit: fc.constantFrom('_', 'a', '0', 'Z'), maxLength: 80 }).map((text) => `Bearer tdm_test_${text}`),
    ],
    ['any header, signed', fc.object().map((header) => `Bearer ${signToken(ec, { ...headerOf(ec), ...header }, [])}`)],
    [
      'any subject but a good one',
      fc
        .string({ unit: 'binary' })
        .filter((sub) => !/^[!-.0-~]+$/.test(sub))
        .map((sub) => `Bearer ${tokenOf(ec, { sub })}`),
    ],
  ])('%s is refused, and nothing throws', async (_, headers) => {
    const world = await credentialWorld({ signingKeys: [ec] });
    await fc.assert(
      fc.asyncProperty(headers, (header) => expectRefused(world, header)),
      { numRuns: 150 },
    );
  });
});

/** RFC 6750, section 3, with the characters that it allows in a description. */
const CHALLENGE = /^Bearer realm="tidemark"(, error="invalid_token", error_description="[ !#-[\]-~]+")?$/;

/** Refused by a credential's own fault, in an answer that repeats nothing of it. */
async function expectRefused({ authenticator }: CredentialWorld, header: string): Promise<void> {
  const answer = await authenticator.authenticate(header);
  if (!('refused' in answer)) throw new Error('A credential was accepted that must not be.');
  expect(Object.keys(answer)).toEqual(['refused']);
  if (answer.refused.code !== 'unauthenticated') throw new Error('It is limited.');
  const { detail, headers } = answer.refused;
  const challenge = headers['www-authenticate'] ?? '';
  expect(challenge).toMatch(CHALLENGE);
  const pieces = header.split(/[^A-Za-z0-9]/).filter((piece) => piece.length > 8);
  expect(pieces.filter((piece) => detail.includes(piece) || challenge.includes(piece))).toEqual([]);
}
