/** "Who wrote this number": every write to a market is in the audit of the market. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { workOff } from '../ingest/work-off.ts';
import { market, price } from '../publisher/world.ts';
import { ASSERTIONS, filed, openClaimWorld } from './claim-world.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const BATCHES = '/api/v1/ingest/batches';

async function send(world: ApiWorld, as: string, records: readonly unknown[]): Promise<string> {
  const { json } = await world.call({ method: 'POST', path: BATCHES, body: { records }, as });
  await workOff({ ledger: world.ledger, nowMs: () => ++world.nowMs });
  return json.id;
}

async function trail(world: ApiWorld, query: string) {
  const { json } = await world.call({ path: '/api/v1/audit-records', query, as: 'operator' });
  return json.data.map(({ actor, action, requestId }: Record<string, string>) => [actor, action, requestId]);
}

const ofMarket = (world: ApiWorld, slug: string) => trail(world, `target=market/${slug}`);

test('the audit of a market has each batch that changed it, newest first, and its sender', async () => {
  const world = openApiWorld();
  const first = await send(world, 'acme/feed', [market('gold-usd'), price('gold-usd', 0, 6117)]);
  const second = await send(world, 'bob', [price('gold-usd', 5, 6118)]);
  expect(await ofMarket(world, 'gold-usd')).toEqual([
    ['user:bob', 'system:ingest', second],
    ['key:feed', 'system:ingest', first],
  ]);
  expect(await trail(world, 'target=market/gold-usd&actor=user:bob')).toEqual([['user:bob', 'system:ingest', second]]);
  expect((await world.call({ path: `${BATCHES}/${second}`, as: 'operator' })).status).toBe(200);
});

test('a batch that changes nothing of a market is not in the audit of the market', async () => {
  const world = openApiWorld();
  const records = [market('gold-usd'), price('gold-usd', 0, 6117)];
  const first = await send(world, 'acme/feed', records);
  await send(world, 'acme/feed', records);
  expect(await ofMarket(world, 'gold-usd')).toEqual([['key:feed', 'system:ingest', first]]);
});

test('a batch of several transactions is in the audit of each of its markets', async () => {
  const world = openApiWorld();
  const slugs = Array.from({ length: 120 }, (_, index) => `market-${index}`);
  const batch = await send(
    world,
    'acme/feed',
    slugs.flatMap((slug) => [market(slug), price(slug, 0, 6117)]),
  );
  for (const slug of slugs) expect(await ofMarket(world, slug)).toEqual([['key:feed', 'system:ingest', batch]]);
});

test('a market of several transactions has a record of each', async () => {
  const world = openApiWorld();
  const days = Array.from({ length: 300 }, (_, day) => price('gold-usd', day, 6117));
  const batch = await send(world, 'acme/feed', [market('gold-usd'), ...days]);
  const records = await ofMarket(world, 'gold-usd');
  expect(records.length).toBeGreaterThan(1);
  expect(new Set(records.map(String))).toEqual(new Set([String(['key:feed', 'system:ingest', batch])]));
});

test('a part of a file names the credential that announced the file', async () => {
  const world = openApiWorld();
  const text = [market('gold-usd'), price('gold-usd', 0, 6117)].map((record) => `${JSON.stringify(record)}\n`).join('');
  const body = { sha256: hash('sha256', text), bytes: Buffer.byteLength(text), records: 2, mode: 'append' };
  const { json } = await world.call({ method: 'POST', path: '/api/v1/ingest/uploads', body, as: 'acme/feed' });
  world.uploads.put(json.id, Buffer.from(text));
  const dependencies = { ledger: world.ledger, uploads: world.uploads, nowMs: () => world.nowMs };
  await queueUpload({ ...dependencies, newAttemptId: () => 'arrived' }, json.id);
  await workOff(dependencies);
  expect(await ofMarket(world, 'gold-usd')).toEqual([['key:feed', 'system:ingest', expect.stringMatching(/^bat_/)]]);
});

test('an accepted claim is in the audit of the market, and a claim that is filed is not', async () => {
  const world = await openClaimWorld({ scopes: { rita: ['claims:review'] } });
  const before = await ofMarket(world, 'gold-usd');
  const id = await filed(world, ASSERTIONS.retraction);
  const act = (part: string, ifMatch: string, body: object) =>
    world.call({
      method: 'POST',
      path: `/api/v1/claims/${id}/${part}`,
      headers: { 'if-match': ifMatch },
      body,
      as: 'rita',
    });
  await act('review', '"1"', { action: 'start' });
  expect(await ofMarket(world, 'gold-usd')).toEqual(before);
  world.nowMs += 1;
  expect((await act('decision', '"2"', { outcome: 'accepted', note: 'seen' })).status).toBe(200);
  expect(await ofMarket(world, 'gold-usd')).toEqual([['user:rita', 'decideClaim', expect.any(String)], ...before]);
});
