/** The client against the real edge: its verbs, and the promises of its walks. */
import { describe, expect, test } from 'vitest';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { readTexts } from '../../publisher/log/test-log.ts';
import { market, price } from '../../publisher/world.ts';
import { collected, serveWorldForTest } from './served-world.ts';

const days = (slug: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, day) => price(slug, from + day, 1000 + from + day));
const dayOf = ({ observedAt }: Pick<PublicObservation, 'observedAt'>) => observedAt.slice(5, 10);
const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** Answers a request for which `isHit` holds with 404, after it has done something. */
function failingOnce(isHit: (path: string) => boolean, meanwhile: () => Promise<void>): typeof fetch {
  let isDone = false;
  return async (...request) => {
    const { pathname, search } = new URL(String(request[0]));
    if (isDone || !isHit(pathname + search)) return await fetch(...request);
    isDone = true;
    await meanwhile();
    return new Response('{"code":"not-found","status":404}', { status: 404 });
  };
}

test('markets, market, latest, recent, sources and snapshot', async () => {
  const served = await serveWorldForTest();
  await served.publish([...slugs.map((slug) => market(slug)), ...days('a', 3)]);
  const tidemark = served.client();
  expect((await collected(tidemark.markets())).map(({ slug }) => slug)).toEqual(slugs);
  const { metrics } = await tidemark.market('a');
  expect(metrics.price).toMatchObject({ decimal: '10.02', observedAt: '2026-01-03T00:00:00Z' });
  const [first, second] = await tidemark.latest();
  expect([first?.decimal, second?.decimal, second?.unknownReason]).toEqual(['10.02', null, 'not-observed']);
  expect((await tidemark.recent())[0]).toMatchObject({ slug: 'a', decimal: ['10.00', '10.01', '10.02'] });
  expect(await tidemark.sources()).toEqual([]);
  expect(await tidemark.incidents()).toEqual({ since: expect.any(String), data: [] });
  expect((await tidemark.snapshot()).counts).toMatchObject({ markets: 7, observations: 3 });
});

test('a body that has not changed costs a 304, and one that has changed is new', async () => {
  const served = await serveWorldForTest();
  await served.publish([market('a'), ...days('a', 1)]);
  const tidemark = served.client();
  const priceNow = async () => (await tidemark.latest())[0]?.decimal;
  expect([await priceNow(), await priceNow()]).toEqual(['10.00', '10.00']);
  await served.publish(days('a', 1, 1));
  expect([await priceNow(), await priceNow()]).toEqual(['10.01', '10.01']);
  // Of the index, and of its part.
  expect(served.statuses).toEqual([200, 200, 304, 304, 200, 200, 304, 304]);
  const plain = served.client({ bodies: null });
  await plain.latest();
  await plain.latest();
  expect(served.statuses.slice(8)).toEqual([200, 200, 200, 200]);
});

describe('history', () => {
  test('gives every row, newest first, with every version of it', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 30)]);
    await served.publish([price('a', 3, 7)], 'correct');
    const rows = await collected(served.client().history('a'));
    expect(rows).toHaveLength(31);
    expect(rows.filter((row) => dayOf(row) === '01-04').map((row) => row.kind === 'money' && row.decimal)).toEqual([
      '0.07',
      '10.03',
    ]);
    expect(rows.map(dayOf)).toEqual(rows.map(dayOf).sort().reverse());
  });

  test.each([
    [{ from: '2026-01-28' }, ['01-30', '01-29', '01-28'], ['history', 'page']],
    [
      { from: new Date('2026-01-04T00:00:00Z'), to: '2026-01-05' },
      ['01-05', '01-04'],
      ['history', 'index', 'page', 'page'],
    ],
    [{ to: '2026-01-02T00:00:00Z' }, ['01-02', '01-01'], ['history', 'index', 'page']],
    [{ from: '2026-02-02' }, [], ['history']],
  ])('of %j gives %j, and reads %j', async (range, expected, read) => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 30)]);
    expect((await collected(served.client().history('a', range))).map(dayOf)).toEqual(expected);
    const names = served.asked.map((path) => (path.includes('/pages/') ? 'page' : path.replace(/.*\/|\.json$/g, '')));
    expect(names).toEqual(read);
  });

  test('as of a moment has what was known then, by the clock of the service or of the sources', async () => {
    const served = await serveWorldForTest();
    const released = { releasedAt: '2026-02-01T00:00:00Z' };
    await served.publish([market('a'), ...days('a', 3), { ...price('a', 3, 5), ...released } as never]);
    const before = new Date(served.world.clock.nowMs - 1).toISOString();
    await served.publish([price('a', 1, 7)], 'correct');
    const asOf = (at: string, byRelease: boolean) =>
      collected(served.client().history('a', { asOf: at, byRelease })).then((rows) =>
        rows.map((row) => 'decimal' in row && row.decimal),
      );
    expect(await asOf(before, false)).toEqual(['0.05', '10.02', '10.01', '10.00']);
    const now = new Date(served.world.clock.nowMs).toISOString();
    expect(await asOf(now, false)).toEqual(['0.05', '10.02', '0.07', '10.00']);
    expect(await asOf('2026-03-01T00:00:00Z', true)).toEqual(['0.05']);
  });

  test.each([
    { from: 'yesterday' },
    { to: '2026-01-01T00:00:00' },
    { asOf: '2026-01-01' },
    { asOf: '2100-01-01T00:00:00Z' },
    { from: '2026-02-02', to: '2026-02-01' },
    { byRelease: true },
  ])('refuses %j', async (range) => {
    const served = await serveWorldForTest();
    await expect(collected(served.client().history('a', range))).rejects.toThrow(RangeError);
    expect(served.asked).toEqual([]);
  });

  test('of a slug that is none is not found, whatever the slug is', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a')]);
    for (const slug of ['none', '../markets', '%', '']) {
      await expect(collected(served.client().history(slug))).rejects.toMatchObject({ name: 'TidemarkError' });
    }
    await expect(served.client().market('none')).rejects.toMatchObject({
      request: expect.stringMatching(/^GET .*\/api\/v1\/markets\/none\.json$/),
    });
  });
});

