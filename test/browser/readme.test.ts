/** The picture of the README: docs/images/market.png is a copy of it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBrowser, openPage, SCREENSHOTS } from './browser.ts';

test('the page of a market of the sample shows its price, its chart, and a point that it has checked', async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const browser = await openBrowser();
  try {
    const { page, complaints } = await openPage(browser, { viewport: { width: 1200, height: 840 } });
    await page.goto('/markets/gold-usd');
    await page.getByText(/observations are read/).waitFor();
    await page.getByRole('application').press('End');
    await page.getByText('verified in your browser').waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await page.screenshot({ path: join(SCREENSHOTS, 'readme.png') });
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});
