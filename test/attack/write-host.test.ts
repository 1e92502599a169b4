/**
 * Attack: send requests to API Gateway's own endpoint, past the write host with its web ACL, or claim another address there
 * to escape the limit on failures.
 */
import { describe, expect, test } from 'vitest';
import { formatApiKey, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { createOriginGate } from '../../lambdas/entry/origin-gate.ts';
import { ORIGIN_SECRET_HEADER as SECRET, VIEWER_ADDRESS_HEADER as VIEWER } from '../../storage/aws/names.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DIRECT_HTTP_EVENT } from '../bundles/recorded-events.ts';
import { openApiWorld, START_MS, seededBytes } from '../write-api/world.ts';

const CURRENT = 'c'.repeat(64);
const NEXT = 'd'.repeat(64);
const PEER = DIRECT_HTTP_EVENT.requestContext.http.sourceIp;

const withHeaders = (headers: Readonly<Record<string, string>>) => ({
  ...DIRECT_HTTP_EVENT,
  version: '2.0' as const,
  headers: { ...DIRECT_HTTP_EVENT.headers, ...headers },
});

describe('a request is refused', () => {
  const admit = createOriginGate([CURRENT, NEXT]);

  test.each<[string, Readonly<Record<string, string>>]>([
    ['that has no secret', {}],
    ['that claims an address', { [VIEWER]: '192.0.2.1' }],
    ['with an empty secret', { [SECRET]: '' }],
    ['with another secret', { [SECRET]: 'e'.repeat(64) }],
    ['with the beginning of the secret', { [SECRET]: CURRENT.slice(0, 63) }],
    ['with more than the secret', { [SECRET]: `${CURRENT}c` }],
    ['with the secret in another case', { [SECRET]: CURRENT.toUpperCase() }],
    ['with both secrets', { [SECRET]: `${CURRENT},${NEXT}` }],
    ['with the secret in another field', { authorization: `Bearer ${CURRENT}` }],
  ])('%s', (_, headers) => {
    expect(admit(withHeaders(headers))).toBeNull();
  });

  test('if no secret is accepted', () => {
    expect(createOriginGate([])(withHeaders({ [SECRET]: '' }))).toBeNull();
  });
});

describe('a request through the write host', () => {
  test.each([CURRENT, NEXT])('is let in with each accepted secret, without it and with its sender', (secret) => {
    const event = withHeaders({
      [SECRET]: secret,
      [VIEWER]: '192.0.2.1',
      'x-forwarded-for': '198.51.100.1, 192.0.2.1',
    });
    const admitted = createOriginGate([CURRENT, NEXT])(event);
    expect(admitted?.requestContext.http.sourceIp).toBe('192.0.2.1');
    expect(Object.keys(admitted?.headers ?? {})).not.toContain(SECRET);
    expect(Object.keys(admitted?.headers ?? {})).not.toContain(VIEWER);
    expect(JSON.stringify(admitted)).not.toContain(secret);
    expect(admitted?.headers).toMatchObject({ accept: '*/*', 'user-agent': 'curl/8.5.0' });
  });

  test.each<[string | null, string]>([
    ['2001:db8::1', '2001:db8::1'],
    [null, PEER],
    ['', PEER],
    ['192.0.2.1, 192.0.2.2', PEER],
    ['localhost', PEER],
  ])('has the address %j of its viewer, or else that of its peer: %j', (viewer, expected) => {
    const headers = { [SECRET]: CURRENT, ...(viewer === null ? {} : { [VIEWER]: viewer }) };
    expect(createOriginGate([CURRENT])(withHeaders(headers))?.requestContext.http.sourceIp).toBe(expected);
  });

  test('fails on the account of its viewer, and not of all viewers of its edge', async () => {
    const ledger = openSqliteLedger(':memory:');
    const authenticator = createAuthenticator({ ledger, nowMs: () => START_MS, env: 'test', tokenIssuer: null });
    const world = openApiWorld({ ledger, authenticator });
    const admit = createOriginGate([CURRENT]);
    const randomBytes = seededBytes('write host');
    const statusOf = async (viewer: string) => {
      const as = formatApiKey(newApiKey('test', randomBytes));
      const event = world.eventOf({ path: '/api/v1/me', as });
      const headers = { ...event.headers, [SECRET]: CURRENT, [VIEWER]: viewer };
      const http = { ...event.requestContext.http, sourceIp: PEER };
      const admitted = admit({ ...event, headers, requestContext: { ...event.requestContext, http } });
      return admitted === null ? null : (await world.send(admitted)).statusCode;
    };
    for (let tries = 0; tries < FAILURES_A_MINUTE; tries++) await statusOf('192.0.2.1');
    expect([await statusOf('192.0.2.1'), await statusOf('192.0.2.2')]).toEqual([429, 401]);
  });
});