describe('after a cursor has expired', () => {
  test.each([1, 4, 6])('a history gives no row twice and misses none, although rows came (page %i)', async (page) => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 30)]);
    const before = (await collected(served.client().history('a'))).map(({ id }) => id);
    let pages = 0;
    const fetchOnce = failingOnce(
      (path) => path.includes('/pages/') && ++pages === page,
      () => served.publish([...days('a', 9, 30), price('a', 3, 7)], 'correct'),
    );
    const rows = (await collected(served.client({ system: { fetch: fetchOnce } }).history('a'))).map(({ id }) => id);
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows.filter((id) => before.includes(id))).toEqual(before);
  });

  test('the list gives no market twice and misses none', async () => {
    const served = await serveWorldForTest();
    await served.publish(slugs.map((slug) => market(slug)));
    const fetchOnce = failingOnce(
      (path) => path.includes('/pages/'),
      () => served.publish(['a0', 'd0', 'h'].map((slug) => market(slug))),
    );
    const found = (await collected(served.client({ system: { fetch: fetchOnce } }).markets())).map(({ slug }) => slug);
    expect(found).toEqual(['a', 'a0', 'b', 'c', 'd', 'd0', 'e', 'f', 'g', 'h'].filter((slug) => slug !== 'a0'));
  });

  test('a walk that gets no further ends with an error', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 30)]);
    const never: typeof fetch = async (...request) =>
      String(request[0]).includes('/pages/') ? new Response('{}', { status: 404 }) : await fetch(...request);
    const walk = collected(served.client({ system: { fetch: never } }).history('a'));
    await expect(walk).rejects.toMatchObject({ code: 'cursor-expired' });
    expect(served.asked.length).toBeLessThan(12);
  });
});

describe('changes', () => {
  test('are all entries of the log, and go on from where they ended', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 300, -299)]);
    const tidemark = served.client();
    const first = await collected(tidemark.changes());
    await served.publish(days('a', 2, 1));
    const since = first.length;
    const more = await collected(tidemark.changes({ since }));
    const texts = await readTexts(served.world.objects);
    expect([...first, ...more].map(({ entry }) => entry)).toEqual(texts.map((text) => JSON.parse(text)));
    expect([since, more.map(({ index }) => index)]).toEqual([302, [302, 303]]);
    expect(await collected(tidemark.changes({ since: 304 }))).toEqual([]);
    expect(served.statuses.at(-1)).toBe(304);
    expect(await tidemark.logSize()).toBe(304);
    await expect(collected(tidemark.changes({ since: 305 }))).rejects.toMatchObject({ code: 'log-shorter' });
    await expect(collected(tidemark.changes({ since: -1 }))).rejects.toThrow(RangeError);
  });

  test('repeat nothing, and lose nothing, when a cache on the way has an earlier checkpoint', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 3)]);
    const earlier = await (await fetch(`${served.url}/api/v1/log/checkpoint`)).text();
    await served.publish(days('a', 2, 3));
    const size = await served.client().logSize();
    let olderAnswers = 0;
    const stop = new AbortController();
    const system = {
      fetch: (async (...request) => {
        const isOlder = String(request[0]).endsWith('/log/checkpoint') && olderAnswers-- > 0;
        return isOlder ? new Response(earlier) : await fetch(...request);
      }) as typeof fetch,
      sleep: async () => {
        if (olderAnswers < -2) stop.abort(new Error('enough'));
        stop.signal.throwIfAborted();
      },
    };
    // At the beginning, after a restart of the follower.
    olderAnswers = 1;
    expect(await collected(served.client({ system }).changes({ since: size }))).toEqual([]);
    olderAnswers = 2;
    await expect(collected(served.client({ system }).changes({ since: size }))).rejects.toMatchObject({
      code: 'log-shorter',
    });
    // While it follows.
    const found: number[] = [];
    olderAnswers = 0;
    const following = async () => {
      for await (const { index } of served.client({ system }).changes({ follow: true, signal: stop.signal })) {
        found.push(index);
        if (index === size - 1) olderAnswers = 2;
      }
    };
    await expect(following()).rejects.toThrow('enough');
    expect(found).toEqual(Array.from({ length: size }, (_, index) => index));
  });

  test('can be followed, until the signal says so', async () => {
    const served = await serveWorldForTest();
    await served.publish([market('a'), ...days('a', 1)]);
    const stop = new AbortController();
    let rounds = 0;
    const sleep = async () => {
      if (++rounds > 3) stop.abort(new Error('enough'));
      else if (rounds > 1) await served.publish(days('a', 1, rounds));
      stop.signal.throwIfAborted();
    };
    const found: number[] = [];
    const following = async () => {
      for await (const { index } of served
        .client({ system: { sleep } })
        .changes({ follow: true, signal: stop.signal })) {
        found.push(index);
      }
    };
    await expect(following()).rejects.toThrow('enough');
    expect(found).toEqual([0, 1, 2, 3, 4]);
  });
});
