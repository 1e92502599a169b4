/** The last prices of every market as one file, and when the newest one was recorded: values, reads and limits. */

import { expect, test } from 'vitest';
import { RecentPrices } from '../../contract/bodies/recent-prices.ts';
import { RECENT_MARKETS_MAX, RECENT_PRICES_MAX, RECENT_ROWS_MAX } from '../../contract/files/limits.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { hasRecent } from '../../publisher/projections/latest/plan-latest.ts';
import { publish } from '../../publisher/publish.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { latestRows } from './latest-rows.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, type World } from './world.ts';

const BOTH = ['latest', 'recent'] as const;

const recentOf = async (world: World) => JSON.parse(await world.text('/api/v1/recent')).data;

const from = (count: number, day = 0) => Array.from({ length: count }, (_, index) => day + index);

/** A price of another source than {@link price}. */
const other = (slug: string, day: number, amount: number) => ({
  ...price(slug, day, amount),
  sourceLabel: 'another',
  sourceUrl: `https://example.org/${slug}`,
});

test('there are the last prices of each market, oldest first, across the pages of its history', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  await world.ingest(['a', 'b', 'c', 'd'].map((slug) => market(slug)));
  await world.ingest(from(RECENT_PRICES_MAX + 4).map((day) => price('a', day, day === 33 ? null : 100 + day)));
  await world.ingest([price('c', 0, 8), price('c', 2, 9)]);
  await world.ingest([price('c', 0, 7)], 'correct');
  await world.publish();
  const [a, b, c, d] = await recentOf(world);
  expect([a.slug, a.observedAt.length, a.observedAt[0], a.observedAt.at(-1)]).toEqual([
    ...['a', RECENT_PRICES_MAX, '2026-01-05T00:00:00Z', '2026-02-04T00:00:00Z'],
  ]);
  expect([a.decimal[0], ...a.decimal.slice(-3)]).toEqual(['1.04', '1.32', null, '1.34']);
  expect([b, d]).toEqual([
    { slug: 'b', decimal: [], observedAt: [], yearAgo: null },
    { slug: 'd', decimal: [], observedAt: [], yearAgo: null },
  ]);
  expect(c).toEqual({
    slug: 'c',
    decimal: ['0.07', '0.09'],
    observedAt: ['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'],
    yearAgo: null,
  });
  expect(await world.findings()).toEqual([]);
});

/** Sources with the days of their prices, oldest first; `?`: it is unknown. */
test.each<[string, string, string, readonly string[]]>([
  ['has no price yet but this one', 'a0 a1 a2 b3', 'a', ['1.00', '1.01', '1.02']],
  ['has an older one beyond the newest of the other', 'b0 a1 a2 b3', 'b', ['1.00', '1.03']],
  ['has one, and two others have several', 'a0 c1 a2 c3 b4', 'c', ['1.01', '1.03']],
  ['has one, 31 days after the other', 'a0 a1 b32', 'a', ['1.00', '1.01']],
  ['has one, 32 days after the other', 'a0 a1 b33', 'b', ['1.33']],
])(
  'of a market whose newest price is of a source that %s, the last prices are of one source',
  async (_, given, source, decimal) => {
    const world = createWorld().with({ projections: new Set(['recent', 'market-pages', 'embeds']) });
    const prices = given.split(' ').map((each) => {
      const [, label = '', day, unknown] = /^(\w)(\d+)(\?)?$/.exec(each) ?? [];
      const amount = unknown === undefined ? 100 + Number(day) : null;
      return { ...price('m', Number(day), amount), sourceLabel: label, sourceUrl: `https://${label}.example/` };
    });
    await world.ingest([market('m'), ...prices]);
    await world.publish();
    const [entry] = await recentOf(world);
    const isOther = source !== prices.at(-1)?.sourceLabel;
    expect([entry.decimal, entry.source]).toEqual([decimal, isOther ? source : undefined]);
    expect(await world.text('/markets/m')).toContain(`<p class="soft">By ${source}.</p>`);
    const changes =
      (await Promise.all(['/markets/m', '/embed/m.html'].map(world.text))).join().match(/ % since [^<]*</g) ?? [];
    expect(changes.length > 0).toBe(decimal.length > 1);
    for (const change of changes) expect(change).toMatch(isOther ? new RegExp(`2026, by ${source}[.<]`) : /2026[.<]/);
    expect(await world.findings()).toEqual([]);
  },
);

