import { beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { publish } from '../../publisher/publish.ts';
import { ingest } from '../ingest/ingest.ts';
import { dependenciesOn, market, price, readerOf } from '../publisher/world.ts';
import { type MemoryObjects, openMemoryObjects } from '../storage/memory-objects.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/editions';

let world: ApiWorld;
let objects: MemoryObjects;

beforeEach(async () => {
  world = openApiWorld();
  objects = openMemoryObjects();
  await ingest(dependencies(), [market('gold'), price('gold', 0, 100)]);
  await publishAll();
});

const dependencies = () => dependenciesOn(world.ledger, objects, world);

async function publishAll(): Promise<void> {
  while ((await publish(dependencies())).isMoreDue);
}

const create = (body: unknown, as = 'operator') => world.call({ method: 'POST', path: URL, body, as });
const remove = (name: string) => world.call({ method: 'POST', path: `${URL}/${name}/removal`, as: 'operator' });
const list = async () => (await world.call({ path: URL, as: 'operator' })).json.data;
const status = async (url: string) => (await readerOf(objects)(url)).status;

describe('an edition', () => {
  it('waits, is published, and is removed; its name is never used again', async () => {
    const asked = await create({ name: '2026-q3', note: 'As cited.' });
    expect([asked.status, asked.headers.location]).toEqual([202, '/api/v1/editions/2026-q3']);
    expect(asked.json).toMatchObject({ name: '2026-q3', state: 'waiting', generation: null, note: 'As cited.' });
    expect(await status('/api/v1/editions/2026-q3')).toBe(404);
    await publishAll();
    expect(await list()).toMatchObject([{ name: '2026-q3', state: 'published', generation: 1 }]);
    expect(await status('/api/v1/editions/2026-q3/markets/gold/history')).toBe(200);

    const removed = await remove('2026-q3');
    expect([removed.status, removed.json.state]).toEqual([200, 'removed']);
    expect((await remove('2026-q3')).json.code).toBe('conflict');
    await publishAll();
    await collectGarbage(dependencies(), { dryRun: false });
    expect(await status('/api/v1/editions/2026-q3')).toBe(404);
    expect(await status('/api/v1/editions/2026-q3/markets/gold/history')).toBe(404);

    const again = await create({ name: '2026-q3' });
    expect([again.status, again.json.code]).toEqual([409, 'conflict']);
    expect(again.json.detail).toContain('removed');
  });

  it('can be removed while it waits', async () => {
    await create({ name: 'soon' });
    await remove('soon');
    await publishAll();
    expect(await list()).toMatchObject([{ name: 'soon', state: 'removed', generation: null }]);
    expect(await status('/api/v1/editions/soon')).toBe(404);
  });

  it('is made after the one before it', async () => {
    for (const name of ['b', 'a']) await create({ name });
    await publishAll();
    expect(await list()).toMatchObject([
      { name: 'a', state: 'published', generation: 1 },
      { name: 'b', state: 'published', generation: 1 },
    ]);
  });

  it.each([
    ['a name that is no slug', { name: 'Q3 2026' }],
    ['a name with a slash', { name: 'q3/markets' }],
    ['a name that is too long', { name: 'a'.repeat(81) }],
    ['a note with an address', { name: 'q3', note: 'write to alice@example.com' }],
    ['an unknown field', { name: 'q3', generation: 1 }],
    ['no name', {}],
  ])('is refused with %s', async (_what, body) => {
    expect((await create(body)).json.code).toBe('validation-failed');
    expect(await list()).toEqual([]);
  });

  it('needs publications:write', async () => {
    const scopes = { alice: ['ingest:write'] } as const;
    const call = { method: 'POST', path: URL, body: { name: 'q3' }, as: 'alice' } as const;
    expect((await openApiWorld({ scopes }).call(call)).json.code).toBe('forbidden');
  });

  it('that is unknown cannot be removed', async () => {
    expect((await remove('none')).json.code).toBe('not-found');
  });
});
