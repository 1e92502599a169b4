/** Attack: send credentials that fail, as fast as possible: to guess one, to keep us busy, to fill the log. */
import { expect, test } from 'vitest';
import { formatApiKey, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { IssuerUnavailable } from '../../lambdas/credentials/issuer-keys.ts';
import { registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { createRefusalLog, type LoggedRequest } from '../../lambdas/http/refusal-log.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { type ApiWorld, openApiWorld, START_MS, seededBytes } from '../write-api/world.ts';

const HERE = '203.0.113.7';
const randomBytes = seededBytes('strangers');

async function opened() {
  const kept: Ledger = openSqliteLedger(':memory:');
  let reads = 0;
  const ledger: Ledger = {
    get(key) {
      reads++;
      return kept.get(key);
    },
    getMany: (keys) => kept.getMany(keys),
    query: (partition, options) => kept.query(partition, options),
    transact: (changes, options) => kept.transact(changes, options),
  };
  const key = newApiKey('test', randomBytes);
  await registerFirstKey({ ledger, nowMs: () => START_MS, newId: (prefix) => `${prefix}_1` }, key);
  const clock = { nowMs: START_MS };
  const authenticator = createAuthenticator({ ledger, nowMs: () => clock.nowMs, env: 'test', tokenIssuer: null });
  const world = openApiWorld({ ledger, authenticator });
  return { world, clock, good: formatApiKey(key), reads: () => reads };
}

const guess = () => formatApiKey(newApiKey('test', randomBytes));

async function me({ eventOf, send }: ApiWorld, as: string, sourceIp: string) {
  const event = eventOf({ path: '/api/v1/me', as });
  const http = { ...event.requestContext.http, sourceIp };
  const { statusCode, headers } = await send({ ...event, requestContext: { ...event.requestContext, http } });
  return { status: statusCode, retryAfter: headers['retry-after'] };
}

async function failOften(world: ApiWorld, sourceIp: string): Promise<void> {
  for (let tries = 0; tries < FAILURES_A_MINUTE; tries++) {
    expect((await me(world, guess(), sourceIp)).status).toBe(401);
  }
}

test("after a minute's failures a network gets 429, and costs no read of the ledger", async () => {
  const { world, reads } = await opened();
  await failOften(world, HERE);
  const before = reads();
  for (let tries = 0; tries < 100; tries++) {
    expect(await me(world, guess(), HERE)).toMatchObject({ status: 429, retryAfter: '1' });
  }
  expect(reads()).toBe(before);
});

test('a credential that was good before works from there, and every good one from elsewhere', async () => {
  const { world, good } = await opened();
  expect((await me(world, good, HERE)).status).toBe(200);
  await failOften(world, HERE);
  expect((await me(world, good, HERE)).status).toBe(200);
  expect((await me(world, good, '198.51.100.1')).status).toBe(200);
});

test('a good credential that comes first during the attack works a moment later', async () => {
  const { world, clock, good } = await opened();
  await failOften(world, HERE);
  expect((await me(world, good, HERE)).status).toBe(429);
  clock.nowMs += 1_000;
  expect((await me(world, good, HERE)).status).toBe(200);
});

test('all addresses of an IPv6 customer count as one', async () => {
  const { world } = await opened();
  for (let tries = 0; tries < FAILURES_A_MINUTE; tries++) await me(world, guess(), `2001:db8:1:2::${tries}`);
  expect((await me(world, guess(), '2001:db8:1:2:ffff::1')).status).toBe(429);
  expect((await me(world, guess(), '2001:db8:1:3::1')).status).toBe(401);
  // IPv4 in the form of IPv6 is IPv4.
  await failOften(world, `::ffff:${HERE}`);
  expect((await me(world, guess(), HERE)).status).toBe(429);
});

test('a request without a credential is no failed one', async () => {
  const { world } = await opened();
  for (let tries = 0; tries < 2 * FAILURES_A_MINUTE; tries++) {
    expect((await world.call({ path: '/api/v1/me', as: null })).status).toBe(401);
  }
});

test('the log has one line a minute for each kind of refusal, and says how many there were', () => {
  const clock = { nowMs: START_MS };
  const lines: LoggedRequest[] = [];
  const log = createRefusalLog({ nowMs: () => clock.nowMs }, (entry) => lines.push(entry));
  const entry = { requestId: 'r', operation: 'getMe', actor: null, fault: null } as const;
  const refuse = (code: string, status: number) => log({ ...entry, code, status });
  for (let times = 0; times < 1_000; times++) refuse('unauthenticated', 401);
  refuse('forbidden', 403);
  clock.nowMs += 60_000;
  for (let times = 0; times < 3; times++) refuse('unauthenticated', 401);
  log({ ...entry, code: null, status: 200 });
  for (let times = 0; times < 2; times++) refuse('internal-error', 500);
  expect(lines.map(({ code, repeated }) => [code, repeated])).toEqual([
    ['unauthenticated', 0],
    ['forbidden', 0],
    ['unauthenticated', 999],
    [null, 0],
    ['internal-error', 0],
    ['internal-error', 0],
  ]);
});

test('an issuer that cannot be reached is logged without a stack', async () => {
  const authenticator = {
    ...createAuthenticator({
      ledger: openSqliteLedger(':memory:'),
      nowMs: () => START_MS,
      env: 'test',
      tokenIssuer: null,
    }),
    authenticate: () => Promise.reject(new IssuerUnavailable('The keys could not be fetched.')),
  };
  const world = openApiWorld({ authenticator });
  expect((await world.call({ path: '/api/v1/me' })).status).toBe(503);
  expect(world.log.map(({ fault }) => fault)).toEqual(['The keys could not be fetched.']);
});
