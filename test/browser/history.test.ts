/** Back and Forward of the browser undo and redo what a reader has chosen. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { publishMarketData } from './market-data.ts';
import { isRead, openMarket, openPage } from './pages.ts';

beforeAll(() => publishMarketData());

const hashOf = (page: Page): string => new URL(page.url()).hash;
const priceOf = (page: Page) => page.locator('.market-price').innerText();

it('a moment is chosen: Back shows the newest values, Forward the moment again, and a reload keeps it', async () => {
  const { page } = await openMarket('wheat-eur');
  const newest = await priceOf(page);
  await page.getByLabel('the sources (released)').check();
  await page.getByLabel('Moment (UTC)').fill('2026-03-20T12:00');
  await expect.poll(() => hashOf(page)).toBe('#as-of=2026-03-20T12:00:00Z&clock=released');
  const then = await priceOf(page);
  expect(then).not.toBe(newest);
  await page.goBack();
  await expect.poll(() => priceOf(page)).toBe(newest);
  expect(await page.getByText('This is what').count()).toBe(0);
  expect(await page.getByLabel('Moment (UTC)').inputValue()).toBe('');
  await page.goForward();
  await expect.poll(() => priceOf(page)).toBe(then);
  expect(await page.getByLabel('Moment (UTC)').inputValue()).toBe('2026-03-20T12:00');
  await page.reload();
  await isRead(page);
  expect(await priceOf(page)).toBe(then);
});

it('the stops on the way of a slider are shown, and only the last one is an entry', async () => {
  const { page } = await openMarket('wheat-eur');
  await page.getByLabel('the sources (released)').check();
  const entries = () => page.evaluate<number>('history.length');
  const before = await entries();
  const slider = page.getByLabel('See this page as it was');
  const shown = new Set<string>();
  for (let stop = 0; stop < 5; stop++) {
    await slider.press('ArrowLeft');
    shown.add(await page.locator('.as-of-notice').innerText());
  }
  expect(shown.size).toBe(5);
  await expect.poll(() => hashOf(page)).toMatch(/^#as-of=/);
  expect(await entries()).toBe(before + 1);
  // The pointer is down, and moves for longer than the page waits for keys.
  const box = await slider.boundingBox();
  if (box === null) throw new Error('there is no slider');
  const written = hashOf(page);
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await page.waitForTimeout(1000);
  expect(hashOf(page)).toBe(written);
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.up();
  await expect.poll(() => hashOf(page)).not.toBe(written);
  expect(await entries()).toBe(before + 2);
  await page.goBack();
  await expect.poll(() => hashOf(page)).toBe(written);
  await page.goBack();
  await expect.poll(() => hashOf(page)).toBe('');
  await page.getByText('Showing the latest').waitFor();
});

it('settings of the chart, markets beside it and a currency are undone one by one, and redone', async () => {
  const { page } = await openMarket('wheat-eur');
  const metric = page.getByLabel('Metric');
  const scale = page.getByLabel('Scale');
  await metric.selectOption('volume');
  await metric.selectOption('Price');
  await scale.selectOption('log');
  await page.getByRole('button', { name: '1M' }).click();
  await page.getByLabel('Compare with').fill('gold');
  await page.getByRole('list', { name: 'Markets that match' }).getByRole('button', { name: 'Gold, US dollar' }).click();
  const chip = page.getByRole('button', { name: 'Remove Gold, US dollar' });
  await chip.waitFor();
  await page.getByRole('application').press('End');
  await expect.poll(() => hashOf(page)).toMatch(/^#scale=log&.*compare=gold-usd&point=/);
  await page.goBack();
  await expect.poll(() => chip.count()).toBe(0);
  expect(hashOf(page)).toBe('#scale=log&range=1M');
  await page.goBack();
  await expect
    .poll(() => page.getByRole('button', { name: 'All: Whole history' }).getAttribute('aria-pressed'))
    .toBe('true');
  await page.goBack();
  await expect.poll(() => scale.inputValue()).toBe('linear');
  await page.goBack();
  await expect.poll(() => metric.locator('option:checked').innerText()).toBe('Volume');
  for (let entry = 0; entry < 4; entry++) await page.goForward();
  await chip.waitFor();
  await expect.poll(() => hashOf(page)).toMatch(/^#scale=log&.*compare=gold-usd&point=/);
  expect(await scale.inputValue()).toBe('log');
});

it('of the list of markets, an order, a filter and a whole word are one entry each', async () => {
  const { page } = await openPage();
  await page.goto('/');
  await page.locator('#explorer[data-ready=true]').waitFor();
  const rows = await page.locator('#count').innerText();
  await page.getByRole('searchbox').pressSequentially('gold');
  await expect.poll(() => hashOf(page)).toBe('#q=gold');
  await page.getByLabel('Currency').selectOption('USD');
  await expect.poll(() => hashOf(page)).toBe('#q=gold&currency=USD');
  await page.goBack();
  await expect.poll(() => hashOf(page)).toBe('#q=gold');
  expect(await page.getByLabel('Currency').inputValue()).toBe('');
  await page.goBack();
  await expect.poll(() => page.locator('#count').innerText()).toBe(rows);
  expect(await page.getByRole('searchbox').inputValue()).toBe('');
  await page.goForward();
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('gold');
});
