/** The daily files of markets, through their URLs: price files and quotes, and which of them are written. */
import { describe, expect, test } from 'vitest';
import { removedMarketSchema } from '../../../contract/files/removed-market.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, SMALL_PAGES } from '../world.ts';
import { compatWorld, DAY_MS } from './compat-world.ts';

const FILES = (slug: string) => [`/prices/${slug}.beancount`, `/prices/${slug}.journal`, `/quotes/${slug}.json`];
const INCLUDES = ['/prices.beancount', '/prices.journal'];

interface Quotes {
  readonly price: number | null;
  readonly date: string | null;
  readonly quotes: readonly { readonly date: string; readonly close: number }[];
}

function defined(slug: string, quantity: number, of: string, currency = 'USD'): IngestRecordInput {
  return { ...market(slug, currency), unit: { quantity, of } } as IngestRecordInput;
}

function at(slug: string, observedAt: string, amountMinor: number | null, more: object = {}): IngestRecordInput {
  return { ...price(slug, 0, amountMinor), observedAt, ...more } as IngestRecordInput;
}

test('one exact price a day, oldest first, in the syntax of each program', async () => {
  const world = compatWorld();
  const source = { label: 'Example', url: 'https://example.com/', publisher: null };
  await world.ingest([
    {
      ...defined('gold-usd', 1, 'troy ounce'),
      sources: [{ ...source, licence: 'CC-BY-4.0', attribution: 'By Example' }],
    } as never,
    defined('eur-usd', 1000, 'EUR'),
    at('gold-usd', '2026-01-02T23:59:59Z', 412_910),
    at('gold-usd', '2026-01-02T10:00:00Z', 400_000),
    at('gold-usd', '2026-01-03T00:00:00Z', -1),
    at('eur-usd', '2026-01-02T00:00:00Z', 113_607),
  ]);
  await world.nextDay();
  expect(await world.text('/prices/gold-usd.beancount')).toBe(
    '; Market gold-usd: the last price of each day (UTC), for one troy ounce, exactly.\n' +
      '; From /api/v1/markets/gold-usd, revision 3.\n' +
      '; Source: Example, https://example.com/, CC-BY-4.0, By Example\n' +
      '2026-01-02 price GOLD-USD 4129.10 USD\n' +
      '2026-01-03 price GOLD-USD -0.01 USD\n',
  );
  expect(await world.text('/prices/gold-usd.journal')).toMatch(
    /^;.*\n;.*\n;.*\ndecimal-mark \.\nP 2026-01-02 "GOLD-USD" 4129\.10 USD\nP 2026-01-03 "GOLD-USD" -0\.01 USD\n$/,
  );
  expect(await world.lines('/prices/eur-usd.beancount')).toEqual(['2026-01-02 price EUR 1.13607 USD']);
  expect(await world.lines('/prices/eur-usd.journal')).toEqual(['P 2026-01-02 EUR 1.13607 USD']);
  expect(await world.json<Quotes>('/quotes/gold-usd.json')).toMatchObject({
    ...{ name: 'Market gold-usd', unit: 'troy ounce', currency: 'USD', price: -0.01, date: '2026-01-03' },
    quotes: [
      { date: '2026-01-02', close: 4129.1 },
      { date: '2026-01-03', close: -0.01 },
    ],
    ...{ market: '/api/v1/markets/gold-usd', derived: expect.stringContaining('Floating-point') },
    sources: [{ label: 'Example', url: 'https://example.com/', licence: 'CC-BY-4.0', attribution: 'By Example' }],
  });
  expect(await world.text('/prices.beancount')).toBe(
    'include "prices/eur-usd.beancount"\ninclude "prices/gold-usd.beancount"\n',
  );
  expect(await world.text('/prices.journal')).toBe('include prices/eur-usd.journal\ninclude prices/gold-usd.journal\n');
  expect(await world.check()).toEqual([]);
});

test('an unknown price is left out, and never zero; a zero is a price', async () => {
  const world = compatWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 0), price('a', 1, null), price('b', 1, null)]);
  await world.nextDay();
  expect(await world.lines('/prices/a.beancount')).toEqual(['2026-01-01 price M.A 0.00 USD']);
  expect(await world.json<Quotes>('/quotes/a.json')).toMatchObject({ price: 0, date: '2026-01-01' });
  expect(await world.lines('/prices/b.journal')).toEqual([]);
  expect(await world.json<Quotes>('/quotes/b.json')).toMatchObject({ price: null, date: null, quotes: [] });
});

