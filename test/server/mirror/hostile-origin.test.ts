/**
 * The front door of a mirror: whatever a host with the true log shows beside it, nothing false is served, the mirror is not
 * `current`, and one round later there is a finding.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { EXPORT_PART_ENTRIES } from '../../../contract/bodies/export-tables.ts';
import { PROJECTIONS } from '../../../contract/files/projections.ts';
import { MARKETS_URL, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { partOf } from '../../../publisher/projections/compat/names.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { DAY_MS, PATHS } from '../../publisher/compat/compat-world.ts';
import { copiesOf } from '../../publisher/copied-world.ts';
import { exportWorld } from '../../publisher/exports/export-world.ts';
import { LATEST, readPackage } from '../../publisher/exports/exported.ts';
import { TEST_LOG, testSigner, withLog } from '../../publisher/log/test-log.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { market, price, readerOf, SMALL_PAGES, type World } from '../../publisher/world.ts';
import { sampled } from '../../runs.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { type Forge, followerOf, forgerOf, HONEST } from './hostile-origin.ts';
import { fillPublished, servedBy } from './mirrored-world.ts';

const SHOWN = PROJECTIONS.filter((name) => name !== 'exports');

async function publishAll(world: World): Promise<void> {
  while ((await publish(world.dependencies)).isMoreDue);
}

/** Seven markets and a rate on three pages, with all files but exports. Market `b` is at 0.01 USD, and then at 0.02. */
const honestWorld = copiesOf(
  async (world) => {
    await fillPublished(world);
    const eur = { ...market('eur'), unit: { quantity: 1, of: 'EUR' } } as IngestRecordInput;
    await world.ingest([eur, price('eur', 0, 117), price('b', 1, 2)]);
    await publishAll(world);
    world.clock.nowMs += DAY_MS;
    await makeCompat({ storage: world.dependencies });
  },
  (world) => {
    const projections = new Set(SHOWN);
    const dependencies = { ...withLog(world.dependencies, TEST_LOG), projections, readBaseUrl: 'https://data.example' };
    return { ...world, dependencies };
  },
);

/** No true body has this price. */
const falsePrice = (text: string) =>
  text.replaceAll('"amountMinor":2,', '"amountMinor":7777,').replaceAll('"0.02"', '"77.77"');
const later = (text: string) => text.replace(/"revision":(\d+)/, (_, revision) => `"revision":${Number(revision) + 1}`);
const isMarket = (url: string, slug = 'b') => url === `/api/v1/markets/${slug}`;

/** The part of a list page that is about one market. */
const inItem = (slug: string, change: (item: string) => string) => (page: string) =>
  page.replace(new RegExp(`{"bySource":(?:(?!{"bySource":).)*"slug":"${slug}".*?"updatedAt":"[^"]*"}`), change);

/** Changes the first page of the list, and the snapshot so that it names that page. */
const withList =
  (change: (page: string) => string, ofSnapshot: (text: string) => string = (text) => text): Forge =>
  async (url, text, read) => {
    if (url === MARKETS_URL) return change(text);
    if (url !== SNAPSHOT_URL) return text;
    const page = change(await read(MARKETS_URL));
    return ofSnapshot(text.replace(/"listDigest":"[^"]*"/, `"listDigest":"${sha256Hex(Buffer.from(page))}"`));
  };

const on =
  (path: string | RegExp, change: (text: string) => string | null): Forge =>
  (url, text) =>
    (typeof path === 'string' ? url === `/api/v1/${path}` : path.test(url)) ? change(text) : text;

const both =
  (...forges: readonly Forge[]): Forge =>
  async (url, text, read) => {
    let forged: string | null = text;
    for (const forge of forges) if (forged !== null) forged = await forge(url, forged, read);
    return forged;
  };

const isAhead = (item: string) => later(falsePrice(item));

/** Gives the first closed page a false price, and names it so by its digest. Nothing of it is served, under no name. */
const withPage =
  (headUrl: string, change: (text: string) => string): Forge =>
  async (url, text, read) => {
    const cursor = /"nextCursor":"([^"]*)"/.exec(await read(headUrl))?.[1] as string;
    const page = change(await read(`${headUrl}?cursor=${cursor}`));
    const [generation, digest = ''] = cursor.split('-');
    const named = `${generation}-${sha256Hex(Buffer.from(page)).slice(0, digest.length)}`;
    if (url === `${headUrl}?cursor=${named}`) return page;
    return url === headUrl ? text.replace(cursor, named) : text;
  };

