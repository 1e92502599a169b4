/** One round of a mirror: the copy keeps the promises to readers at every moment, whatever the service answers. */
import { describe, expect, test } from 'vitest';
import { LOG_ROOT, PUBLIC_CACHE_CONTROL } from '../../../contract/files/public-objects.ts';
import { historyUrl, MARKETS_URL, marketUrl, OPENAPI_URL, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { PROJECTORS } from '../../../publisher/projections.ts';
import { publish } from '../../../publisher/publish.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader, PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { MirrorFull } from '../../../server/mirror/copy.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { readTexts } from '../../publisher/log/test-log.ts';
import { price, readerOf, SMALL_PAGES } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { changeWorld, mirrorOf, publishedWorld, roundOf, servedBy } from './mirrored-world.ts';

const findingsOf = async (objects: ObjectStore, settled: boolean, removed: readonly string[] = []) =>
  (await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled, removed })).findings;

test('the next round takes over what has changed, and nothing else', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  await changeWorld(world);
  copied.resetCounts();
  expect(await roundOf(world, copied)).toMatchObject({ state: 'current', copied: 3 });
  expect(await findingsOf(copied, true, ['d'])).toEqual([]);
  // History pages of `a`, three markets with their histories, list pages, list, the two bodies of `d`, checkpoint, snapshot.
  const heads = copied.puts.map(({ key }) => key).filter((key) => !/\/pages\/|log\/(tile|ndjson)/.test(key));
  expect(heads.slice(0, -5).sort()).toEqual(
    ['a', 'b', 'h']
      .flatMap((slug) => [`public/api/v1/markets/${slug}/history.json`, `public/api/v1/markets/${slug}.json`])
      .sort(),
  );
  expect(heads.slice(-5)).toEqual([
    'public/api/v1/markets.json',
    'public/api/v1/markets/d/history.json',
    'public/api/v1/markets/d.json',
    'public/api/v1/log/checkpoint',
    'public/api/v1/snapshot.json',
  ]);
  for (const [key, body] of servedBy(world.objects)) {
    if (!key.includes('/pages/')) expect(servedBy(copied).get(key), key).toBe(body);
  }
});

test('the files of histories are copied, also those that the service begins to publish later', async () => {
  const [plain, world] = [await publishedWorld(), await publishedWorld(undefined, ['history-files'])];
  const copied = openMemoryObjects();
  await roundOf(plain, copied);
  // The service switches them on: no market changes, but the generation does.
  await changeWorld(world);
  expect(await roundOf(world, copied)).toMatchObject({ state: 'current', findings: [] });
  const files = [...servedBy(world.objects)].filter(([key]) => /\/history(\.|\/)/.test(key));
  expect(files.length).toBeGreaterThan(5);
  for (const [key, body] of files) {
    if (!key.includes('/markets/d/')) expect(servedBy(copied).get(key), key).toBe(body);
  }
  expect(await findingsOf(copied, true, ['d'])).toEqual([]);
});

test('files and pages from a cache that keeps each for a time of its own are no fault: the round asks again', async () => {
  const world = await publishedWorld(undefined, ['history-files']);
  const cached = new Map<string, PublicResponse>();
  for (const url of [SNAPSHOT_URL, MARKETS_URL, marketUrl('b'), historyUrl('b')])
    cached.set(url, await readerOf(world.objects)(url));
  await world.ingest([price('b', 1, 2)]);
  await publish(world.dependencies);
  const upstream: PublicReader = async (url, headers) =>
    cached.get(url) ?? (await readerOf(world.objects)(url, headers));
  const pauses: number[] = [];
  const pause = async (durationMs: number) => {
    pauses.push(durationMs);
    cached.clear();
  };
  const copied = openMemoryObjects();
  expect(await roundOf(world, copied, { upstream, pause })).toMatchObject({ state: 'current', findings: [] });
  expect(pauses).toHaveLength(1);
  expect(await findingsOf(copied, true)).toEqual([]);
});

test('a round without a change asks for the snapshot and the checkpoint, and puts nothing', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  const asked: string[] = [];
  const upstream: PublicReader = (url, headers) => {
    asked.push(url);
    return readerOf(world.objects)(url, headers);
  };
  const mirror = await mirrorOf(world, copied, { upstream });
  await mirror.follow();
  asked.length = 0;
  copied.resetCounts();
  expect(await mirror.follow()).toMatchObject({ state: 'current', copied: 0 });
  expect([asked, copied.puts]).toEqual([[SNAPSHOT_URL, `${LOG_ROOT}/checkpoint`], []]);
});

