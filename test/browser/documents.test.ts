/** The documentation: it needs no JavaScript, and with it there is more. */
import { expect, it } from 'vitest';
import { expectGoodLooks, faultsOf } from './browser.ts';
import { openPage } from './pages.ts';

it.each([
  ['docs', '/docs/'],
  ['docs-reference', '/docs/reference/publications'],
  ['docs-guide', '/docs/guides/money'],
  ['docs-problem', '/problems/not-found'],
])('%s looks right at every width, light and dark', async (name, path) => {
  const { page } = await openPage();
  await expectGoodLooks(page, name, path, (shown) => shown.getByRole('heading', { level: 1 }).waitFor());
});

it('commands name the service that shows them, and are copied', async () => {
  const { page } = await openPage();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/docs/reference/watchlists');
  await page.locator('[data-ready]').waitFor();
  const { origin } = new URL(page.url());
  const command = page.locator('.code-frame', { hasText: /^curl -sS "[^"]*\$WATCHLIST"/ }).first();
  await command.getByRole('button', { name: 'Copy' }).press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /^Copied\.$/ })
    .waitFor({ state: 'attached' });
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toMatch(new RegExp(`^curl -sS "${origin}/api/v1/watchlists/\\$WATCHLIST" `));
  expect(await page.content()).not.toContain('https://write.data.example');
});

it('no page asks its reader to put in an address that the script has put in', async () => {
  const { page } = await openPage();
  await page.goto('/docs/');
  const links: readonly string[] = await page.evaluate(
    '[...document.querySelectorAll(".docs a")].map(({ href }) => href)',
  );
  const paths = new Set(
    links.map((link) => new URL(link).pathname).filter((path) => /^\/docs\/(guides|reference)/.test(path)),
  );
  expect(paths.size).toBeGreaterThan(20);
  for (const path of ['/docs/', '/docs/problems', ...paths]) {
    await page.goto(path);
    await page.locator('[data-ready]').waitFor();
    const shown: string = await page.evaluate(
      '[...document.querySelectorAll("details")].map((one) => (one.open = true)) && document.body.innerText',
    );
    expect(shown.match(/.*[/.\s]data\.example.*/g), path).toBeNull();
  }
});

it('the search finds operations, headings and problems by keyboard, without a server', async () => {
  const { page } = await openPage();
  await page.goto('/docs/');
  const field = page.getByRole('searchbox', { name: 'Search the documentation' });
  const index: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('docs-index.js')) index.push(request.url());
  });
  expect(index).toEqual([]);
  await field.pressSequentially('correct a price');
  const results = page.locator('.search-results li');
  expect(await results.first().locator('p').innerText()).toMatch(/^Correct a price, take it back/);
  expect(await results.first().locator('p mark').allInnerTexts()).toEqual(['Correct a price']);
  expect(index.length).toBe(1);
  await field.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(
    await results
      .nth(1)
      .locator('a')
      .evaluate((one: { matches: (selector: string) => boolean }) => one.matches(':focus')),
  ).toBe(true);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  expect(await results.first().isVisible()).toBe(false);
  expect(await field.inputValue()).toBe('correct a price');
  await field.fill('replace watchlist');
  await page.getByRole('link', { name: 'Replace the name and the markets of a watchlist' }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await field.fill('zzzz');
  await page.getByText('No match for “zzzz”.').waitFor();
  await field.fill('precondition-failed');
  await page.getByRole('link', { name: 'precondition-failed' }).waitFor();
  await field.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Changed since it was read' }).waitFor();
});

it('without JavaScript, a refused request leads to its problem, on to an operation, and on to its schema', async () => {
  const { page } = await openPage({ javaScriptEnabled: false });
  const refused = await page.request.get('/api/v1/markets?page=2');
  await page.goto((await refused.json()).type);
  await page.getByRole('heading', { level: 1, name: 'Unknown query parameter' }).waitFor();
  await page.getByRole('link', { name: 'listMarkets', exact: true }).click();
  await page.getByRole('heading', { name: 'List the markets, ordered by slug' }).waitFor();
  await page.getByRole('link', { name: 'Market', exact: true }).first().click();
  await page.getByRole('heading', { level: 2, name: 'Market', exact: true }).waitFor();
  expect(page.url()).toMatch(/\/docs\/reference\/schemas\.html#Market$/);
});

it('without JavaScript, a guide shows its snippets in the language that a reader opens, by keyboard', async () => {
  const { page } = await openPage({ javaScriptEnabled: false });
  await page.goto('/docs/guides/money');
  const snippet = page.getByText('from tidemark_client import Client');
  expect(await snippet.isVisible()).toBe(false);
  await page.locator('summary', { hasText: 'Python' }).focus();
  await page.keyboard.press('Enter');
  await snippet.waitFor({ state: 'visible' });
});
