/**
 * What holds of the files of every projection: readers that have one are answered 304, verify finds one that is damaged or lost, a
 * rebuild gives the same bytes again, and the sweep removes those that are switched off.
 */
import { describe, expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { withoutGeneration } from './without-generation.ts';
import { createWorld, market, price, readerOf } from './world.ts';

const FILES: readonly (readonly [Projection, readonly string[]])[] = [
  ['latest', ['/api/v1/latest.json', '/api/v1/latest/all.csv', '/api/v1/latest/all.ndjson']],
  ['recent', ['/api/v1/recent.json']],
  [
    'feeds',
    [
      ...['/feeds/changes.atom', '/feeds/corrections.atom', '/feeds/releases.ics', '/feeds/incidents.atom'],
      ...['/api/v1/modified.csv', '/api/v1/sources.json', '/api/v1/incidents.json'],
    ],
  ],
  ['market-feeds', ['/feeds/markets/a.atom']],
  ['market-pages', ['/markets/a.html']],
  ['badges', ['/badges/a.svg', '/badges/a.json']],
  ['embeds', ['/embed/a.html', '/embed/a.json']],
  [
    'history-files',
    [
      ...['/api/v1/markets/a/history.csv', '/api/v1/markets/a/history.ndjson'],
      '/api/v1/markets/a/history/index.json',
      ...['/api/v1/markets/a/history/2026.csv', '/api/v1/markets/a/history/2026.ndjson'],
    ],
  ],
];

/** `a` has a source with a cadence, a correction, and three pages of history; `b` has no observation. */
async function filesWorld(projection: Projection): Promise<FilesWorld> {
  const { dependencies, ...plain } = createWorld();
  const settings = { ...dependencies, site: await readSite(), readBaseUrl: 'https://data.example.com/below' };
  const world = createFilesWorld({ ...plain, dependencies: settings }, [projection]);
  const source = { label: 'a test', url: 'https://example.com/', publisher: null, licence: null, attribution: null };
  const cadence = { period: 'day', releaseTime: '15:00', graceSeconds: 3600 };
  await world.ingest([{ ...market('a'), sources: [{ ...source, cadence }] } as IngestRecordInput, market('b')]);
  await world.ingest(Array.from({ length: 9 }, (_, day) => price('a', day, 123_400 + 100 * day)));
  await world.publish();
  world.clock.nowMs += 1_000;
  await world.ingest([price('a', 1, 999)], 'correct');
  await world.publish();
  return world;
}

const keyOf = (path: string) => PUBLIC_PREFIX + path;

/** Flips a byte: one near the end, but not in the number of a generation, which no body proves. */
const flip = (world: FilesWorld) => async (key: string) => {
  const found = await world.objects.get(key);
  if (found.kind !== 'found') throw new Error(`${key} is missing`);
  const body = Buffer.from(found.body);
  const place = /latest|recent/.test(key) ? body.length >> 1 : body.length - 2;
  body.writeUInt8(body.readUInt8(place) ^ 1, place);
  await world.objects.put(key, body, found.metadata, { kind: 'matches', etag: found.etag });
};

async function bytesOf({ objects }: FilesWorld, paths: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(
    paths.map(async (path) => {
      const found = await objects.get(keyOf(path));
      return found.kind === 'found' ? withoutGeneration(Buffer.from(found.body).toString()) : found.kind;
    }),
  );
}

describe.each(FILES)('files of the kind %s', (projection, paths) => {
  test('have their content type, and a reader that has one is answered 304', async () => {
    const read = readerOf((await filesWorld(projection)).objects);
    for (const path of paths) {
      const { headers } = await read(path);
      const { kind } = parsePublicKey(keyOf(path)) ?? {};
      expect(headers.get('content-type'), path).toBe(kind && PUBLIC_OBJECTS[kind].contentType);
      expect((await read(path, { 'if-none-match': headers.get('etag') ?? '' })).status, path).toBe(304);
    }
  });

  test('are found damaged and lost, and a rebuild gives the same bytes again', async () => {
    const world = await filesWorld(projection);
    expect(await world.findings()).toEqual([]);
    const before = await bytesOf(world, paths);
    // What lies around the content of a page is the site's.
    const harms = projection === 'market-pages' ? [world.lose] : [flip(world), world.lose];
    for (const harm of harms) {
      for (const path of paths) {
        await harm(keyOf(path));
        const found = (await world.findings()).map((finding) => (finding as { readonly url: string }).url);
        expect(
          found.filter((url) => path.startsWith(url)),
          path,
        ).toHaveLength(1);
        await rebuild(world.dependencies);
        await world.publishAll();
      }
      expect(await bytesOf(world, paths)).toEqual(before);
      expect(await world.findings()).toEqual([]);
    }
  });

  test('are swept when they are switched off', async () => {
    const world = await filesWorld(projection);
    const off = createFilesWorld(world, []);
    await off.publish();
    await rebuild(off.dependencies);
    world.clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
    await off.ingest([price('b', 0, 1)]);
    await off.publishAll();
    const { removed } = await collectGarbage(off.dependencies, { dryRun: false });
    expect(removed).toEqual(expect.arrayContaining(paths.map(keyOf)));
    expect(await off.findings()).toEqual([]);
  });
});