test('killed after any write, the copy keeps its promises, and the next round ends it', async () => {
  const world = await publishedWorld();
  const before = openMemoryObjects();
  await roundOf(world, before);
  await changeWorld(world);
  let writes = 0;
  for (let at = 0; at === 0 || at < writes; at++) {
    const copied = before.copy();
    const died = new Error('killed');
    writes = 0;
    const dying = {
      ...copied,
      put: async (...call: Parameters<ObjectStore['put']>) => {
        if (writes > at) throw died;
        const result = await copied.put(...call);
        writes++;
        return result;
      },
    };
    await roundOf(world, dying).catch((error) => expect(error).toBe(died));
    await readTexts(copied);
    expect(await findingsOf(copied, false), `after write ${at}`).toEqual([]);
    expect((await roundOf(world, copied)).state).toBe('current');
    expect(await findingsOf(copied, true, ['d'])).toEqual([]);
    if (writes <= at) break;
    writes = Number.POSITIVE_INFINITY;
  }
});

test('a shared cache that mixes bodies of several times: nothing old is taken over, and the copy comes up to date', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  const cached = new Map<string, { readonly answer: PublicResponse; readonly atMs: number }>();
  const upstream: PublicReader = async (url) => {
    const known = cached.get(url);
    if (known !== undefined && world.clock.nowMs - known.atMs < 15_000) return known.answer;
    const answer = await readerOf(world.objects)(url);
    cached.set(url, { answer, atMs: world.clock.nowMs });
    return answer;
  };
  await roundOf(world, copied, { upstream });
  // Each body is cached at another time than the one that leads to it.
  world.clock.nowMs += 15_000;
  await upstream(marketUrl('b'));
  await upstream(historyUrl('a'));
  await changeWorld(world);
  world.clock.nowMs -= 50_000;
  const pauses: number[] = [];
  const pause = async (durationMs: number) => {
    pauses.push(durationMs);
    expect(await findingsOf(copied, false)).toEqual([]);
    world.clock.nowMs += durationMs;
  };
  expect(await roundOf(world, copied, { upstream, pause })).toMatchObject({ state: 'current', findings: [] });
  expect(pauses).toEqual([16_000]);
  expect(await findingsOf(copied, true, ['d'])).toEqual([]);
});

test('what the copy has is not read from the service again: a body damaged there later goes unnoticed', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const served = servedBy(copied);
  const damaged = new RegExp(`${historyUrl('b')}|${marketUrl('b')}|${historyUrl('a')}.cursor|${LOG_ROOT}/tile`);
  const upstream: PublicReader = async (url, headers) => {
    const answer = await readerOf(world.objects)(url, headers);
    return damaged.test(url) ? { ...answer, status: 200, body: Buffer.from('{}') } : answer;
  };
  expect(await roundOf(world, copied, { upstream })).toMatchObject({ state: 'current', copied: 0 });
  expect(servedBy(copied)).toEqual(served);
});

test('a first copy waits for every market, and is served once the last one holds', async () => {
  const world = await publishedWorld();
  let bad = true;
  const upstream: PublicReader = async (url, headers) => {
    const answer = await readerOf(world.objects)(url, headers);
    return bad && url === marketUrl('b') ? { ...answer, body: Buffer.from('{}') } : answer;
  };
  const copied = openMemoryObjects();
  const mirror = await mirrorOf(world, copied, { upstream });
  expect(await mirror.follow()).toMatchObject({ state: 'faulty', isListWhole: false });
  expect(mirror.isComplete).toBe(false);
  expect(servedBy(copied).has('public/api/v1/markets/c.json')).toBe(true);
  bad = false;
  expect(await mirror.follow()).toMatchObject({ state: 'current', copied: 1 });
  expect(mirror.isComplete).toBe(true);
});

