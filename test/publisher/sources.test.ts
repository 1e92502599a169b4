/** The file of all sources: what the list says of them, and when they were fetched. */
import { describe, expect, test } from 'vitest';
import type { PublicSource } from '../../contract/bodies/public-sources.ts';
import { EXAMPLE_RECIPE, metalsCsv } from '../sources/example-recipe.ts';
import { failing, NOT_MODIFIED, ok, openSourceWorld, type SourceWorld } from '../sources/source-world.ts';
import { createWorld, market, price, publicObjects, type World } from './world.ts';

const URL = '/api/v1/sources.json';
const KEY = `public${URL}`;
const CADENCE = { graceSeconds: 3600, period: 'day', releaseAfterDays: 0, releaseTime: '15:00' } as const;
const [GOLD, MORE] = [['gold', '2026-11-19', '4129.10'] as const, ['gold', '2026-11-20', '4140.00'] as const];

const sourcesOf = async (world: World) => (await world.json<{ readonly data: readonly PublicSource[] }>(URL)).data;

/** A source that is fetched each day at 16:30, and its publisher. `day`: of November 2026. */
async function fetchingWorld() {
  const source = openSourceWorld();
  const world = createWorld(undefined, source.api.ledger).with({ projections: new Set(['feeds']) });
  const recipe = { ...EXAMPLE_RECIPE, licence: 'CC0-1.0', cadence: CADENCE };
  expect((await source.add(recipe)).status).toBe(200);
  const fetchOn = async (day: number, answer: SourceWorld['answers'][number]) => {
    source.api.nowMs = Date.UTC(2026, 10, day, 16, 30);
    world.clock.nowMs = source.api.nowMs;
    source.answers = [answer];
    await source.settle();
    return await world.publishedKeys();
  };
  return { source, world, fetchOn };
}

describe('a source that is fetched', () => {
  test('is in the file with the moment of its last news, then with the first fetch of each day', async () => {
    const { source, world, fetchOn } = await fetchingWorld();
    await fetchOn(20, ok(metalsCsv(GOLD)));
    const [first] = await sourcesOf(world);
    expect(first).toMatchObject({
      label: 'Metals',
      licence: 'CC0-1.0',
      markets: 1,
      lastFetchedAt: '2026-11-20T16:30:00.000Z',
      lastChangedAt: expect.stringMatching(/^2026-11-20T16:30:0/),
      expectedNextAt: '2026-11-20T15:00:00Z',
      late: true,
    });
    // Only the file, and what names the generation.
    expect(await fetchOn(21, NOT_MODIFIED)).toEqual([KEY, 'public/api/v1/snapshot.json']);
    expect((await sourcesOf(world))[0]).toEqual({ ...first, lastFetchedAt: '2026-11-21T16:30:00.000Z' });
    await source.ask();
    expect(await fetchOn(21, NOT_MODIFIED)).toEqual([]);
    await source.ask();
    await fetchOn(21, ok(metalsCsv(GOLD, MORE)));
    expect((await sourcesOf(world))[0]).toMatchObject({ expectedNextAt: '2026-11-21T15:00:00Z', late: true });
    expect(await world.findings()).toEqual([]);
  });

  test('that does not answer keeps its moment; one that is removed has none', async () => {
    const { source, world, fetchOn } = await fetchingWorld();
    await fetchOn(20, ok(metalsCsv(GOLD)));
    expect(await fetchOn(21, failing())).toEqual([]);
    const { headers } = await source.api.call({ path: '/api/v1/sources/metals' });
    await source.api.call({
      ...{ method: 'DELETE', path: '/api/v1/sources/metals' },
      headers: { 'if-match': headers.etag as string },
    });
    await world.publish();
    expect((await sourcesOf(world))[0]).toMatchObject({ lastFetchedAt: null, late: null });
    expect(await world.findings()).toEqual([]);
  });

  test('has the same bytes after everything was published again', async () => {
    const { world, fetchOn } = await fetchingWorld();
    await fetchOn(20, ok(metalsCsv(GOLD)));
    await fetchOn(21, NOT_MODIFIED);
    const before = publicObjects(world.objects).get(KEY);
    await world.lose(KEY);
    await world.rebuildAll();
    expect(publicObjects(world.objects).get(KEY)).toBe(before);
  });
});

describe('the sources of markets', () => {
  const source = { label: 'a test', url: 'https://example.com/', publisher: null, licence: null, attribution: null };
  const of = (slug: string, ...sources: readonly object[]) => ({ ...(market(slug) as object), sources }) as never;

  async function markets(): Promise<World> {
    const world = createWorld().with({ projections: new Set(['feeds']) });
    await world.ingest([
      of('a', source),
      of('b', { ...source, url: 'https://example.com/b' }, { ...source, label: 'another', cadence: CADENCE }),
      of('c', { ...source, licence: 'MIT' }),
      ...['a', 'b', 'c'].map((slug) => price(slug, 0, 100)),
    ]);
    await world.publish();
    return world;
  }

  test('are there once, with all that differs between them but the address', async () => {
    const world = await markets();
    const shown = (await sourcesOf(world)).map(({ label, url, licence, markets: count }) => [
      label,
      url,
      licence,
      count,
    ]);
    expect(shown).toEqual([
      ['a test', 'https://example.com/', 'MIT', 1],
      ['a test', 'https://example.com/', null, 2],
      ['another', 'https://example.com/', null, 1],
    ]);
    expect(await world.findings()).toEqual([]);
  });
});