test.each([
  [{ kind: 'recent' }],
  [{ kind: 'latest' }],
  [{ kind: 'latest-csv', part: 'all' }],
  [{ kind: 'latest-ndjson', part: 'all' }],
] as const)('a request for %o that lands late, when the values are those of before again, is refused', async (name) => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  const key = publicKey(name);
  const sent: Parameters<ObjectStore['put']>[] = [];
  const objects: ObjectStore = {
    ...world.objects,
    put: (...put) => {
      if (put[0] === key) sent.push(put);
      return world.objects.put(...put);
    },
  };
  const publishAll = () => publish({ ...world.dependencies, objects });
  await world.ingest([market('a'), price('a', 0, 100)]);
  await publishAll();
  await world.ingest([market('b'), price('b', 0, 7)]);
  await publishAll();
  await removeMarket(world, 'b');
  await publishAll();
  const before = world.objects.snapshot().get(key);
  expect(sent).toHaveLength(3);
  const [, late] = sent as [unknown, (typeof sent)[number]];
  expect(await world.objects.put(...late)).toEqual({ kind: 'refused' });
  expect(world.objects.snapshot().get(key)).toEqual(before);
});

test('a list in its cadence shows the changes of the generations before it', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  await world.ingest([market('a'), market('b'), ...from(6).map((day) => price('a', day, 100 + day))]);
  await world.publish();
  const paced = { ...world.dependencies, listEverySeconds: () => 60 };
  world.clock.nowMs += 1000;
  await world.ingest(from(5, 6).map((day) => price('a', day, 100 + day)));
  await publish(paced);
  expect((await recentOf(world))[0].decimal).toHaveLength(6);
  world.clock.nowMs += 60_000;
  await world.ingest([price('b', 0, 1)]);
  await publish(paced);
  const [a, b] = await recentOf(world);
  expect([a.decimal.length, a.decimal.at(-1), b.decimal]).toEqual([11, '1.10', ['0.01']]);
  const [first] = await latestRows(world.objects);
  expect(first?.recordedAt).toBe('2026-10-01T12:00:01.000Z');
  expect(await world.findings()).toEqual([]);
});

test('with them is the price of a year before the newest one, until a price, a correction or a source says otherwise', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  const yearsAgo = async () => (await recentOf(world)).map(({ yearAgo }: { yearAgo: object | null }) => yearAgo);
  const at = (observedAt: string, decimal: string) => ({ decimal, observedAt });
  await world.ingest(['days', 'short', 'sources', 'weeks'].map((slug) => market(slug)));
  await world.ingest(from(400, -130).map((day) => price('days', day, 1000 + day)));
  await world.ingest(from(60).map((week) => price('weeks', 7 * week - 150, 2000 + week)));
  await world.ingest([
    ...from(349, -100).map((day) => price('short', day, 1)),
    ...[other('sources', -130, 7), price('sources', 235, 7)],
  ]);
  await world.publish();
  // The newest prices are of the days 269 and 263.
  const [days, weeks] = [at('2025-09-27T00:00:00Z', '9.04'), at('2025-09-22T00:00:00Z', '20.07')];
  expect(await yearsAgo()).toEqual([days, null, null, weeks]);
  expect(await world.findings()).toEqual([]);
  world.clock.nowMs += 60_000;
  await world.ingest([price('days', -96, 555)], 'correct');
  await world.ingest([price('weeks', 270, 2060)]);
  await world.publish();
  expect(await yearsAgo()).toEqual([{ ...days, decimal: '5.55' }, null, null, at('2025-09-29T00:00:00Z', '20.08')]);
  expect(await world.findings()).toEqual([]);
});

test('only the newest rows of a history are looked at', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  const others = from(RECENT_ROWS_MAX - 1, 2).map((day) => ({ ...price('a', day, 1), metric: 'outputPrice' }));
  await world.ingest([market('a'), price('a', 0, 1), price('a', 1, 2), ...others]);
  await world.publish();
  expect(await recentOf(world)).toMatchObject([{ decimal: ['0.02'], observedAt: ['2026-01-02T00:00:00Z'] }]);
});

test('of two prices that one source states for one moment, the last prices have one', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  const elsewhere = { ...price('a', 1, 3), sourceUrl: 'https://example.org/elsewhere' };
  await world.ingest([market('a'), price('a', 0, 1), price('a', 1, 2), elsewhere]);
  await world.publish();
  const [{ observedAt }] = await recentOf(world);
  expect(observedAt).toEqual(['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']);
});

test('a price that was announced is not marked as corrected, unless its value is another one', () => {
  const row = {
    ...{ metric: 'price', observedAt: '2026-01-01T00:00:00Z', recordedAt: '2026-01-01T00:00:00.000Z' },
    ...{ retraction: null, sourceLabel: 'a test' },
  };
  const marksAfter = (before: string) => {
    const prices = new RecentPrices();
    prices.add({ ...row, id: 'new', supersedes: 'old', supersededBy: null }, () => '1');
    prices.add({ ...row, id: 'old', supersedes: null, supersededBy: 'new', announced: true }, () => before);
    return prices.markedEntry('a').marks;
  };
  expect([marksAfter('1'), marksAfter('2')]).toEqual([[null], ['corrected']]);
});

test('a service with many markets does not publish them', () => {
  const projections = new Set(BOTH);
  expect([RECENT_MARKETS_MAX, 5_000, 5_001, 100_000].map((markets) => hasRecent({ projections }, markets))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
