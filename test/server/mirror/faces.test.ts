/** A mirror of the daily faces: the files of markets, what includes them, and rates. */
import { expect, onTestFinished, test } from 'vitest';
import { FACE_RATES_KEPT_DAYS } from '../../../contract/files/face-limits.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import type { PublicReader } from '../../../publisher/verify/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { openMirrorFolder } from '../../../server/mirror/mirror-folder.ts';
import { DAY_MS, FACES, facesWorld } from '../../publisher/faces/faces-world.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { market, price, publicObjects, readerOf, SMALL_PAGES } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { temporaryFolder } from '../../storage/temporary-folder.ts';
import { mirrorIn } from './mirrored-world.ts';

type Objects = Parameters<typeof publicObjects>[0];

const facesIn = (objects: Objects) =>
  Object.fromEntries([...publicObjects(objects)].filter(([key]) => key.includes('/faces/')));

const rate = (slug: string, of: string) =>
  ({ ...market(slug), unit: { quantity: 1, of }, status: 'active' }) as IngestRecordInput;

async function mirrored() {
  const world = facesWorld();
  await world.ingest([market('a'), rate('eur', 'EUR'), price('a', 0, 100), price('a', 1, 101), price('eur', 0, 117)]);
  await world.nextDay();
  const copied = openMemoryObjects();
  const folder = await openMirrorFolder(await temporaryFolder(), new URL('https://data.example'));
  onTestFinished(() => folder.close());
  Object.assign(folder, { objects: copied });
  const pauses: number[] = [];
  const pause = async (durationMs: number) => void pauses.push(durationMs);
  /** A round of a new process. */
  const follow = async (upstream: PublicReader = world.read) =>
    (await (await mirrorIn(folder, world, { upstream, pause })).follow()).findings;
  const check = async (settled = true) =>
    (await verify(readerOf(copied), { pageSizes: SMALL_PAGES, settled })).findings;
  return { world, copied, folder, follow, check, pauses };
}

test('the copy has every face, verify finds nothing, and no file is sent twice', async () => {
  const { world, copied, follow, check } = await mirrored();
  expect(await follow()).toEqual([]);
  expect(Object.keys(facesIn(world.objects))).toHaveLength(3 * 2 + 2 + 2 * 3);
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
  const asked: string[] = [];
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (answer.status === 200) asked.push(url);
    return answer;
  };
  expect(await follow(upstream)).toEqual([]);
  expect(asked.filter((url) => /prices\/|quotes\/|v1\/20/.test(url))).toEqual([]);
});

test('it follows from day to day', async () => {
  const { world, copied, folder, follow, check } = await mirrored();
  await follow();
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  await follow();
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  // Published, and not in the faces before the next run.
  await world.ingest([price('a', 3, 103), market('b'), price('b', 0, 1)]);
  await world.publish();
  expect(await follow()).toEqual([]);
  expect(await check()).toEqual([]);
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
  world.clock.nowMs += (FACE_RATES_KEPT_DAYS - 3) * DAY_MS;
  await world.nextDay();
  await follow();
  // Those of the first days, without the newest one.
  expect(Object.keys(folder.unreached).filter((key) => key.includes('/faces/'))).toHaveLength(3 * 3);
});

test('a mirror that asks every few minutes has the faces of a new day', async () => {
  const { world, copied, folder } = await mirrored();
  const mirror = await mirrorIn(folder, world);
  await mirror.follow();
  await world.ingest([price('a', 2, 102)]);
  const startMs = world.clock.nowMs;
  await world.nextDay();
  // Only some minutes pass between the rounds.
  world.clock.nowMs = startMs;
  for (const _ of [1, 2, 3]) {
    world.clock.nowMs += 4 * 60_000;
    await mirror.follow();
  }
  expect(facesIn(copied)).toMatchObject(facesIn(world.objects));
});

