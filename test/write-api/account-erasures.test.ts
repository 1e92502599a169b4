import { beforeEach, describe, expect, it } from 'vitest';
import { runErasure } from '../../lambdas/accounts/run-erasure.ts';
import { CREDENTIAL_CACHE_SECONDS, LAST_WRITE_MS } from '../../lambdas/credentials/account-cache.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { type ApiKeyValue, answersOf, usageOf } from '../../storage/records/accounts.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import { workOff } from '../ingest/work-off.ts';
import { type DumpedLedger, holdersOf, openDumpedLedger } from './dumped-ledger.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { overtakenLedger } from './overtaken-ledger.ts';
import { type ApiWorld, openApiWorld, seededBytes } from './world.ts';

const URL = '/api/v1/erasures';
const CONTACT = 'jo.contact@example.org';
/** A part of all other texts of the erased account. */
const MARK = 'Jo-was-here';

describe('erasures of accounts', () => {
  let ledger: DumpedLedger;
  let world: ApiWorld;
  let attempts: number;

  beforeEach(() => {
    ledger = openDumpedLedger();
    world = heldToSchemas(openApiWorld({ ledger }));
    attempts = 0;
  });

  const erase = (subject: string) => world.call({ method: 'POST', path: URL, body: { subject }, as: 'operator' });
  const work = (id: string) => {
    const newAttemptId = () => `erasure-${++attempts}`;
    const newId = (prefix: string) => `${prefix}_${newUlid(world.nowMs, seededBytes(newAttemptId()))}`;
    return runErasure({ ledger, nowMs: () => world.nowMs, newAttemptId, newId }, id);
  };
  /** Once the keys of the account write no more. */
  const run = async (id: string) => {
    world.nowMs += LAST_WRITE_MS;
    expect(await work(id)).toBe('done');
  };
  const itemsOf = async (partition: string) => (await ledger.query(partition, { limit: 1000 })).items;

  async function recordedRequest(): Promise<string> {
    const body = { contact: CONTACT, useCase: MARK, requestsPerDay: 10, consentedAt: '2026-11-19T09:30:00Z' };
    const { json } = await world.call({ method: 'POST', path: '/api/v1/waitlist-requests', body, as: 'operator' });
    return json.id;
  }

  async function approvedRequest(): Promise<string> {
    const id = await recordedRequest();
    const path = `/api/v1/waitlist-requests/${id}/decision`;
    await world.call({ method: 'POST', path, body: { outcome: 'approved', note: MARK }, as: 'operator' });
    return id;
  }

  const inputOfKey = (waitlistRequest: string) => ({ waitlistRequest, label: MARK, scopes: ['watchlists:write'] });
  const createKey = (waitlistRequest: string) =>
    world.call({ method: 'POST', path: '/api/v1/api-keys', body: inputOfKey(waitlistRequest), as: 'operator' });

  it('take contact and keys at once, and the rest with the work', async () => {
    const request = await approvedRequest();
    const revokedBefore = (await createKey(request)).json.id;
    await world.call({ method: 'DELETE', path: `/api/v1/api-keys/${revokedBefore}`, as: 'operator' });
    const live = [(await createKey(request)).json.id, (await createKey(request)).json.id];
    const subject = `account:${request}`;
    await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: MARK }, as: `${request}/${live[0]}` });

    world.nowMs += 1;
    const { json } = await erase(subject);
    const atOnce = await ledger.dump();
    expect(holdersOf(atOnce, CONTACT)).toEqual([]);
    expect(holdersOf(atOnce, MARK).filter((holder) => !/^(watchlists|api-keys)/.test(holder))).toEqual([]);
    const requests = await world.call({ path: '/api/v1/waitlist-requests', as: 'operator' });
    expect(requests.json.data).toMatchObject([{ state: 'erased', contact: null, useCase: null, note: null, keys: [] }]);
    const keys = (await itemsOf('api-keys')).map(({ value }) => value as ApiKeyValue);
    expect(keys.map(({ revokedAt }) => revokedAt).sort()).toEqual([
      '2026-11-20T12:00:00.000Z',
      '2026-11-20T12:00:00.001Z',
      '2026-11-20T12:00:00.001Z',
    ]);

    await run(json.id);
    const items = await ledger.dump();
    expect(holdersOf(items, MARK)).toEqual([]);
    expect(await itemsOf(answersOf(`key:${live[0]}`).partition)).toEqual([]);
    expect((await createKey(request)).json.code).toBe('conflict');
    for (const id of live) {
      const revoked = await world.call({ method: 'DELETE', path: `/api/v1/api-keys/${id}`, as: 'operator' });
      expect(revoked.status).toBe(204);
    }
    expect(await itemsOf(usageOf(subject).partition)).toEqual([]);
  });

  it('do not begin while a key of the account may still write, and then include its last writes', async () => {
    const request = await approvedRequest();
    const key = (await createKey(request)).json.id;
    const { json } = await erase(`account:${request}`);
    const requestedMs = world.nowMs;

    world.nowMs = requestedMs + CREDENTIAL_CACHE_SECONDS * 1000 - 1;
    // As a process does that has read the key just before it was revoked: names are always taken for valid here.
    await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: MARK }, as: `${request}/${key}` });
    const before = await ledger.dump();
    world.nowMs = requestedMs + LAST_WRITE_MS - 1;
    expect(await work(json.id)).toBe('later');
    const queued = await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
    expect(queued).toEqual({ done: 0, failed: 0, later: 0, nextAtMs: requestedMs + LAST_WRITE_MS });
    expect(await ledger.dump()).toEqual(before);
    expect(await readAll(ledger, WORK_QUEUE)).toHaveLength(1);

    world.nowMs = requestedMs + LAST_WRITE_MS;
    expect(await work(json.id)).toBe('done');
    expect(holdersOf(await ledger.dump(), MARK)).toEqual([]);
    expect(await readAll(ledger, WORK_QUEUE)).toEqual([]);
    expect(await work(json.id)).toBe('done');
  });

  it('are one transaction with as many keys as an account can have', async () => {
    const request = await approvedRequest();
    const path = `/api/v1/entitlements/account:${request}/api-keys`;
    const headers = { 'if-none-match': '*' };
    await world.call({ method: 'PUT', path, body: { limit: 50 }, headers, as: 'operator' });
    for (let count = 0; count < 50; count++) expect((await createKey(request)).status).toBe(201);
    expect((await erase(`account:${request}`)).status).toBe(202);
    const keys = (await itemsOf('api-keys')).map(({ value }) => value as ApiKeyValue);
    expect(keys.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  it.each([
    ['is given another key', (request: string) => createKey(request)],
    [
      'is given another secret',
      (_: string, id: string) =>
        world.call({ method: 'POST', path: `/api/v1/api-keys/${id}/rotation`, body: {}, as: 'operator' }),
    ],
    [
      'has its key revoked',
      (_: string, id: string) => world.call({ method: 'DELETE', path: `/api/v1/api-keys/${id}`, as: 'operator' }),
    ],
  ])('leave no key of an account that %s in the meantime', async (_, meanwhile) => {
    const request = await approvedRequest();
    const { json } = await createKey(request);
    const overtaken = overtakenLedger(ledger, () => meanwhile(request, json.id));
    const late = heldToSchemas(openApiWorld({ ledger: overtaken, process: 'late' }));
    const body = { subject: `account:${request}` };
    const erased = await late.call({ method: 'POST', path: URL, body, as: 'operator' });
    expect(erased.status).toBe(202);
    const keys = (await itemsOf('api-keys')).map(({ value }) => value as ApiKeyValue);
    expect(keys.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
    expect(await itemsOf(usageOf(`account:${request}`).partition)).toMatchObject([{ value: 0 }]);
  });

  it.each([
    ['issued a key', 'approved', (request: string) => inputOfKey(request), '/api/v1/api-keys', 409],
    [
      'decided',
      'submitted',
      () => ({ outcome: 'approved', note: MARK }),
      '/api/v1/waitlist-requests/{id}/decision',
      409,
    ],
  ])('are not undone by a request that is %s in the meantime', async (_, state, bodyOf, path, status) => {
    const request = state === 'approved' ? await approvedRequest() : await recordedRequest();
    const overtaken = overtakenLedger(ledger, () => erase(`account:${request}`));
    const late = heldToSchemas(openApiWorld({ ledger: overtaken, process: 'late' }));
    const call = { method: 'POST', path: path.replace('{id}', request), body: bodyOf(request), as: 'operator' };
    expect((await late.call(call)).status).toBe(status);
    expect(holdersOf(await ledger.dump(), CONTACT)).toEqual([]);
  });
});
