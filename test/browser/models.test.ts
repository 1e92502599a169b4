/** The pages of a list: language models side by side, and each change of a price with its date and source. */
import { expect, it } from 'vitest';
import { serverForAll } from '../server/server-process.ts';
import { expectGoodLooks } from './browser.ts';
import { openPage } from './pages.ts';

const LUNA = '/markets/gpt-5-6-luna-bedd3161';

const server = serverForAll({ TIDEMARK_SAMPLE: 'models' });

it('the list and the page of a model are wide enough, accessible and without complaints', async () => {
  const { page } = await openPage({ baseURL: server.url });
  await expectGoodLooks(page, 'models', '/', (shown) => shown.locator('td.of-metric').first().waitFor());
  await expectGoodLooks(page, 'model', LUNA, (shown) => shown.getByText(/observations are read/).waitFor());
});

it('models are compared by what a million tokens cost, whatever quantity each is quoted for', async () => {
  const { page } = await openPage({ baseURL: server.url });
  await page.goto('/');
  const head = page.getByRole('columnheader', { name: /^Output price/ });
  await head.getByRole('button').click();
  expect(await head.getAttribute('aria-sort')).toBe('ascending');
  const cells = await page.locator('tbody td.of-metric:nth-child(3) data').allInnerTexts();
  const prices = cells.map((text) => Number(text.replaceAll(',', '')));
  expect(prices.length).toBe(50);
  expect(prices).toEqual(prices.toSorted((left, right) => left - right));
  await page.reload();
  expect(await page.locator('tbody td.of-metric:nth-child(3) data').first().innerText()).toBe(cells[0]);
});

it('a visitor has the value of the first model checked in the signed log', async () => {
  const { page } = await openPage({ baseURL: server.url });
  await page.goto('/#q=luna');
  const panel = page.getByRole('region', { name: 'Why trust a price?' });
  await panel.getByText(/Input price [\d.]+ USD per 1M tokens/).waitFor();
  await panel.getByRole('button', { name: 'Check this price' }).click();
  await panel.getByText('verified in your browser').waitFor();
});

it('the page of a model says what each price was, since when it is another one, and by which release', async () => {
  const { page } = await openPage({ baseURL: server.url });
  await page.goto(LUNA);
  const tile = page.locator('.metric-tile', { hasText: 'Input price' });
  await tile.getByText('was 1.00 USD').waitFor();
  expect(await tile.innerText()).toMatch(
    /0\.20 USD per 1M tokens\s+was 1\.00 USD before 9 Aug 2026 −80 %\s+as of 9 Aug 2026 · LiteLLM/,
  );
  expect(await tile.getByRole('link').getAttribute('href')).toBe('https://pypi.org/project/litellm/1.96.0/');
  // It has no price of its own, so no price file has a line of it.
  expect(await page.getByRole('link', { name: 'beancount' }).count()).toBe(0);
  expect(await page.locator('.market-facts').innerText()).toMatch(/Provider\s+openai since 6 Sep 2026 · LiteLLM/);
  await page.getByLabel('Metric').selectOption({ label: 'Cache read price' });
  expect(await page.locator('.observations tbody tr').first().innerText()).toMatch(
    /^9 Aug 2026, 01:35:19 UTC\s+0\.02 USD\s+LiteLLM\s+.*was 0\.10 USD, −80 %/,
  );
  await page.getByLabel('the sources (released)').check();
  await page.getByLabel('Moment (UTC)').fill('2026-08-01T00:00');
  await page.getByLabel('Moment (UTC)').blur();
  expect(await tile.innerText()).toMatch(/1\.00 USD per 1M tokens\s+as of 19 Jul 2026/);
});
