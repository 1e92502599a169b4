/** Markets with everything that a market can have: two sources, unknown values, corrections, retractions, hostile texts. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { inject } from 'vitest';
import { listeningForTest } from '../listening.ts';

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2026, 0, 5);
const EXCHANGE = { sourceLabel: 'Paris exchange, daily settlement', sourceUrl: 'https://exchange.example/wheat' };
const MINISTRY = { sourceLabel: 'Ministry of agriculture', sourceUrl: 'https://ministry.example/prices?crop=wheat' };

/** RFC 3339, `day` days after the first observation. */
function dayOf(day: number): string {
  return new Date(FIRST_MS + day * DAY_MS).toISOString().replace('.000Z', 'Z');
}

/** In minor units: a slow swing, the same in every run. */
function wheatMinor(day: number): number {
  return Math.round(21_000 + 1500 * Math.sin(day / 9) + 400 * Math.sin(day / 2.3));
}

function wheat(day: number, source: typeof EXCHANGE, more: object = {}): object {
  return {
    ...{ type: 'observation', market: 'wheat-eur', metric: 'price', currency: 'EUR', ...source },
    ...{ observedAt: dayOf(day), releasedAt: dayOf(day + 1), confidence: 'high', status: 'final' },
    ...{ amountMinor: wheatMinor(day), outlierConfirmed: true, ...more },
  };
}

/** Nearly the longest text that is allowed. */
export const LONG_ATTRIBUTION = `Contains data of the ministry of agriculture${', and of a regional office'.repeat(16)}.`;

const WHEAT_DAYS = 90;
/** Its source quotes 100 tonnes, and the market 50. */
const PROVISIONAL = { status: 'provisional', confidence: 'low', sourceValue: '413.28', quotedQuantity: 100 };

const WHEAT: readonly object[] = [
  {
    ...{ type: 'market', slug: 'wheat-eur', name: 'Milling wheat, Paris', kind: 'food', nativeCurrency: 'EUR' },
    unit: { quantity: 50, of: 'tonne' },
    sources: [
      {
        ...{ label: EXCHANGE.sourceLabel, url: 'https://exchange.example/', publisher: 'Exchange of Paris' },
        ...{ licence: 'CC-BY-4.0', attribution: 'Prices by the Exchange of Paris, under CC BY 4.0.' },
        cadence: { period: 'day', releaseTime: '18:00', graceSeconds: 3600 },
      },
      {
        ...{ label: MINISTRY.sourceLabel, url: 'https://ministry.example/', publisher: null, licence: null },
        attribution: LONG_ATTRIBUTION,
      },
    ],
  },
  ...Array.from({ length: WHEAT_DAYS }, (_, day) =>
    [30, 31, 32].includes(day)
      ? wheat(day, EXCHANGE, { amountMinor: null, unknownReason: 'not-published' })
      : wheat(day, EXCHANGE, day === WHEAT_DAYS - 1 ? PROVISIONAL : {}),
  ),
  ...Array.from({ length: WHEAT_DAYS / 3 }, (_, third) =>
    wheat(third * 3, MINISTRY, { amountMinor: wheatMinor(third * 3) + 900, confidence: 'medium' }),
  ),
  ...Array.from({ length: 20 }, (_, day) => ({
    ...{ type: 'observation', market: 'wheat-eur', metric: 'volume', value: String(1200 + day * 7), unit: 'lots' },
    ...{ ...EXCHANGE, observedAt: dayOf(day), confidence: 'medium', status: 'final' },
  })),
];

/** @param day of the observation that is taken back */
function retraction(day: number, kind: 'mistake' | 'withdrawn', market = 'wheat-eur'): object {
  const identity = { market, metric: 'price', observedAt: dayOf(day), sourceUrl: EXCHANGE.sourceUrl };
  return { type: 'retraction', ...identity, kind, reason: 'The exchange has said so.' };
}

/** Why one price was corrected, as HTML that would run. */
export const PUBLIC_REASON = `<img src=x onerror="document.title='run'"> was printed instead of the price.`;

const CORRECTIONS: readonly object[] = [
  wheat(60, EXCHANGE, { amountMinor: 23_456, publicReason: PUBLIC_REASON }),
  retraction(45, 'withdrawn'),
  retraction(50, 'mistake'),
  retraction(7, 'mistake', 'oil-usd'),
];

/** The longest name that is allowed, as HTML that would run. */
export const HOSTILE_NAME = `<img src=x onerror="document.title='run'"> ${'Unbreakable'.repeat(14)}`;

const HOSTILE: readonly object[] = [
  {
    ...{ type: 'market', slug: 'hostile-usd', name: HOSTILE_NAME, kind: 'metal', nativeCurrency: 'USD' },
    ...{ status: 'retired', unit: { quantity: 1, of: '</td><b>thing</b>' } },
    sources: [
      {
        ...{ label: '<script>alert(1)</script>', url: 'https://hostile.example/', publisher: '"><u>x', licence: 'MIT' },
        attribution: null,
      },
    ],
  },
  ...[0, 1].map((day) => ({
    ...{ type: 'observation', market: 'hostile-usd', metric: 'price', observedAt: dayOf(day), currency: 'USD' },
    ...{ sourceLabel: '<script>alert(1)</script>', sourceUrl: `https://hostile.example/${'long'.repeat(60)}` },
    ...(day === 0 ? { amountMinor: 12_345 } : { amountMinor: null, unknownReason: 'withheld' }),
    ...{ confidence: 'low', status: 'estimated' },
  })),
];

