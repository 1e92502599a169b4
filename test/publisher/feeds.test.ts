/** Feeds: their entries, what they cost, and the faults that verify finds in them. */
import { expect, test } from 'vitest';
import { verify } from '../../publisher/verify/verify.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { removeMarket } from './remove-market.ts';
import { damagedReader, withField } from './verify/damaged-reader.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from './world.ts';

const CHANGES = '/feeds/changes.atom';
const CORRECTIONS = '/feeds/corrections.atom';

async function feedsWorld(projections: Parameters<typeof createFilesWorld>[1] = ['feeds']): Promise<FilesWorld> {
  const world = createFilesWorld(createWorld(), projections);
  await world.ingest([market('a'), market('b')]);
  for (const day of [0, 1, 2, 3, 4, 5]) {
    world.clock.nowMs += 1000;
    await world.ingest([price('a', day, 100 + day)]);
  }
  await world.publish();
  return world;
}

async function textOf({ objects }: FilesWorld, url: string): Promise<string> {
  return Buffer.from((await readerOf(objects)(url)).body).toString();
}

async function titlesOf(world: FilesWorld, url: string): Promise<readonly string[]> {
  return [...(await textOf(world, url)).matchAll(/<entry>.*<title>([^<]*)<\/title>/g)].map(([, title = '']) => title);
}

async function putsOf(world: FilesWorld): Promise<readonly string[]> {
  world.objects.resetCounts();
  await world.publish();
  return world.objects.puts.map(({ key }) => key).filter((key) => key.startsWith('public/feeds/'));
}

/** A correction of an earlier day. */
async function correct(world: FilesWorld, day: number, amount: number): Promise<void> {
  world.clock.nowMs += 1000;
  await world.ingest([price('a', day, amount)], 'correct');
}

test('each value is an entry, newest first, and a correction says what it replaces', async () => {
  const world = await feedsWorld();
  expect((await titlesOf(world, CHANGES)).slice(0, 2)).toEqual([
    'a: 1.05 USD (2026-01-06T00:00:00Z)',
    'a: 1.04 USD (2026-01-05T00:00:00Z)',
  ]);
  expect(await titlesOf(world, CORRECTIONS)).toEqual([]);
  await correct(world, 1, 999);
  await world.publish();
  const corrected = 'a: 9.99 USD, corrected from 1.01 USD (2026-01-02T00:00:00Z)';
  expect((await titlesOf(world, CHANGES))[0]).toBe(corrected);
  expect(await titlesOf(world, CORRECTIONS)).toEqual([corrected]);
  expect(await textOf(world, CORRECTIONS)).toContain('Before: 1.01 USD, recorded ');
  expect(await world.findings()).toEqual([]);
});

test('entries lead to a page that is there; verify finds that it is not', async () => {
  const { dependencies, ...world } = createWorld();
  const site = await readSite();
  const files = createFilesWorld({ ...world, dependencies: { ...dependencies, site } }, ['feeds']);
  await files.ingest([market('a'), price('a', 0, 100)]);
  await files.publish();
  expect(await files.findings()).toEqual([]);
  await files.lose('public/market/index.html');
  expect(await files.findings()).toMatchObject([{ url: CHANGES, rule: 'link' }]);
});

test('a value that is taken back is an entry with the kind of its retraction', async () => {
  const world = await feedsWorld();
  world.clock.nowMs += 1000;
  const { sourceUrl, observedAt } = price('a', 5, 105) as { sourceUrl: string; observedAt: string };
  const retraction = {
    type: 'retraction',
    market: 'a',
    metric: 'price',
    observedAt,
    sourceUrl,
    kind: 'mistake',
  } as const;
  await world.ingest([{ ...retraction, reason: 'a test' } as Parameters<FilesWorld['ingest']>[0][number]]);
  await world.publish();
  expect(await titlesOf(world, CORRECTIONS)).toEqual(['a: 1.05 USD, taken back: mistake (2026-01-06T00:00:00Z)']);
  expect(await world.findings()).toEqual([]);
});

test('the entries of a removed market leave, and its removal is one', async () => {
  const world = await feedsWorld(['feeds', 'market-feeds']);
  await world.ingest([price('b', 0, 7)]);
  await world.publish();
  await removeMarket(world, 'a', 'b');
  await world.publish();
  const titles = await titlesOf(world, CHANGES);
  expect(titles).toHaveLength(2);
  expect(titles).toContain('b: 0.07 USD (2026-01-01T00:00:00Z)');
  expect(titles.some((title) => title.startsWith('a: removed ('))).toBe(true);
  expect((await world.read('/feeds/markets/a.atom')).status).toBe(410);
  expect(await world.findings(['a'])).toEqual([]);
});

