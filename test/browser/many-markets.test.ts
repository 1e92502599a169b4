/** The page of 20,000 markets, in Chromium. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { answer, entry, rows, shown, slugs } from './latest-answers.ts';
import { NO_ANSWER, openPage } from './pages.ts';

it('shows 20,000 markets page by page, the last row in one action, and searches all of them', async () => {
  const { page } = await openPage();
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
  await expect.poll(() => slugs(page)).toEqual(['m-4999', 'm-14999']);
  await page.getByLabel('Search markets').fill('eur/huf');
  await expect.poll(() => pages.innerText()).toContain('1–50 of 20,000');
});

it('a letter that matches 20,000 markets touches nothing before the browser has had a turn, and the last letter counts', async () => {
  const { page } = await openPage();
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
  /** The number of changes before the page gives the browser a turn. */
  const typed = (text: string): Promise<number> =>
    page.evaluate(`(() => {
      const changes = new MutationObserver(() => {});
      changes.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      const field = document.getElementById('view-text');
      field.value = '${text}';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      const { length } = changes.takeRecords();
      changes.disconnect();
      return length;
    })()`);
  expect(await typed('z')).toBe(0);
  await expect.poll(() => page.locator('#count').innerText()).toBe('10,000 of 20,000 markets');
  expect(await rows(page).count()).toBe(50);
  // Letters that follow each other leave one entry, and the last one counts.
  await page.getByLabel('Search markets').fill('');
  await page.getByLabel('Search markets').pressSequentially('tin 19999');
  await expect.poll(() => slugs(page)).toEqual(['m-19999']);
});

/** 20,000 markets in 8 parts. The change of m-{n} is n in a million. Asks of the parts wait until they are let go. */
async function withDailyFiles(page: Page) {
  const all = Array.from({ length: 20_000 }, (_, n) => n);
  const partOf = (n: number): string => `0${n % 8}`;
  const asked: string[] = [];
  const waiting: { readonly part: string; readonly go: (isFailing: boolean) => Promise<void> }[] = [];
  await page.route('**/api/v1/snapshot.json', async (route) => {
    const snapshot = await (await route.fetch()).json();
    await route.fulfill({ json: { ...snapshot, counts: { ...snapshot.counts, markets: all.length } } });
  });
  await answer(
    page,
    'latest',
    all.map((n) => entry({ slug: `m-${n}`, name: `Market ${n}` })),
  );
  await page.route('**/api/v1/markets/m-*/history.json', (route) =>
    route.fulfill({ json: { data: [], page: { nextCursor: null, next: null } } }),
  );
  await page.route('**/api/v1/compat/parts.json', (route) =>
    route.fulfill({ json: Object.fromEntries(all.map((n) => [`m-${n}`, partOf(n)])) }),
  );
  await page.route('**/api/v1/compat/changes/*.json', (route) => {
    const [, part = ''] = /changes\/(\d+)/.exec(route.request().url()) ?? [];
    asked.push(part);
    const of = (n: number) => ({
      newest: { date: '2026-09-29', decimal: String(1_000_000 + n) },
      ...{ day: { date: '2026-09-28', decimal: '1000000' }, month: null, year: null, revision: 1 },
    });
    const body = Object.fromEntries(all.filter((n) => partOf(n) === part).map((n) => [`m-${n}`, of(n)]));
    const go = (isFailing: boolean) =>
      isFailing ? route.fulfill({ status: 500, body: '' }) : route.fulfill({ json: body });
    waiting.push({ part, go });
  });
  /** Answers so many parts, once they are asked for. */
  const answerParts = async (count: number, isFailing = false): Promise<void> => {
    for (let at = 0; at < count; at++) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0);
      await waiting.shift()?.go(isFailing);
    }
  };
  return { asked, answerParts };
}

it('sorts 20,000 markets by change from the daily files, part by part, and touches the rows once, at the end', async () => {
  const { page } = await openPage();
  const { asked, answerParts } = await withDailyFiles(page);
  const count = page.locator('#count');
  await page.goto('/');
  await shown(page);
  await page.waitForTimeout(500);
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: '1 day' }).click();
  await expect.poll(() => count.innerText()).toBe('20,000 markets. Reading changes: 0 of 8 parts …');
  expect((await slugs(page))[0]).toBe('m-0');
  await page.evaluate(`(() => {
    window.rowsAdded = 0;
    new MutationObserver((seen) => {
      for (const { addedNodes } of seen) window.rowsAdded += [...addedNodes].filter(({ tagName }) => tagName === 'TR').length;
    }).observe(document.querySelector('#markets tbody'), { childList: true });
  })()`);
  await answerParts(5);
  await expect.poll(() => count.innerText()).toBe('20,000 markets. Reading changes: 5 of 8 parts …');
  expect(await page.evaluate('window.rowsAdded')).toBe(0);
  await answerParts(3);
  await expect
    .poll(() => count.innerText())
    .toBe('20,000 markets. Sorted by the last prices of each day, up to 29 Sep 2026.');
  expect((await slugs(page)).slice(0, 3)).toEqual(['m-19999', 'm-19998', 'm-19997']);
  expect(await page.evaluate('window.rowsAdded')).toBe(50);
  await page.getByRole('button', { name: '1 day' }).click();
  expect((await slugs(page)).slice(0, 3)).toEqual(['m-0', 'm-1', 'm-2']);
  await page.getByLabel('Sort by').selectOption('name');
  await page.getByLabel('Sort by').selectOption('day');
  expect((await slugs(page))[0]).toBe('m-19999');
  expect(asked.toSorted()).toEqual(['00', '01', '02', '03', '04', '05', '06', '07']);
});

it('a failure to read changes is shown, and the rest is read when asked for again', async () => {
  const { page } = await openPage({ excused: NO_ANSWER });
  const { asked, answerParts } = await withDailyFiles(page);
  await page.goto('/#sort=day-descending');
  await shown(page);
  await answerParts(1, true);
  await page.getByText('The changes cannot be read: the service answered 500.').waitFor();
  expect((await slugs(page))[0]).toBe('m-0');
  await answerParts(5);
  await page.getByRole('button', { name: 'Read again' }).click();
  await answerParts(3);
  await expect.poll(async () => (await slugs(page))[0]).toBe('m-19999');
  expect(await page.getByText('The changes cannot be read').count()).toBe(0);
  expect(new Set(asked).size).toBe(8);
});
