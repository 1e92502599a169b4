/** Embeds and badges in a page of another origin. */
import { createServer } from 'node:http';
import { expect, inject, test } from 'vitest';
import { listeningForTest } from '../listening.ts';
import { expectGoodLooks } from './browser.ts';
import { openPage } from './pages.ts';

/** A page with this body, at an origin of its own. */
async function foreignPage(body: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<!doctype html><html lang="en"><title>Another site</title><body>${body}</body></html>`);
  });
  return `${await listeningForTest(server)}/`;
}

const frameOf = (path: string, width = 480) =>
  `<iframe src="${inject('baseUrl')}${path}" width="${width}" height="240" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`;

test.each([
  [true, 480],
  [false, 200],
])('a page of another origin shows an embed, with JavaScript: %s, %i px wide', async (javaScriptEnabled, width) => {
  const { page } = await openPage({ javaScriptEnabled });
  await page.goto(await foreignPage(frameOf('/embed/gold-usd', width)));
  const frame = page.frameLocator('iframe');
  await frame.getByText('4,129.10 USD').waitFor();
  const { width: drawn = 0 } = (await frame.locator('svg').boundingBox()) ?? {};
  expect(drawn).toBeGreaterThan(width - 50);
  expect(drawn).toBeLessThan(width);
  expect(await page.context().cookies()).toEqual([]);
});

test('no other page may be framed', async () => {
  const { page, complaints } = await openPage({ excused: /frame-ancestors/ });
  await page.goto(await foreignPage(frameOf('/status/') + frameOf('/markets/gold-usd')));
  await expect.poll(() => complaints.filter((text) => text.includes('frame-ancestors')).length).toBe(2);
});

test('the link of an embed opens the page of its market', async () => {
  const { page } = await openPage();
  await page.goto(await foreignPage(frameOf('/embed/gold-usd')));
  const opened = page.waitForEvent('popup');
  await page.frameLocator('iframe').getByRole('link', { name: 'Gold' }).click();
  await (await opened).getByRole('heading', { level: 1, name: /Gold/ }).waitFor();
});

test('another origin shows a badge as an image, and reads its answer', async () => {
  const { page } = await openPage();
  const badge = `${inject('baseUrl')}/badges/gold-usd`;
  await page.goto(await foreignPage(`<img src="${badge}.svg" alt="">`));
  await expect.poll(() => page.evaluate('document.images[0].naturalHeight')).toBe(20);
  const read = `fetch(${JSON.stringify(`${badge}.json`)}).then((answer) => answer.json())`;
  expect(await page.evaluate(read)).toMatchObject({ schemaVersion: 1, message: '4,129.10 USD (2026-09-29)' });
});

test('an embed looks good', async () => {
  const { page } = await openPage();
  await expectGoodLooks(page, 'embed', '/embed/gold-usd', (shown) => shown.getByText('4,129.10 USD').waitFor());
});
