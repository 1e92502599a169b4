/** The page of a market in states of its own: beside others, as of a moment, removed, without values. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, inject, it } from 'vitest';
import { expectGoodLooks } from './browser.ts';
import { publishMarketData } from './market-data.ts';
import { NO_ANSWER, openPage } from './pages.ts';

beforeAll(() => publishMarketData());

const hasText = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();

it.each([
  ['market-compare', '/markets/wheat-eur#compare=gold-usd,silver-usd', /^Silver, US dollar: /],
  ['market-as-of', '/markets/wheat-eur#as-of=2026-03-20T12:00:00Z&clock=released', /^This is what the sources/],
  ['market-empty', '/markets/empty-usd', 'There is no observation yet.'],
  ['market-hostile', '/markets/hostile-usd', /observations are read/],
  ['market-unknown', '/market/index.html?slug=no-such-market', 'There is no such market'],
])('%s looks good', async (name, path, text) => {
  const { page } = await openPage({ excused: NO_ANSWER, baseURL: inject('changedUrl') });
  await expectGoodLooks(page, name, path, hasText(text));
});

it('a removed market looks good', async () => {
  const { page } = await openPage({ excused: NO_ANSWER, baseURL: inject('changedUrl') });
  const removal = { code: 'market-removed', reason: 'It was listed twice.', replacedBy: 'gold-usd' };
  await page.route('**/api/v1/markets/silver-usd.json', (route) =>
    route.fulfill({ status: 410, json: { ...removal, removedAt: '2026-10-01T00:00:00Z' } }),
  );
  await expectGoodLooks(page, 'market-removed', '/markets/silver-usd', hasText('This market was removed'));
  expect(await page.getByRole('link', { name: 'gold-usd' }).count()).toBe(1);
});
