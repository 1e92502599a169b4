/** The daily files of markets, through their URLs: price files and quotes, and which of them are written. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { FileTooLarge } from '../../../publisher/errors.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { partOf } from '../../../publisher/projections/compat/names.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, retraction } from '../world.ts';
import { COMPAT, compatWorld, DAY_MS, PATHS } from './compat-world.ts';

const FILES = (slug: string) => Object.values(PATHS(slug));
const LEADING = ['/beancount/prices.beancount', '/hledger/prices.journal', '/parts.json'];

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
  expect(await world.file(PATHS('gold-usd').beancount)).toBe(
    `; The last price of each day (UTC) of the markets of part 86, exactly.\n` +
      '; From /api/v1/markets/gold-usd, revision 3.\n' +
      '; Market gold-usd: for one troy ounce.\n' +
      '; Source: Example, https://example.com/, CC-BY-4.0, By Example\n' +
      '2026-01-02 price GOLD-USD 4129.10 USD\n' +
      '2026-01-03 price GOLD-USD -0.01 USD\n',
  );
  expect(await world.file(PATHS('gold-usd').hledger)).toMatch(
    /^;.*\ndecimal-mark \.\n;.*\n;.*\n;.*\nP 2026-01-02 "GOLD-USD" 4129\.10 USD\nP 2026-01-03 "GOLD-USD" -0\.01 USD\n$/,
  );
  expect(await world.lines('beancount', 'eur-usd')).toEqual(['2026-01-02 price EUR 1.13607 USD']);
  expect(await world.lines('hledger', 'eur-usd')).toEqual(['P 2026-01-02 EUR 1.13607 USD']);
  expect(await world.quotes('gold-usd')).toMatchObject({
    ...{ name: 'Market gold-usd', unit: 'troy ounce', currency: 'USD', price: -0.01, date: '2026-01-03' },
    quotes: [
      { date: '2026-01-02', close: 4129.1 },
      { date: '2026-01-03', close: -0.01 },
    ],
    ...{ market: '/api/v1/markets/gold-usd', derived: expect.stringContaining('Floating-point') },
    sources: [{ label: 'Example', url: 'https://example.com/', licence: 'CC-BY-4.0', attribution: 'By Example' }],
  });
  expect(await world.fileJson('/parts.json')).toEqual({ 'eur-usd': partOf('eur-usd'), 'gold-usd': '86' });
  const parts = ['86', partOf('eur-usd')].sort();
  expect(await world.file('/beancount/prices.beancount')).toBe(
    parts.map((part) => `include "${part}.beancount"\n`).join(''),
  );
  expect(await world.file('/hledger/prices.journal')).toBe(parts.map((part) => `include ${part}.journal\n`).join(''));
  expect(await world.findings()).toEqual([]);
});

test('the newest price, and those about a day, a month and a year before it, exactly', async () => {
  const world = compatWorld();
  const days = [0, 1, -29, -365, -366].map((day) => price('a', day, 1_000 + day));
  await world.ingest([market('a'), market('b'), ...days, price('a', 2, null), price('b', 1, null)]);
  await world.nextDay();
  const path = PATHS('a').changes;
  const at = (date: string, decimal: string) => ({ date, decimal });
  expect((await world.fileJson<Record<string, object>>(path)).a).toEqual({
    newest: at('2026-01-02', '10.01'),
    day: at('2026-01-01', '10.00'),
    month: at('2025-12-03', '9.71'),
    year: at('2025-01-01', '6.35'),
    revision: 6,
  });
  const none = { newest: null, day: null, month: null, year: null };
  expect((await world.fileJson<Record<string, object>>(PATHS('b').changes)).b).toMatchObject(none);
  expect(await world.findings()).toEqual([]);
});

test('an unknown price is left out, and never zero; a zero is a price', async () => {
  const world = compatWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 0), price('a', 1, null), price('b', 1, null)]);
  await world.nextDay();
  expect(await world.lines('beancount', 'a')).toEqual(['2026-01-01 price M.A 0.00 USD']);
  expect(await world.quotes('a')).toMatchObject({ price: 0, date: '2026-01-01' });
  expect(await world.lines('hledger', 'b')).toEqual([]);
  expect(await world.quotes('b')).toMatchObject({ price: null, date: null, quotes: [] });
});

test('a correction replaces a price; a mistake shows the price before it, a withdrawal leaves none', async () => {
  const world = compatWorld();
  const morning = (slug: string) => at(slug, '2026-01-02T08:00:00Z', 1);
  const evening = (slug: string, more: object = {}) => at(slug, '2026-01-02T20:00:00Z', 2, more);
  const slugs = ['corrected', 'mistaken', 'withdrawn'];
  await world.ingest(slugs.flatMap((slug) => [market(slug), morning(slug), evening(slug)]));
  await world.nextDay();
  await world.ingest([{ ...evening('corrected'), amountMinor: 7 } as IngestRecordInput], 'correct');
  const taking = (slug: string, kind: string) => retraction(evening(slug), { kind });
  await world.ingest([taking('mistaken', 'mistake'), taking('withdrawn', 'withdrawn')]);
  await world.nextDay();
  expect(await Promise.all(slugs.map((slug) => world.lines('beancount', slug)))).toEqual([
    ['2026-01-02 price CORRECTED 0.07 USD'],
    ['2026-01-02 price MISTAKEN 0.01 USD'],
    [],
  ]);
  expect(await world.findings()).toEqual([]);
});

test('prices and corrections that are published while the files are made are not in them', async () => {
  const world = compatWorld();
  await world.ingest([market('a'), price('a', 0, 100), price('a', 1, 101), price('a', 2, 102)]);
  const later = [() => world.ingest([price('a', 1, 7)], 'correct'), () => world.ingest([price('a', 3, 103)])];
  await world.nextDay({
    async yieldToEventLoop() {
      await later.pop()?.();
      await world.publishAll();
    },
  });
  expect((await world.section('beancount', 'a')).split('\n')).toEqual([
    '; From /api/v1/markets/a, revision 3.',
    '; Market a: for one unit.',
    '2026-01-01 price M.A 1.00 USD',
    '2026-01-02 price M.A 1.01 USD',
    '2026-01-03 price M.A 1.02 USD',
    '',
  ]);
  await world.nextDay();
  expect(await world.lines('beancount', 'a')).toContain('2026-01-02 price M.A 0.07 USD');
  expect(await world.findings()).toEqual([]);
});

test('the first files are made again on their day after quiet time, and those of later days only for a new market', async () => {
  const world = compatWorld();
  const look = async (slug: string, day = 0) => {
    await world.ingest([...(day === 0 ? [market(slug)] : []), price(slug, day, 100)]);
    await world.publishAll();
    const made: string[] = [];
    for (const afterQuietMs of [1, 0, 0]) {
      made.push((await makeCompat({ storage: world.dependencies, again: { afterQuietMs } })).kind);
    }
    return [...made, slug in (await world.fileJson<object>('/parts.json'))];
  };
  expect(await look('a')).toEqual(['made', 'present', 'present', true]);
  expect(await look('b')).toEqual(['present', 'made', 'present', true]);
  await world.nextDay();
  expect(await look('b', 1)).toEqual(['present', 'present', 'present', true]);
  expect(await look('c')).toEqual(['present', 'made', 'present', true]);
});

test('where the decimals for one unit do not end, a comment says so, and the quote is the nearest number', async () => {
  const world = compatWorld();
  await world.ingest([defined('bread', 3, 'loaf'), price('bread', 0, 100), price('bread', 1, 300)]);
  await world.nextDay();
  for (const [format, line] of [
    ['beancount', '2026-01-02 price BREAD 1.00 USD'],
    ['hledger', 'P 2026-01-02 BREAD 1.00 USD'],
  ] as const) {
    expect(await world.lines(format, 'bread')).toEqual([line]);
    expect(await world.section(format, 'bread')).toContain(
      '; 2026-01-01: 1.00 USD for 3 of BREAD: the decimals for one do not end\n',
    );
  }
  expect((await world.quotes('bread'))?.quotes.map(({ close }) => close)).toEqual([1 / 3, 1]);
});

describe('what is written', () => {
  test('once a day: only parts of which a market changed', async () => {
    const world = compatWorld();
    await world.ingest([market('a1'), market('b1'), price('a1', 0, 1), price('b1', 0, 1)]);
    expect((await world.nextDay()).sort()).toEqual([...FILES('a1'), ...FILES('b1'), ...LEADING, ...NO_RATES()].sort());
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

  test('a part that is too large for the store stays as it was, and all others are made', async () => {
    const world = compatWorld();
    await world.ingest([market('a1'), market('b1'), ...[0, 1].map((day) => price('a1', day, 1)), price('b1', 0, 1)]);
    await world.publish();
    const days = Array.from({ length: 300 }, (_, day) => price('a1', day - 300, 1));
    await world.ingest(days);
    await world.publish();
    const storage = { ...world.dependencies, maxObjectBytes: 8_000 };
    await expect(makeCompat({ storage })).rejects.toThrow(FileTooLarge);
    expect(await world.file(PATHS('a1').quotes)).toBe('404');
    expect(await world.lines('hledger', 'b1')).toHaveLength(1);
    expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
    expect(await world.lines('hledger', 'a1')).toHaveLength(302);
  });
});

test('a removed market leaves its files with the next look, on the same day', async () => {
  const world = compatWorld();
  await world.ingest([market('a1'), market('b1'), price('a1', 0, 1), price('b1', 0, 1)]);
  await world.nextDay();
  await removeMarket(world, 'a1', 'b1');
  await world.publish();
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('present');
  expect(await world.section('hledger', 'a1')).toBe('');
  expect(await world.fileJson(PATHS('a1').quotes)).not.toHaveProperty('a1');
  expect(await world.fileJson('/parts.json')).toEqual({ b1: partOf('b1') });
  expect(await world.file('/hledger/prices.journal')).toBe(`include ${partOf('b1')}.journal\n`);
  expect(await world.findings()).toEqual([]);
});

test('the last market leaves its files, too', async () => {
  const world = compatWorld();
  await world.ingest([{ ...defined('chf-usd', 1, 'CHF'), name: 'Franc' }, price('chf-usd', 0, 777)] as never);
  await world.nextDay();
  await removeMarket(world, 'chf-usd');
  await world.publish();
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
  const files = [...Object.values(PATHS('chf-usd')), ...LEADING, '/currency-api@latest/v1/currencies/chf.json'];
  for (const path of files) expect(await world.file(path)).not.toMatch(/^404|Franc|7\.77|chf-usd|include/);
  expect(await world.findings()).toEqual([]);
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('present');
});

test('a run that was slow puts no prices in the place of those of a later run, which leave out a removed market', async () => {
  const world = compatWorld();
  // In one part: it is put when both were read.
  const other = Array.from({ length: 5_000 }, (_, n) => `n${n}`).find((slug) => partOf(slug) === partOf('a')) as string;
  await world.ingest([market('a'), market(other), price('a', 0, 100), price(other, 0, 200)]);
  await world.publish();
  let isOvertaken = false;
  const get: typeof world.objects.get = async (key, options) => {
    const found = await world.objects.get(key, options);
    if (key !== publicKey({ kind: 'history', slug: other }) || isOvertaken) return found;
    isOvertaken = true;
    await removeMarket(world, 'a');
    await world.publish();
    expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
    return found;
  };
  await makeCompat({ storage: { ...world.dependencies, objects: { ...world.objects, get } } });
  expect(isOvertaken).toBe(true);
  for (const path of [PATHS('a').quotes, '/parts.json']) expect(await world.fileJson(path)).not.toHaveProperty('a');
});

test.each(Object.entries(PATHS('a1')))(
  'verify finds another price in the file of %s, and that it is lost; the next day puts it again',
  async (_, file) => {
    const world = compatWorld();
    await world.ingest([market('a1'), price('a1', 0, 1)]);
    await world.nextDay();
    const url = COMPAT + file;
    await world.forge(`public${url}`, (body) => body.toString().replaceAll('0.01', '0.02'));
    expect(await world.findings()).toMatchObject([{ url, rule: 'file' }]);
    await world.lose(`public${url}`);
    expect(await world.findings()).toContainEqual(expect.objectContaining({ url, rule: 'status' }));
    expect(await world.nextDay()).toContain(file);
    expect(await world.findings()).toEqual([]);
  },
);
