/**
 * What holds of the files of every projection: readers that have one are answered 304, a change puts exactly the files that it
 * changes, verify finds one that is forged, damaged or lost, a rebuild gives the same bytes again, a removed market leaves them,
 * and the sweep removes those that are switched off.
 */
import { describe, expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { findLostObjects } from '../../publisher/repair/lost-objects.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { copiesOf } from './copied-world.ts';
import { removeMarket } from './remove-market.ts';
import { withoutGeneration } from './without-generation.ts';
import { market, price, type World } from './world.ts';

interface Files {
  readonly paths: readonly string[];
  /** Those that one more price of `a` puts. */
  readonly changed: readonly string[];
  readonly lies?: readonly (readonly [what: string, path: string, edit: (text: string) => string])[];
}

const [CHANGES, SOURCES] = ['/feeds/changes.atom', '/api/v1/sources.json'];
const other = (text: string, instead: string) => (body: string) => body.replaceAll(text, instead);

/** The feed as it was before its newest entry. */
function withoutNewest(feed: string): string {
  const [newest = '', second = ''] = feed.split('\n').filter((line) => line.startsWith('<entry>'));
  const updated = /<updated>[^<]*/;
  return feed.replace(`${newest}\n`, '').replace(updated, updated.exec(second)?.[0] ?? '');
}

const liesOfFeed = (path: string): NonNullable<Files['lies']> => [
  ['another value', path, other('1241.00 USD', '1241.01 USD')],
  ['other identities', path, other('urn:uuid:', 'urn:uuid:0')],
  ['no newest entry', path, withoutNewest],
];

const FILES: readonly (readonly [Projection, Files])[] = [
  [
    'latest',
    {
      paths: ['/api/v1/latest.json', '/api/v1/latest/all.csv', '/api/v1/latest/all.ndjson'],
      changed: ['/api/v1/latest/all.csv', '/api/v1/latest/all.ndjson', '/api/v1/latest.json'],
    },
  ],
  ['recent', { paths: ['/api/v1/recent.json'], changed: ['/api/v1/recent.json'] }],
  [
    'feeds',
    {
      paths: [
        ...[CHANGES, '/feeds/corrections.atom', '/feeds/releases.ics', '/feeds/incidents.atom'],
        ...['/api/v1/modified.csv', SOURCES, '/api/v1/incidents.json'],
      ],
      changed: [CHANGES, '/api/v1/modified.csv', SOURCES],
      lies: [
        ...liesOfFeed(CHANGES),
        ['a moment that is not of the cadence', '/feeds/releases.ics', other('T150000Z', 'T160000Z')],
        ['another licence', SOURCES, other('"MIT"', '"CC0"')],
        ['another number of markets', SOURCES, other('"markets":1', '"markets":3')],
        ['a lateness without a fetch', SOURCES, other('"late":null', '"late":true')],
        ['a moment that is none', SOURCES, other('"lastFetchedAt":null', '"lastFetchedAt":"today"')],
      ],
    },
  ],
  [
    'market-feeds',
    {
      paths: ['/feeds/markets/a.atom'],
      changed: ['/feeds/markets/a.atom'],
      lies: liesOfFeed('/feeds/markets/a.atom'),
    },
  ],
  ['market-pages', { paths: ['/markets/a.html'], changed: ['/markets/a.html'] }],
  ['badges', { paths: ['/badges/a.svg', '/badges/a.json'], changed: ['/badges/a.json', '/badges/a.svg'] }],
  // The answer of oEmbed has no price in it.
  ['embeds', { paths: ['/embed/a.html', '/embed/a.json'], changed: ['/embed/a.html'] }],
  [
    'history-files',
    {
      paths: [
        ...['/api/v1/markets/a/history.csv', '/api/v1/markets/a/history.ndjson'],
        '/api/v1/markets/a/history/index.json',
        ...['/api/v1/markets/a/history/2026.csv', '/api/v1/markets/a/history/2026.ndjson'],
      ],
      changed: [
        ...['/api/v1/markets/a/history.csv', '/api/v1/markets/a/history.ndjson'],
        ...['/api/v1/markets/a/history/2026.csv', '/api/v1/markets/a/history/2026.ndjson'],
      ],
    },
  ],
];

/** `a` has a source with a cadence, a correction, and three pages of history; `b` has no observation. The list has several pages. */
async function fill(world: World): Promise<void> {
  const source = { label: 'a test', url: 'https://example.com/', publisher: null, licence: 'MIT', attribution: null };
  const cadence = { period: 'day', releaseTime: '15:00', graceSeconds: 3600 };
  await world.ingest([{ ...market('a'), sources: [{ ...source, cadence }] } as IngestRecordInput, market('b')]);
  await world.ingest(['c', 'd', 'e', 'f', 'g'].flatMap((slug) => [market(slug), price(slug, 0, 100)]));
  for (const day of [0, 1, 2, 3, 4, 5, 6, 7]) {
    world.clock.nowMs += 1_000;
    await world.ingest([price('a', day, 123_400 + 100 * day)]);
  }
  await world.publishAll();
  world.clock.nowMs += 1_000;
  await world.ingest([price('a', 1, 999)], 'correct');
  await world.publishAll();
}

/** The comparison with the ledger reports these. A search of a folder finds lost files of every kind. */
const REPORTED: readonly Projection[] = ['latest', 'recent', 'feeds', 'history-files'];

const site = await readSite();
/** Only pages need a site. The first page of one follows every switch, and would bring the list for all others. */
const publishing = (projections: readonly Projection[]) => (world: World) =>
  world.with({
    readBaseUrl: 'https://data.example.com/below',
    projections: new Set(projections),
    ...(projections.includes('market-pages') && { site }),
  });
const keyOf = (path: string) => PUBLIC_PREFIX + path;
const isOfMarket = (path: string) => /\/a\b/.test(path);
const urlsOf = (findings: readonly { readonly url: string }[]) => findings.map(({ url }) => url);

/** Flips a byte: one near the end, but not in the number of a generation, which no body proves. */
const flip = (world: World) => (key: string) =>
  world.forge(key, (body) => {
    const place = /latest|recent/.test(key) ? body.length >> 1 : body.length - 2;
    body.writeUInt8(body.readUInt8(place) ^ 1, place);
    return body;
  });

async function bytesOf({ objects }: World, paths: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(
    paths.map(async (path) => {
      const found = await objects.get(keyOf(path));
      return found.kind === 'found' ? withoutGeneration(Buffer.from(found.body).toString()) : found.kind;
    }),
  );
}

describe.each(FILES)('files of the kind %s', (projection, { paths, changed, lies = [] }) => {
  const open = copiesOf(fill, publishing([projection]));

  test('have their content type, and a reader that has one is answered 304', async () => {
    const { read } = await open();
    for (const path of paths) {
      const { headers } = await read(path);
      const { kind } = parsePublicKey(keyOf(path)) ?? {};
      expect(headers.get('content-type'), path).toBe(kind && PUBLIC_OBJECTS[kind].contentType);
      expect((await read(path, { 'if-none-match': headers.get('etag') ?? '' })).status, path).toBe(304);
    }
  });

  test('are put with a change alone, and only those that it changes', async () => {
    const world = await open();
    expect(await world.publishedKeys()).toEqual([]);
    const kinds = paths.map((path) => parsePublicKey(keyOf(path))?.kind);
    await world.ingest([price('a', 8, 124_500)]);
    const put = (await world.publishedKeys()).filter((key) => kinds.includes(parsePublicKey(key)?.kind));
    expect([...put].sort()).toEqual(changed.map(keyOf).sort());
    expect(await world.findings()).toEqual([]);
  });

  test('are found damaged and lost, and a rebuild gives the same bytes again', async () => {
    const world = await open();
    expect(await world.findings()).toEqual([]);
    const before = await bytesOf(world, paths);
    // What lies around the content of a page is the site's.
    const harms = projection === 'market-pages' ? [world.lose] : [flip(world), world.lose];
    for (const harm of harms) {
      for (const path of paths) {
        await harm(keyOf(path));
        const found = urlsOf(await world.findings()).filter((url) => path.startsWith(url));
        expect(found, path).toHaveLength(1);
        const isReported = harm === world.lose && REPORTED.includes(projection);
        expect(await findLostObjects(world.dependencies)).toEqual(isReported ? [keyOf(path)] : []);
        await world.rebuildAll();
      }
      expect(await bytesOf(world, paths)).toEqual(before);
      expect(await world.findings()).toEqual([]);
    }
  });

  test.each(lies)('are found with %s: %s', async (_, path, edit) => {
    const world = await open();
    await world.forge(keyOf(path), (body) => edit(body.toString()));
    expect(await world.findings()).toMatchObject([{ url: path, rule: 'file' }]);
  });

  test('leave with a removed market, or leave it out', async () => {
    const world = await open();
    await removeMarket(world, 'a', 'b');
    await world.publishAll();
    for (const path of paths) {
      const { status, body } = await world.read(path);
      if (!isOfMarket(path)) expect(status, path).toBe(200);
      else expect([status, JSON.parse(Buffer.from(body).toString()).code], path).toEqual([410, 'market-removed']);
    }
    expect(await world.findings(['a'])).toEqual([]);
  });

  test('are swept when they are switched off, and not before; switched on again, they are the same', async () => {
    const world = await open();
    expect(await world.sweepLater()).not.toEqual(expect.arrayContaining([keyOf(paths[0] as string)]));
    await world.publishAll();
    const before = await bytesOf(world, paths);
    // Feeds and the files of a market are made from its history, so they wait for a rebuild.
    const ofList = paths.filter((path) => !isOfMarket(path) && !path.endsWith('.atom'));
    const listBefore = await bytesOf(world, ofList);
    const off = publishing([])(world);
    await off.publish();
    await off.rebuildAll();
    expect(await off.sweepLater()).toEqual(expect.arrayContaining(paths.map(keyOf)));
    expect(await off.findings()).toEqual([]);
    await world.publishAll();
    expect(await bytesOf(world, ofList)).toEqual(listBefore);
    await world.rebuildAll();
    expect(await bytesOf(world, paths)).toEqual(before);
    expect(await world.findings()).toEqual([]);
  });
});
