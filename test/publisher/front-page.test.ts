/** The first page: its rows, links and facts for search engines, when it is made again, and what verify finds in it. */
import { expect, test } from 'vitest';
import { FRONT_PAGE } from '../../contract/bodies/front-page.ts';
import type { Projection } from '../../contract/files/projections.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../../publisher/dependencies.ts';
import { FRONT_ROWS } from '../../publisher/projections/pages/front-page.ts';
import { withOperator } from '../../publisher/site.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from './world.ts';

const KEY = `public/${FRONT_PAGE}`;
const READ_BASE_URL = 'https://data.example.com/below';
const site = withOperator(await readSite(), { name: 'Grain & Sons', licence: 'https://grain.example/terms' });
const ALL: readonly Projection[] = ['market-pages', 'feeds', 'latest'];

async function frontWorld(
  projections = ALL,
  more: Partial<PublisherDependencies> = { readBaseUrl: READ_BASE_URL },
  pageSizes = SMALL_PAGES,
): Promise<World> {
  const world = createWorld(pageSizes).with({ site, projections: new Set(projections), ...more });
  await world.ingest([market('b'), market('a')]);
  await world.ingest([price('a', 0, 123_400), price('b', 0, null)]);
  await world.publish();
  return world;
}

const pageOf = (world: World) => world.text('/');

const rowsOf = (page: string) => [...page.matchAll(/<tr role="row" data-slug="([^"]*)"/g)].map(([, slug]) => slug);

/** Whether the next generation puts the first page. */
const isPut = async (world: World) => (await world.publishedKeys()).includes(KEY);

test('it shows the first markets by slug, with price, day, source and page, as texts', async () => {
  const world = await frontWorld(ALL, {}, DEFAULT_PAGE_SIZES);
  const many = Array.from({ length: FRONT_ROWS }, (_, index) => `c${String(index).padStart(3, '0')}`);
  await world.ingest([
    ...many.map((slug) => market(slug)),
    { ...market('aa'), name: '<b>"A" & co</b>' } as IngestRecordInput,
  ]);
  await world.publish();
  const page = await pageOf(world);
  expect(rowsOf(page)).toEqual(['a', 'aa', 'b', ...many].slice(0, FRONT_ROWS));
  expect(page).toContain(
    '<a href="./markets/a.html" class="lines" title="Market a">Market a</a>\n<span class="below lines">a · test</span></th>' +
      '<td role="cell" class="of-price"><span><data value="1234.00" class="number">1,<wbr>234.00</data>\n<span class="currency">USD</span></span>' +
      '<span class="below parts"><span>per unit</span> </span></td>',
  );
  expect(page).toContain('<time datetime="2026-01-01T00:00:00Z">1 Jan 2026</time>');
  expect(page).toContain('&lt;b&gt;&quot;A&quot; &amp; co&lt;/b&gt;');
  expect(page).toContain('<span class="unknown">unknown</span><span class="below parts"><span>the source');
});

test('the number of a price for programs is the number that people see, also where the market quotes for 1,000', async () => {
  const world = await frontWorld(ALL, {}, DEFAULT_PAGE_SIZES);
  const thousand = { ...market('c'), unit: { quantity: 1000, of: 'EUR' } } as IngestRecordInput;
  const millions = { ...market('d'), unit: { quantity: 10_000_000, of: 'token' } } as IngestRecordInput;
  await world.ingest([thousand, millions, price('c', 0, 17_890_600), price('d', 0, 12_345_678)]);
  await world.publish();
  const shown = [...(await pageOf(world)).matchAll(/<data value="([^"]*)" class="number">(.*?)<\/data>/g)];
  expect(shown.map(([, value]) => value)).toEqual(['1234.00', '178.906', '12345.678']);
  for (const [, value, text = ''] of shown) expect(value).toBe(text.replaceAll(/,|<wbr>/g, ''));
});

test('it is put with a list that changes it, once, and at no price that waits for the list', async () => {
  const world = await frontWorld();
  expect(await isPut(world)).toBe(false);
  const paced = world.with({ listEverySeconds: () => 60 });
  for (const day of [1, 2, 3]) {
    world.clock.nowMs += 1_000;
    await world.ingest([price('a', day, 100 + day)]);
    expect(await isPut(paced)).toBe(false);
  }
  world.clock.nowMs += 60_000;
  expect(await isPut(paced)).toBe(true);
  expect(await pageOf(world)).toContain('>1.03</data>');
  await world.ingest(['c', 'd', 'z'].map((slug) => market(slug)));
  expect(await isPut(world)).toBe(true);
  await world.ingest([price('z', 0, 5)]);
  expect(await isPut(world)).toBe(false);
  await removeMarket(world, 'a', 'b');
  expect(await isPut(world)).toBe(true);
  expect(rowsOf(await pageOf(world))[0]).toBe('b');
  expect(await world.findings(['a'])).toEqual([]);
});

test('it names its feeds, where there are any, and its address, where that is known', async () => {
  const feed = (name: string, title: string) =>
    `<link rel="alternate" type="application/atom+xml" title="${title}" href="./feeds/${name}.atom">\n`;
  const links = [
    feed('changes', 'New values and corrections'),
    feed('corrections', 'Corrections and retractions'),
    `<link rel="canonical" href="${READ_BASE_URL}/">\n`,
  ];
  const full = await frontWorld();
  for (const link of links) expect(await pageOf(full)).toContain(link);
  const bare = await frontWorld([], {});
  expect(await pageOf(bare)).not.toMatch(/atom|canonical|og:url/);
  expect(await pageOf(bare)).toContain('<a href="./market/index.html?slug=a"');
  expect(await bare.findings()).toEqual([]);
  for (const world of [full, bare]) {
    expect(await world.text('/status/')).toContain(
      '<link rel="alternate" type="application/atom+xml" title="Incidents" href="../feeds/incidents.atom">',
    );
  }
});

test('verify finds a row that the list does not have, and a rebuild mends it', async () => {
  const world = await frontWorld();
  const right = await pageOf(world);
  await world.forge(KEY, (body) => body.toString().replace('>1,<wbr>234.00<', '>1,<wbr>243.00<'));
  expect(await world.findings()).toMatchObject([{ url: '/', rule: 'file' }]);
  await world.rebuildAll();
  expect(await pageOf(world)).toBe(right);
});