test('killed after any read, the copy keeps its promises, and the next round ends it', async () => {
  const { world, copied, follow, check } = await mirrored();
  await follow();
  await world.ingest([price('a', 2, 102), market('b'), price('b', 0, 1), price('eur', 1, 118)]);
  await world.nextDay();
  let reads = 0;
  let checked = '';
  const dying: PublicReader = async (url, headers) => {
    if (--reads < 0) throw new Error('killed');
    return await world.read(url, headers);
  };
  for (let most = 0, isDone = false; !isDone; most++) {
    reads = most;
    isDone = await follow(dying).then(
      () => true,
      () => false,
    );
    const bodies = JSON.stringify([...publicObjects(copied)]);
    if (bodies !== checked) expect(await check(false)).toEqual([]);
    checked = bodies;
  }
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
});

test.each<[string, RegExp, string, RegExp, string]>([
  ['a price file with another price', /a\.journal$/, 'file', /1\.01/, '1.02'],
  ['quotes that are none', /a\.json$/, 'schema', /"quotes"/, '"x"'],
  ['a rate that is not that of its price', /latest\/v1\/currencies\/eur\.json$/, 'amount', /1\.17/, '1.18'],
  ['rates of another day', /\d\/v1\/currencies\/eur\.json$/, 'file', /"date":"\d+/, '"date":"2001'],
  ['currencies that are none', /latest\/v1\/currencies\.json$/, 'schema', /"eur"/, '"euro"'],
])('%s: not put, and told', async (_, where, rule, from, to) => {
  const { world, copied, follow, pauses } = await mirrored();
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (!where.test(url)) return answer;
    return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString('utf8').replace(from, to)) };
  };
  const findings = await follow(upstream);
  expect(findings.map((finding) => finding.rule)).toContain(rule);
  expect(Object.keys(facesIn(copied)).filter((key) => where.test(key))).toEqual([]);
  const leading = where.source.startsWith('a') ? '/prices.journal' : '/v1/currencies.json';
  const led = Object.keys(facesIn(copied)).filter((key) => key.endsWith(leading));
  expect(led.length).toBeLessThan(Object.keys(facesIn(world.objects)).filter((key) => key.endsWith(leading)).length);
  expect(pauses).toEqual([16_000]);
});

test('a file that a cache had is asked for again', async () => {
  const { world, copied, follow, check, pauses } = await mirrored();
  await follow();
  const old = facesIn(copied);
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  const upstream: PublicReader = async (url, headers) => {
    const key = Object.keys(old).find((each) => each.endsWith(url)) ?? '';
    const isCached = pauses.length === 0 && url.endsWith('/a.journal');
    return isCached
      ? { status: 200, headers: new Map(), body: Buffer.from(old[key] as string) }
      : world.read(url, headers);
  };
  expect(await follow(upstream)).toEqual([]);
  expect(pauses).toEqual([16_000]);
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
});

test('files of a removed market are gone, and its currency has no old rate', async () => {
  const { world, copied, follow, check } = await mirrored();
  await follow();
  await removeMarket(world, 'eur', null);
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect((await readerOf(copied)(`${FACES}/prices/eur.journal`)).status).toBe(410);
  expect((await readerOf(copied)(`${FACES}/currency-api/latest/v1/currencies/eur.json`)).status).toBe(404);
  expect(await check()).toEqual([]);
});

test('a service without faces has none in its mirror; one that switches them off loses them there', async () => {
  const { world, copied, folder, follow } = await mirrored();
  const without: PublicReader = async (url, headers) =>
    url.includes('/faces/') ? { status: 404, headers: new Map(), body: Buffer.of() } : await world.read(url, headers);
  await follow(without);
  expect(facesIn(copied)).toEqual({});
  expect(await follow()).toEqual([]);
  expect(folder.unreached).toEqual({});
  Object.assign(world.dependencies, { projections: new Set() });
  await world.ingest([price('a', 2, 102)]);
  await world.publish();
  await follow();
  const keys = Object.keys(folder.unreached).filter((key) => key.includes('/faces/'));
  expect(keys.sort()).toEqual(Object.keys(facesIn(copied)).sort());
});
