/** The page of all markets, in Chromium. */
import type { Route } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { expectGoodLooks, keepPicture } from './browser.ts';
import { answer, entry, rows, shown, slugs } from './latest-answers.ts';
import { downloadBy, NO_ANSWER, openPage } from './pages.ts';

it('is good to look at, wide and narrow, light and dark', async () => {
  const { page } = await openPage();
  // A few rows: the rules of axe look at each text.
  await expectGoodLooks(page, 'explorer', '/#q=gold', shown);
  await page.getByRole('button', { name: 'Clear search' }).click();
  await keepPicture(page, 'explorer-all');
  expect(await rows(page).count()).toBe(50);
  expect(await page.locator('#facts').textContent()).toMatch(
    /^Newest price: 29 Sep 2026 \(.+ ago\)\. Page updated .+\. 175 markets in 54 currencies\.$/,
  );
  const row = page.locator('[data-slug=aave-eur]');
  expect(await row.innerText()).toMatch(/131\.314 EUR\s+per AAVE\s+−0\.38 %\s+\+20\.61 %/);
  expect(await row.locator('data').getAttribute('value')).toBe('131.314');
  expect(await row.locator('time').getAttribute('datetime')).toBe('2026-09-29T00:00:00Z');
  expect(await row.locator('.of-chart').textContent()).toMatch(/^31 prices since .*last 131\.314, lowest .* EUR/);
  expect(await row.locator('.of-chart').getAttribute('title')).toBe('Prices of currency-api daily release');
});

it.each(['light', 'dark'] as const)(
  'has buttons with words that are seen in forced colours, %s',
  async (colorScheme) => {
    const { page } = await openPage({ forcedColors: 'active', colorScheme });
    await page.goto('/');
    const button = page.getByRole('button', { name: 'Check this price' });
    await shown(page);
    await button.and(page.locator(':enabled')).waitFor();
    // Behind each text lies a plate of the colour of the page.
    const plate = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await page.evaluate(`getComputedStyle(document.getElementById('check-button')).color`)).not.toBe(plate);
  },
);

it.each([360, 768])('with %d pixels, shows the change that sorts', async (width) => {
  const { page } = await openPage({ viewport: { width, height: 800 } });
  for (const [sort, words] of [
    ['month', ' in 30 days'],
    ['year', ' in 1 year'],
  ] as const) {
    await page.goto(`/#sort=${sort}-descending`);
    await shown(page);
    const cells = page.locator('tbody tr:first-child .of-change');
    const visible = cells.filter({ visible: true });
    expect(await visible.evaluateAll((all) => all.map(({ className }) => className))).toEqual([`of-change of-${sort}`]);
    const last = `getComputedStyle(document.querySelector('tbody .of-${sort} .number'), '::after').content`;
    const after = await page.evaluate(last);
    expect(after).toBe(width === 360 ? `"${words}"` : 'none');
  }
});

it('is printed without what only a screen can do, and with the sources', async () => {
  const { page } = await openPage({ viewport: { width: 718, height: 1000 } });
  await page.goto('/');
  await shown(page);
  await page.emulateMedia({ media: 'print' });
  const controls = page.locator('#main').locator('button, input, select, .pager').filter({ visible: true });
  expect(await controls.evaluateAll((all) => all.map(({ textContent }) => textContent))).toEqual([
    'Market',
    'Price',
    '1 day',
    'As of',
  ]);
  expect(await page.locator('tbody .of-source').first().isVisible()).toBe(true);
});

it('shows the price of a market among others that have metrics, and calls it a price', async () => {
  const { page } = await openPage();
  const metric = { decimal: '5', unit: 'token', observedAt: '2026-10-01T00:00:00Z' };
  const list = { decimal: null, decimalPerUnit: null, observedAt: null, metrics: { window: metric, output: metric } };
  await answer(page, 'latest', [
    entry({ ...list, slug: 'm' }),
    entry({ ...list, slug: 'n' }),
    entry({ slug: 'priced' }),
  ]);
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/');
    await shown(page);
    expect(await page.locator('[data-slug=m] td.of-metric').count()).toBe(2);
    expect(await page.locator('[data-slug=priced]').innerText()).toMatch(/Price\s+366\.90 HUF\s+per EUR/);
  }
});

