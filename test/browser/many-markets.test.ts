/** The page of 20,000 markets, in Chromium. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, openPage } from './browser.ts';
import { answer, entry } from './latest-answers.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const shown = (page: Page) => page.locator('#explorer[data-ready=true]').waitFor();
const rows = (page: Page) => page.locator('tbody tr');
const slugs = (page: Page): Promise<string[]> =>
  rows(page).evaluateAll((all) => all.map((row) => row.getAttribute('data-slug') ?? ''));

it('shows 20,000 markets page by page, the last row in one action, and searches all of them', async () => {
  const { page, complaints } = await openPage(browser);
  await answer(page, 'recent', []);
  await answer(
    page,
    'latest',
    Array.from({ length: 20_000 }, (_, n) => entry({ slug: `m-${n}`, name: `Market ${n}` })),
  );
  await page.goto('/');
  await shown(page);
  const pages = page.getByRole('navigation', { name: 'Pages of the table' });
  expect(await pages.innerText()).toContain('1–50 of 20,000');
  await pages.getByRole('button', { name: 'Last' }).click();
  expect((await slugs(page)).at(-1)).toBe('m-19999');
  expect(await page.locator('tr:focus-within').getAttribute('data-slug')).toBe('m-19950');
  expect(await pages.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
  await pages.getByRole('button', { name: 'Previous' }).click();
  expect(await pages.innerText()).toContain('19,901–19,950 of 20,000');
  await page.getByLabel('Search markets').fill('4999');
  expect(await slugs(page)).toEqual(['m-4999', 'm-14999']);
  await page.getByLabel('Search markets').fill('eur/huf');
  await expect.poll(() => pages.innerText()).toContain('1–50 of 20,000');
  expect(complaints).toEqual([]);
});

it('a letter that matches 20,000 markets touches no more rows than a screen has, and nothing around them', async () => {
  const { page, complaints } = await openPage(browser);
  await answer(page, 'recent', []);
  const name = (n: number): string => `${n % 2 === 0 ? 'Zinc' : 'Tin'} ${n}`;
  await answer(
    page,
    'latest',
    Array.from({ length: 20_000 }, (_, n) => entry({ slug: `m-${n}`, name: name(n) })),
  );
  await page.goto('/');
  await shown(page);
  await page.waitForTimeout(500);
  /** What changes before the page gives the browser a turn. */
  const typed = (text: string): Promise<{ readonly rows: number; readonly places: readonly string[] }> =>
    page.evaluate(`(() => {
      const changes = new MutationObserver(() => {});
      changes.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      const field = document.getElementById('view-text');
      field.value = '${text}';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      const seen = changes.takeRecords();
      changes.disconnect();
      const added = seen.flatMap(({ addedNodes }) => [...addedNodes]);
      return { rows: added.filter(({ tagName }) => tagName === 'TR').length, places: [...new Set(seen.map(({ target }) => target.tagName))] };
    })()`);
  const zinc = await typed('z');
  expect(zinc.rows).toBeGreaterThan(0);
  expect(zinc.rows).toBeLessThanOrEqual(16);
  expect(zinc.places.filter((place) => place !== 'TBODY')).toEqual([]);
  await expect.poll(() => page.locator('#count').innerText()).toBe('10,000 of 20,000 markets');
  expect(await rows(page).count()).toBe(50);
  // Letters that follow each other leave one entry, and the last one counts.
  await page.getByLabel('Search markets').fill('');
  await page.getByLabel('Search markets').pressSequentially('tin 19999');
  await expect.poll(() => slugs(page)).toEqual(['m-19999']);
  expect(complaints).toEqual([]);
});
