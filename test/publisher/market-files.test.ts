/** Badges and embeds: what they show, what they cost, and the faults that verify finds in them. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, readerOf } from './world.ts';

const READ_BASE_URL = 'https://data.example.com/below';
const BADGE = ['/badges/a.svg', '/badges/a.json'] as const;
const EMBED = ['/embed/a', '/embed/a.json'] as const;
const ALL = [...BADGE, ...EMBED];

async function filesWorld(): Promise<FilesWorld> {
  const { dependencies, ...world } = createWorld();
  const settings = { ...dependencies, readBaseUrl: READ_BASE_URL };
  const files = createFilesWorld({ ...world, dependencies: settings }, ['badges', 'embeds']);
  await files.ingest([market('a'), market('b')]);
  await files.ingest([0, 1, 2, 3, 4, 5].map((day) => price('a', day, 123400 + 100 * day)));
  await files.publish();
  return files;
}

async function textOf({ objects }: FilesWorld, url: string): Promise<string> {
  const { status, body } = await readerOf(objects)(url);
  expect(status, url).toBe(200);
  return Buffer.from(body).toString();
}

async function putsOf(world: FilesWorld): Promise<readonly string[]> {
  world.objects.resetCounts();
  await world.publish();
  return world.objects.puts.map(({ key }) => key).filter((key) => /^public\/(badges|embed)\//.test(key));
}

test('a badge shows the newest price, for programs as an endpoint of shields.io', async () => {
  const world = await filesWorld();
  expect(JSON.parse(await textOf(world, BADGE[1]))).toEqual({
    schemaVersion: 1,
    label: 'Market a',
    message: '1,239.00 USD (2026-01-06)',
    color: 'blue',
    cacheSeconds: 300,
  });
  const svg = await textOf(world, BADGE[0]);
  expect(svg).toContain('>1,239.00 USD (2026-01-06)</text>');
  expect(svg).toContain('role="img"');
  expect(svg).toContain('<title>Market a: 1,239.00 USD (6 Jan 2026)</title>');
  expect(svg).not.toMatch(/<script|href|@import|\burl\((?!#)/);
  expect(JSON.parse(await textOf(world, '/badges/b.json'))).toMatchObject({ message: 'unknown', color: 'lightgrey' });
  expect(await world.findings()).toEqual([]);
});

test('an unknown value names its reason', async () => {
  const world = await filesWorld();
  await world.ingest([price('a', 6, null)]);
  await world.publish();
  expect(JSON.parse(await textOf(world, BADGE[1]))).toMatchObject({ message: 'unknown (2026-01-07)' });
  const reason = 'the source published no value';
  expect(await textOf(world, BADGE[0])).toContain(`<title>Market a: unknown (${reason}, 7 Jan 2026)</title>`);
  expect(await textOf(world, EMBED[0])).toContain(`<b>unknown</b> <small>${reason}</small>`);
  expect(await textOf(world, '/badges/b.svg')).toContain('<title>Market b: unknown (no price recorded)</title>');
  expect(await world.findings()).toEqual([]);
});

test('change and line of an embed are of the source of the newest price alone', async () => {
  const world = await filesWorld();
  const other = { ...price('b', 0, 1250), sourceLabel: 'another', sourceUrl: 'https://example.org/b' };
  await world.ingest([other as IngestRecordInput, price('b', 1, 1275)]);
  await world.publish();
  expect(await textOf(world, '/embed/b')).toContain('<b>12.75 USD</b>');
  expect(await textOf(world, '/embed/b')).not.toMatch(/ % since|<polyline/);
  await world.ingest([price('b', 2, 1300)]);
  await world.publish();
  expect(await textOf(world, '/embed/b')).toMatch(/\+1\.96 % since 2 Jan 2026.*>2 prices, /s);
  expect(await world.findings()).toEqual([]);
});

test('an embed shows that a price is provisional, and the text that must be shown with it', async () => {
  const world = await filesWorld();
  const source = { label: 'a test', url: 'https://example.com/c', publisher: null, licence: null };
  const defined = { ...market('c'), sources: [{ ...source, attribution: 'Source: A & B' }] };
  await world.ingest([defined, { ...price('c', 0, 100), status: 'provisional' }] as IngestRecordInput[]);
  await world.publish();
  expect(await textOf(world, '/embed/c')).toContain('>a test</a> · provisional · Source: A &amp; B</small></p>');
  expect(await textOf(world, EMBED[0])).toContain('>a test</a></small></p>');
  expect(await world.findings()).toEqual([]);
});

test('of a market without a price, the first amount of money of its page is shown, and named', async () => {
  const world = await filesWorld();
  const unit = { quantity: 10_000_000_000, of: 'token' };
  const metricOf = (metric: string, amountMinor: number) => ({ ...price('c', 0, amountMinor), metric });
  const {
    zeroAsserted: _,
    amountMinor: __,
    currency: ___,
    ...rest
  } = { ...price('c', 0, 1) } as Record<string, unknown>;
  await world.ingest([
    { ...market('c'), unit } as IngestRecordInput,
    ...['outputPrice', 'cachePrice', 'cacheReadPrice'].map((name) => metricOf(name, 10_000_000)),
    metricOf('batchPrice', 2_500_000),
    { ...rest, metric: 'area', value: '7', unit: 'm2' },
  ] as IngestRecordInput[]);
  await world.publish();
  expect(JSON.parse(await textOf(world, '/badges/c.json'))).toMatchObject({
    label: 'Market c, batch price',
    message: '2.50 USD per 1M tokens (2026-01-01)',
    color: 'blue',
  });
  expect(await textOf(world, '/embed/c')).toMatch(
    />Market c, batch price<\/a><\/h1>.*<b>2\.50 USD<\/b> <small>per 1M tokens<.*>a test<\/a>/s,
  );
  expect(await world.findings()).toEqual([]);
});

test('names of markets are escaped', async () => {
  const world = await filesWorld();
  const odd = { ...market('c'), name: 'A & B <"c">' } as IngestRecordInput;
  await world.ingest([odd, price('c', 0, 100)]);
  await world.publish();
  expect(await textOf(world, '/badges/c.svg')).toContain('<title>A &amp; B &lt;&quot;c&quot;&gt;: 1.00 USD');
  expect(await textOf(world, '/embed/c')).toContain('>A &amp; B &lt;&quot;c&quot;&gt;</a></h1>');
  expect(await world.findings()).toEqual([]);
});

test.each([
  [{ quantity: 1000, of: 'EUR' }, 113607, '1.13607 USD (2026-01-01)'],
  [{ quantity: 10_000_000_000, of: 'token' }, 2_500_000, '2.50 USD per 1M tokens (2026-01-01)'],
  [{ quantity: 3, of: 'thing' }, 100, '1.00 USD per 3 things (2026-01-01)'],
  [{ quantity: 1, of: 'barrel' }, -3698, '-36.98 USD (2026-01-01)'],
])('of %j at %i cents, a badge says %s', async (unit, amountMinor, message) => {
  const world = await filesWorld();
  await world.ingest([{ ...market('c'), unit } as IngestRecordInput, price('c', 0, amountMinor)]);
  await world.publish();
  expect(JSON.parse(await textOf(world, '/badges/c.json'))).toMatchObject({ message });
});

test('an embed shows price, change, day, source and a line, in less than 15 KB and without a script', async () => {
  const world = await filesWorld();
  await world.ingest(Array.from({ length: 100 }, (_, day) => price('a', 10 + day, 123400 + 7 * day)));
  await world.publish();
  const text = await textOf(world, EMBED[0]);
  expect(Buffer.byteLength(text)).toBeLessThan(15_000);
  expect(text).toContain('<b>1,240.93 USD</b>');
  expect(text).toContain('+0.01 % since 19 Apr 2026');
  expect(text).toContain('<time datetime="2026-04-20T00:00:00Z">20 Apr 2026</time>');
  expect(text).toContain('<a href="https://example.com/a" target="_blank" rel="noopener nofollow">a test</a>');
  expect(text).toContain('href="../market/index.html?slug=a" target="_blank"');
  // The chart goes on over pages of four rows.
  expect(/<polyline points="([^"]*)"/.exec(text)?.[1]?.split(' ')).toHaveLength(31);
  expect(text).not.toContain('<script');
  expect(await world.findings()).toEqual([]);
});

test('an answer of oEmbed has the fields that a rich one must have, with absolute URLs', async () => {
  const world = await filesWorld();
  const answer = JSON.parse(await textOf(world, EMBED[1]));
  expect(answer).toMatchObject({
    type: 'rich',
    version: '1.0',
    title: 'Market a',
    provider_name: 'data.example.com',
    provider_url: READ_BASE_URL,
  });
  for (const side of ['width', 'height']) expect(Number.isInteger(answer[side])).toBe(true);
  expect(/^<iframe src="([^"]*)"/.exec(answer.html)?.[1]).toBe(`${READ_BASE_URL}/embed/a.html`);
  expect(await textOf(world, EMBED[0])).toContain(
    `<link rel="alternate" type="application/json+oembed" href="${READ_BASE_URL}/embed/a.json">`,
  );
});

test('without a base URL there is no oEmbed; with another one, all files name that', async () => {
  const world = await filesWorld();
  const { readBaseUrl, ...unset } = world.dependencies;
  const without = { ...world, dependencies: unset, publish: () => publish(unset) };
  await without.publish();
  await refreshed(without);
  expect(await textOf(world, EMBED[0])).not.toContain('oembed');
  world.clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
  await collectGarbage(unset, { dryRun: false });
  expect((await world.read(EMBED[1])).status).toBe(404);
  expect(await world.findings()).toEqual([]);
  const other = { ...unset, readBaseUrl: 'https://other.example' };
  await refreshed({ ...world, dependencies: other });
  expect(JSON.parse(await textOf(world, EMBED[1]))).toMatchObject({ provider_url: 'https://other.example' });
  expect(await world.findings()).toEqual([]);
});

/** As the worker does after a change of the renderer. */
async function refreshed({ dependencies }: Pick<FilesWorld, 'dependencies'>): Promise<void> {
  await publish(dependencies);
  await rebuild(dependencies);
}

test('of 200 markets, one change puts the files of its market whose bytes change', async () => {
  const world = await filesWorld();
  const slugs = Array.from({ length: 200 }, (_, index) => `m${index}`);
  await world.ingest(slugs.map((slug) => market(slug)));
  await world.ingest(slugs.map((slug) => price(slug, 0, 100)));
  await world.publish();
  expect(await putsOf(world)).toEqual([]);
  await world.ingest([price('m7', 1, 200)]);
  // The answer of oEmbed has no price in it.
  const changed = ['public/badges/m7.json', 'public/badges/m7.svg', 'public/embed/m7.html'];
  expect([...(await putsOf(world))].sort()).toEqual(changed);
});

test('the files of a removed market say so', async () => {
  const world = await filesWorld();
  await removeMarket(world, 'a', 'b');
  await world.publish();
  for (const url of ALL) expect((await world.read(url)).status, url).toBe(410);
  expect(await world.findings(['a'])).toEqual([]);
});