it('says of how many days a change is, where the price before is not of the day before', async () => {
  const { page } = await openPage();
  await answer(page, 'latest', [entry({ slug: 'daily' }), entry({ slug: 'weekend' })]);
  const recent = (slug: string, before: string) => ({
    ...{ slug, decimal: ['100', '103'], observedAt: [before, '2026-09-28T00:00:00Z'], yearAgo: null },
  });
  await answer(page, 'recent', [recent('daily', '2026-09-27T00:00:00Z'), recent('weekend', '2026-09-25T00:00:00Z')]);
  await page.goto('/');
  await shown(page);
  const change = (slug: string) => page.locator(`[data-slug=${slug}] .of-day`).innerText();
  expect([await change('daily'), await change('weekend')]).toEqual(['+3.00 %', '+3.00 %\nin 3 days']);
  // A phone has no heads of columns.
  await page.setViewportSize({ width: 360, height: 740 });
  const words = (slug: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('[data-slug=${slug}] .of-day .number'), '::after').content`);
  expect([await words('daily'), await words('weekend')]).toEqual(['" in 1 day"', 'none']);
});

it('names the source of changes and chart where it is not that of the price', async () => {
  const { page } = await openPage();
  await answer(page, 'latest', [entry({ slug: 'a', source: 'New source' })]);
  const observedAt = ['2026-09-28T00:00:00Z', '2026-09-29T00:00:00Z'];
  await answer(page, 'recent', [
    { slug: 'a', decimal: ['100', '103'], observedAt, source: 'Old source', yearAgo: null },
  ]);
  await page.goto('/');
  await shown(page);
  const row = page.locator('[data-slug=a]');
  expect(await row.locator('.of-day .number').getAttribute('title')).toMatch(/^since 28 Sep 2026.*, by Old source$/);
  expect(await row.locator('.of-chart').innerText()).toContain('by Old source');
  expect(await row.locator('.of-source').innerText()).toBe('New source');
});

it('offers no check where nothing is known', async () => {
  const { page } = await openPage();
  await answer(page, 'latest', [entry({ decimal: null, decimalPerUnit: null, unknownReason: 'withheld' })]);
  await page.goto('/');
  await shown(page);
  expect(await page.locator('#check').isVisible()).toBe(false);
});

it('gives the names of markets room at every width', async () => {
  const { page } = await openPage();
  await page.goto('/');
  await shown(page);
  const narrow: number[] = [];
  for (let width = 660; width <= 1_920; width += 20) {
    await page.setViewportSize({ width, height: 700 });
    const box = await page.locator('.explorer-table tbody .of-name').first().boundingBox();
    if ((box?.width ?? 0) < 10 * 16) narrow.push(width);
  }
  expect(narrow).toEqual([]);
});

it('is used by keyboard: filter, sort, share, and go back to everything', async () => {
  const { page } = await openPage();
  await page.goto('/');
  await shown(page);
  await page.getByLabel('Search markets').focus();
  await page.keyboard.type('gold eur');
  await expect.poll(() => slugs(page)).toEqual(['gold-eur']);
  await page.getByRole('status').getByText('1 of 175 markets').waitFor();
  await page.keyboard.type('x');
  await page.locator('#more').getByText('No match for “gold eurx”.').waitFor();
  await page.locator('#more').getByRole('button', { name: 'Clear search' }).press('Enter');
  await page.getByLabel('Kind').selectOption('metal');
  await page.getByLabel('Currency').selectOption('EUR');
  await page.getByRole('button', { name: 'Market' }).press('Enter');
  const metals = ['silver-eur', 'platinum-eur', 'palladium-eur', 'gold-eur'];
  expect(await slugs(page)).toEqual(metals);
  expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
  await page.getByLabel('Charts').press('Space');
  expect(await page.locator('.of-chart svg').count()).toBe(0);
  const shared = page.url();
  expect(new URL(shared).hash).toBe('#kind=metal&currency=EUR&sort=name-descending&charts=off');

  const other = await openPage();
  await other.page.goto(shared);
  await shown(other.page);
  expect(await slugs(other.page)).toEqual(metals);
  await other.page.goto('/#q=bitcoin');
  expect(await rows(other.page).count()).toBe(4);
});

it('asks what has changed while somebody looks, and gets 304s; while the edge is down, rows stay with a notice', async () => {
  const { page } = await openPage({ excused: NO_ANSWER });
  await page.clock.install();
  const log: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/api/')) log.push(`${response.status()} ${new URL(response.url()).pathname}`);
  });
  const files = ['snapshot', 'latest', 'recent'].map((name) => `/api/v1/${name}.json`);
  const logged = (status: number) =>
    expect.poll(() => [...log].sort()).toEqual(files.map((file) => `${status} ${file}`).sort());
  await page.goto('/');
  await shown(page);
  files.push('/api/v1/latest/all.ndjson');
  await logged(200);
  files.pop();
  log.length = 0;
  const tab = (state: 'hidden' | 'visible') =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`);
  await tab('hidden');
  await page.clock.fastForward(120_000);
  expect(log).toEqual([]);
  await tab('visible');
  await page.clock.fastForward(10_000);
  await logged(304);

  const down = (route: Route) => route.abort();
  await page.route('**/api/**', down);
  await page.clock.fastForward(30_000);
  const notice = page.getByText('No connection: the service gave no answer.');
  await notice.waitFor();
  expect(await rows(page).count()).toBe(50);
  await page.unroute('**/api/**', down);
  // The edge answers again; the service behind it does not.
  const stale = async (route: Route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), age: '200' } });
  };
  await page.route('**/api/v1/latest.json', stale);
  await page.getByRole('button', { name: 'Ask now' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.getByText('This is a copy, 3 minutes old').waitFor();
  await page.unroute('**/api/v1/latest.json', stale);
  await page.clock.fastForward(30_000);
  await page.getByText('This is a copy').waitFor({ state: 'detached' });
});

