/** The page of a market, in Chromium. */
import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { openReceipt } from '../../clients/typescript/receipts.ts';
import { expectGoodLooks } from './browser.ts';
import { HOSTILE_NAME, PUBLIC_REASON, publishMarketData, serveLongHistory } from './market-data.ts';
import { chartOf, downloadBy, isRead, NO_ANSWER, openMarket, openPage, provenanceOf } from './pages.ts';
import { PAINTED } from './painted.ts';

beforeAll(() => publishMarketData());

const said = (page: Page) => page.locator('.chart-panel [role=status]');
interface Body {
  readonly history: { readonly count: number };
  readonly data: readonly object[];
}

describe('a market', () => {
  it('has its price, a chart that is painted, and a table that agrees; its times, source and badges', async () => {
    const { page } = await openMarket('wheat-eur');
    expect(await page.title()).toBe('Milling wheat, Paris · Tidemark');
    const top = page.locator('.market-top');
    expect(await top.innerText()).toMatch(/4\.1328 EUR per tonne\n?\s*[−+]\d/);
    expect(await top.getByRole('listitem').allInnerTexts()).toEqual(['late', 'provisional', 'low confidence']);
    expect(await page.evaluate(PAINTED)).toBeGreaterThan(500);
    const rows = page.locator('.observations tbody tr');
    expect(await rows.count()).toBe(50);
    expect(await rows.first().innerText()).toMatch(/4 Apr 2026, 00:00 UTC\s+4\.1328 EUR/);
    await page.getByRole('button', { name: 'Older' }).click();
    expect(await page.locator('.pager [role=status]').innerText()).toBe('Rows 51 to 100 of 120');
    await chartOf(page).press('End');
    expect(await provenanceOf(page).innerText()).toMatch(
      /4\.1328 EUR per tonne[\s\S]*Source wrote\s+413\.28, for the quantity that the source quotes\s[\s\S]*Recorded as\s+206\.64 EUR per 50 tonnes = 4\.1328 EUR per tonne/,
    );
    await page.keyboard.press('ArrowDown');
    expect(await provenanceOf(page).innerText()).toMatch(/4\.3182 EUR per tonne/);
  });

  it('says the provenance of each point by keyboard alone, and checks it in the signed log', async () => {
    const { page } = await openMarket('wheat-eur');
    await chartOf(page).focus();
    for (const [key, words] of [
      ['+', /^Showing 20 Jan 2026 to 19 Mar 2026$/],
      ['0', /^Showing 5 Jan 2026 to 4 Apr 2026$/],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => said(page).last().innerText()).toMatch(words);
    }
    await page.keyboard.press('Home');
    await expect.poll(() => said(page).last().innerText()).toMatch(/^5 Jan 2026, 00:00 UTC: 4\.20 EUR, Paris exchange/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('PageDown');
    const provenance = await provenanceOf(page).innerText();
    for (const words of ['Paris exchange, daily settlement', '16 Jan 2026, 00:00 UTC', 'high', 'final', 'exact']) {
      expect(provenance).toContain(words);
    }
    await provenanceOf(page).getByText('verified in your browser').waitFor();
    const download = await downloadBy(page.getByRole('link', { name: 'Download the receipt' }));
    expect(download.suggestedFilename()).toBe('wheat-eur-price-2026-01-16.tlog-proof');
    const vkeys = await (await fetch(`${inject('changedUrl')}/api/v1/log/vkey`)).text();
    const { entry } = await openReceipt(await readFile(await download.path(), 'utf8'), vkeys.trim().split('\n'));
    expect(entry).toMatchObject({ market: 'wheat-eur', observedAt: '2026-01-16T00:00:00Z' });
    await chartOf(page).press('Escape');
    expect(await provenanceOf(page).innerText()).toContain('Choose a point');
  });

  it('says that a value which the log does not have must not be relied on', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl') });
    await page.route('**/markets/wheat-eur/history*', async (route) => {
      const text = await (await fetch(route.request().url())).text();
      const body = text.replaceAll('"confidence":"low"', '"confidence":"high"');
      await route.fulfill({ contentType: 'application/json', body });
    });
    await page.goto('/markets/wheat-eur');
    await isRead(page);
    await chartOf(page).press('End');
    await provenanceOf(page)
      .getByText(/does not agree: confidence of \S+ differs from entry \d+/)
      .waitFor();
    expect(await provenanceOf(page).getByRole('link', { name: 'Download' }).count()).toBe(0);
  });

  it('shows unknown values in words, marks corrections and retractions, and keeps replaced versions', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.getByRole('button', { name: 'Older' }).click();
    expect(await page.getByRole('cell', { name: 'unknown: the source published no value' }).count()).toBe(3);
    await page.getByRole('button', { name: 'Show 5 Feb 2026, 00:00 UTC' }).click();
    const unknown = await provenanceOf(page).innerText();
    expect(unknown).toMatch(/unknown: the source published no value/);
    expect(unknown).not.toContain('Rounding');
    await page.getByRole('button', { name: 'Newer' }).click();
    expect(await page.getByRole('row', { name: /6 Mar 2026.*4\.6912 EUR.*corrected/ }).count()).toBe(1);
    expect(await page.getByRole('cell', { name: `corrected, reason: ${PUBLIC_REASON}` }).count()).toBe(1);
    await page.getByRole('button', { name: 'Show 6 Mar 2026, 00:00 UTC' }).first().click();
    expect(await provenanceOf(page).innerText()).toContain(`Reason\n${PUBLIC_REASON}`);
    await provenanceOf(page).getByRole('button').click();
    expect(await provenanceOf(page).innerText()).toMatch(/replaced since[\s\S]*replaced by 4\.6912 EUR/);
    expect(await provenanceOf(page).innerText()).toContain(`Replaced because\n${PUBLIC_REASON}`);
    expect(await page.title()).toBe('Milling wheat, Paris · Tidemark');
    expect(await page.getByRole('cell', { name: 'unknown: the source took it back' }).count()).toBe(0);
    await page.getByLabel('Show replaced versions').check();
    expect(await page.getByText('of 123').count()).toBe(1);
  });
});

