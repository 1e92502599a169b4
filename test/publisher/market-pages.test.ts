/** Pages of markets: what they show, when they are made again, what they cost, and the faults that verify finds in them. */
import { expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { withOperator } from '../../publisher/site.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { createWorld, market, price, readerOf, retraction } from './world.ts';

const READ_BASE_URL = 'https://data.example.com/below';
const KEY = 'public/markets/a.html';
const site = await readSite();

async function pagesWorld(
  more: readonly Projection[] = [],
  readBaseUrl: string | null = READ_BASE_URL,
  ofService = site,
): Promise<FilesWorld> {
  const { dependencies, ...world } = createWorld();
  const settings = { ...dependencies, site: ofService, ...(readBaseUrl !== null && { readBaseUrl }) };
  const files = createFilesWorld({ ...world, dependencies: settings }, ['market-pages', ...more]);
  await files.ingest([market('a'), market('b')]);
  await files.ingest(Array.from({ length: 12 }, (_, day) => price('a', day, 123400 + 100 * day)));
  await files.publish();
  return files;
}

async function pageOf({ objects }: FilesWorld, slug = 'a'): Promise<string> {
  const { status, body } = await readerOf(objects)(`/markets/${slug}`);
  expect(status, slug).toBe(200);
  return Buffer.from(body).toString();
}

test('a page has price, change, day, source and the last ten prices in it, and no script of its own', async () => {
  const world = await pagesWorld();
  const text = await pageOf(world);
  expect(text).toContain('<h1>Market a</h1>');
  expect(text).toContain('<span class="number figure">1,<wbr>245.00 USD</span>\n<span class="soft">per unit</span>');
  expect(text).toContain('<span class="number rise">+0.08 %</span><span class="soft"> since 11 Jan 2026 </span>');
  expect(text).toContain(
    '<dt>Observed</dt><dd><time datetime="2026-01-12T00:00:00Z" class="number">12 Jan 2026, 00:00 UTC</time>',
  );
  expect(text).toContain('<a href="https://example.com/a" rel="noreferrer nofollow">a test</a>');
  const rows = [...text.matchAll(/<tr><td><time[^>]*>([^<]*)<\/time><\/td><td class="number">([^<]*)</g)];
  expect(rows.map(([, day, value]) => `${day}: ${value}`)).toEqual(
    Array.from({ length: 10 }, (_, at) => `${12 - at} Jan 2026: ${(1245 - at).toLocaleString('en')}.00 USD`),
  );
  expect(text.match(/<script[^>]*>/g)).toEqual([
    '<script type="application/ld+json">',
    '<script type="module" src="../assets/market.js">',
  ]);
  expect(Buffer.byteLength(text)).toBeLessThan(7_000);
  expect(await pageOf(world, 'b')).toContain('<p class="market-price unknown">no price yet</p>');
  expect(await world.findings()).toEqual([]);
});

test('what search engines and previews read: absolute where a base URL is known, relative elsewhere', async () => {
  const text = await pageOf(await pagesWorld(['embeds', 'history-files', 'market-feeds']));
  const url = `${READ_BASE_URL}/markets/a.html`;
  const description = 'Market a: 1,245.00 USD per unit on 12 Jan 2026, +0.08 % since 11 Jan 2026. Source: a test.';
  for (const line of [
    '<title>Market a · Tidemark</title>',
    `<meta name="description" content="${description}">`,
    '<meta property="og:title" content="Market a">',
    `<meta property="og:description" content="${description}">`,
    `<meta property="og:url" content="${url}">`,
    `<meta property="og:image" content="${READ_BASE_URL}/assets/card.png">`,
    '<meta name="twitter:card" content="summary">',
    `<link rel="canonical" href="${url}">`,
    '<link rel="alternate" type="application/json" href="../api/v1/markets/a.json">',
    '<link rel="alternate" type="text/csv" href="../api/v1/markets/a/history.csv">',
    '<link rel="alternate" type="application/atom+xml" href="../feeds/markets/a.atom">',
    `<link rel="alternate" type="application/json+oembed" href="${READ_BASE_URL}/embed/a.json">`,
  ])
    expect(text).toContain(`${line}\n`);
  const without = await pageOf(await pagesWorld([], null));
  expect(without).not.toMatch(/canonical|og:url|oembed|text\/csv|atom/);
});

/** What search engines read of a page as JSON-LD. */
function datasetIn(text: string): Readonly<Record<string, unknown>> {
  const [, block, ...others] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(text) ?? [];
  expect(others).toEqual([]);
  return JSON.parse(block as string);
}

test('each market is a Dataset of schema.org, whose files are there', async () => {
  const world = await pagesWorld(['history-files']);
  const source = { label: 'Other', url: 'https://example.org/', publisher: 'Ministry', licence: 'CC-BY-4.0' };
  const hostile = '</script><script>alert(1)</script><!--<link rel="icon"';
  await world.ingest([
    { ...market('c'), name: hostile, sources: [{ ...source, attribution: 'By the Ministry.' }] } as IngestRecordInput,
    ...[0, 1].map((day) => price('c', day, 100 + day)),
  ]);
  await world.publish();
  const api = `${READ_BASE_URL}/api/v1/markets/c`;
  const download = (encodingFormat: string, contentUrl: string) => ({
    ...{ '@type': 'DataDownload', encodingFormat, contentUrl },
  });
  const found = datasetIn(await pageOf(world, 'c'));
  expect(found).toEqual({
    ...{ '@context': 'https://schema.org', '@type': 'Dataset', name: hostile, identifier: 'c' },
    description: `${hostile}, per unit: 2 observations, each with its source and its times, as static files that are free to read.`,
    creator: [{ '@type': 'Organization', name: 'Ministry', url: 'https://example.org/' }],
    creditText: 'By the Ministry.',
    dateModified: found.dateModified,
    distribution: [
      download('application/json', `${api}.json`),
      download('application/json', `${api}/history.json`),
      download('text/csv', `${api}/history.csv`),
      download('application/x-ndjson', `${api}/history.ndjson`),
    ],
    includedInDataCatalog: {
      ...{ '@type': 'DataCatalog', name: 'Market prices with their sources', url: `${READ_BASE_URL}/` },
    },
    isAccessibleForFree: true,
    license: { '@type': 'CreativeWork', name: 'CC-BY-4.0' },
    temporalCoverage: '2026-01-01T00:00:00Z/2026-01-02T00:00:00Z',
    url: `${READ_BASE_URL}/markets/c.html`,
    variableMeasured: ['Price'],
  });
  for (const { contentUrl } of found.distribution as { contentUrl: string }[])
    expect((await readerOf(world.objects)(contentUrl.slice(READ_BASE_URL.length))).status, contentUrl).toBe(200);
  expect(await world.findings()).toEqual([]);
});

test('the terms of a Dataset that its sources do not share are those of the operator, who publishes it', async () => {
  const operated = withOperator(site, { name: 'Grain & "Sons"', licence: 'https://grain.example/a?b&c' });
  const world = await pagesWorld([], null, operated);
  const source = { label: 's', url: 'https://s.example/', publisher: null, licence: 'MIT', attribution: null };
  const sources = [source, { ...source, label: 't', licence: null }];
  await world.ingest([{ ...market('mixed'), sources } as IngestRecordInput]);
  await world.publish();
  expect(datasetIn(await pageOf(world, 'mixed'))).toMatchObject({
    license: 'https://grain.example/a?b&c',
    publisher: { '@type': 'Organization', name: 'Grain & "Sons"' },
    distribution: [{ contentUrl: '../api/v1/markets/mixed.json' }, {}],
  });
  expect(await world.findings()).toEqual([]);
});

test('the last prices say which are corrected, and which are retracted', async () => {
  const world = await pagesWorld();
  const taking = (day: number, kind: string) => retraction(price('c', day, 1), { kind });
  await world.ingest([market('c'), ...[0, 1, 2, 3].map((day) => price('c', day, 100 + day))]);
  await world.ingest([price('c', 0, 99)], 'correct');
  await world.ingest([taking(1, 'mistake'), taking(2, 'withdrawn')]);
  await world.publish();
  const rows = [...(await pageOf(world, 'c')).matchAll(/<tr><td>.*?<\/td>(<td.*)<\/tr>/g)].map(([, row]) => row);
  const number = (text: string) => `<td class="number">${text}</td>`;
  const mark = (text: string) => ` <span class="soft">${text}</span>`;
  expect(rows).toEqual([
    number('1.03 USD'),
    `<td>unknown${mark('retracted')}</td>`,
    '<td>retracted</td>',
    number(`0.99 USD${mark('corrected')}`),
  ]);
  expect(await world.findings()).toEqual([]);
});

test('a page shows each value of a market with several, its sources, and why one is unknown', async () => {
  const world = await pagesWorld();
  const metric = (name: string, amountMinor: number | null) => ({ ...price('c', 0, amountMinor), metric: name });
  await world.ingest([
    { ...market('c'), name: 'A & B <"c">' },
    // Its source repeats the same price on the next day.
    ...[metric('outputPrice', 250), { ...metric('outputPrice', 250), observedAt: '2026-01-02T00:00:00Z' }],
    metric('inputPrice', null),
    { ...metric('outputPrice', 251), sourceLabel: 'an older test', sourceUrl: 'https://example.com/old' },
  ] as IngestRecordInput[]);
  await world.ingest([price('a', 12, null)]);
  await world.publish();
  const text = await pageOf(world, 'c');
  expect(text).toMatch(
    /<dt>Input price<\/dt>\s<dd><span class="unknown">unknown: [^<]+<.*<dt>Output price<\/dt>\s<dd><span class="number figure">2\.50 USD</s,
  );
  expect(text.match(/as of <time[^>]*>[^<]+/g)).toEqual([
    expect.stringContaining('title="1 Jan 2026, 00:00 UTC">1 Jan 2026'),
    expect.stringContaining('title="2 Jan 2026, 00:00 UTC">2 Jan 2026'),
  ]);
  expect(text).not.toContain('since');
  expect(text).toMatch(/<h2>Sources<.*>a test<.*>an older test</s);
  expect(text).toContain('<h1>A &amp; B &lt;&quot;c&quot;&gt;</h1>');
  expect(await pageOf(world)).toContain('<p class="market-price unknown">unknown: the source published no value</p>');
  expect(await world.findings()).toEqual([]);
});

test('verify finds a page with another price, or with a frame of another site', async () => {
  const world = await pagesWorld();
  const right = await pageOf(world);
  for (const [from, to] of [
    ['1,245.00 USD', '1,246.00 USD'],
    ['</head>', '<meta http-equiv="refresh" content="0;url=https://evil.example"></head>'],
    ['assets/market.js', 'assets/other.js'],
    ['<footer', '<form'],
  ] as const) {
    await world.forge(KEY, () => right.replace(from, to));
    expect(await world.findings(), to).toMatchObject([{ rule: 'file' }]);
  }
});
