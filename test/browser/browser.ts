/** Debian's Chromium, and what every page must pass in it. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from 'playwright-core';
import { expect, inject } from 'vitest';

/** In CSS pixels: a phone, a tablet, a laptop, a large screen. */
const WIDTHS = [360, 768, 1280, 1920];
/** Where axe looks at the page: the layouts for a finger and for a mouse. Colours change no layout, so dark ones are shown only here. */
const JUDGED = [360, 1280];
const SCHEMES = ['light', 'dark'] as const;
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What colours decide: in dark ones, nothing else can differ. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** @throws Error that names the remedy, if Chromium is not installed */
export async function openBrowser(): Promise<Browser> {
  try {
    return await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
        ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      ],
    });
  } catch (cause) {
    throw new Error('Chromium cannot be started: install it, or set CHROMIUM to its path', { cause });
  }
}

/** A page of the service, and everything that it complained about: errors, and refusals of the security policy. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  // Without animations, no test depends on the moment of a frame, which a busy machine may never draw.
  const context = await browser.newContext({
    baseURL: inject('baseUrl'),
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { page, complaints };
}

/**
 * Shows a page at four widths, and at two of them dark, too. It must be wide enough at each, and pass axe's rules of WCAG 2.2 AA.
 * Keeps a picture of each, if they are asked for.
 *
 * @param ready resolves once the page shows what it is for
 */
export async function expectGoodLooks(
  page: Page,
  name: string,
  path: string,
  ready: (page: Page) => Promise<unknown>,
): Promise<void> {
  await page.goto(path);
  await ready(page);
  for (const colorScheme of SCHEMES) {
    for (const width of colorScheme === 'dark' ? JUDGED : WIDTHS) {
      await inTime(`${name}, ${width}, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow, `${name}, ${width}: nothing is wider than the page`).toBeLessThanOrEqual(0);
        await keepPicture(page, `${name}-${width}-${colorScheme}`, { fullPage: true });
        if (!JUDGED.includes(width)) return;
        const faults = await faultsOf(page, colorScheme === 'dark' ? RULES_OF_COLOURS : WCAG);
        expect(faults, `${name}, ${width}, ${colorScheme}`).toEqual([]);
      });
    }
  }
}

/** Playwright waits without a limit for an answer of the browser. @throws Error after a minute: such a test is tried once more */
async function inTime(what: string, work: () => Promise<void>): Promise<void> {
  const limit = new AbortController();
  const tooLate = setTimeout(60_000, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`${what}: Chromium gave no answer for 60 s`);
  });
  try {
    await Promise.race([work(), tooLate]);
  } finally {
    limit.abort();
  }
}

/** Makes a picture for people in the folder that TIDEMARK_SCREENSHOTS names. Without one, none is made: that takes seconds. */
export async function keepPicture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  const folder = process.env.TIDEMARK_SCREENSHOTS;
  if (folder) await page.screenshot({ ...options, path: join(folder, `${name}.png`) });
}

/** What axe finds, one line each. @param runOnly tags of its rules, or rules */
export async function faultsOf(page: Page, runOnly: readonly string[] = WCAG): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(runOnly)} })`)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** From now on the page has a quarter of the speed, and its variable `shifted` sums its layout shifts. */
export async function slowAndMeasured(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.addInitScript(`
    shifted = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) shifted += value;
    }).observe({ type: 'layout-shift', buffered: true });
  `);
}