describe('the page as of a moment, and its sources', () => {
  it('of the future, or of a moment that cannot be read, is refused, and never looks like a past one', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl') });
    for (const [moment, words] of [
      ['2031-01-01T00:00:00Z', 'is in the future: nothing is known of it.'],
      ['9999-99-99T99:99:99Z', 'is not a moment that this page can read.'],
    ]) {
      await page.goto(`/markets/wheat-eur#as-of=${moment}&clock=recorded`);
      await page.reload();
      await isRead(page);
      expect(await page.getByRole('alert').innerText()).toContain(words);
      expect(await page.getByText('This is what the service showed').count()).toBe(0);
    }
    await page.getByLabel('Moment (UTC)').fill('2031-01-01T00:00:01');
    await page.getByLabel('Moment (UTC)').press('Tab');
    expect(await page.getByRole('alert').innerText()).toContain('2031-01-01T00:00:01Z is in the future');
  });

  it('follows the slider, the clock and the address, and goes back to now', async () => {
    const { page } = await openMarket('wheat-eur');
    const price = page.locator('.market-price');
    await page.getByLabel('the sources (released)').check();
    await page.getByLabel('Moment (UTC)').fill('2026-03-20T12:00');
    await page.getByLabel('Moment (UTC)').blur();
    expect(await price.innerText()).toMatch(/^4\.5156 EUR/);
    await expect.poll(() => new URL(page.url()).hash).toBe('#as-of=2026-03-20T12:00:00Z&clock=released');
    expect(await page.locator('.observations tbody tr').first().innerText()).toMatch(/^19 Mar 2026/);
    await page.getByLabel('See this page as it was').press('ArrowLeft');
    expect(await page.locator('.observations tbody tr').first().innerText()).toMatch(/^18 Mar 2026/);
    await page.getByRole('button', { name: 'Back to now' }).click();
    expect(await price.innerText()).toMatch(/^4\.1328 EUR/);
    expect(new URL(page.url()).hash).toBe('');
    await page.goto('/markets/wheat-eur#as-of=2020-01-01T00:00:00Z&clock=recorded');
    await page.getByText('This is what the service showed at 1 Jan 2020').waitFor();
    expect(await price.innerText()).toMatch(/^nothing recorded here before \d+ \w{3} 20\d\d$/);
  });

  it('shows two sources side by side, hides one by its switch, and shows other metrics', async () => {
    const { page } = await openMarket('wheat-eur');
    const values = await page.getByRole('region', { name: 'Newest values by source' }).innerText();
    expect(values).toMatch(
      /Paris exchange, daily settlement\s+4\.1328 EUR[\s\S]+Ministry of agriculture\s+4\.3182 EUR/,
    );
    expect(await page.getByText('Prices by the Exchange of Paris, under CC BY 4.0.', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Paris exchange', exact: false, pressed: true }).click();
    await chartOf(page).press('End');
    expect(await provenanceOf(page).innerText()).toContain('Ministry of agriculture');
    await chartOf(page).press('Home');
    await page.getByLabel('Metric').selectOption('volume');
    expect(await provenanceOf(page).innerText()).toMatch(/^Provenance\s+1,200 lots\s+Metric\s+Volume[\s\S]*5 Jan 2026/);
    await page.getByLabel('Metric').selectOption('Price');
    expect(await provenanceOf(page).innerText()).toMatch(/Metric\s+Price[\s\S]*5 Jan 2026/);
    await page.getByLabel('Metric').selectOption('volume');
    expect(await page.locator('.observations tbody tr').first().innerText()).toContain('1,333 lots');
  });
});

describe('while the page is open', () => {
  it('a removal takes its place, and is announced', async () => {
    const { page } = await openPage({ excused: NO_ANSWER, baseURL: inject('changedUrl') });
    await page.clock.install();
    await page.goto('/markets/silver-usd');
    await page.clock.runFor(1000);
    await isRead(page);
    await page.route('**/api/v1/markets/silver-usd.json', (route) =>
      route.fulfill({ status: 410, json: { code: 'market-removed', reason: 'Merged' } }),
    );
    await page.clock.runFor(15_000);
    await page
      .getByRole('alert')
      .filter({ hasText: /^This market was removed[\s\S]*Merged/ })
      .waitFor();
  });

  it('asks with ETags; a failure leaves a notice and the old values; new ones come in without moving the chart', async () => {
    const { page } = await openPage({ excused: NO_ANSWER, baseURL: inject('changedUrl') });
    await page.clock.install();
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (new URL(response.url()).pathname === '/api/v1/markets/wheat-eur.json') statuses.push(response.status());
    });
    await page.goto('/markets/wheat-eur');
    await page.clock.runFor(1000);
    await isRead(page);
    await page.clock.runFor(15_000);
    await expect.poll(() => statuses).toEqual([200, 304]);
    await page.getByRole('button', { name: '1M' }).click();
    await page.route('**/api/**', (route) => route.abort());
    await page.clock.runFor(15_000);
    await page.getByText(/The service cannot be reached: the service gave no answer\. This page shows/).waitFor();
    expect(await page.locator('.market-price').innerText()).toMatch(/^4\.1328 EUR/);
    await page.unroute('**/api/**');
    const read = async (route: Route) => (await (await fetch(route.request().url())).json()) as Readonly<Body>;
    await page.route('**/api/v1/markets/wheat-eur.json', async (route) => {
      const market = await read(route);
      const history = { ...market.history, count: market.history.count + 1 };
      await route.fulfill({ json: { ...market, history, name: 'New', disputed: true, disputedMetrics: ['price'] } });
    });
    await page.route('**/api/v1/markets/wheat-eur/history.json', async (route) => {
      const history = await read(route);
      const row = {
        ...history.data[0],
        id: 'obs_new',
        observedAt: '2026-04-05T00:00:00Z',
        decimal: '199.99',
        decimalPerUnit: '3.9998',
      };
      await route.fulfill({ json: { ...history, data: [row, ...history.data] } });
    });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'New', exact: true }).waitFor();
    expect(await page.locator('.market-top').getByRole('listitem').first().innerText()).toBe('disputed');
    await page.getByRole('row', { name: /5 Apr 2026, 00:00 UTC 3\.9998 EUR/ }).waitFor();
    expect(await page.getByText(/cannot be reached/).count()).toBe(0);
    expect(await page.getByRole('button', { name: '1M' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('its newest prices are shown in another currency, by rates of the service, with both sources', async () => {
    const { page } = await openMarket('gold-usd');
    await page.getByRole('button', { name: 'Choose a currency' }).click();
    const select = page.getByRole('combobox', { name: 'Currency' });
    await select.waitFor();
    const codes = await select.locator('option').evaluateAll((all) => all.map((one) => one.getAttribute('value')));
    expect(codes).toEqual(expect.arrayContaining(['EUR', 'JPY', 'TND']));
    expect(codes).not.toEqual(expect.arrayContaining(['USD']));
    await select.selectOption('EUR');
    const section = page.getByRole('region', { name: 'In another currency' });
    await section.getByText('3,634.55 EUR').waitFor();
    expect((await section.innerText()).replaceAll(/\s+/g, ' ')).toContain(
      'per troy ounce derived Price 4,129.10 USD of 29 Sep 2026 Rate 0.8802274508, eur-usd of 29 Sep 2026, medium confidence',
    );
    expect(await section.getByRole('link').count()).toBe(3);
    const rate = section.getByRole('link', { name: 'eur-usd' });
    expect(await rate.getAttribute('href')).toMatch(/\/markets\/eur-usd\.html$/);
    await expect.poll(() => new URL(page.url()).hash).toBe('#in=EUR');
    await select.selectOption('none');
    await expect.poll(() => section.locator('dl').count()).toBe(0);
    await expect.poll(() => new URL(page.url()).hash).toBe('');
  });

  it('its address keeps the currency; an unknown rate is said; the command has the moment', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl') });
    let change: object = { status: 'estimated', confidence: 'low' };
    await page.route('**/markets/eur-usd/history.json', async (route) => {
      const history = (await (await route.fetch()).json()) as Body;
      const [newest, ...rows] = history.data;
      await route.fulfill({ json: { ...history, data: [{ ...newest, ...change }, ...rows] } });
    });
    const at = new Date(Math.floor(Date.now() / 1000 - 1) * 1000).toISOString();
    await page.goto(`/markets/gold-usd#in=EUR&as-of=${at}&clock=recorded`);
    const section = page.getByRole('region', { name: 'In another currency' });
    await section.getByText(', estimated, low confidence').waitFor();
    expect(await section.locator('code').innerText()).toBe(
      `tidemark markets history gold-usd --in EUR --csv --as-of ${at.replace('.000Z', 'Z')}`,
    );
    change = { decimal: null, amountMinor: null, decimalPerUnit: null, unknownReason: 'withheld' };
    await page.reload();
    await page.getByText('This price cannot be shown in EUR: the newest rate of that day is unknown.').waitFor();
  });

  it('a history of 100,000 observations is read by its years, newest first, and walked by keyboard', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl') });
    const asked = await serveLongHistory(page, 100_000);
    const first = Promise.withResolvers<void>();
    await page.route('**/history/2021.ndjson', (route) => first.promise.then(() => route.fallback()));
    await page.goto('/markets/gold-usd');
    // The newest rows are in the table while older ones are read.
    await page.getByText(/^Rows 1 to 50 of \d/).waitFor();
    first.resolve();
    await page.getByText(/100,000 of 100,000 observations are read/).waitFor();
    expect(asked.slice(0, 4)).toEqual(['.json', '/history.json', '/history/index.json', '/history/2026.ndjson']);
    expect(asked.length).toBe(3 + 6);
    expect(await page.getByText('Rows 1 to 50 of 100,000').count()).toBe(1);
    // No file has so many rows.
    await page.getByText('download it by year').waitFor();
    expect(await page.getByText('history.csv').count()).toBe(0);
    await chartOf(page).press('Home');
    expect(await page.locator('.chart-readout').innerText()).toMatch(/^20 Nov 2021.* 100,000\.00 USD/);
    await chartOf(page).press('PageDown');
    expect(await page.locator('.chart-readout').innerText()).toMatch(/ 90,\d{3}\.00 USD/);
  });
});

