/** What people type in the address bar. */
import { expect, test } from 'vitest';
import { openPage } from './pages.ts';

test.each([
  ['/markets/GOLD-USD', '/markets/gold-usd'],
  ['/markets/GOLD-USD.html', '/markets/gold-usd.html'],
  ['/markets/Gold-USD?utm_source=x', '/markets/gold-usd?utm_source=x'],
  ['/market/index.html?slug=GOLD-USD', '/market/index.html?slug=gold-usd'],
])('%s shows the market, at %s', async (typed, expected) => {
  const { page } = await openPage();
  await page.goto(typed);
  await page.getByRole('heading', { level: 1, name: /Gold/ }).waitFor();
  const { pathname, search } = new URL(page.url());
  expect(pathname + search).toBe(expected);
});
