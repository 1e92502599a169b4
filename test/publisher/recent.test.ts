/** The last prices of every market as one file, and when the newest one was recorded: values, reads and limits. */

import { expect, test } from 'vitest';
import { RecentPrices } from '../../contract/bodies/recent-prices.ts';
import { RECENT_MARKETS_MAX, RECENT_PRICES_MAX, RECENT_ROWS_MAX } from '../../contract/files/limits.ts';
import type { Projection } from '../../contract/files/projections.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { hasRecent } from '../../publisher/projections/latest/plan-latest.ts';
import { publish } from '../../publisher/publish.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { latestRows } from './latest-rows.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from './world.ts';

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
  await world.ingest([price('c', 0, 7), price('c', 2, 9)]);
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

test('they are all of the source of the newest one, which the market shows', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  await world.ingest([market('a'), market('b')]);
  await world.ingest(from(6).flatMap((day) => [price('a', day, 1250), other('a', day, 1275)]));
  await world.ingest([other('a', 6, 1276), other('b', 0, 1250), price('b', 1, 1275)]);
  await world.publish();
  const [a, b] = await recentOf(world);
  expect(a.decimal).toEqual([...from(6).map(() => '12.75'), '12.76']);
  expect(b).toEqual({ slug: 'b', decimal: ['12.75'], observedAt: ['2026-01-02T00:00:00Z'], yearAgo: null });
  expect((await latestRows(world.objects)).map(({ source }) => source)).toEqual([...['another', 'a test']]);
  expect(await world.findings()).toEqual([]);
});

/** Sources with the days of their prices, oldest first; `?`: it is unknown. */
test.each<[string, string, string, readonly string[]]>([
  ['has no price yet but this one', 'a0 a1 a2 b3', 'a', ['1.00', '1.01', '1.02']],
  ['has two prices', 'a0 a1 b2 b3', 'b', ['1.02', '1.03']],
  ['has an older one beyond the newest of the other', 'b0 a1 a2 b3', 'b', ['1.00', '1.03']],
  ['has one known price, and one that is unknown', 'a0 a1 b2? b3', 'a', ['1.00', '1.01']],
  ['says that its price is unknown', 'a0 a1 b2?', 'a', ['1.00', '1.01']],
  ['has one price, and so has the other', 'a0 b1', 'b', ['1.01']],
  ['has one, and the others one or several', 'a0 a1 c2 b3', 'a', ['1.00', '1.01']],
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

test('a correction, a retraction and another source of the same moment change them as they change the market', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  await world.ingest([market('a'), ...from(3).map((day) => price('a', day, 100 + day))]);
  await world.publish();
  world.clock.nowMs += 60_000;
  await world.ingest([price('a', 0, 555)], 'correct');
  await world.ingest([other('a', 1, 700), price('a', 3, 103)]);
  const { market: slug, metric, observedAt, sourceUrl } = price('a', 3, 0) as never;
  const retraction = {
    type: 'retraction',
    kind: 'mistake',
    market: slug,
    metric,
    observedAt,
    sourceUrl,
    reason: 'No.',
  };
  world.clock.nowMs += 60_000;
  await world.ingest([retraction as never], 'correct');
  await world.publish();
  const [{ decimal }] = await recentOf(world);
  const { metrics, history } = JSON.parse(await world.text('/api/v1/markets/a'));
  expect([decimal.length, decimal[0], decimal.at(-1), history.count]).toEqual([3, '5.55', metrics.price.decimal, 7]);
  expect(await world.findings()).toEqual([]);
});

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

/** Reads of the ledger and of the store by three publications. */
async function readsWith(projections: readonly Projection[]) {
  const ledger = openSqliteLedger(':memory:');
  let reads = 0;
  const counted = new Proxy(ledger, {
    get(target, name: keyof Ledger) {
      if (name !== 'transact') reads++;
      return target[name].bind(target);
    },
  });
  const world = createWorld(SMALL_PAGES, counted).with({ projections: new Set(projections) });
  const { objects } = world;
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((slug) => market(slug)));
  await world.ingest(from(9).map((day) => price('a', day, 1 + day)));
  const counts: { readonly ledger: number; readonly objects: number }[] = [];
  for (const record of [null, price('a', 20, 5), price('d', 0, 5)]) {
    if (record !== null) await world.ingest([record]);
    reads = 0;
    objects.resetCounts();
    await world.publish();
    counts.push({ ledger: reads, objects: objects.counts.get });
  }
  return counts;
}

