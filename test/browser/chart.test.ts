/** The chart of a market, in Chromium: scales, dates, files, citations, paper. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { operatorHtml } from '../../contract/files/operator-html.ts';
import { faultsOf, keepPicture } from './browser.ts';
import { LONG_ATTRIBUTION, publishMarketData } from './market-data.ts';
import { chartOf, downloadBy, isRead, openMarket, openPage, provenanceOf } from './pages.ts';
import { PAINTED } from './painted.ts';

beforeAll(() => publishMarketData());

const PICTURE = `document.querySelector('.chart-host canvas').toDataURL()`;

/** The picture or the table of what the chart shows. */
async function seenAs(form: 'CSV' | 'PNG' | 'SVG', page: Page) {
  const download = await downloadBy(page.getByRole('button', { name: `Download what is seen as ${form}` }));
  const bytes = await readFile(await download.path());
  return { name: download.suggestedFilename(), bytes, text: bytes.toString() };
}

describe('the chart', () => {
  /** The colours of whole pixels of the canvas. */
  const COLOURS = `(() => {
    const canvas = document.querySelector('.chart-host canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) colours.add(data.slice(at, at + 3).join());
    return [...colours];
  })()`;

  it('keeps its labels and marks where the reader forces the colours', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.emulateMedia({ forcedColors: 'active' });
    const colourOf = (name: string): Promise<string> =>
      page.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        probe.style.color = '${name}';
        const [red, green, blue] = getComputedStyle(probe).color.match(/[0-9]+/g);
        return [red, green, blue].join();
      })()`);
    const colours = () => page.evaluate(COLOURS) as Promise<string[]>;
    await expect
      .poll(colours)
      .toEqual(expect.arrayContaining([await colourOf('Canvas'), await colourOf('CanvasText')]));
  });

  it('has other scales, each in the address, and marks stay on their lines', async () => {
    const { page } = await openMarket('wheat-eur');
    const pictures = new Set<unknown>();
    for (const scale of ['linear', 'log', 'percent', 'index']) {
      await page.getByLabel('Scale').selectOption(scale);
      expect(new URL(page.url()).hash).toBe(scale === 'linear' ? '' : `#scale=${scale}`);
      expect(await page.evaluate(PAINTED)).toBeGreaterThan(500);
      pictures.add(await page.evaluate(PICTURE));
    }
    expect(pictures.size).toBe(4);
    await chartOf(page).press('End');
    expect(await provenanceOf(page).innerText()).toMatch(/4\.1328 EUR per tonne/);
    await page.reload();
    await isRead(page);
    expect(await page.getByLabel('Scale').inputValue()).toBe('index');
  });

  it('is named by the days that it shows', async () => {
    const { page } = await openMarket('wheat-eur');
    const daysOf = async () => (await chartOf(page).getAttribute('aria-label'))?.split(', ').at(-1);
    const whole = await daysOf();
    for (const _ of [1, 2, 3]) await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(daysOf).not.toBe(whole);
    await page.getByRole('button', { name: 'All: Whole history' }).click();
    await expect.poll(daysOf).toBe(whole);
  });

  it('has days on the axis of two days, and no hours', async () => {
    const { page } = await openMarket('hostile-usd');
    const ticks = (await seenAs('SVG', page)).text.match(/>\d\d? [A-Z][a-z]{2}<|>\d\d:\d\d</g);
    expect(ticks).toEqual([expect.stringMatching(/^>\d+ [A-Z]/), expect.stringMatching(/^>\d+ [A-Z]/)]);
  });

  it('has labels of small prices, says what a scale cannot show, and fits a phone under a long name', async () => {
    const { page } = await openMarket('oil-usd');
    await page.getByLabel('Scale').selectOption('log');
    await page.getByText('2 prices of 0 or less cannot be shown on a log scale.').waitFor();
    const svg = (await seenAs('SVG', page)).text;
    for (const label of ['0.02', '0.05', '0.1', '0.5', '1', '20']) expect(svg).toContain(`>${label}</text>`);
    expect(svg).toContain('cannot be shown on a log scale');
    await page.getByLabel('Scale').selectOption('index');
    await page.getByText('cannot be shown from a base of −36.98 USD (5 Jan 2026).').waitFor();
    expect(await page.getByLabel('Scale').inputValue()).toBe('linear');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    for (const path of ['/markets/oil-usd', '/', '/status/']) {
      await page.route('**/assets/market.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
      await page.goto(path);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
    }
  });

  it('has its dates in fields and in the address; dates that do not exist are refused, and nothing moves', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.getByLabel('From', { exact: true }).fill('2026-02-01');
    await page.getByLabel('to', { exact: true }).fill('2026-03-01');
    expect(new URL(page.url()).hash).toBe('#from=2026-02-01&to=2026-03-01');
    await page.reload();
    await isRead(page);
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-02-01');
    const before = await page.evaluate(PICTURE);
    await page.getByLabel('to', { exact: true }).fill('2026-01-01');
    expect(await page.getByRole('alert').innerText()).toBe('2026-02-01 is after 2026-01-01.');
    expect(await page.evaluate(PICTURE)).toBe(before);
    await page.getByRole('button', { name: '1M' }).click();
    expect(new URL(page.url()).hash).toBe('#range=1M');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: 'Earlier' }).click();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#from=2026-02-2\d&to=2026-03-\d\d$/);
    await page.goto('/markets/wheat-eur#from=2026-02-30');
    await page.getByText('“2026-02-30” is no date that exists.').waitFor();
  });

  it('is downloaded as it is seen, and cited with its moment and its receipt', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.goto('/markets/wheat-eur#from=2026-02-01&to=2026-03-01');
    await page.getByRole('button', { name: 'Ministry', exact: false, pressed: true }).click();
    const name = 'wheat-eur-price-2026-02-01-to-2026-03-01';
    const [csv, png, svg] = [await seenAs('CSV', page), await seenAs('PNG', page), await seenAs('SVG', page)];
    expect([csv.name, png.name, svg.name]).toEqual([`${name}.csv`, `${name}.png`, `${name}.svg`]);
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(1 + 29);
    expect(csv.text).not.toContain('Ministry');
    const [width, height] = [png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)];
    expect([png.bytes.toString('latin1', 1, 4), width, height > 400]).toEqual(['PNG', expect.any(Number), true]);
    expect(svg.text).toMatch(
      /Milling wheat, Paris[\s\S]*Source: Paris exchange[\s\S]*As of [\s\S]*<path d="M[^"]{200,}"/,
    );
    const words = svg.text.replaceAll(/<\/text>\s*<text[^>]*>/g, ' ');
    const credit = 'Prices by the Exchange of Paris, under CC BY 4.0. Licence: CC-BY-4.0. Published by 127.0.0.1';
    expect(words).toContain(`Source: Paris exchange, daily settlement. ${credit}`);
    expect(words).not.toContain('Contains data of the ministry');
    expect(
      await page.evaluate(
        `new DOMParser().parseFromString(${JSON.stringify(svg.text)}, 'image/svg+xml').querySelectorAll('parsererror').length`,
      ),
    ).toBe(0);
    await page.getByText('Cite this').click();
    const receipt = page.getByRole('link', { name: 'The value with its signed receipt' });
    await page.goto((await receipt.getAttribute('href')) as string);
    await provenanceOf(page).getByText('verified in your browser').waitFor();
    await page.getByText('This is what the service showed at').waitFor();
    await page.getByRole('button', { name: 'Copy BibTeX' }).click();
    await page
      .getByText(/^@misc\{wheat-eur-price-2026-04-04,[\s\S]*urldate[\s\S]*Exchange of Paris, under CC BY 4.0/)
      .waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  it('a value that was retracted is cited as such, with its receipt; an unknown id is said; what stands is shown first', async () => {
    const { page } = await openMarket('oil-usd');
    expect(await page.locator('.market-price').innerText()).toMatch(/^40\.00 USD/);
    expect(await provenanceOf(page).innerText()).toMatch(/40\.00 USD per barrel/);
    await page.getByText('Cite this').click();
    const receipt = page.getByRole('link', { name: 'The value with its signed receipt' });
    await page.goto((await receipt.getAttribute('href')) as string);
    await provenanceOf(page).getByText('verified in your browser').waitFor();
    expect(await provenanceOf(page).innerText()).toMatch(/40\.00 USD per barrel/);
    const rows = (await (await fetch(`${inject('changedUrl')}/api/v1/markets/oil-usd/history`)).json()) as {
      readonly data: readonly { readonly id: string; readonly decimal: string | null }[];
    };
    const id = rows.data.find(({ decimal }) => decimal === '99.99')?.id;
    await page.goto(`/markets/oil-usd#point=${id}`);
    await page
      .getByText(/99\.99 USD per barrel, observed 12 Jan 2026, 00:00 UTC, retracted on .*With its signed receipt/)
      .waitFor();
    await page.goto((await receipt.getAttribute('href')) as string);
    expect(new URL(page.url()).hash).toContain(`point=${id}&as-of=`);
    await provenanceOf(page).getByText('verified in your browser').waitFor();
    expect(await provenanceOf(page).innerText()).toMatch(/99\.99 USD per barrel/);
    await page.goto('/markets/oil-usd#point=obs-nowhere');
    await provenanceOf(page).getByText('No value has the id obs-nowhere here').waitFor();
    await chartOf(page).press('End');
    expect(await page.getByText('No value has the id').count()).toBe(0);
    expect(await provenanceOf(page).innerText()).toContain('unknown: it was recorded by mistake\n');
    await page.goto('/markets/empty-usd');
    await page.getByText('There is no observation yet.').waitFor();
    expect(await page.getByText('Cite this').isVisible()).toBe(false);
  });

  it('is compared with other markets, which are found as on the front page, and says of which one a point is', async () => {
    const { page } = await openMarket('wheat-eur');
    const find = async (text: string, name: string): Promise<void> => {
      await page.getByLabel('Compare with').fill(text);
      await page.getByRole('list', { name: 'Markets that match' }).getByRole('button', { name }).click();
      await page.getByRole('button', { name: `Remove ${name}`, exact: true }).waitFor();
    };
    const legend = page.getByRole('group', { name: 'Sources in the chart' });
    await find('xau usd', 'Gold, US dollar');
    expect(new URL(page.url()).hash).toBe('#compare=gold-usd');
    expect(await legend.getByRole('button', { name: /Gold.*4,129\.10 USD per troy ounce, right axis/ }).count()).toBe(
      1,
    );
    await page.getByLabel('Compare with').pressSequentially('silver-usd');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Silver, US dollar', exact: true }).waitFor();
    await page.getByLabel('Compare with').fill('bitcoin');
    await page.getByRole('list', { name: 'Markets that match' }).getByRole('button').nth(1).waitFor();
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.id');
    const found = await page.getByRole('list', { name: 'Markets that match' }).getByRole('button').allInnerTexts();
    const path: unknown[] = [];
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp']) {
      await page.keyboard.press(key);
      path.push(await focused());
    }
    expect(path).toEqual([found[0], found[1], found[0], 'compare']);
    await find('eur-usd', 'Euro, US dollar');
    await page.getByText('These markets have 3 units').waitFor();
    expect(await page.getByLabel('Scale').inputValue()).toBe('percent');
    await page.reload();
    await page.getByRole('button', { name: 'Remove Euro, US dollar', exact: true }).waitFor();
    await chartOf(page).press('End');
    for (let lines = 1; lines < 3; lines++) await page.keyboard.press('ArrowDown');
    expect(await provenanceOf(page).innerText()).toMatch(/USD per troy ounce\s+Market\s+Gold, US dollar/);
    await provenanceOf(page).getByText('verified in your browser').waitFor();
    expect(await page.locator('.observations tbody tr').first().innerText()).toContain('EUR');
    expect(await faultsOf(page)).toEqual([]);
    for (const name of ['Gold', 'Silver', 'Euro']) await page.getByRole('button', { name: `Remove ${name}` }).click();
    expect(new URL(page.url()).hash).not.toContain('compare');
    expect(await page.getByLabel('Scale').inputValue()).toBe('linear');
  });

  it('credits each source with its terms: on the page, on a narrow picture, and in a comparison with the name of its market', async () => {
    const { page } = await openPage({ baseURL: inject('changedUrl'), viewport: { width: 360, height: 740 } });
    await page.goto('/markets/wheat-eur#compare=gold-usd');
    const credits = page.locator('.chart-credits p');
    await expect.poll(() => credits.count()).toBe(3);
    const texts = await credits.allInnerTexts();
    expect(texts).toEqual([
      expect.stringContaining('Prices by the Exchange of Paris'),
      expect.stringContaining(LONG_ATTRIBUTION),
      expect.stringMatching(/^Gold, US dollar: currency-api daily release\. .*Licence: /),
    ]);
    await page.getByRole('button', { name: 'Remove Gold' }).click();
    await expect.poll(() => credits.last().innerText()).toBe(`Source: Ministry of agriculture. ${LONG_ATTRIBUTION}`);
    const svg = (await seenAs('SVG', page)).text;
    expect(svg.replaceAll(/<\/text>\s*<text[^>]*>/g, ' ')).toContain(LONG_ATTRIBUTION);
    // As a browser draws it, no line is wider than the picture.
    const drawn = await page.evaluate<readonly number[]>(`(() => {
      const host = document.body.appendChild(document.createElement('div'));
      host.innerHTML = ${JSON.stringify(svg)};
      const picture = host.querySelector('svg');
      const edge = picture.getBoundingClientRect().right;
      const over = [...picture.querySelectorAll(':scope > text')].map((text) => text.getBoundingClientRect().right - edge);
      host.remove();
      return over;
    })()`);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(0);
  });

  it('is printed whole and light, with its sources and without controls', async () => {
    const { page } = await openMarket('wheat-eur');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByRole('button', { name: '1M' }).click();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const footer = page.locator('.site-footer');
    expect(await footer.isVisible()).toBe(false);
    // As the publisher writes it into the pages of a service that has an operator.
    const operator = JSON.stringify(operatorHtml({ name: 'Grain watch' }));
    await page.evaluate(`document.querySelector('.operator').outerHTML = ${operator}`);
    expect((await footer.innerText()).trim()).toBe('Operated by Grain watch');
    await expect.poll(() => page.locator('.chart-host .uplot').evaluate((plot) => plot.clientWidth)).toBe(660);
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe('rgb(255, 255, 255)');
    expect(await page.getByRole('heading', { name: 'Sources side by side' }).isVisible()).toBe(true);
    expect(await page.locator('.chart-credits').innerText()).toContain('Licence: CC-BY-4.0.');
    // Names of lines, without the look of buttons: without them, nobody knows which line is which.
    const buttons = page.locator('#market').getByRole('button').filter({ visible: true });
    expect(await buttons.allInnerTexts()).toEqual(['Paris exchange, daily settlement', 'Ministry of agriculture']);
    const border = `getComputedStyle(document.querySelector('.legend-switch')).borderTopWidth`;
    expect(await page.evaluate(border)).toBe('0px');
    for (const hidden of ['1M', 'CSV'])
      expect(await page.getByText(hidden, { exact: true }).first().isVisible()).toBe(false);
    expect(await page.getByText('Cite this').isVisible()).toBe(false);
    await keepPicture(page, 'market-print', { fullPage: true });
    const pictureOf = () => page.evaluate(PICTURE);
    const printed = await pictureOf();
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await page.getByRole('button', { name: 'All' }).click();
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    await expect.poll(pictureOf).toBe(printed);
  });
});
