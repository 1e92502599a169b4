/** The entries of feeds. */
import { expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { removeMarket } from './remove-market.ts';
import { damagedReader, withField, withText } from './verify/damaged-reader.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from './world.ts';

const CHANGES = '/feeds/changes.atom';
const CORRECTIONS = '/feeds/corrections.atom';

async function feedsWorld(projections: readonly Projection[] = ['feeds']): Promise<World> {
  const world = createWorld().with({ projections: new Set(projections) });
  await world.ingest([market('a'), market('b')]);
  for (const day of [0, 1, 2, 3, 4, 5]) {
    world.clock.nowMs += 1000;
    await world.ingest([price('a', day, 100 + day)]);
  }
  await world.publish();
  return world;
}

async function titlesOf(world: World, url: string): Promise<readonly string[]> {
  return [...(await world.text(url)).matchAll(/<entry>.*<title>([^<]*)<\/title>/g)].map(([, title = '']) => title);
}

/** A correction of an earlier day. */
async function correct(world: World, day: number, amount: number): Promise<void> {
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
  expect(await world.text(CORRECTIONS)).toContain('Before: 1.01 USD, recorded ');
  world.clock.nowMs += 1000;
  await world.ingest([Object.assign(price('a', 1, 999), { confidence: 'low' })], 'correct');
  await world.publish();
  expect((await titlesOf(world, CORRECTIONS))[0]).toBe('a: 9.99 USD, corrected in its details (2026-01-02T00:00:00Z)');
  expect(await world.findings()).toEqual([]);
});

test('entries lead to a page that is there; verify finds that it is not', async () => {
  const world = createWorld().with({ site: await readSite(), projections: new Set(['feeds']) });
  await world.ingest([market('a'), price('a', 0, 100)]);
  await world.publish();
  expect(await world.findings()).toEqual([]);
  await world.lose('public/market/index.html');
  expect(await world.findings()).toMatchObject([{ url: CHANGES, rule: 'link' }]);
});

test('verify finds an entry of a market that the service does not have', async () => {
  const [world, other] = [await feedsWorld(), await feedsWorld()];
  await other.ingest([market('c'), price('c', 9, 100)]);
  await other.publish();
  const forged = await other.text(CHANGES);
  const reader = damagedReader(world.read, { [CHANGES]: withText(() => forged) });
  const { findings } = await verify(reader, { pageSizes: SMALL_PAGES });
  expect(findings).toMatchObject([{ url: CHANGES, rule: 'file', detail: expect.stringContaining(' of c, ') }]);
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

test('a price is for one unit, also where its market quotes a thousand; names of sources are escaped', async () => {
  const world = await feedsWorld();
  world.clock.nowMs += 1000;
  const unit = { quantity: 1000, of: 'XRP' };
  await world.ingest([{ ...market('c'), unit } as ReturnType<typeof market>, price('c', 0, 148395)]);
  const third = { quantity: 3, of: 'XRP' };
  const odd = { ...price('d', 0, 100), sourceLabel: 'A & B <"c">' } as ReturnType<typeof price>;
  await world.ingest([{ ...market('d'), unit: third } as ReturnType<typeof market>, odd]);
  await world.publish();
  const titles = (await titlesOf(world, CHANGES)).slice(0, 2);
  expect(titles).toEqual(['d: 1.00 USD per 3 (2026-01-01T00:00:00Z)', 'c: 1.48395 USD (2026-01-01T00:00:00Z)']);
  expect(await world.text(CHANGES)).toContain('Value: 1.48395 USD. Unit: XRP. Observed ');
  expect(await world.text(CHANGES)).toContain('<author><name>A &amp; B &lt;&quot;c&quot;&gt;</name></author>');
  expect(await world.findings()).toEqual([]);
});

test('a feed has at most 100 entries, and is updated when its newest entry was recorded', async () => {
  const world = await feedsWorld();
  await world.ingest(Array.from({ length: 150 }, (_, day) => price('b', day, 200 + day)));
  await world.publish();
  const text = await world.text(CHANGES);
  expect(text.match(/<entry>/g)).toHaveLength(100);
  expect(text).toContain(`\n<updated>${new Date(world.clock.nowMs).toISOString()}</updated>\n`);
  expect((await titlesOf(world, CHANGES))[0]).toBe('b: 3.49 USD (2026-05-30T00:00:00Z)');
  expect(await world.findings()).toEqual([]);
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

test('verify goes on if an amount of a history is in a currency that does not exist', async () => {
  const { read } = await feedsWorld(['feeds', 'market-feeds']);
  const url = '/api/v1/markets/a/history';
  const damaged = damagedReader(read, { [url]: withField('data.0.currency', 'ZZZ') });
  const { findings } = await verify(damaged, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toMatchObject([{ url, rule: 'amount' }]);
});
