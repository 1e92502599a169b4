/** One browser for the tests of a file. The pages that a test opens are closed after it, and must have no complaint. */
import type { Browser, BrowserContextOptions, Download, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { openBrowser, openPage as openIn } from './browser.ts';

let browser: Browser;
const opened: { readonly page: Page; readonly complaints: readonly string[]; readonly excused?: RegExp }[] = [];
/** The browser's own words on an answer that a test withholds. */
export const NO_ANSWER = /^Failed to load resource/;

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  const pages = opened.splice(0);
  for (const { page } of pages) await page.context().close();
  for (const { complaints, excused } of pages) expect(complaints.filter((text) => !excused?.test(text))).toEqual([]);
});
afterAll(() => browser.close());

/** A page of the service. @param options `excused`: complaints that are right */
export async function openPage({ excused, ...options }: BrowserContextOptions & { readonly excused?: RegExp } = {}) {
  const made = await openIn(browser, options);
  opened.push(excused === undefined ? made : { ...made, excused });
  return made;
}

export async function downloadBy(control: Locator): Promise<Download> {
  const [download] = await Promise.all([control.page().waitForEvent('download'), control.click()]);
  return download;
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
