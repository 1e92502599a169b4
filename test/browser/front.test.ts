/** The first page without JavaScript, what machines read of it, and how its script takes it over. */

import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { expectGoodLooks, keepPicture, slowAndMeasured } from './browser.ts';
import { openPage } from './pages.ts';

const rows = (page: Page) => page.locator('#markets tbody tr');

test('without JavaScript, it lists markets with price and day, and leads to their pages and to all prices', async () => {
  const { page } = await openPage({ javaScriptEnabled: false });
  await page.goto('/');
  expect(await rows(page).count()).toBe(50);
  expect(await rows(page).first().innerText()).toMatch(
    /^Aave, Euro\s+aave-eur · crypto\s+131\.314 EUR\s+per AAVE\s+29 Sep 2026/,
  );
  expect(await page.getByText('Reading the prices').isVisible()).toBe(false);
  for (const link of await page.locator('noscript a, tbody tr:nth-child(-n + 3) a, link[rel=alternate]').all()) {
    const url = new URL((await link.getAttribute('href')) as string, page.url());
    expect((await fetch(url)).status, url.pathname).toBe(200);
  }
  const controls = page.locator('#explorer').locator('input, select, summary, .explorer-line button');
  expect(await controls.filter({ visible: true }).count()).toBe(0);
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await keepPicture(page, `front-without-script-${width}`);
  }
  await rows(page).first().getByRole('link').click();
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Aave, Euro');
});

test('its rows look good before the script comes', async () => {
  const { page } = await openPage();
  await page.route('**/assets/explorer.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await expectGoodLooks(page, 'front-file', '/', (shown) => rows(shown).nth(49).waitFor());
});

test.each(['/', '/markets/gold-usd'])(
  'the policy of %s lets its block of data be, which is no script',
  async (path) => {
    const { page } = await openPage();
    await page.goto(path);
    const text = await page.locator('script[type="application/ld+json"]').textContent();
    const { '@type': type, name } = JSON.parse(text as string) as Record<string, string>;
    expect([type, name]).toEqual(
      path === '/' ? ['DataCatalog', 'Market prices with their sources'] : ['Dataset', 'Gold, US dollar'],
    );
    await page.waitForLoadState('networkidle');
  },
);

test.each([
  [1280, 800],
  [360, 740],
])(
  'at %i px and a quarter of the speed, the script moves nothing that is seen, nor empties the table',
  async (width, height) => {
    const { page } = await openPage({ viewport: { width, height } });
    await slowAndMeasured(page);
    await page.addInitScript(`
    fewest = Infinity;
    new MutationObserver(() => {
      const body = document.querySelector('#markets tbody');
      if (document.readyState !== 'loading') fewest = Math.min(fewest, body.rows.length);
    }).observe(document, { childList: true, subtree: true });
  `);
    await page.goto('/');
    await page.locator('#explorer[data-ready=true]').waitFor();
    await page.waitForTimeout(500);
    expect(await page.evaluate('fewest')).toBe(50);
    expect(await page.evaluate('shifted')).toBeLessThan(0.05);
  },
);

test('it weighs 60 KB at most, with what it loads before the prices', async () => {
  const loads = ['/', '/assets/site.css', '/assets/explorer.css', '/assets/explorer.js', '/assets/icon.svg'];
  const texts = await Promise.all(loads.map(async (path) => await (await fetch(inject('baseUrl') + path)).text()));
  expect(texts.reduce((sum, text) => sum + gzipSync(text).byteLength, 0)).toBeLessThan(60_000);
  expect(Buffer.byteLength(texts[0] as string)).toBeLessThan(60_000);
});