test('a correction replaces a price; a mistake shows the price before it, a withdrawal leaves none', async () => {
  const world = compatWorld();
  const morning = (slug: string) => at(slug, '2026-01-02T08:00:00Z', 1);
  const evening = (slug: string, more: object = {}) => at(slug, '2026-01-02T20:00:00Z', 2, more);
  const slugs = ['corrected', 'mistaken', 'withdrawn'];
  await world.ingest(slugs.flatMap((slug) => [market(slug), morning(slug), evening(slug)]));
  await world.nextDay();
  await world.ingest([{ ...evening('corrected'), amountMinor: 7 } as IngestRecordInput], 'correct');
  const { metric, observedAt, sourceUrl } = evening('x') as unknown as Record<string, string>;
  const retraction = (slug: string, kind: string) =>
    ({
      type: 'retraction',
      market: slug,
      metric,
      observedAt,
      sourceUrl: sourceUrl?.replace('/x', `/${slug}`),
      kind,
      reason: 'a test',
    }) as never;
  await world.ingest([retraction('mistaken', 'mistake'), retraction('withdrawn', 'withdrawn')]);
  await world.nextDay();
  expect(await Promise.all(slugs.map((slug) => world.lines(`/prices/${slug}.beancount`)))).toEqual([
    ['2026-01-02 price CORRECTED 0.07 USD'],
    ['2026-01-02 price MISTAKEN 0.01 USD'],
    [],
  ]);
  expect(await world.check()).toEqual([]);
});

test('where the decimals for one unit do not end, a comment says so, and the quote is the nearest number', async () => {
  const world = compatWorld();
  await world.ingest([defined('bread', 3, 'loaf'), price('bread', 0, 100), price('bread', 1, 300)]);
  await world.nextDay();
  for (const [path, line] of [
    ['/prices/bread.beancount', '2026-01-02 price BREAD 1.00 USD'],
    ['/prices/bread.journal', 'P 2026-01-02 BREAD 1.00 USD'],
  ] as const) {
    expect(await world.lines(path)).toEqual([line]);
    expect(await world.text(path)).toContain(
      '; 2026-01-01: 1.00 USD for 3 of BREAD: the decimals for one do not end\n',
    );
  }
  expect((await world.json<Quotes>('/quotes/bread.json')).quotes.map(({ close }) => close)).toEqual([1 / 3, 1]);
});

test('of several markets for one pair, the include files have the active one with the newest day', async () => {
  const world = compatWorld();
  await world.ingest([
    ...['eur-usd-b', 'eur-usd-c', 'eur-usd-d'].map((slug) => defined(slug, 1, 'EUR')),
    { ...defined('eur-usd-a', 1, 'EUR'), status: 'retired' } as IngestRecordInput,
    ...[price('eur-usd-a', 9, 1), price('eur-usd-b', 1, 1), price('eur-usd-c', 2, 1), price('eur-usd-d', 2, 1)],
  ]);
  await world.nextDay();
  expect(await world.text('/prices.journal')).toBe('include prices/eur-usd-c.journal\n');
  expect(await world.lines('/prices/eur-usd-b.journal')).toEqual(['P 2026-01-02 EUR 0.01 USD']);
  expect(await world.check()).toEqual([]);
});