describe('other states', () => {
  it('an unknown slug, a market without observations, a removed one, and a service that is down', async () => {
    const { page } = await openPage({ excused: NO_ANSWER, baseURL: inject('changedUrl') });
    expect((await page.goto('/markets/no-such-market'))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.goto('/market/index.html?slug=no-such-market');
    await page.getByRole('heading', { name: 'There is no such market' }).waitFor();
    await page.goto('/markets/empty-usd');
    await page.getByText('no price yet').waitFor();
    await page.getByText('There is no observation yet.').waitFor();
    const removal = { code: 'market-removed', reason: '<b>Merged</b>', replacedBy: 'gold-usd' };
    await page.route('**/api/v1/markets/silver-usd.json', (route) =>
      route.fulfill({ status: 410, json: { ...removal, removedAt: '2026-10-01T00:00:00Z' } }),
    );
    await page.goto('/markets/silver-usd');
    await page.getByRole('heading', { name: 'This market was removed' }).waitFor();
    expect(await page.locator('main').innerText()).toMatch(/1 Oct 2026, 00:00 UTC[\s\S]*<b>Merged<\/b>/);
    expect(await page.getByRole('link', { name: 'gold-usd' }).getAttribute('href')).toMatch(
      /\/market\/index\.html\?slug=gold-usd$/,
    );
    await page.route('**/api/v1/markets/platinum-usd.json', (route) =>
      route.fulfill({ status: 410, json: { code: 'taken-down', title: 'Taken down' } }),
    );
    await page.goto('/markets/platinum-usd');
    await page.getByText('Its texts were taken down for a legal reason.').waitFor();
    await page.route('**/api/**', (route) => route.fulfill({ status: 503 }));
    await page.goto('/market/index.html?slug=gold-usd');
    await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
    await page.goto('/markets/gold-usd');
    await page.getByText('This page shows what it was made of').waitFor();
    expect(await page.locator('.market-price').innerText()).toContain('4,129.10 USD');
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await isRead(page);
  });

  it.each(['/', '/markets/gold-usd', '/docs/', '/status/'])(
    'with a zoom of 400 %, %s is not wider than the page',
    async (path) => {
      const { page } = await openPage({ viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 });
      await page.goto(path);
      if (path.startsWith('/markets/')) await isRead(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    },
  );

  it('on a phone, the line above the chart is not cut', async () => {
    const { page } = await openPage({ viewport: { width: 360, height: 740 } });
    await page.goto('/markets/gold-usd');
    await isRead(page);
    const readout = page.locator('.chart-readout');
    expect(await readout.innerText()).toMatch(/^Point at the chart/);
    const hidden = await readout.evaluate(
      (line: { scrollWidth: number; clientWidth: number }) => line.scrollWidth - line.clientWidth,
    );
    expect(hidden).toBe(0);
  });

  it('texts of other people stay texts, and a link goes to http or https only', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl') });
    await page.route('**/api/v1/markets/hostile-usd.json', async (route) => {
      const market = (await (await fetch(route.request().url())).json()) as { sources: object[] };
      await route.fulfill({ json: { ...market, sources: [{ ...market.sources[0], url: 'javascript:alert(1)' }] } });
    });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto('/markets/hostile-usd');
    await isRead(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(HOSTILE_NAME);
    expect(await page.title()).toBe(`${HOSTILE_NAME} · Tidemark`);
    expect(await page.locator('main :is(img, script, b, u)').count()).toBe(0);
    expect(await page.locator('main a[href^="javascript"]').count()).toBe(0);
  });
});

it('looks good, and passes the rules of accessibility', async () => {
  const { page } = await openPage({ baseURL: inject('changedUrl') });
  await expectGoodLooks(page, 'market', '/markets/wheat-eur', async () => {
    await isRead(page);
    await page.getByLabel('Show replaced versions').check();
    await page.getByRole('button', { name: 'Choose a currency' }).click();
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('USD');
    await page.getByText('This price cannot be shown in USD: no rate of that day').waitFor();
    await chartOf(page).press('End');
    await provenanceOf(page).getByText('verified in your browser').waitFor();
  });
  await page.getByRole('button', { name: 'Copy This market' }).click();
  await page.getByText(/^Copied|The text is selected/).waitFor();
  expect(await page.getByText(/^curl -s 'http:.*\/api\/v1\/markets\/wheat-eur\.json'$/).count()).toBe(1);
});
