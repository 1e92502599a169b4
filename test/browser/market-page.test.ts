/** The page of a market as a file: without JavaScript, on a host of files alone, and while its script takes it over. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startFileServer } from '../hosting/file-server.ts';
import { expectGoodLooks, slowAndMeasured } from './browser.ts';
import { isRead, NO_ANSWER, openPage } from './pages.ts';

async function expectWhole(page: Page): Promise<void> {
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Gold, US dollar');
  expect(await page.locator('.market-price').innerText()).toMatch(
    /^4,129\.10 USD per troy ounce\s+−1\.65 % since 28 Sep 2026/,
  );
  const rows = page.locator('tbody tr');
  expect(await rows.count()).toBe(10);
  expect(await rows.first().innerText()).toMatch(/^29 Sep 2026\s+4,129\.10 USD$/);
  expect(await page.getByRole('link', { name: 'currency-api daily release' }).count()).toBeGreaterThan(0);
  expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).fontWeight')).toBe('700');
}

test('without JavaScript, a market has price, change, day, source, its last prices and files that are there', async () => {
  const { page } = await openPage({ javaScriptEnabled: false });
  expect((await page.goto('/markets/gold-usd'))?.status()).toBe(200);
  await expectWhole(page);
  const files = await page.locator('main a[href^=".."], link[rel="alternate"]').all();
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) {
    const url = new URL((await file.getAttribute('href')) as string, page.url());
    expect((await fetch(url)).status, url.pathname).toBe(200);
  }
});

test('a host of files alone shows the same, with and without JavaScript, and leads from market to market', async () => {
  const host = await startFileServer(join(inject('changedFolder'), 'public'));
  onTestFinished(() => host.stop());
  const still = await openPage({ javaScriptEnabled: false, baseURL: host.url });
  await still.page.goto('/markets/gold-usd.html');
  await expectWhole(still.page);
  const { page } = await openPage({ baseURL: host.url });
  await page.goto('/markets/gold-usd.html');
  await isRead(page);
  await page.goto('/index.html');
  await page.locator('#markets a').first().click();
  await isRead(page);
  expect(new URL(page.url()).pathname).toMatch(/^\/markets\/[a-z0-9-]+\.html$/);
});

test.each([
  [1280, 800],
  [360, 740],
])(
  'at %i px and a quarter of the speed, the script moves nothing that is seen, and brings no larger text than the price',
  async (width, height) => {
    const { page } = await openPage({ viewport: { width, height }, hasTouch: width < 400, isMobile: width < 400 });
    await slowAndMeasured(page);
    await page.addInitScript(`
    largest = [];
    new PerformanceObserver((list) => {
      largest.push(...list.getEntries().map(({ element }) => element?.className ?? 'replaced'));
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  `);
    await page.goto('/markets/gold-usd');
    await isRead(page);
    await page.waitForTimeout(500);
    expect(await page.evaluate('shifted')).toBeLessThan(0.05);
    // On a busy machine the script's price may have taken the place of the file's before the browser tells of it.
    const largest = ((await page.evaluate('largest')) as readonly string[]).filter((name) => name !== 'replaced');
    expect(largest.at(-1) ?? 'market-price').toBe('market-price');
    expect(largest.indexOf('market-price')).toBe(largest.length - 1);
  },
);

test('a browser gets a page for what is not there', async () => {
  const { page } = await openPage({ excused: NO_ANSWER });
  expect((await page.goto('/a/b/nowhere'))?.status()).toBe(404);
  await page.getByRole('link', { name: 'All markets' }).click();
  await page.locator('#markets a').first().waitFor();
});

test('both look good', async () => {
  const { page } = await openPage({ excused: NO_ANSWER });
  // As it is before its script.
  await page.route('**/assets/market.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await expectGoodLooks(page, 'market-file', '/markets/gold-usd', (shown) => expectWhole(shown));
  await expectGoodLooks(page, 'not-found', '/nowhere', (shown) =>
    shown.getByRole('heading', { name: 'Not found' }).waitFor(),
  );
});