it('says of a price that it is unknown and why, late, disputed; cuts long names; and shows texts as texts', async () => {
  const { page } = await openPage();
  const long = `${'Rinderhälften, frei Schlachtstätte '.repeat(5)}${'Xy'.repeat(20)}`;
  await answer(page, 'recent', []);
  await answer(page, 'latest', [
    entry({ slug: 'unknown', decimal: null, decimalPerUnit: null, unknownReason: 'withheld' }),
    entry({ slug: 'never', decimal: null, decimalPerUnit: null, observedAt: null, source: null, status: null }),
    entry({
      slug: 'late',
      disputed: true,
      rounded: true,
      sourceValue: '366.9000001',
      status: 'provisional',
      expectedNextAt: '2026-10-02T15:00:00Z',
      graceSeconds: 60,
    }),
    entry({
      slug: 'long-name'.repeat(8),
      name: long,
      decimal: '-90071992547409.91',
      unit: 'hundredweight of cold carcass',
    }),
    entry({ slug: 'html', name: '<img src=x onerror=alert(1)>' }),
  ]);
  await expectGoodLooks(page, 'explorer-states', '/', shown);
  const rectsOfGroups = `[...document.querySelector('[data-slug^=long-name] data').childNodes]
    .filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((group) => { const range = document.createRange(); range.selectNode(group); return range.getClientRects().length; })`;
  for (const width of [360, 820, 1440]) {
    await page.setViewportSize({ width, height: 740 });
    expect(await page.evaluate(rectsOfGroups)).toEqual([1, 1, 1, 1]);
  }
  const texts = async (slug: string) => (await page.locator(`[data-slug=${slug}]`).innerText()).split(/\s*[\n\t]\s*/);
  expect(await texts('unknown')).toEqual(
    expect.arrayContaining(['unknown', 'withheld, by its source or by this service']),
  );
  expect(await texts('never')).toEqual(expect.arrayContaining(['unknown', 'no price yet', '–']));
  expect((await texts('late')).join(' ')).toMatch(/disputed late since 2 Oct( \d{4})? provisional A source$/);
  expect((await texts('html'))[0]).toBe('<img src=x onerror=alert(1)>');
});

it('of more than 5,000 markets, reads the last prices of the rows on the screen alone', async () => {
  const { page } = await openPage();
  const read = async (file: string) =>
    (await (await fetch(`${inject('baseUrl')}/api/v1/${file}.json`)).json()) as object;
  const snapshot = (await read('snapshot')) as { readonly projections: readonly string[] };
  await page.route('**/api/v1/snapshot.json', (route) => {
    const projections = snapshot.projections.filter((name) => name !== 'compat');
    return route.fulfill({ json: { ...snapshot, projections, counts: { markets: 6000 } } });
  });
  const { updatedAt } = (await read('markets/gold-usd')) as { updatedAt: string };
  const markets = Array.from({ length: 6000 }, (_, n) => entry({ slug: `m-${n}`, name: `Market ${n}`, updatedAt }));
  await answer(page, 'latest', markets);
  const asked: string[] = [];
  const history = await read('markets/gold-usd/history');
  await page.route('**/api/v1/markets/m-*/history.json', (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill({ json: history });
  });
  await page.goto('/');
  await shown(page);
  await expect.poll(() => page.locator('[data-slug=m-0] .of-chart').textContent()).toMatch(/^31 prices since/);
  await expect.poll(() => page.locator('[data-slug=m-3] .of-day').textContent()).toMatch(/%$/);
  expect(asked.length).toBeLessThan(25);
  expect(asked.some((path) => path.includes('/m-49/'))).toBe(false);
  await rows(page).last().scrollIntoViewIfNeeded();
  await expect.poll(() => page.locator('[data-slug=m-49] .of-chart').textContent()).toMatch(/^31 prices since/);
  expect(new Set(asked).size).toBe(asked.length);
  expect(await page.getByRole('button', { name: '1 day' }).isDisabled()).toBe(true);
  expect(await page.locator('#count').innerText()).toBe(
    '6,000 markets. Sorting more than 5,000 markets by change needs the daily files “compat”, which this service does not publish.',
  );
});

