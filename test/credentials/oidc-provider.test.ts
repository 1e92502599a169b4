/** The verifier against an OIDC provider that others have written. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTokenVerifier, type TokenVerifier } from '../../lambdas/credentials/jwt.ts';

// It warns of each default that a real deployment should not leave as it is.
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'info').mockImplementation(() => {});
});
const { Provider } = await import('oidc-provider');

const AUDIENCE = 'https://tidemark.test/api';
const OTHER_AUDIENCE = 'https://other.test/api';
const CLIENT = 'terminal';
const CLIENT_SECRET = 'a-secret-of-the-client';
const REDIRECT_URI = 'https://client.test/callback';
const SCOPES = 'claims:read claims:write unknown:scope';

let handler: RequestListener;
const server = createServer((request, response) => handler(request, response));
let issuer: string;
let provider: InstanceType<typeof Provider>;

type Alg = 'ES256' | 'RS256' | 'EdDSA';

async function newKey(alg: Alg, kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid, use: 'sig' };
}

/** Restarts the provider at the same address, with only these keys. */
function restart(alg: Alg, keys: readonly JWK[]): void {
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT,
        client_secret: CLIENT_SECRET,
        grant_types: ['client_credentials', 'authorization_code'],
        redirect_uris: [REDIRECT_URI],
        response_types: ['code'],
        id_token_signed_response_alg: alg,
      },
    ],
    jwks: { keys },
    enabledJWA: { idTokenSigningAlgValues: ['ES256', 'RS256', 'EdDSA'] },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg } },
        }),
      },
    },
  });
  handler = provider.callback();
}

interface TokenResponse {
  readonly access_token: string;
  readonly id_token?: string;
}

async function requestTokens(parameters: Record<string, string>): Promise<TokenResponse> {
  const authorization = `Basic ${Buffer.from(`${CLIENT}:${CLIENT_SECRET}`).toString('base64')}`;
  const body = new URLSearchParams(parameters);
  const response = await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization }, body });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

/** For the client itself. */
async function clientToken(resource: string | null = AUDIENCE): Promise<string> {
  const about = resource === null ? {} : { resource, scope: SCOPES };
  return (await requestTokens({ grant_type: 'client_credentials', ...about })).access_token;
}

/** For a signed-in user who has agreed: from the authorization code on. */
async function userTokens(accountId: string): Promise<TokenResponse> {
  const grant = new provider.Grant({ accountId, clientId: CLIENT });
  grant.addOIDCScope('openid');
  grant.addResourceScope(AUDIENCE, SCOPES);
  const grantId = await grant.save();
  const client = await provider.Client.find(CLIENT);
  const scope = `openid ${SCOPES}`;
  const code = new provider.AuthorizationCode({
    ...{ accountId, client, grantId, scope, redirectUri: REDIRECT_URI, resource: AUDIENCE },
    ...{ authTime: Math.floor(Date.now() / 1000), gty: 'authorization_code' },
  });
  return await requestTokens({
    grant_type: 'authorization_code',
    code: await code.save(),
    redirect_uri: REDIRECT_URI,
    resource: AUDIENCE,
  });
}

let fetches: number;

async function newVerifier(audience = AUDIENCE): Promise<TokenVerifier> {
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri: jwksUri } = (await discovery.json()) as { jwks_uri: string };
  fetches = 0;
  const fetchJwks = async (uri: string): Promise<string> => {
    fetches++;
    return await (await fetch(uri)).text();
  };
  return createTokenVerifier({ issuer, audience, jwksUri, fetchJwks, nowMs: Date.now });
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
});

describe.each<Alg>(['ES256', 'RS256', 'EdDSA'])('a provider that signs with %s', (alg) => {
  let verifier: TokenVerifier;
  let oldKey: JWK;

  beforeEach(async () => {
    oldKey = await newKey(alg, 'old');
    restart(alg, [oldKey]);
    verifier = await newVerifier();
  });

  it('gives users access tokens with their scopes; its other tokens are refused without a fetch of keys', async () => {
    const { access_token, id_token } = await userTokens('alice');
    const refused = [id_token as string, await clientToken(null), await clientToken(OTHER_AUDIENCE)];
    for (const token of refused) expect(await verifier.verify(token)).toHaveProperty('refused');
    expect(await (await newVerifier(CLIENT)).verify(id_token as string)).toHaveProperty('refused');
    expect(fetches).toBe(0);
    expect(await verifier.verify(access_token)).toEqual({
      token: {
        subject: 'alice',
        scopes: new Set(['claims:read', 'claims:write']),
        expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      },
    });
  });

  it('may change its keys: the new one counts after one fetch, the old one until it has gone', async () => {
    const tokens = [await clientToken()];
    expect(await verifier.verify(tokens[0] as string)).toMatchObject({ token: { subject: CLIENT } });
    for (const keys of [[await newKey(alg, 'overlap'), oldKey], [await newKey(alg, 'new')]]) {
      restart(alg, keys);
      tokens.unshift(await clientToken());
      expect(await verifier.verify(tokens[0] as string)).toHaveProperty('token');
      expect(fetches).toBe(tokens.length);
      const [, ...older] = tokens;
      for (const token of older)
        expect(await verifier.verify(token)).toHaveProperty(keys.length === 2 ? 'token' : 'refused');
    }
  });
});
