/** The pages that need no JavaScript. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectGoodLooks, openBrowser, openPage } from './browser.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

it('the documentation is readable without JavaScript, at every width, light and dark', async () => {
  const { page, complaints } = await openPage(browser);
  await expectGoodLooks(page, 'docs', '/docs/', (shown) => shown.getByRole('heading', { level: 1 }).waitFor());
  expect(complaints).toEqual([]);
});
