/** The cost of a write: one transaction, and the reads in the table below. */
import { describe, expect, it } from 'vitest';
import type { WriteOperationId } from '../../contract/operations/operations.ts';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { grant, seedApiKey } from './seeds.ts';
import { API_OPERATIONS, type ApiOperationId, seedWorld, validCall } from './valid-calls.ts';
import { type Method, watchLedger } from './watched-ledger.ts';
import { openApiWorld, START_MS } from './world.ts';

/** The reads of each write before its one transaction. A missing operation does not compile. */
const READS: { readonly [Id in WriteOperationId]: readonly Method[] } = {
  createWatchlist: [],
  replaceWatchlist: ['get'],
  deleteWatchlist: ['get'],
  addWatchlistMarket: ['get'],
  removeWatchlistMarket: ['get'],
  createClaim: ['get'],
  addClaimEvidence: ['get'],
  withdrawClaim: ['get'],
  reviewClaim: ['get'],
  decideClaim: ['get', 'getMany', 'getMany'],
  createSourceVerification: ['getMany'],
  createIngestBatch: [],
  createIngestUpload: [],
  removeMarket: ['getMany'],
  putSource: ['getMany'],
  deleteSource: ['getMany'],
  pauseSource: ['getMany'],
  resumeSource: ['getMany'],
  createSourceRun: ['get'],
  replaySourceRun: ['get'],
  createPublication: ['getMany'],
  createTakedown: ['get'],
  putEntitlement: ['get', 'getMany'],
  deleteEntitlement: ['get'],
  createWaitlistRequest: [],
  decideWaitlistRequest: ['get'],
  createApiKey: ['getMany'],
  rotateApiKey: ['get'],
  revokeApiKey: ['get', 'get'],
  createErasure: [],
};

const isWrite = (id: ApiOperationId): id is WriteOperationId => id in READS;

describe.each(API_OPERATIONS.filter(isWrite))('%s', (id) => {
  const reads = READS[id];

  it('costs one read of its credential more, once in 30 seconds, with an API key', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const as = await seedApiKey(ledger, 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A', ALL_SCOPES);
    const other = await seedApiKey(ledger, 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3B', ALL_SCOPES);
    const world = openApiWorld({
      ledger,
      authenticator: createAuthenticator({ ledger, nowMs: () => world.nowMs, env: 'test', tokenIssuer: null }),
    });
    await seedWorld(world);
    const call = await validCall(world, id, { owner: as, reviewer: other });
    world.nowMs = START_MS + 30_000;
    ledger.calls.splice(0);
    expect((await world.call(call)).status).toBeLessThan(300);
    expect(ledger.calls).toEqual(['get', ...reads, 'transact']);
    ledger.calls.splice(0);
    await world.call(call);
    // The credential is cached now, with any outcome of the request.
    expect(ledger.calls[0]).toBe(reads[0] ?? 'transact');
  });
});

describe.each(API_OPERATIONS.filter((id) => isWrite(id) && READS[id].length === 0))('a replay of %s', (id) => {
  it('costs the same as the write: one transaction', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const world = openApiWorld({ ledger });
    await seedWorld(world);
    const call = { ...(await validCall(world, id)), key: 'one-and-the-same-key' };
    await world.call(call);
    ledger.calls.splice(0);
    expect((await world.call(call)).headers['idempotency-replayed']).toBe('true');
    expect(ledger.calls).toEqual(['transact']);
  });
});

describe('a write of a subject with a grant', () => {
  const CREATE = { method: 'POST', path: '/api/v1/watchlists', body: { name: 'Metals' } } as const;

  it('costs one more transaction if the grant is not cached, and no more after that', async () => {
    const ledger = watchLedger(openMemoryLedger());
    await grant(ledger, 'user:alice', { watchlists: 30 });
    const world = openApiWorld({ ledger });
    for (const calls of [['transact', 'transact'], ['transact'], ['transact']]) {
      ledger.calls.splice(0);
      expect((await world.call(CREATE)).status).toBe(201);
      expect(ledger.calls).toEqual(calls);
    }
  });
});

describe('a refused request', () => {
  it.each<[string, object, readonly Method[]]>([
    ['that no credential comes with', { as: null }, []],
    ['that fits no schema', { body: { name: '' } }, []],
    ['that has no key', { headers: { 'idempotency-key': undefined } }, []],
    // Refused by the ledger; then it must be known whether this very request has been done before, and the grants.
    ['that names an unknown market', { body: { name: 'Fuel', markets: ['brent-usd'] } }, ['transact', 'getMany']],
  ])('%s costs the ledger little or nothing', async (_what, more, calls) => {
    const ledger = watchLedger(openMemoryLedger());
    const world = openApiWorld({ ledger });
    const answer = await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'Metals' }, ...more });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(ledger.calls).toEqual(calls);
  });
});