describe('of a service that breaks its promises, nothing broken is taken over:', () => {
  type Change = (answer: PublicResponse) => PublicResponse;
  const replaced =
    (from: string, to: string): Change =>
    ({ status, headers, body }) => {
      const text = Buffer.from(body).toString('utf8');
      expect(text).toContain(from);
      return { status, headers, body: Buffer.from(text.replace(from, to)) };
    };
  const secondPage = /history\?cursor/;
  test.each<[string, string | RegExp, Change]>([
    ['another amount in a market', marketUrl('b'), replaced('"amountMinor":2', '"amountMinor":3')],
    ['another market under this URL', marketUrl('b'), replaced('"slug":"b"', '"slug":"c"')],
    ['another amount in a history', historyUrl('b'), replaced('"amountMinor":2', '"amountMinor":3')],
    ['a changed closed page', secondPage, replaced('"confidence":"high"', '"confidence":"low"')],
    ['a list page with other bytes', /markets\?cursor/, replaced('"name":"Market ', '"name":"Markt ')],
    ['a list with a market twice', MARKETS_URL, replaced('"slug":"b"', '"slug":"a"')],
    ['text that is no JSON', marketUrl('b'), () => ({ status: 200, headers: new Map(), body: Buffer.from('<html>') })],
    ['JSON that is not canonical', marketUrl('b'), replaced('{', '{ ')],
    ['an e-mail address', marketUrl('b'), replaced('Market b', 'me@example.org')],
    ['an unknown field', marketUrl('b'), replaced('{', '{"a":1,')],
    ['an OpenAPI document without paths', OPENAPI_URL, replaced('"paths"', '"path"')],
    ['a market that answers 200 with the document of a removal', marketUrl('b'), () => removal(200)],
  ])('%s', async (_, where, change) => {
    const world = await publishedWorld();
    const copied = openMemoryObjects();
    await roundOf(world, copied);
    await changeWorld(world);
    const upstream: PublicReader = async (url) => {
      const answer = await readerOf(world.objects)(url);
      return (typeof where === 'string' ? url === where : where.test(url)) ? change(answer) : answer;
    };
    const { state, findings } = await roundOf(world, copied, { upstream });
    expect([state, findings.length > 0]).toEqual(['faulty', true]);
    expect(await findingsOf(copied, false)).toEqual([]);
    const { generation } = JSON.parse(servedBy(copied).get('public/api/v1/snapshot.json') ?? '');
    expect(generation).toBe(1);
    expect([...servedBy(copied).values()].join('')).not.toMatch(/me@example|Markt|"amountMinor":3\b/);
    expect((await roundOf(world, copied)).state).toBe('current');
  });

  const removal = (code: number): PublicResponse => ({ status: code, headers: new Map(), body: Buffer.from('{}') });

  test.each([
    [200, '{}'],
    [404, '{}'],
    [200, '[1'],
  ])('a snapshot with %d and %s ends the round', async (code, text) => {
    const world = await publishedWorld();
    const upstream: PublicReader = async () => ({
      status: code,
      headers: new Map([['cache-control', PUBLIC_CACHE_CONTROL]]),
      body: Buffer.from(text),
    });
    await expect(roundOf(world, openMemoryObjects(), { upstream })).rejects.toThrow(UpstreamInvalid);
  });
});

test('a service that stops answering leaves a consistent copy', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  await changeWorld(world);
  let asked = 0;
  const upstream: PublicReader = async (url, headers) => {
    if (++asked > 6) throw new UpstreamUnavailable('gone');
    return await readerOf(world.objects)(url, headers);
  };
  await expect(roundOf(world, copied, { upstream })).rejects.toThrow(UpstreamUnavailable);
  expect(await findingsOf(copied, false)).toEqual([]);
});

test('a copy that is full takes over nothing more', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await expect(roundOf(world, copied, { maxBytes: 5_000 })).rejects.toThrow(MirrorFull);
  const bytes = [...copied.snapshot().values()].reduce((sum, { body }) => sum + body.byteLength, 0);
  expect(bytes).toBeLessThanOrEqual(5_000);
});

test.each([historyUrl('c'), marketUrl('c')])(
  '%s that is missing holds back the list, until it is there',
  async (missing) => {
    const world = await publishedWorld();
    const copied = openMemoryObjects();
    await roundOf(world, copied);
    await world.ingest([price('c', 1, 9)]);
    await publish(world.dependencies);
    const upstream: PublicReader = async (url, headers) => {
      if (url === missing) return { status: 404, headers: new Map(), body: new Uint8Array() };
      return await readerOf(world.objects)(url, headers);
    };
    expect(await roundOf(world, copied, { upstream })).toMatchObject({ state: 'faulty' });
    expect(await findingsOf(copied, false)).toEqual([]);
    expect(await roundOf(world, copied)).toMatchObject({ state: 'current', copied: 1 });
  },
);

test('while the service cannot make its newest prices, the copy goes on, and says that it is behind', async () => {
  const world = await publishedWorld(undefined, ['latest']);
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const broken = PROJECTORS.map((projector) => {
    const plan = () => Promise.reject(new Error('a bug'));
    return projector.name === 'latest' ? { ...projector, plan } : projector;
  });
  await world.ingest([price('b', 1, 2)]);
  await publish(world.dependencies, broken);
  expect(await roundOf(world, copied)).toMatchObject({ state: 'behind', findings: [] });
  const body = Buffer.from((await readerOf(copied)('/api/v1/markets/b')).body).toString();
  expect(JSON.parse(body)).toMatchObject({ metrics: { price: { amountMinor: 2 } } });
  world.clock.nowMs += 120_000;
  await publish(world.dependencies);
  expect(await roundOf(world, copied)).toMatchObject({ state: 'current', findings: [] });
});