it('finds tickers and pairs, and sorts by price and by change', async () => {
  const { page } = await openPage();
  await page.goto('/#q=eurusd');
  await shown(page);
  expect(await slugs(page)).toEqual(['eur-usd']);
  await page.getByLabel('Search markets').fill('xau');
  await expect.poll(async () => (await slugs(page)).every((slug) => slug.startsWith('gold-'))).toBe(true);
  await page.getByLabel('Search markets').fill('btc usd');
  await expect.poll(() => slugs(page)).toEqual(['bitcoin-usd']);
  await page.getByLabel('Search markets').fill('metal');
  await page.getByRole('button', { name: 'Price', exact: true }).click();
  const numbers = async (column: string) =>
    (await page.locator(`tbody ${column} .number`).allInnerTexts()).map((text) =>
      Number(text.replaceAll(/[, %+]/g, '').replace('−', '-')),
    );
  const prices = await numbers('.of-price');
  expect(prices.length).toBe(20);
  const currencies = await page.locator('tbody .currency').allInnerTexts();
  expect(currencies).toEqual(currencies.toSorted());
  for (const currency of new Set(currencies)) {
    const own = prices.filter((_, at) => currencies[at] === currency);
    expect(own).toEqual(own.toSorted((one, other) => other - one));
  }
  await page.getByLabel('Sort by').selectOption('month');
  const changes = await numbers('.of-month');
  expect(changes.length).toBe(20);
  expect(changes).toEqual(changes.toSorted((one, other) => other - one));
  expect(new URL(page.url()).hash).toBe('#q=metal&sort=month-descending');
  await page.getByLabel('Sort by').selectOption('year');
  const years = await numbers('.of-year');
  expect(years.length).toBe(20);
  expect(years).toEqual(years.toSorted((one, other) => other - one));
  const shares = await page.locator('[data-slug=gold-usd] .of-change').allInnerTexts();
  await page.locator('[data-slug=gold-usd] a').click();
  await page.getByText(/observations are read/).waitFor();
  expect(await page.locator('.market-changes .number').allInnerTexts()).toEqual(shares);
});

it('checks a price in the signed log when a visitor asks, and calls out one that was altered', async () => {
  const { page } = await openPage();
  await page.goto('/#q=gold-usd');
  await shown(page);
  const panel = page.getByRole('region', { name: 'Why trust a price?' });
  expect(await panel.innerText()).toMatch(/Gold, US dollar\s+4,129\.10 USD per troy ounce/);
  await panel.getByRole('button', { name: 'Check this price' }).click();
  await panel.getByText('verified in your browser').waitFor();
  const download = await downloadBy(panel.getByRole('link', { name: 'Download the receipt' }));
  expect(download.suggestedFilename()).toBe('gold-usd-price-2026-09-29.tlog-proof');
  await page.route('**/api/v1/latest/all.ndjson', async (route) => {
    const text = await (await fetch(route.request().url())).text();
    await route.fulfill({ contentType: 'application/x-ndjson', body: text.replaceAll('"4129.10"', '"4192.10"') });
  });
  await page.reload();
  await shown(page);
  await panel.getByRole('button', { name: 'Check this price' }).click();
  await panel.getByText(/does not agree: the list says 4192\.10, and the history 4129\.10/).waitFor();
  expect(await panel.getByRole('link', { name: 'Download' }).count()).toBe(0);
});

it('reads the list page by page where there is no file of all prices', async () => {
  const { page } = await openPage();
  await page.route('**/api/v1/snapshot.json', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), projections: [] } });
  });
  await page.goto('/#q=gold');
  await shown(page);
  expect(await page.locator('#count').innerText()).toMatch(/ of 175 markets$/);
  expect(await page.locator('[data-slug=gold-usd]').innerText()).toContain('per troy ounce');
});
