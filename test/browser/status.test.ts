/** The page of the service's state, in Chromium. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectGoodLooks } from './browser.ts';
import { NO_ANSWER, openPage } from './pages.ts';

const ready = (page: Page) => page.locator('#status[data-ready=true]').waitFor();
const log = (page: Page) => page.locator('#status-log');
/** The file of incidents may be missing. */
const open = () => openPage({ excused: /status of 404/ });

it('checks the log in the browser, and shows sources and counts', async () => {
  const { page } = await open();
  await expectGoodLooks(page, 'status', '/status/', ready);
  await page.getByText('verified in your browser').waitFor();
  const verdict = page.locator('.verdict');
  expect(await verdict.innerText()).toMatch(
    /^Running, with old prices\s+1 source of 1 without a new price, for up to \d+ days\.$/,
  );
  expect(await log(page).innerText()).toContain('The tiles of the log give the signed root.');
  expect(await page.locator('#status-sources').innerText()).toMatch(
    /currency-api daily release\s+175\s+29 Sep 2026, 00:00 UTC.*days old/,
  );
  expect(await page.locator('#status-figures').innerText()).toMatch(/Markets\s+175\s+9,975 observations/);

  expect(await page.locator('#status-incidents').innerText()).toMatch(/^No incidents recorded since \d+ \w+ \d{4}\.$/);
});

it('finds a wrong hash, and hides no other part', async () => {
  const { page } = await open();
  await page.route('**/api/v1/log/tile/0/**', (route) => route.fulfill({ body: Buffer.alloc(85 * 32) }));
  await page.goto('/status/');
  await page.getByText('A check failed: ').waitFor();
  expect(await page.locator('#status-figures').innerText()).toContain('a check failed');
  expect(await page.locator('#status-sources tbody tr').count()).toBe(1);
});

it('lists incidents with their moments and durations, the newest first, and says which one goes on', async () => {
  const { page } = await open();
  const incident = (startedAt: string, endedAt: string | null, summary: string) => ({ startedAt, endedAt, summary });
  const data = [
    incident('2026-10-02T09:00:00.000Z', null, 'The second one.'),
    incident('2026-10-01T09:00:00.000Z', '2026-10-01T09:07:30.000Z', 'The first one.'),
  ];
  await page.route('**/api/v1/incidents.json', (route) =>
    route.fulfill({ json: { since: '2026-09-01T00:00:00Z', data } }),
  );
  await page.goto('/status/');
  await page.getByText('The first one.').waitFor();
  const [second, first] = await page.locator('#status-incidents li').allInnerTexts();
  expect(second).toMatch(/^ongoing since 2 Oct 2026, \d+ \w+: The second one\.$/);
  expect(first).toBe('1 Oct 2026, 09:00 UTC, 7 minutes: The first one.');
  expect(await page.locator('#status-incidents').innerText()).toContain('Recorded since 1 Sep 2026');
});

it('says that the service fails, by its own words, and by the silence of a service that is gone', async () => {
  const { page } = await openPage({ excused: NO_ANSWER });
  const faults = [{ part: 'publishing', detail: 'Every publication since has failed.' }];
  await page.route('**/healthz', (route) => route.fulfill({ status: 503, json: { status: 'failing', faults } }));
  await page.goto('/status/');
  await ready(page);
  expect(await page.locator('.verdict').innerText()).toMatch(/^Failing\s+Every publication since has failed\./);
  await page.route('**/api/**', (route) => route.abort());
  await page.reload();
  await page.getByText('The public files cannot be read: the service gave no answer.').waitFor();
  expect(await page.locator('.verdict').getAttribute('data-state')).toBe('failing');
});

it('asks a host of files for nothing that it does not have', async () => {
  const { page } = await open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.route('**/api/v1/**', async (route) => {
    const response = await route.fetch();
    const { 'cache-status': _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  await page.goto('/status/');
  await ready(page);
  expect(asked).not.toContain('/healthz');
  expect(asked).not.toContain('/api/v1/mirror');
});

it('says calmly that a service publishes none of the further files, and that a host is a mirror', async () => {
  const { page } = await open();
  await page.route('**/api/v1/snapshot.json', async (route) => {
    const response = await route.fetch();
    const { log: _, projections: __, ...body } = await response.json();
    await route.fulfill({ response, json: body });
  });
  const mirror = { of: 'https://data.example', state: 'unreachable', ageSeconds: 90, generation: 1, log: null };
  await page.route('**/healthz', (route) => route.fulfill({ json: { status: 'ok', ...mirror } }));
  await page.goto('/status/');
  await ready(page);
  expect(await log(page).innerText()).toContain('This service publishes no log');
  expect(await page.locator('#status-snapshot').innerText()).not.toContain('Daily export');
  expect(await page.locator('#status-mirror').innerText()).toMatch(/https:\/\/data\.example\s+State\s+unreachable/);
});
