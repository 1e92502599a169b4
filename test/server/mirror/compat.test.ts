/** A mirror of the files for other programs: the parts, what leads to them, and rates. */
import { expect, test } from 'vitest';
import { RATES_KEPT_DAYS } from '../../../contract/bodies/compat-limits.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { COMPAT, compatWorld, DAY_MS, PATHS } from '../../publisher/compat/compat-world.ts';
import { TEST_LOG } from '../../publisher/log/test-log.ts';
import { refresh } from '../../publisher/refresh.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { takeDown } from '../../publisher/take-down.ts';
import { market, price, publicObjects, readerOf, SMALL_PAGES } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { folderWith, mirrorIn } from './mirrored-world.ts';

type Objects = Parameters<typeof publicObjects>[0];

const compatIn = (objects: Objects) =>
  Object.fromEntries([...publicObjects(objects)].filter(([key]) => key.includes('/compat/')));

const rate = (slug: string, of: string) =>
  ({ ...market(slug), unit: { quantity: 1, of }, status: 'active' }) as IngestRecordInput;

async function mirrored() {
  const world = compatWorld(['log', 'compat'], TEST_LOG);
  await world.ingest([market('a'), rate('eur', 'EUR'), price('a', 0, 100), price('a', 1, 101), price('eur', 0, 117)]);
  await world.nextDay();
  const copied = openMemoryObjects();
  const folder = await folderWith(copied);
  const pauses: number[] = [];
  const pause = async (durationMs: number) => void pauses.push(durationMs);
  /** A round of a new process. */
  const follow = async (upstream: PublicReader = world.read) =>
    (await (await mirrorIn(folder, world, { upstream, pause })).follow()).findings;
  const check = async (settled = true) =>
    (await verify(readerOf(copied), { pageSizes: SMALL_PAGES, settled })).findings;
  return { world, copied, folder, follow, check, pauses };
}

test('the copy has every file, verify finds nothing, and no file is sent twice', async () => {
  const { world, copied, follow, check } = await mirrored();
  expect(await follow()).toEqual([]);
  expect(Object.keys(compatIn(world.objects))).toHaveLength(4 * 2 + 3 + 2 * 3);
  expect(compatIn(copied)).toEqual(compatIn(world.objects));
  expect(await check()).toEqual([]);
  const asked: string[] = [];
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (answer.status === 200) asked.push(url);
    return answer;
  };
  expect(await follow(upstream)).toEqual([]);
  expect(asked.filter((url) => /(beancount|hledger|quotes)\/[0-9a-f]{2}\.|v1\/20/.test(url))).toEqual([]);
});

test('it follows from day to day', async () => {
  const { world, copied, folder, follow, check } = await mirrored();
  await follow();
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  await follow();
  expect(compatIn(copied)).toEqual(compatIn(world.objects));
  // Published, and not in the compat before the next run.
  await world.ingest([price('a', 3, 103), market('b'), price('b', 0, 1)]);
  await world.publish();
  expect(await follow()).toEqual([]);
  expect(await check()).toEqual([]);
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect(compatIn(copied)).toEqual(compatIn(world.objects));
  expect(await check()).toEqual([]);
  world.clock.nowMs += (RATES_KEPT_DAYS - 3) * DAY_MS;
  await world.nextDay();
  await follow();
  // Those of the first days, without the newest one.
  expect(Object.keys(folder.state.unreached ?? {}).filter((key) => key.includes('/compat/'))).toHaveLength(3 * 3);
});

test('a mirror that asks every few minutes has the compat files of a new day', async () => {
  const { world, copied, folder } = await mirrored();
  const mirror = await mirrorIn(folder, world);
  // Only some minutes pass between the rounds.
  const untilRoundMs = DAY_MS - 5 * 60_000;
  world.clock.nowMs += untilRoundMs;
  await mirror.follow();
  world.clock.nowMs -= untilRoundMs;
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  for (const _ of [1, 2, 3]) {
    world.clock.nowMs += 4 * 60_000;
    await mirror.follow();
  }
  expect(compatIn(copied)).toMatchObject(compatIn(world.objects));
});

test('the age of the copy grows while only daily files are faulty', async () => {
  const { world, folder } = await mirrored();
  let isForged = false;
  const upstream: PublicReader = async (url, headers) => {
    const answer = await world.read(url, headers);
    if (!isForged || !url.endsWith(PATHS('a').hledger)) return answer;
    const body = Buffer.from(Buffer.from(answer.body).toString().replace('1.00', '9.99'));
    return { ...answer, status: 200, body, headers: new Map([...answer.headers, ['etag', '"forged"']]) };
  };
  const mirror = await mirrorIn(folder, world, { upstream });
  const round = async (state: string) => {
    world.clock.nowMs += 11 * 60_000;
    expect(await mirror.follow()).toMatchObject({ state });
    return mirror.document.ageSeconds;
  };
  const age = (await round('current')) ?? 0;
  isForged = true;
  for (const rounds of [1, 2]) expect(await round('faulty')).toBeGreaterThanOrEqual(age + rounds * 11 * 60);
  isForged = false;
  expect(await round('current')).toBe(age);
});

test('files of a removed market are gone, and its currency has no old rate', async () => {
  const { world, copied, follow, check } = await mirrored();
  await follow();
  await removeMarket(world, 'eur', null);
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect((await readerOf(copied)(`${COMPAT}${PATHS('eur').hledger}`)).status).toBe(404);
  expect((await readerOf(copied)(`${COMPAT}/currency-api/latest/v1/currencies/eur.json`)).status).toBe(404);
  expect(await check()).toEqual([]);
});

test('entries of a removed market may be taken down before the next daily run', async () => {
  const { world, folder, follow } = await mirrored();
  const early = await mirrorIn(folder, world);
  await early.follow();
  await removeMarket(world, 'eur', null);
  await world.publish();
  await takeDown(world, 'eur');
  await world.publish();
  world.clock.nowMs += 11 * 60_000;
  for (const _ of ['before the run', 'after it']) {
    expect(await early.follow()).toMatchObject({ state: 'current', findings: [] });
    expect(await follow()).toEqual([]);
    await world.nextDay();
  }
});

test('a service without compat has none in its mirror; one that switches them off loses them there', async () => {
  const { world, copied, folder, follow } = await mirrored();
  const without: PublicReader = async (url, headers) =>
    url.includes('/compat/') ? { status: 404, headers: new Map(), body: Buffer.of() } : await world.read(url, headers);
  await follow(without);
  expect(compatIn(copied)).toEqual({});
  expect(await follow()).toEqual([]);
  expect(folder.state.unreached).toEqual({});
  Object.assign(world.dependencies, { projections: new Set(['log']) });
  await world.ingest([price('a', 2, 102)]);
  await world.publish();
  // The log says so once the files of every market are made anew.
  await refresh(world, ['a', 'eur']);
  await world.publish();
  await follow();
  const keys = Object.keys(folder.state.unreached ?? {}).filter((key) => key.includes('/compat/'));
  expect(keys.sort()).toEqual(Object.keys(compatIn(copied)).sort());
});
