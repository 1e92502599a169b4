/** The picture of the README: docs/images/market.png is a copy of it. */
import { test } from 'vitest';
import { keepPicture } from './browser.ts';
import { chartOf, isRead, openPage } from './pages.ts';

test('the page of a market of the sample shows its price, its chart, and a point that it has checked', async () => {
  const { page } = await openPage({ viewport: { width: 1200, height: 840 } });
  await page.goto('/markets/gold-usd');
  await isRead(page);
  await chartOf(page).press('End');
  await page.getByText('verified in your browser').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await keepPicture(page, 'readme');
});