test('they cost no read of the ledger, and a few of the store', async () => {
  const [without, withBoth] = [await readsWith([]), await readsWith(BOTH)];
  expect(withBoth.map(({ ledger }) => ledger)).toEqual(without.map(({ ledger }) => ledger));
  // First the later pages of the list for each of both, and the two older pages of one history.
  // Then each list reads the index, the part and the last prices, and the older pages of the changed history.
  const more = withBoth.map(({ objects }, index) => objects - (without[index]?.objects ?? 0));
  expect(more).toEqual([2 * 2 + 2, 3 + 2, 3]);
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

test('a history with many rows in a year is not read for it', () => {
  const rowsRead = (perDay: number) => {
    const prices = new RecentPrices();
    let rows = 0;
    for (; rows < 400 * perDay && !prices.isWhole; rows++) {
      const observedAt = new Date(Date.UTC(2026, 0, 1) - (rows * 86_400_000) / perDay).toISOString();
      const row = {
        metric: 'price',
        observedAt,
        recordedAt: observedAt,
        retraction: null,
        supersededBy: null,
        supersedes: null,
      };
      prices.add({ ...row, id: '', sourceLabel: 'a test' }, () => String(rows));
    }
    return [rows, prices.entryWithYear('a').yearAgo?.decimal ?? null];
  };
  expect([1, 2, 3, 24].map(rowsRead)).toEqual([
    [382, '365'],
    [762, '730'],
    [64, null],
    [64, null],
  ]);
});

test('only the newest rows of a history are looked at', () => {
  const prices = new RecentPrices();
  const row = (metric: string, day: number) => ({
    ...{ metric, observedAt: `2026-01-0${day}T00:00:00Z`, recordedAt: '2026-02-01T00:00:00.000Z' },
    ...{ id: '', retraction: null, sourceLabel: 'a test', supersededBy: null, supersedes: null },
  });
  for (const _ of from(RECENT_ROWS_MAX - 1)) prices.add(row('volume', 3), () => null);
  prices.add(row('price', 2), () => '2');
  prices.add(row('price', 1), () => '1');
  expect([prices.isComplete, prices.entry('a')]).toEqual([
    true,
    { slug: 'a', decimal: ['2'], observedAt: ['2026-01-02T00:00:00Z'] },
  ]);
});

test.each([
  ['1', null],
  ['2', 'corrected'],
])('a price of 1 that was announced as %s is marked %s', (before, mark) => {
  const prices = new RecentPrices();
  const row = {
    ...{ metric: 'price', observedAt: '2026-01-01T00:00:00Z', recordedAt: '2026-01-01T00:00:00.000Z' },
    ...{ retraction: null, sourceLabel: 'a test' },
  };
  prices.add({ ...row, id: 'new', supersedes: 'old', supersededBy: null }, () => '1');
  prices.add({ ...row, id: 'old', supersedes: null, supersededBy: 'new', announced: true }, () => before);
  expect(prices.markedEntry('a')).toMatchObject({ decimal: ['1'], marks: [mark], mistakes: [] });
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

test('a value that only an earlier version showed goes with the first generation of this one', async () => {
  const world = createWorld().with({ projections: new Set(BOTH) });
  await world.ingest([market('a'), price('a', 0, 105), price('a', 1, 106)]);
  await world.publish();
  const before = await recentOf(world);
  const key = publicKey({ kind: 'recent' });
  const found = await world.objects.get(key);
  const head = await world.ledger.get(HEAD_KEY);
  if (found.kind !== 'found' || head === null) throw new Error('nothing was published');
  const body = Buffer.from(Buffer.from(found.body).toString().replace('"1.05"', '"1.07"'));
  await world.objects.put(key, body, found.metadata, { kind: 'matches', etag: found.etag });
  const stated = JSON.stringify(head.value).replaceAll(sha256Hex(found.body), sha256Hex(body));
  const value = { ...JSON.parse(stated), renderer: `0${head.value.renderer}` };
  const put = { kind: 'put', key: HEAD_KEY, revision: head.revision, value, if: { kind: 'any' } } as const;
  await world.ledger.transact([put], { attemptId: 'an earlier version' });
  await world.publish();
  expect(await recentOf(world)).toEqual(before);
});