test('a price is for one unit, also where its market quotes a thousand', async () => {
  const world = await feedsWorld();
  world.clock.nowMs += 1000;
  const unit = { quantity: 1000, of: 'XRP' };
  await world.ingest([{ ...market('c'), unit } as ReturnType<typeof market>, price('c', 0, 148395)]);
  const third = { quantity: 3, of: 'XRP' };
  await world.ingest([{ ...market('d'), unit: third } as ReturnType<typeof market>, price('d', 0, 100)]);
  await world.publish();
  const titles = (await titlesOf(world, CHANGES)).slice(0, 2);
  expect(titles).toEqual(['d: 1.00 USD per 3 (2026-01-01T00:00:00Z)', 'c: 1.48395 USD (2026-01-01T00:00:00Z)']);
  expect(await textOf(world, CHANGES)).toContain('Value: 1.48395 USD. Unit: XRP. Observed ');
  expect(await world.findings()).toEqual([]);
});

test('a feed has at most 100 entries, and is updated when its newest entry was recorded', async () => {
  const world = await feedsWorld();
  await world.ingest(Array.from({ length: 150 }, (_, day) => price('b', day, 200 + day)));
  await world.publish();
  const text = await textOf(world, CHANGES);
  expect(text.match(/<entry>/g)).toHaveLength(100);
  expect(text).toContain(`\n<updated>${new Date(world.clock.nowMs).toISOString()}</updated>\n`);
  expect((await titlesOf(world, CHANGES))[0]).toBe('b: 3.49 USD (2026-05-30T00:00:00Z)');
  expect(await world.findings()).toEqual([]);
});

test('names of sources are escaped', async () => {
  const world = await feedsWorld();
  const odd = { ...price('b', 0, 7), sourceLabel: 'A & B <"c">' } as ReturnType<typeof price>;
  await world.ingest([odd]);
  await world.publish();
  expect(await textOf(world, CHANGES)).toContain('<author><name>A &amp; B &lt;&quot;c&quot;&gt;</name></author>');
  expect(await world.findings()).toEqual([]);
});

test('of 200 markets, one change puts the feed of changes, and that of its market where a deployment wants it', async () => {
  const slugs = Array.from({ length: 200 }, (_, index) => `m${index}`);
  for (const [projections, expected] of [
    [['feeds'], ['public/feeds/changes.atom']],
    [
      ['feeds', 'market-feeds'],
      ['public/feeds/markets/m7.atom', 'public/feeds/changes.atom'],
    ],
  ] as const) {
    const world = createFilesWorld(createWorld(), projections);
    await world.ingest(slugs.map((slug) => market(slug)));
    await world.ingest(slugs.map((slug) => price(slug, 0, 100)));
    await world.publish();
    expect(await putsOf(world)).toEqual([]);
    world.clock.nowMs += 1000;
    await world.ingest([price('m7', 1, 200)]);
    expect(await putsOf(world)).toEqual(expected);
  }
});

test('the feed of a market goes on over pages of its history, and is the same as one that is made anew', async () => {
  const world = await feedsWorld(['feeds', 'market-feeds']);
  await correct(world, 1, 999);
  await world.publish();
  for (const day of [6, 7, 8, 9, 10]) {
    world.clock.nowMs += 1000;
    await world.ingest([price('a', day, 100 + day)]);
    await world.publish();
  }
  const titles = await titlesOf(world, '/feeds/markets/a.atom');
  expect(titles).toHaveLength(12);
  expect(titles[5]).toBe('a: 9.99 USD, corrected from 1.01 USD (2026-01-02T00:00:00Z)');
  expect(await titlesOf(world, CHANGES)).toEqual(titles);
  expect(await world.findings()).toEqual([]);
});

test('verify finds a feed with another value, without its newest entry, and none at all', async () => {
  const world = await feedsWorld(['feeds', 'market-feeds']);
  for (const path of [CHANGES, '/feeds/markets/a.atom']) {
    const key = `public${path}`;
    const right = await textOf(world, path);
    const put = async (text: string) => {
      const found = await world.objects.get(key);
      if (found.kind !== 'found') throw new Error(`${key} is missing`);
      await world.objects.put(key, Buffer.from(text), found.metadata, { kind: 'matches', etag: found.etag });
    };
    const entries = right.split('\n').filter((line) => line.startsWith('<entry>'));
    const without = right
      .replace(`${entries[0]}\n`, '')
      .replace(/<updated>[^<]*/, /<updated>[^<]*/.exec(entries[1] ?? '')?.[0] ?? '');
    for (const wrong of [right.replaceAll('1.05 USD', '1.06 USD'), without, right.replace('urn:uuid:', 'urn:uuid:0')]) {
      await put(wrong);
      expect(await world.findings()).toMatchObject([{ url: path, rule: 'file' }]);
    }
    await put(right);
    expect(await world.findings()).toEqual([]);
  }
  await world.lose(`public${CORRECTIONS}`);
  expect(await world.findings()).toMatchObject([{ url: CORRECTIONS, rule: 'status' }]);
});

test('verify goes on if an amount of a history is in a currency that does not exist', async () => {
  const { objects } = await feedsWorld(['feeds', 'market-feeds']);
  const url = '/api/v1/markets/a/history';
  const damaged = damagedReader(readerOf(objects), { [url]: withField('data.0.currency', 'ZZZ') });
  const { findings } = await verify(damaged, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toMatchObject([{ url, rule: 'amount' }]);
});
