import { beforeEach, describe, expect, it } from 'vitest';
import { pageCursor } from '../../contract/files/cursors.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { PUBLICATION_MARKETS_MAX, publicationSchema } from '../../contract/operations/publications.ts';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import { publish } from '../../publisher/publish.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  historyPageKey,
  type PublishedPage,
} from '../../storage/records/publication.ts';
import { ingest } from '../ingest/ingest.ts';
import { workOff } from '../ingest/work-off.ts';
import { dependenciesOn, market, price, publicObjects, SMALL_PAGES } from '../publisher/world.ts';
import { type MemoryObjects, openMemoryObjects } from '../storage/memory-objects.ts';
import { putItem } from '../storage/put-item.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/publications';
const SLUGS = Array.from(
  { length: PUBLICATION_MARKETS_MAX + 1 },
  (_, index) => `market-${String(index).padStart(2, '0')}`,
);

let world: ApiWorld;
let objects: MemoryObjects;
let purged: PurgeTargets[];

beforeEach(async () => {
  world = openApiWorld();
  objects = openMemoryObjects();
  purged = [];
  const prices = Array.from({ length: SMALL_PAGES.observations + 1 }, (_, day) => price('market-00', day, 100 + day));
  const records = [...SLUGS.map((slug) => market(slug)), ...prices];
  await ingest(dependencies(), records);
  await publishWorkedOff();
});

function dependencies() {
  const caches = { purge: async (targets: PurgeTargets) => void purged.push(targets) };
  return { ...dependenciesOn(world.ledger, objects, world), caches };
}

/** The worker sets marks, and the publisher publishes them. */
async function publishWorkedOff() {
  await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
  return await publish(dependencies());
}

const create = (body: unknown, as = 'operator') => world.call({ method: 'POST', path: URL, body, as });
const read = (id: string, as = 'operator') => world.call({ path: `${URL}/${id}`, as });

describe('a publication', () => {
  it.each([
    ['one market', ['market-00']],
    ['as many as one may name', SLUGS.slice(0, PUBLICATION_MARKETS_MAX)],
    ['all', 'all'],
  ])('of %s waits, and then names the generation', async (_, markets) => {
    const created = await create({ markets });
    const { id } = created.json;
    expect(created.status).toBe(202);
    expect(created.headers.location).toBe(`${URL}/${id}`);
    expect(created.json).toEqual({
      id,
      markets,
      purge: false,
      createdAt: new Date(world.nowMs).toISOString(),
      state: 'waiting',
      generation: null,
      publishedAt: null,
    });
    expect((await read(id)).json).toEqual(created.json);
    const { generation } = await publishWorkedOff();
    const published = (await read(id)).json;
    expect(published).toEqual({ ...created.json, state: 'published', generation, publishedAt: expect.any(String) });
    expect(publicationSchema.parse(published)).toEqual(published);
    for (const { shards } of [WORK_QUEUE, FRESH_MARKS, AWAITING_GENERATION]) {
      expect(await readAll(world.ledger, { shards })).toEqual([]);
    }
  });

  it.each([
    ['one market', ['market-00']],
    ['all', 'all'],
  ])('of %s renders closed history pages again too', async (_, markets) => {
    // As if another version of the renderer had closed it with other bytes.
    const key = historyPageKey('market-00', 0);
    const item = await world.ledger.get(key);
    await putItem(world.ledger, key, { ...(item?.value as PublishedPage), digest: '0'.repeat(64) }, 1);
    await create({ markets });
    expect(await publishWorkedOff()).toMatchObject({ kind: 'published', generation: 2 });
    const closed = (await world.ledger.get(key))?.value as PublishedPage;
    expect(closed.cursor).toBe(pageCursor(2, closed.digest));
    const name = { kind: 'history-page', slug: 'market-00', cursor: closed.cursor } as const;
    expect(sha256Hex(publicObjects(objects).get(publicKey(name)) ?? '')).toBe(closed.digest);
  });
});

describe('a purge', () => {
  it.each([
    ['nothing without one', { markets: ['market-00'] }, []],
    [
      'the bodies of a market',
      { markets: ['market-00'], purge: true },
      [{ tags: ['market-00', 'markets', 'snapshot'] }],
    ],
    ['everything', { markets: 'all', purge: true }, ['everything']],
  ])('purges %s', async (_, body, targets) => {
    await create(body);
    expect(purged).toEqual([]);
    await publishWorkedOff();
    expect(purged).toEqual(targets);
  });
});
