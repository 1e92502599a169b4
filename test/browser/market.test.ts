/** The page of a market, in Chromium. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectGoodLooks, openBrowser, openPage } from './browser.ts';
import { HOSTILE_NAME, publishMarketData } from './market-data.ts';

let browser: Browser;
beforeAll(async () => {
  [browser] = await Promise.all([openBrowser(), publishMarketData()]);
});
afterAll(() => browser.close());

const chartOf = (page: Page) => page.getByRole('application');
const provenanceOf = (page: Page) => page.getByRole('region', { name: 'Provenance' });
const said = (page: Page) => page.locator('.chart-panel [role=status]');
/** The whole history is read. */
const isRead = (page: Page) => page.getByText(/observations are read/).waitFor();

async function openMarket(slug: string) {
  const opened = await openPage(browser);
  await opened.page.goto(`/markets/${slug}`);
  await isRead(opened.page);
  return opened;
}

describe('a market', () => {
  it('has its price, a chart that is painted, and a table that agrees; its times, source and badges', async () => {
    const { page, complaints } = await openMarket('wheat-eur');
    expect(await page.title()).toBe('Milling wheat, Paris · Tidemark');
    const top = page.locator('.market-top');
    expect(await top.innerText()).toMatch(/206\.64 EUR per 50 tonne = 4\.1328 EUR per tonne/);
    expect(await top.getByRole('listitem').allInnerTexts()).toEqual(['late', 'provisional', 'low confidence']);
    expect(await page.evaluate(PAINTED)).toBeGreaterThan(500);
    const rows = page.locator('.observations tbody tr');
    expect(await rows.count()).toBe(50);
    expect(await rows.first().innerText()).toMatch(/4 Apr 2026, 00:00 UTC\s+206\.64 EUR/);
    await page.getByRole('button', { name: 'Older' }).click();
    expect(await page.getByText('Rows 51 to 100 of 120').count()).toBe(1);
    await chartOf(page).press('End');
    expect(await provenanceOf(page).innerText()).toMatch(/215\.91 EUR per 50 tonne/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('says the provenance of each point by keyboard alone, and checks it in the signed log', async () => {
    const { page, complaints } = await openMarket('wheat-eur');
    await chartOf(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Home');
    await expect
      .poll(() => said(page).last().innerText())
      .toMatch(/^5 Jan 2026, 00:00 UTC: 210\.00 EUR, Paris exchange/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('PageDown');
    const provenance = await provenanceOf(page).innerText();
    for (const words of ['Paris exchange, daily settlement', '16 Jan 2026, 00:00 UTC', 'high', 'final', 'exact']) {
      expect(provenance).toContain(words);
    }
    await provenanceOf(page).getByText('checked in your browser').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the receipt' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('wheat-eur-price-2026-01-16.tlog-proof');
    await chartOf(page).press('Escape');
    expect(await provenanceOf(page).innerText()).toContain('Choose a point');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows unknown values in words, marks corrections and retractions, and keeps replaced versions', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.getByRole('button', { name: 'Older' }).click();
    expect(await page.getByRole('cell', { name: 'unknown: the source published no value' }).count()).toBe(3);
    await page.getByRole('button', { name: 'Show 5 Feb 2026, 00:00 UTC' }).click();
    expect(await provenanceOf(page).innerText()).toMatch(/unknown: the source published no value/);
    await page.getByRole('button', { name: 'Newer' }).click();
    expect(await page.getByRole('row', { name: /6 Mar 2026.*234\.56 EUR.*corrected/ }).count()).toBe(1);
    await page.getByRole('button', { name: 'Show 6 Mar 2026, 00:00 UTC' }).first().click();
    await provenanceOf(page).getByRole('button').click();
    expect(await provenanceOf(page).innerText()).toMatch(/replaced since[\s\S]*replaced by 234\.56 EUR/);
    expect(await page.getByRole('cell', { name: 'unknown: the source took it back' }).count()).toBe(0);
    await page.getByLabel('Show replaced versions').check();
    expect(await page.getByText('of 123').count()).toBe(1);
    await page.context().close();
  });
});

/** How many pixels of the chart's canvas have a colour of a line. */
const PAINTED = `(() => {
  const canvas = document.querySelector('.chart-host canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let painted = 0;
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60) painted++;
  return painted;
})()`;

describe('other states', () => {
  it('an unknown slug, a market without observations, and names that are HTML', async () => {
    const { page } = await openPage(browser);
    await page.goto('/markets/no-such-market');
    await page.getByRole('heading', { name: 'There is no such market' }).waitFor();
    await page.goto('/markets/empty-usd');
    await page.getByText('unknown: never observed').waitFor();
    await page.goto('/markets/hostile-usd');
    await isRead(page);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(HOSTILE_NAME);
    expect(await page.title()).toBe(`${HOSTILE_NAME} · Tidemark`);
    await page.context().close();
  });
});

it('looks good, and passes the rules of accessibility', async () => {
  const { page, complaints } = await openPage(browser);
  await expectGoodLooks(page, 'market', '/markets/wheat-eur', async () => {
    await isRead(page);
    await chartOf(page).press('End');
    await provenanceOf(page).getByText('checked in your browser').waitFor();
  });
  expect(complaints).toEqual([]);
  await page.context().close();
});
