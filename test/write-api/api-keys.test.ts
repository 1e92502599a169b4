import { beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT_SCOPES } from '../../contract/operations/accounts/api-keys.ts';
import { ALL_SCOPES, type Scope } from '../../contract/operations/scopes.ts';
import { formatApiKey, hashSecret, newApiKey, parseApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { type ApiKeyValue, apiKeyKey, usageKey } from '../../storage/records/accounts.ts';
import { type DumpedLedger, holdersOf, openDumpedLedger } from './dumped-ledger.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { overtakenLedger } from './overtaken-ledger.ts';
import { type Answer, type ApiWorld, type Call, openApiWorld, seededBytes } from './world.ts';

const URL = '/api/v1/api-keys';
const UNKNOWN = '0000000000000000';
const ADMIN_SCOPES = ALL_SCOPES.filter((scope) => !(ACCOUNT_SCOPES as readonly Scope[]).includes(scope));

describe('API keys', () => {
  let ledger: DumpedLedger;
  let world: ApiWorld;
  let request: string;

  beforeEach(async () => {
    ledger = openDumpedLedger();
    world = heldToSchemas(
      openApiWorld({
        ledger,
        scopes: { issuer: ['keys:admin', 'claims:read'], weak: ['keys:admin', 'watchlists:read'] },
      }),
    );
    request = await approvedRequest();
  });

  async function recordedRequest(): Promise<string> {
    const consentedAt = '2026-11-19T09:30:00Z';
    const body = { contact: 'jo@example.org', useCase: 'Charts', requestsPerDay: 10, consentedAt };
    const { json } = await world.call({ method: 'POST', path: '/api/v1/waitlist-requests', body });
    return json.id;
  }

  async function decidedRequest(outcome: string): Promise<string> {
    const id = await recordedRequest();
    await world.call({ method: 'POST', path: `/api/v1/waitlist-requests/${id}/decision`, body: { outcome } });
    return id;
  }

  const approvedRequest = () => decidedRequest('approved');
  const inputOf = (waitlistRequest: string) => ({ waitlistRequest, label: 'Chart', scopes: ['claims:read'] });
  const create = (more: object = {}, { as = 'operator', key = undefined as string | undefined } = {}) => {
    const body = { ...inputOf(request), ...more };
    return world.call({ method: 'POST', path: URL, body, as, ...(key === undefined ? {} : { key }) });
  };
  const rotate = (id: string, body: object = {}, as = 'operator') =>
    world.call({ method: 'POST', path: `${URL}/${id}/rotation`, body, as });
  const revoke = (id: string) => world.call({ method: 'DELETE', path: `${URL}/${id}`, as: 'operator' });
  const list = (query = '', as = 'operator') => world.call({ path: URL, query, as });
  const secretOf = ({ json }: Answer) => parseApiKey(json.key)?.secret as string;
  const grant = (limit: number) =>
    world.call({
      method: 'PUT',
      path: `/api/v1/entitlements/account:${request}/api-keys`,
      body: { limit },
      headers: { 'if-none-match': '*' },
    });

  async function usedKeys(): Promise<number> {
    const { json } = await world.call({ path: '/api/v1/entitlements', query: `subject=account:${request}` });
    return json.entitlements.find(({ feature }: { feature: string }) => feature === 'api-keys').used;
  }

  /** The subject of a key, in a process that has never seen it; null if the key is refused. */
  async function opens(key: string): Promise<object | null> {
    const authenticator = createAuthenticator({ ledger, nowMs: () => world.nowMs, env: 'test', tokenIssuer: null });
    const result = await authenticator.authenticate(`Bearer ${key}`);
    if (!('principal' in result)) return null;
    const { actor, subject, scopes } = result.principal;
    return { actor, subject, scopes: [...scopes] };
  }

  it('are issued to operators by operators only, without a request and with every scope', async () => {
    const operator = { waitlistRequest: null, scopes: [...ALL_SCOPES] };
    const { status, json } = await create(operator);
    expect([status, json.subject, json.scopes]).toEqual([201, 'operator', [...ALL_SCOPES].sort()]);
    for (const as of ['issuer', 'alice']) {
      const refused = await create({ waitlistRequest: null, scopes: ['claims:read'] }, { as });
      expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    }
    const missing = await world.call({
      method: 'POST',
      path: URL,
      body: { label: 'Chart', scopes: ['claims:read'] },
      as: 'operator',
    });
    expect([missing.status, missing.json.errors]).toEqual([
      422,
      [expect.objectContaining({ pointer: '/waitlistRequest' })],
    ]);
  });

  it('are issued to the account of an approved waitlist request, and work', async () => {
    const { status, json } = await create({ scopes: ['watchlists:write', 'claims:read'] });
    expect(status).toBe(201);
    const parts = parseApiKey(json.key);
    expect(parts).toMatchObject({ env: 'test', keyId: json.id });
    const { key, ...shown } = json;
    expect(shown).toEqual({
      id: parts?.keyId,
      subject: `account:${request}`,
      label: 'Chart',
      scopes: ['claims:read', 'watchlists:write'],
      markets: null,
      createdAt: '2026-11-20T12:00:00.000Z',
      expiresAt: null,
      revokedAt: null,
      previousSecretValidUntil: null,
    });
    expect(await opens(key)).toEqual({
      actor: `key:${json.id}`,
      subject: `account:${request}`,
      scopes: ['claims:read', 'watchlists:write'],
    });
    expect((await list()).json).toEqual({ data: [shown], page: { nextCursor: null } });
    const requests = await world.call({ path: '/api/v1/waitlist-requests' });
    expect(requests.json.data[0].keys).toEqual([json.id]);
  });

  it('show their secret once, to replays too, and are nowhere at rest', async () => {
    const issued = await create({}, { key: 'the-key-of-the-issue' });
    const rotated = await rotate(issued.json.id);
    const replayed = await create({}, { key: 'the-key-of-the-issue' });
    expect(replayed.text).toBe(issued.text);
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    const shown = JSON.stringify([(await list()).json, (await rotate(UNKNOWN)).json]);
    const items = await ledger.dump();
    for (const answer of [issued, rotated]) {
      expect(holdersOf(items, secretOf(answer))).toEqual([]);
      expect(shown).not.toContain(secretOf(answer));
    }
    const hashes = [hashSecret(secretOf(issued)), hashSecret(secretOf(rotated))];
    for (const hash of hashes) {
      expect(holdersOf(items, hash)).toEqual([`api-keys ${issued.json.id}`]);
      expect(shown).not.toContain(hash);
    }
  });

  it.each([
    ['submitted', 409, 'conflict'],
    ['rejected', 409, 'conflict'],
    ['erased', 409, 'conflict'],
    ['unknown', 422, 'validation-failed'],
  ])('are not issued for a request that is %s', async (state, status, code) => {
    const id = state === 'rejected' ? await decidedRequest('rejected') : await recordedRequest();
    const body = { subject: `account:${id}` };
    if (state === 'erased') await world.call({ method: 'POST', path: '/api/v1/erasures', body });
    const answer = await create({ waitlistRequest: state === 'unknown' ? 'req_01JD8N5W5XQ6M4T0VZ8R2K7C3A' : id });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect((await list()).json.data).toEqual([]);
  });

  it.each(ADMIN_SCOPES)('are not issued with the scope %s', async (scope) => {
    const { status, json } = await create({ scopes: [scope] });
    expect([status, json.errors]).toEqual([422, [expect.objectContaining({ pointer: '/scopes/0' })]]);
  });

  it('can have every scope that concerns only their own account', () => {
    expect(ADMIN_SCOPES).toEqual([
      ...['claims:review', 'entitlements:admin', 'recipes:read', 'recipes:write', 'publications:write'],
      ...['log:takedown', 'waitlist:admin', 'keys:admin', 'audit:read'],
    ]);
  });

  it('count at the commit against the quota of their account, not of the issuer', async () => {
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403]);
    expect(answers.find(({ status }) => status === 403)?.json.code).toBe('quota-exceeded');
    expect(await usedKeys()).toBe(2);
    await grant(3);
    expect((await create()).status).toBe(201);
    expect((await create()).json.code).toBe('quota-exceeded');
    expect((await create({ waitlistRequest: await approvedRequest() })).status).toBe(201);
  });

  it.each([
    ['lowered', 1, 1, 403],
    ['raised', 2, 3, 201],
  ])(
    'are issued by the limit at the moment of commit when it is %s in the meantime',
    async (_, keys, limit, status) => {
      for (let count = 0; count < keys; count++) await create();
      const late = heldToSchemas(
        openApiWorld({ ledger: overtakenLedger(ledger, () => grant(limit)), process: 'late' }),
      );
      const answer = await late.call({ method: 'POST', path: URL, body: inputOf(request), as: 'operator' });
      expect(answer.status).toBe(status);
      expect(await usedKeys()).toBe(status === 201 ? keys + 1 : keys);
    },
  );

  it('end when they expire', async () => {
    const { json } = await create({ expiresAt: '2026-11-20T13:00:00.000Z' });
    expect(json.expiresAt).toBe('2026-11-20T13:00:00Z');
    expect(await opens(json.key)).not.toBeNull();
    world.nowMs = Date.parse('2026-11-20T13:00:00Z');
    expect(await opens(json.key)).toBeNull();
    expect((await rotate(json.id)).json.code).toBe('state-transition');
    expect((await revoke(json.id)).status).toBe(204);
  });

  it.each([
    ['a day by default', {}, 86_400],
    ['the requested time', { overlapSeconds: 60 }, 60],
    ['a week at most', { overlapSeconds: 604_800 }, 604_800],
  ])('are rotated under their id, the old secret ending after %s', async (_, body, seconds) => {
    const issued = await create();
    const rotated = await rotate(issued.json.id, body);
    expect(rotated.status).toBe(200);
    const previousSecretValidUntil = new Date(world.nowMs + seconds * 1000).toISOString();
    expect(rotated.json).toEqual({ ...issued.json, key: rotated.json.key, previousSecretValidUntil });
    expect(parseApiKey(rotated.json.key)?.keyId).toBe(issued.json.id);
    world.nowMs += seconds * 1000 - 1;
    expect([await opens(issued.json.key), await opens(rotated.json.key)]).not.toContain(null);
    world.nowMs += 1;
    expect([await opens(issued.json.key), await opens(rotated.json.key)]).toEqual([null, expect.anything()]);
    expect((await list()).json.data[0].previousSecretValidUntil).toBeNull();
  });

  it('are rotated without an overlap, and with no more than one', async () => {
    const first = await create();
    const second = await rotate(first.json.id, { overlapSeconds: 3600 });
    const third = await rotate(first.json.id, { overlapSeconds: 3600 });
    expect(await opens(first.json.key)).toBeNull();
    expect([await opens(second.json.key), await opens(third.json.key)]).not.toContain(null);
    const fourth = await rotate(first.json.id, { overlapSeconds: 0 });
    expect(fourth.json.previousSecretValidUntil).toBeNull();
    expect([await opens(second.json.key), await opens(third.json.key)]).toEqual([null, null]);
    expect(await opens(fourth.json.key)).not.toBeNull();
  });

  it.each([
    ['less than nothing', { overlapSeconds: -1 }, 422],
    ['more than a week', { overlapSeconds: 604_801 }, 422],
  ])('are not rotated with %s', async (_, body, status) => {
    const { json } = await create();
    expect((await rotate(json.id, body)).status).toBe(status);
  });

  it('are revoked permanently: refused, still listed, given back to the quota once', async () => {
    const first = await create();
    const second = await create();
    const rotated = await rotate(first.json.id);
    world.nowMs += 1;
    expect((await revoke(first.json.id)).status).toBe(204);
    expect([await opens(first.json.key), await opens(rotated.json.key)]).toEqual([null, null]);
    expect(await opens(second.json.key)).not.toBeNull();
    expect(await usedKeys()).toBe(1);
    const shown = (await list()).json.data.find(({ id }: { id: string }) => id === first.json.id);
    expect(shown).toMatchObject({ revokedAt: '2026-11-20T12:00:00.001Z', previousSecretValidUntil: null });

    world.nowMs += 1;
    const again = await Promise.all([revoke(first.json.id), revoke(first.json.id)]);
    expect(again.map(({ status }) => status)).toEqual([204, 204]);
    expect(await usedKeys()).toBe(1);
    expect((await list()).json.data).toContainEqual(shown);
    expect((await rotate(first.json.id)).json.code).toBe('state-transition');
    const requests = await world.call({ path: '/api/v1/waitlist-requests' });
    expect(requests.json.data[0].keys).toEqual([second.json.id]);
  });

  it.each<[string, (id: string) => Call]>([
    ['revoked', (id) => ({ method: 'DELETE', path: `${URL}/${id}` })],
    [
      'rotated without an overlap',
      (id) => ({ method: 'POST', path: `${URL}/${id}/rotation`, body: { overlapSeconds: 0 } }),
    ],
  ])('that are %s are refused at once by the process that did it, which had believed them', async (_, change) => {
    const authenticator = createAuthenticator({ ledger, nowMs: () => world.nowMs, env: 'test', tokenIssuer: null });
    const own = openApiWorld({ ledger, authenticator, process: 'own' });
    const first = newApiKey('test', seededBytes('first key'));
    await registerFirstKey({ ledger, nowMs: () => world.nowMs, newId: (prefix) => `${prefix}_first` }, first);
    const { json } = await create();
    const use = () => own.call({ path: '/api/v1/me', as: json.key });
    expect((await use()).status).toBe(200);
    expect((await own.call({ ...change(json.id), as: formatApiKey(first) })).status).toBeLessThan(300);
    expect((await use()).status).toBe(401);
  });

  it('are revoked although the count of them has been lost', async () => {
    const { json } = await create();
    const lost = { kind: 'count', key: usageKey(`account:${request}`, 'api-keys', null), by: -1 } as const;
    await ledger.transact([{ ...lost, atLeast: 0, atMost: 50 }], { attemptId: 'loss' });
    expect((await revoke(json.id)).status).toBe(204);
    expect(await usedKeys()).toBe(0);
    expect(await opens(json.key)).toBeNull();
  });

  it('of the operator, which have no waitlist request, are rotated and revoked too', async () => {
    const value: ApiKeyValue = {
      id: 'operatorOperator',
      subject: 'operator',
      label: 'First operator key',
      scopes: [...ALL_SCOPES],
      secretHash: '00',
      previousSecret: null,
      createdAt: '2026-11-20T12:00:00.000Z',
      expiresAt: null,
      revokedAt: null,
    };
    await ledger.transact([{ kind: 'put', key: apiKeyKey(value.id), revision: 1, value, if: { kind: 'absent' } }], {
      attemptId: 'seed',
    });
    expect((await rotate(value.id, {}, 'issuer')).json.code).toBe('forbidden');
    const rotated = await rotate(value.id);
    expect(await opens(rotated.json.key)).toMatchObject({ subject: 'operator' });
    expect((await revoke(value.id)).status).toBe(204);
    expect(await opens(rotated.json.key)).toBeNull();
  });
});