const FORGERIES: readonly (readonly [string, Forge])[] = [
  [
    'a market of the next revision with a false price, in its history too',
    (url, text) => (isMarket(url) ? later(falsePrice(text)) : url.includes('/markets/b/') ? falsePrice(text) : text),
  ],
  [
    'the same, with a list that shows it',
    both(withList(inItem('b', isAhead)), (url, text) =>
      isMarket(url) ? later(falsePrice(text)) : url.includes('/markets/b/') ? falsePrice(text) : text,
    ),
  ],
  ['an item of the list with a false price', withList(inItem('b', falsePrice))],
  [
    'an item of an earlier revision with a false price, in a list of an earlier generation',
    withList(
      inItem('b', (item) =>
        falsePrice(item).replace(/"revision":(\d+)/, (_, revision) => `"revision":${Number(revision) - 1}`),
      ),
      (snapshot) => snapshot.replace(/"listGeneration":\d+/, '"listGeneration":1'),
    ),
  ],
  [
    'a market that the log does not have',
    withList((page) => inItem('b', (item) => item.replaceAll('"b"', '"bb"').replaceAll('/b/', '/bb/'))(page)),
  ],
  [
    'a closed page of a history with a false price, by its right name',
    withPage('/api/v1/markets/a/history', (text) => text.replace(/"amountMinor":\d+/, '"amountMinor":7777')),
  ],
  [
    'a closed page of the list with a false price, by its right name',
    withPage(MARKETS_URL, (text) =>
      text.replaceAll('"amountMinor":1,', '"amountMinor":7777,').replaceAll('"0.01"', '"77.77"'),
    ),
  ],
  ['other counts', on('snapshot', (text) => text.replace('"observations":', '"observations":1'))],
  ['a kind of files left out', on('snapshot', (text) => text.replace('"latest",', ''))],
  ['a false newest price', on('latest/all.ndjson', falsePrice)],
  ['a false newest price as CSV', on('latest/all.csv', (text) => text.replace(',0.02,', ',77.77,'))],
  [
    'a newest price that is said to be recorded at another time',
    on('latest/all.ndjson', (text) => text.replace(/"recordedAt":"2026/, '"recordedAt":"2025')),
  ],
  ['false last prices', on('recent', falsePrice)],
  ['a removal of a market that is not removed', on(/markets\/b(\/|$)/, () => '{}')],
  ['a price file with a false price', on(`compat${PATHS('b').hledger}`, (text) => text.replace(' 0.02 ', ' 77.77 '))],
  [
    'a price file of an earlier revision with a false price',
    on(new RegExp(`compat/.*/${partOf('b')}`), (text) =>
      text
        .replace(/revision \d+/, 'revision 1')
        .replace(/"revision":\d+/, '"revision":1')
        .replace(' 0.02 ', ' 77.77 ')
        .replaceAll('0.02', '77.77'),
    ),
  ],
  ['a false rate', on(/currencies\/eur/, (text) => text.replaceAll('1.17', '77.77'))],
  ['quotes with a false price', on(`compat${PATHS('b').quotes}`, (text) => text.replaceAll('0.02', '77.77'))],
  ...[/^\/badges\/b\.svg$/, /^\/badges\/b\.json$/, /^\/embed\/b\.html$/, /^\/feeds\/changes\.atom$/].map(
    (path) => [`${path} with a false price`, on(path, (text) => text.replaceAll('0.02', '77.77'))] as const,
  ),
  ['a false order of changes', on('modified.csv', (text) => text.replace(/\nb,\d+/, '\nb,7777'))],
];

const auditOf = async (read: PublicReader) =>
  (await verifyLog(read, { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES })).findings;

test.each(sampled(FORGERIES, 3))('%s: nothing of it is served', async (_, forge) => {
  const world = await honestWorld();
  const origin = forgerOf(readerOf(world.objects));
  const [fresh, old] = [await followerOf(origin, world.clock), await followerOf(origin, world.clock)];
  expect(await old.round()).toBe('current');
  await world.ingest([price('b', 2, 2), ...Array.from({ length: 4 }, (_, day) => price('a', 20 + day, 100))]);
  await publishAll(world);
  world.clock.nowMs += DAY_MS;
  await makeCompat({ storage: world.dependencies });
  origin.forge = forge;
  for (const copy of [fresh, old]) {
    expect(await copy.round()).not.toBe('current');
    expect(await copy.round()).toBe('faulty');
    expect(await copy.served()).not.toMatch(/77\.?77|"bb"/);
  }
  // What was proven before is served all the same.
  expect(await old.served()).toContain('"slug":"b"');
  // The host mends its ways.
  origin.forge = HONEST;
  for (const copy of [fresh, old]) expect(await copy.round()).toBe('current');
  expect(await auditOf(old.read)).toEqual([]);
});

test('a snapshot that leaves out kinds of files, which the log says there are, makes no mirror current', async () => {
  const world = await honestWorld();
  const origin = forgerOf(readerOf(world.objects));
  const copy = await followerOf(origin, world.clock);
  origin.forge = both(
    on(/latest/, () => null),
    on('snapshot', (text) => text.replace('"latest",', '')),
  );
  for (const _ of [1, 2]) expect(await copy.round()).toBe('faulty');
  origin.forge = HONEST;
  expect(await copy.round()).toBe('current');
});

test.each(['observations-0-ndjson', 'markets-0-ndjson'])(
  'an export with a false price in %s is not copied',
  async (name) => {
    const world = exportWorld();
    await world.ingest([market('a'), price('a', 0, 5)]);
    await world.nextDay({ partEntries: EXPORT_PART_ENTRIES });
    const manifest = await readPackage(world.read);
    const resource = manifest.resources.find((each) => each.name === name) as (typeof manifest.resources)[number];
    const url = `/api/v1/exports/${resource.path}`;
    const rows = gunzipSync((await world.read(url)).body).toString('utf8');
    const body = gzipSync(rows.replaceAll('"0.05"', '"77.77"'));
    const right = { ...resource, bytes: body.length, hash: `sha256:${sha256Hex(body)}` };
    const resources = manifest.resources.map((each) => (each === resource ? right : each));
    let isHonest = false;
    const read: PublicReader = async (asked, headers) => {
      const answer = await world.read(asked, isHonest ? headers : {});
      if (isHonest) return answer;
      if (asked === url) return { ...answer, body };
      const isManifest = /\/(exports\/latest|datapackage\.json)$/.test(asked);
      return isManifest ? { ...answer, body: Buffer.from(canonicalJson({ ...manifest, resources } as never)) } : answer;
    };
    const copy = await followerOf({ read }, world.clock);
    expect(await copy.round()).toBe('faulty');
    for (const each of [url, LATEST]) expect((await copy.read(each)).status).toBe(404);
    isHonest = true;
    expect(await copy.round()).toBe('current');
    expect((await copy.read(url)).body).toEqual((await world.read(url)).body);
  },
);

/** One of each kind of file: what differs here is when in a round the file is asked for. */
const ONE_OF_EACH_KIND = FORGERIES.filter((_, index) => index % 3 === 1);

test.each(ONE_OF_EACH_KIND)(
  '%s, and then the truth within one round: nothing of the first look is served',
  async (_, forge) => {
    const world = await honestWorld();
    const origin = forgerOf(readerOf(world.objects));
    const copy = await followerOf(origin, world.clock);
    const startMs = world.clock.nowMs;
    origin.forge = (url, text, read) => (world.clock.nowMs === startMs ? forge(url, text, read) : text);
    // A forgery among the files of a day is met when the bodies are there.
    expect(await copy.round()).toBe('current');
    expect(await copy.served()).not.toMatch(/77\.?77|"bb"/);
    expect(await auditOf(copy.read)).toEqual([]);
  },
);

test('a list without a market of the log is not taken over', async () => {
  const world = await honestWorld();
  const origin = forgerOf(readerOf(world.objects));
  const copy = await followerOf(origin, world.clock);
  expect(await copy.round()).toBe('current');
  const old = await readerOf(world.objects)(MARKETS_URL);
  const oldPage = Buffer.from(old.body).toString('utf8');
  await world.ingest([market('aa'), price('aa', 0, 3)]);
  await publishAll(world);
  // The list of the generation before, whose pages are still there.
  origin.forge = withList(() => oldPage);
  expect(await copy.round()).toBe('faulty');
  expect(Buffer.from((await copy.read(MARKETS_URL)).body).toString('utf8')).toBe(oldPage);
});

test('an honest mirror that begins after a removal has every file, and answers 410, as the log says', async () => {
  const world = await honestWorld();
  await removeMarket(world, 'd', 'e');
  await publishAll(world);
  const origin = forgerOf(readerOf(world.objects));
  const objects = openMemoryObjects();
  const copy = await followerOf(origin, world.clock, { objects });
  expect(await copy.round()).toBe('current');
  const [own, its] = [servedBy(objects), servedBy(world.objects)];
  for (const key of its.keys()) if (!/\/pages\/|\.p\//.test(key)) expect(own.get(key), key).toBe(its.get(key));
  for (const url of ['/api/v1/markets/d', '/api/v1/markets/d/history']) {
    const [own, its] = [await copy.read(url), await readerOf(world.objects)(url)];
    expect([own.status, Buffer.from(own.body).toString()]).toEqual([410, Buffer.from(its.body).toString()]);
  }
  expect(await auditOf(copy.read)).toEqual([]);
});

test('a mirror whose service lacks a market tells the age of what it shows', async () => {
  const world = await honestWorld();
  const origin = forgerOf(readerOf(world.objects));
  const copy = await followerOf(origin, world.clock);
  expect(await copy.round()).toBe('current');
  const { ageSeconds } = copy.mirror.document;
  const atMs = world.clock.nowMs;
  await world.ingest([price('b', 2, 2)]);
  await publishAll(world);
  origin.forge = on('markets/b', () => null);
  for (const _ of [1, 2]) {
    expect(await copy.round()).toBe('faulty');
    const passed = (world.clock.nowMs - atMs) / 1000;
    expect(passed).toBeGreaterThan(15);
    expect(copy.mirror.document.ageSeconds).toBe((ageSeconds ?? 0) + passed);
  }
  origin.forge = HONEST;
  expect(await copy.round()).toBe('current');
  expect(copy.mirror.document.ageSeconds).toBe(15);
});
