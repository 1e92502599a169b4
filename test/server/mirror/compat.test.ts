/** A mirror of the daily compat: the files of markets, what includes them, and rates. */
import { expect, test } from 'vitest';
import { RATES_KEPT_DAYS } from '../../../contract/files/compat-limits.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import type { PublicReader } from '../../../publisher/verify/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { MirrorCopy } from '../../../server/mirror/copy.ts';
import { copyCompat } from '../../../server/mirror/copy-compat.ts';
import { KnownMarkets } from '../../../server/mirror/known-markets.ts';
import { NO_PROGRESS } from '../../../server/mirror/step-progress.ts';
import { sweepCopy } from '../../../server/mirror/sweep-copy.ts';
import { COMPAT, compatWorld, DAY_MS, PATHS } from '../../publisher/compat/compat-world.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { market, price, publicObjects, readerOf, SMALL_PAGES } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { roundOf } from './mirrored-world.ts';

type Objects = Parameters<typeof publicObjects>[0];

const facesIn = (objects: Objects) =>
  Object.fromEntries([...publicObjects(objects)].filter(([key]) => key.includes('/compat/')));

const rate = (slug: string, of: string) =>
  ({ ...market(slug), unit: { quantity: 1, of }, status: 'active' }) as IngestRecordInput;

async function mirrored() {
  const world = compatWorld();
  await world.ingest([market('a'), rate('eur', 'EUR'), price('a', 0, 100), price('a', 1, 101), price('eur', 0, 117)]);
  await world.nextDay();
  const copied = openMemoryObjects();
  const pauses: number[] = [];
  const follow = async (upstream: PublicReader = world.read) => {
    await roundOf(world, copied);
    return await copyCompat(
      {
        ...{ upstream, copy: new MirrorCopy(copied, 1e9), log: null, pageSizes: SMALL_PAGES, generation: 1 },
        ...{ known: new KnownMarkets(), progress: NO_PROGRESS },
        pause: async (durationMs) => void pauses.push(durationMs),
      },
      16_000,
    );
  };
  const check = async () => (await verify(readerOf(copied), { pageSizes: SMALL_PAGES, settled: true })).findings;
  const sweep = async () =>
    await sweepCopy(new MirrorCopy(copied, 1e9), {}, { lost: new Set(), logSizes: [], nowMs: world.clock.nowMs });
  return { world, copied, follow, check, sweep, pauses };
}

test('the copy has every file, verify finds nothing, and no file is asked for twice', async () => {
  const { world, copied, follow, check } = await mirrored();
  expect(await follow()).toEqual([]);
  expect(Object.keys(facesIn(world.objects))).toHaveLength(3 * 2 + 3 + 2 * 3);
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
  const asked: string[] = [];
  const upstream: PublicReader = async (url, headers) => {
    asked.push(url);
    return await world.read(url, headers);
  };
  expect(await follow(upstream)).toEqual([]);
  expect(asked.filter((url) => /(beancount|hledger|quotes)\/[0-9a-f]{2}\.|v1\/20/.test(url))).toEqual([]);
});

test('it follows from day to day, and has the days from before it began', async () => {
  const { world, copied, follow, check, sweep } = await mirrored();
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  await follow();
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  // Published, and not in the compat before the next run.
  await world.ingest([price('a', 3, 103), market('b'), price('b', 0, 1)]);
  await world.publish();
  expect(await follow()).toEqual([]);
  expect(await check()).toEqual([]);
  await world.nextDay();
  expect(await follow()).toEqual([]);
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
  world.clock.nowMs += (RATES_KEPT_DAYS - 1) * DAY_MS;
  await world.nextDay();
  await follow();
  const { unreached } = await sweep();
  expect(Object.keys(unreached).filter((key) => key.includes('/compat/'))).toHaveLength(2 * 3);
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
    if (bodies !== checked) expect(await check()).toEqual([]);
    checked = bodies;
  }
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
});

test.each<[string, RegExp, string, RegExp, string]>([
  ['a price file with another price', new RegExp(`${PATHS('a').hledger}$`), 'file', /1\.01/, '1.02'],
  ['quotes that are none', new RegExp(`${PATHS('a').quotes}$`), 'schema', /"quotes"/, '"x"'],
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
  const isOfPart = /hledger|quotes/.test(where.source);
  const findings = await follow(upstream);
  expect(findings.map((finding) => finding.rule)).toContain(rule);
  expect(Object.keys(facesIn(copied)).filter((key) => where.test(key))).toEqual([]);
  const leading = isOfPart ? '/parts.json' : '/v1/currencies.json';
  const led = Object.keys(facesIn(copied)).filter((key) => key.endsWith(leading));
  expect(led.length).toBeLessThan(Object.keys(facesIn(world.objects)).filter((key) => key.endsWith(leading)).length);
  expect(pauses).toEqual(isOfPart ? [16_000] : []);
});

test('a file that a cache had is asked for again', async () => {
  const { world, copied, follow, check, pauses } = await mirrored();
  await follow();
  const old = facesIn(copied);
  await world.ingest([price('a', 2, 102)]);
  await world.nextDay();
  const upstream: PublicReader = async (url, headers) => {
    const key = Object.keys(old).find((each) => each.endsWith(url)) ?? '';
    const isCached = pauses.length === 0 && url.endsWith(PATHS('a').hledger);
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
  const { body } = await readerOf(copied)(`${COMPAT}${PATHS('eur').hledger}`);
  expect(Buffer.from(body).toString()).not.toContain('markets/eur');
  expect(facesIn(copied)).toEqual(facesIn(world.objects));
  expect(await check()).toEqual([]);
});

test('a service without compat has none in its mirror; one that switches them off loses them there', async () => {
  const { world, copied, follow, sweep } = await mirrored();
  expect(await follow(async () => ({ status: 404, headers: new Map(), body: Buffer.of() }))).toEqual([]);
  expect(facesIn(copied)).toEqual({});
  await follow();
  expect((await sweep()).unreached).toEqual({});
  Object.assign(world.dependencies, { projections: new Set() });
  await world.ingest([price('a', 2, 102)]);
  await world.publish();
  await follow();
  const compat = Object.keys(facesIn(copied));
  expect(
    Object.keys((await sweep()).unreached)
      .filter((key) => key.includes('/compat/'))
      .sort(),
  ).toEqual(compat.sort());
});
