/** The texts of badges and embeds. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { createWorld, market, price, scalar, type World } from './world.ts';

const READ_BASE_URL = 'https://data.example.com/below';
const BADGE = ['/badges/a.svg', '/badges/a.json'] as const;
const EMBED = ['/embed/a', '/embed/a.json'] as const;

async function filesWorld(): Promise<World> {
  const world = createWorld().with({ readBaseUrl: READ_BASE_URL, projections: new Set(['badges', 'embeds']) });
  await world.ingest([market('a'), market('b')]);
  await world.ingest([0, 1, 2, 3, 4, 5].map((day) => price('a', day, 123400 + 100 * day)));
  await world.publish();
  return world;
}

test('a badge shows the newest price, for programs as an endpoint of shields.io', async () => {
  const world = await filesWorld();
  expect(await world.json(BADGE[1])).toEqual({
    schemaVersion: 1,
    label: 'Market a',
    message: '1,239.00 USD (2026-01-06)',
    color: 'blue',
    cacheSeconds: 300,
  });
  const svg = await world.text(BADGE[0]);
  expect(svg).toContain('>1,239.00 USD (2026-01-06)</text>');
  expect(svg).toContain('role="img"');
  expect(svg).toContain('<title>Market a: 1,239.00 USD (6 Jan 2026)</title>');
  expect(svg).not.toMatch(/<script|href|@import|\burl\((?!#)/);
  expect(await world.json('/badges/b.json')).toMatchObject({ message: 'unknown', color: 'lightgrey' });
  expect(await world.findings()).toEqual([]);
});

test('an unknown value names its reason', async () => {
  const world = await filesWorld();
  await world.ingest([price('a', 6, null)]);
  await world.publish();
  expect(await world.json(BADGE[1])).toMatchObject({ message: 'unknown (2026-01-07)' });
  const reason = 'the source published no value';
  expect(await world.text(BADGE[0])).toContain(`<title>Market a: unknown (${reason}, 7 Jan 2026)</title>`);
  expect(await world.text(EMBED[0])).toContain(`<b>unknown</b> <small>${reason}</small>`);
  expect(await world.text('/badges/b.svg')).toContain('<title>Market b: unknown (no price yet)</title>');
  expect(await world.findings()).toEqual([]);
});

test('an embed shows that a price is provisional, and the text that must be shown with it; names are escaped', async () => {
  const world = await filesWorld();
  const source = { label: 'a test', url: 'https://example.com/c', publisher: null, licence: null };
  const named = { ...market('c'), name: 'A & B <"c">' };
  const defined = { ...named, sources: [{ ...source, attribution: 'Source: A & B' }] };
  await world.ingest([defined, { ...price('c', 0, 100), status: 'provisional' }] as IngestRecordInput[]);
  await world.publish();
  expect(await world.text('/embed/c')).toContain('>a test</a> · provisional · Source: A &amp; B</small></p>');
  expect(await world.text('/embed/c')).toContain('>A &amp; B &lt;&quot;c&quot;&gt;</a></h1>');
  expect(await world.text('/badges/c.svg')).toContain('<title>A &amp; B &lt;&quot;c&quot;&gt;: 1.00 USD');
  expect(await world.text(EMBED[0])).toContain('>a test</a></small></p>');
  expect(await world.findings()).toEqual([]);
});

test('of a market without a price, the first amount of money of its page is shown, and named', async () => {
  const world = await filesWorld();
  const unit = { quantity: 10_000_000_000, of: 'token' };
  const metricOf = (metric: string, amountMinor: number) => ({ ...price('c', 0, amountMinor), metric });
  await world.ingest([
    { ...market('c'), unit } as IngestRecordInput,
    ...['outputPrice', 'cachePrice', 'cacheReadPrice'].map((name) => metricOf(name, 10_000_000)),
    metricOf('batchPrice', 2_500_000),
    scalar('c', 0, '7', { metric: 'area', unit: 'm2' }),
  ] as IngestRecordInput[]);
  await world.publish();
  expect(await world.json('/badges/c.json')).toMatchObject({
    label: 'Market c, batch price',
    message: '2.50 USD per 1M tokens (2026-01-01)',
    color: 'blue',
  });
  expect(await world.text('/embed/c')).toMatch(
    />Market c, batch price<\/a><\/h1>.*<b>2\.50 USD<\/b> <small>per 1M tokens<.*>a test<\/a>/s,
  );
  expect(await world.findings()).toEqual([]);
});

test('an embed shows price, change, day, source and a line, in less than 15 KB and without a script', async () => {
  const world = await filesWorld();
  await world.ingest(Array.from({ length: 100 }, (_, day) => price('a', 10 + day, 123400 + 7 * day)));
  await world.publish();
  const text = await world.text(EMBED[0]);
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
  const answer = await world.json<{ readonly html: string; readonly [name: string]: unknown }>(EMBED[1]);
  expect(answer).toMatchObject({
    type: 'rich',
    version: '1.0',
    title: 'Market a',
    provider_name: 'data.example.com',
    provider_url: READ_BASE_URL,
  });
  for (const side of ['width', 'height']) expect(Number.isInteger(answer[side])).toBe(true);
  expect(/^<iframe src="([^"]*)"/.exec(answer.html)?.[1]).toBe(`${READ_BASE_URL}/embed/a.html`);
  expect(await world.text(EMBED[0])).toContain(
    `<link rel="alternate" type="application/json+oembed" href="${READ_BASE_URL}/embed/a.json">`,
  );
});