describe('what is written', () => {
  test('once a day: only files of markets that changed', async () => {
    const world = compatWorld();
    await world.ingest([market('a1'), market('b1'), price('a1', 0, 1), price('b1', 0, 1)]);
    expect((await world.nextDay()).sort()).toEqual([...FILES('a1'), ...FILES('b1'), ...INCLUDES, ...NO_RATES()].sort());
    await world.ingest([price('b1', 1, 2)]);
    await world.publish();
    expect((await makeCompat({ storage: world.dependencies })).kind).toBe('present');
    expect((await world.nextDay()).sort()).toEqual([...FILES('b1'), ...NO_RATES(1)].sort());
    expect(await world.nextDay()).toEqual(NO_RATES(2));
    function NO_RATES(day = 0): string[] {
      const date = new Date(Date.parse('2026-10-02') + day * DAY_MS).toISOString().slice(0, 10);
      const latest = day === 0 ? ['/currency-api/latest/v1/currencies.json'] : [];
      return [`/currency-api/${date}/v1/currencies.json`, ...latest];
    }
  });

  test('a file that the store has lost is put again the next day', async () => {
    const world = compatWorld();
    await world.ingest([market('a1'), price('a1', 0, 1)]);
    await world.nextDay();
    const key = 'public/api/v1/compat/quotes/a1.json';
    await world.objects.delete(key, ((await world.objects.stat(key)) as ObjectHead).etag);
    expect(await world.check()).toMatchObject([{ url: '/api/v1/compat/quotes/a1.json', rule: 'status' }]);
    expect(await world.nextDay()).toContain('/quotes/a1.json');
    expect(await world.check()).toEqual([]);
  });

  test('nothing while a generation is being applied, without data, and beyond the time; the next run goes on', async () => {
    const world = compatWorld();
    expect((await makeCompat({ storage: world.dependencies })).kind).toBe('no-data');
    await world.ingest(['a1', 'b1', 'c1', 'd1'].flatMap((slug) => [market(slug), price(slug, 0, 1)]));
    await world.publish();
    const times = [true, false];
    const options = { storage: world.dependencies, hasTime: () => times.shift() ?? true };
    expect((await makeCompat(options)).kind).toBe('unfinished');
    expect([await world.lines('/prices/c1.journal'), await world.text('/prices/d1.journal')]).toEqual([
      ['P 2026-01-01 "C1" 0.01 USD'],
      '404',
    ]);
    expect((await makeCompat(options)).kind).toBe('made');
    expect(await world.lines('/prices/d1.journal')).toHaveLength(1);
  });
});

test('the files of a removed market say so with the generation that removes it, and leave the include files', async () => {
  const world = compatWorld();
  await world.ingest([market('a1'), market('b1'), price('a1', 0, 1), price('b1', 0, 1)]);
  await world.nextDay();
  await removeMarket(world, 'a1', 'b1');
  await world.publish();
  for (const file of FILES('a1')) {
    const { status, body, headers } = await world.read(`/api/v1/compat${file}`);
    expect([status, headers.get('content-type')]).toEqual([410, 'application/problem+json']);
    expect(removedMarketSchema.parse(JSON.parse(Buffer.from(body).toString()))).toMatchObject({ replacedBy: 'b1' });
  }
  await world.nextDay();
  expect(await world.text('/prices.journal')).toBe('include prices/b1.journal\n');
  expect(await world.text('/quotes/a1.json')).toBe('410');
  expect(await world.check()).toEqual([]);
});

test('a market that is removed while its compat are being made stays removed in all of them', async () => {
  const world = compatWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 100), price('b', 0, 200)]);
  await world.nextDay();
  await world.ingest([price('a', 1, 101)]);
  await world.publish();
  world.clock.nowMs += DAY_MS;
  let isRemoved = false;
  // Its history is read, and its files are not put yet.
  const yieldToEventLoop = async () => {
    if (isRemoved) return;
    isRemoved = true;
    await removeMarket(world, 'a');
    await world.publish();
  };
  await makeCompat({ storage: world.dependencies, yieldToEventLoop });
  expect(isRemoved).toBe(true);
  for (const path of FILES('a')) expect([path, await world.text(path)]).toEqual([path, '410']);
  // The include files are of the list with which the run began; the next day's are not.
  await world.nextDay();
  expect(await world.text('/prices.beancount')).toBe('include "prices/b.beancount"\n');
  const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled: true, removed: ['a'] });
  expect(report.findings).toEqual([]);
});

test('verify finds a price file with another price', async () => {
  const world = compatWorld();
  await world.ingest([market('a1'), price('a1', 0, 1)]);
  await world.nextDay();
  for (const file of FILES('a1')) {
    const key = `public/api/v1/compat${file}`;
    const { body, metadata, etag } = {
      ...world.objects.snapshot().get(key),
      ...(await world.objects.stat(key)),
    } as never as {
      body: Uint8Array;
      metadata: ObjectHead['metadata'];
      etag: ObjectHead['etag'];
    };
    const other = Buffer.from(Buffer.from(body).toString().replaceAll('0.01', '0.02'));
    const put = await world.objects.put(key, other, metadata, { kind: 'matches', etag });
    expect(await world.check()).toMatchObject([{ url: `/api/v1/compat${file}`, rule: 'file' }]);
    await world.objects.put(key, body, metadata, { kind: 'matches', etag: (put as { etag: ObjectHead['etag'] }).etag });
  }
  expect(await world.check()).toEqual([]);
});