const EMPTY: readonly object[] = [
  {
    ...{ type: 'market', slug: 'empty-usd', name: 'A market without observations', kind: 'metal' },
    ...{ nativeCurrency: 'USD', unit: { quantity: 1, of: 'thing' } },
  },
];

/** The longest name, in one word. */
const LONG_NAME = 'Rohoel'.repeat(40).slice(0, 200);

/** Prices of all sizes, and below 0; the newest one is a mistake. */
const OIL: readonly object[] = [
  {
    ...{ type: 'market', slug: 'oil-usd', name: LONG_NAME, kind: 'energy', nativeCurrency: 'USD' },
    unit: { quantity: 1, of: 'barrel' },
  },
  ...[-3698, 2, 40, 300, 0, 900, 4000, 9999].map((amountMinor, day) => ({
    ...{
      type: 'observation',
      market: 'oil-usd',
      metric: 'price',
      observedAt: dayOf(day),
      currency: 'USD',
      amountMinor,
    },
    ...{ ...EXCHANGE, confidence: 'high', status: 'final', outlierConfirmed: true },
    ...(amountMinor === 0 && { zeroAsserted: true }),
  })),
];

/** Sends all of them, and waits until they are published. */
export async function publishMarketData(
  baseUrl = inject('changedUrl'),
  dataFolder = inject('changedFolder'),
): Promise<void> {
  const headers = { Authorization: `Bearer ${(await readFile(join(dataFolder, 'operator-key'), 'utf8')).trim()}` };
  const publish = async (records: readonly object[], mode: 'append' | 'correct'): Promise<void> => {
    const sent = await fetch(`${baseUrl}/api/v1/ingest/batches`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': `market-page-${mode}` },
      body: JSON.stringify({ records, mode }),
    });
    if (sent.status !== 202) throw new Error(`${mode}: ${sent.status} ${await sent.text()}`);
    const report = new URL(sent.headers.get('Location') as string, baseUrl);
    for (let attempt = 0; attempt < 300; attempt++) {
      const { publishedAt } = (await (await fetch(report, { headers })).json()) as { publishedAt: string | null };
      if (publishedAt !== null) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the batch of mode ${mode} was not published: ${await (await fetch(report, { headers })).text()}`);
  };
  await publish([...WHEAT, ...HOSTILE, ...EMPTY, ...OIL], 'append');
  await publish(CORRECTIONS, 'correct');
}

const GOLD = '/api/v1/markets/gold-usd';
const ROWS_OF_PAGE = 64;

/**
 * Serves another history of gold-usd to a page: an observation every 26 minutes until the end of October 2026, whose
 * value is its number from the newest one. By a server of its own, because the tools of the browser pass large bodies on
 * slowly.
 *
 * @returns the paths below the market's that are asked for, as they come in
 */
export async function serveLongHistory(page: Page, count: number): Promise<string[]> {
  const read = async (path: string): Promise<unknown> => (await fetch(inject('changedUrl') + path)).json();
  const market = (await read(GOLD)) as { readonly history: object };
  const history = (await read(`${GOLD}/history`)) as { readonly data: readonly object[] };
  const at = (number: number): string =>
    new Date(Date.UTC(2026, 9, 31) - (number - 1) * 26 * 60_000).toISOString().replace('.000Z', 'Z');
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ ...history.data[0], id: `obs_${index + 1}`, observedAt: at(index + 1), recordedAt: at(index + 1) },
    ...{ decimal: `${index + 1}.00`, amountMinor: 100 * (index + 1), sourceUrl: 'https://long.example/' },
  }));
  const years = Map.groupBy(rows.toReversed(), ({ observedAt }) => observedAt.slice(0, 4));
  const closedPages = Array.from({ length: Math.ceil(count / ROWS_OF_PAGE) - 1 }, (_, index) => {
    const newest = (index + 1) * ROWS_OF_PAGE + 1;
    const oldest = Math.min(count, newest + ROWS_OF_PAGE - 1);
    return { cursor: `1-${newest}`, count: ROWS_OF_PAGE, firstObservedAt: at(oldest), lastObservedAt: at(newest) };
  });
  const bodies: Readonly<Record<string, () => string>> = {
    '.json': () => JSON.stringify({ ...market, history: { ...market.history, count } }),
    '/history.json': () =>
      JSON.stringify({
        data: rows.slice(0, ROWS_OF_PAGE),
        page: { next: 'history/pages/1-65.json', nextCursor: '1-65' },
      }),
    '/history/index.json': () => {
      const files = [...years.keys()].map((year) => ({ year, csv: '/csv', ndjson: `${GOLD}/history/${year}.ndjson` }));
      return JSON.stringify({ closedPages: closedPages.toReversed(), years: files, csv: '/csv', ndjson: '/ndjson' });
    },
    ...Object.fromEntries(
      [...years].map(([year, own]) => [
        `/history/${year}.ndjson`,
        () => own.map((row) => `${JSON.stringify(row)}\n`).join(''),
      ]),
    ),
  };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url as string).slice(GOLD.length);
    asked.push(path);
    response.end(bodies[path]?.());
  });
  const { port } = new URL(await listeningForTest(server));
  await page.route(`**${GOLD}**`, (route) => {
    const url = new URL(route.request().url());
    url.port = port;
    return route.continue({ url: url.href });
  });
  return asked;
}
