/** Each write that makes the ledger grow has a limit a day, or a stated reason. A write that changes nothing leaves nothing. */
import { describe, expect, test } from 'vitest';
import { operationOf, type WriteOperationId } from '../../contract/operations/operations.ts';
import { FEATURES } from '../../contract/values/features.ts';
import { usageKey } from '../../storage/records/accounts.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { API_OPERATIONS, seedWorld, validCall } from './valid-calls.ts';
import { watchLedger } from './watched-ledger.ts';
import { openApiWorld } from './world.ts';

const DAY = '2026-11-20';
const HOURS_LEFT = 12;
const DAY_MS = 24 * 60 * 60 * 1000;

const writes = API_OPERATIONS.filter((id): id is WriteOperationId => operationOf(id).method !== 'GET');
const dailyOf = (id: WriteOperationId) =>
  (operationOf(id).features ?? []).filter((feature) => FEATURES[feature].kind === 'rate');

test.each(writes)('%s has a limit a day, or a reason, and not both', (id) => {
  expect(dailyOf(id).length > 0).toBe(operationOf(id).unlimitedBecause === undefined);
});

const limited = writes.flatMap((id) => dailyOf(id).map((feature) => [id, feature] as const));

test.each(limited)('%s is refused when %s is used up, until the next day, and changes nothing', async (id, feature) => {
  const ledger = watchLedger(openMemoryLedger());
  const world = openApiWorld({ ledger });
  await seedWorld(world);
  const call = { ...(await validCall(world, id)), key: 'one-and-the-same-key' };
  const key = usageKey(`user:${call.as}`, feature, DAY);
  const limit = FEATURES[feature].defaultLimit;
  await putItem(ledger, key, limit);
  const before = await ledger.everything();
  const { status, json, headers } = await world.call(call);
  expect([status, json.code]).toEqual([429, 'daily-quota-exceeded']);
  expect(headers['retry-after']).toBe(String(HOURS_LEFT * 60 * 60));
  expect(json.detail).toContain(FEATURES[feature].description);
  expect(await ledger.everything()).toEqual(before);
  world.nowMs += DAY_MS;
  expect((await world.call(call)).status).toBeLessThan(300);
});

describe('a write that changes nothing', () => {
  const MARKETS = ['gold-usd'];
  const list = { name: 'Metals', markets: MARKETS };

  test.each<[string, string, (id: string) => { path: string; body?: unknown; headers?: Record<string, string> }]>([
    [
      'a watchlist that is as it is',
      'PUT',
      (id) => ({ path: `watchlists/${id}`, body: list, headers: { 'if-match': '"1"' } }),
    ],
    ['a market that is on the list', 'PUT', (id) => ({ path: `watchlists/${id}/markets/gold-usd` })],
    ['a market that is not on the list', 'DELETE', (id) => ({ path: `watchlists/${id}/markets/tin-usd` })],
    [
      'a grant that is as it is',
      'PUT',
      () => ({ path: 'entitlements/user:bob/watchlists', body: { limit: 7 }, headers: { 'if-match': '*' } }),
    ],
  ])('%s: leaves only an answer for replays, which expires', async (_, method, of) => {
    const ledger = watchLedger(openMemoryLedger());
    const world = openApiWorld({ ledger });
    await seedWorld(world);
    const made = await world.call({ method: 'POST', path: '/api/v1/watchlists', body: list });
    const granted = { path: '/api/v1/entitlements/user:bob/watchlists', body: { limit: 7 } };
    await world.call({ method: 'PUT', ...granted, headers: { 'if-none-match': '*' } });
    const before = await ledger.everything();
    const { path, ...rest } = of(made.json.id);
    for (let count = 0; count < 3; count++) {
      const answer = await world.call({ method, path: `/api/v1/${path}`, ...rest });
      expect([answer.status, answer.headers.etag]).toEqual([200, '"1"']);
    }
    const added = [...(await ledger.everything())].filter(([name]) => !before.has(name)).map(([, item]) => item);
    expect(added.map(({ partition }) => partition)).toEqual(Array(3).fill('idempotency/user:alice'));
    for (const { expiresAtMs } of added) expect(expiresAtMs).not.toBeNull();
    for (const [name, item] of before) expect((await ledger.everything()).get(name)).toEqual(item);
  });

  test('that is revoked twice has one audit record', async () => {
    const ledger = watchLedger(openMemoryLedger());
    const world = openApiWorld({ ledger });
    await seedWorld(world);
    const call = await validCall(world, 'revokeApiKey');
    await world.call(call);
    const before = (await ledger.everything()).size;
    expect((await world.call(call)).status).toBe(204);
    expect((await ledger.everything()).size).toBe(before + 1);
  });
});
