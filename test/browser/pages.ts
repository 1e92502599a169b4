/** One browser for the tests of a file. The pages that a test opens are closed after it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { openBrowser, openPage as openIn } from './browser.ts';

let browser: Browser;
const opened: Page[] = [];
beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  for (const page of opened.splice(0)) await page.context().close();
});
afterAll(() => browser.close());

/** A page of the service, and everything that it complained about. */
export async function openPage(options: BrowserContextOptions = {}) {
  const made = await openIn(browser, options);
  opened.push(made.page);
  return made;
}

/** The page of a market of the service that tests change, once its whole history is read. */
export async function openMarket(slug: string) {
  const made = await openPage({ baseURL: inject('changedUrl') });
  await made.page.goto(`/markets/${slug}`);
  await isRead(made.page);
  return made;
}

/** The whole history is read. */
export const isRead = (page: Page) => page.getByText(/observations are read/).waitFor();
export const chartOf = (page: Page) => page.getByRole('application');
export const provenanceOf = (page: Page) => page.getByRole('region', { name: 'Provenance' });
