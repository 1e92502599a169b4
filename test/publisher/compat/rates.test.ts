/** Rates of currencies in the layout of currency-api, and the names of commodities. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { commodityOf } from '../../../publisher/projections/compat/commodity.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { TEST_LOG } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { takeDown } from '../take-down.ts';
import { market, price } from '../world.ts';
import { compatWorld, DAY_MS } from './compat-world.ts';

const LATEST = '/currency-api@latest/v1';

interface Rates {
  readonly date: string;
  readonly derived: {
    readonly rates: { readonly [code: string]: { readonly market: string; readonly isInverse: boolean } };
  };
}

function pair(slug: string, quantity: number, of: string, currency = 'USD', status = 'active'): IngestRecordInput {
  return { ...market(slug, currency), unit: { quantity, of }, status } as IngestRecordInput;
}

async function ratesOf(world: ReturnType<typeof compatWorld>, code: string, base = LATEST) {
  const body = await world.fileJson<Rates & Record<string, Record<string, number>>>(`${base}/currencies/${code}.json`);
  return { ...body, rates: body[code] as Record<string, number> };
}

test('direct and inverse rates of currencies and metals, each with the price behind it', async () => {
  const world = compatWorld();
  await world.ingest([
    {
      ...pair('eur-usd', 1000, 'EUR'),
      sources: [{ label: 'E', url: 'https://example.com/', publisher: null, licence: null, attribution: 'By E' }],
    } as never,
    pair('gold-usd', 1, 'XAU'),
    pair('bread-usd', 1, 'loaf'),
    pair('usd-jpy', 3, 'USD', 'JPY'),
    price('eur-usd', 0, 113_607),
    price('gold-usd', 0, 412_910),
    price('bread-usd', 0, 300),
    price('usd-jpy', 0, 431, 'JPY'),
  ]);
  await world.nextDay();
  const usd = await ratesOf(world, 'usd');
  expect(usd).toEqual({
    date: '2026-10-02',
    usd: { usd: 1, eur: 1000 / 1136.07, xau: 1 / 4129.1, jpy: 431 / 3 },
    rates: usd.rates,
    derived: {
      note: expect.stringContaining('Floating-point numbers, derived'),
      generation: 1,
      log: null,
      rates: {
        eur: {
          ...{ market: 'eur-usd', decimal: '1136.07', currency: 'USD', quantity: 1000, unit: 'EUR' },
          ...{ observedAt: '2026-01-01T00:00:00Z', isInverse: true },
        },
        xau: expect.objectContaining({ market: 'gold-usd', isInverse: true }),
        jpy: expect.objectContaining({ market: 'usd-jpy', isInverse: false, quantity: 3 }),
      },
      attributions: ['By E'],
    },
  });
  // No cross rates.
  expect((await ratesOf(world, 'eur')).rates).toEqual({ eur: 1, usd: 1.13607 });
  expect((await ratesOf(world, 'jpy')).rates).toEqual({ jpy: 1, usd: 3 / 431 });
  expect(await world.fileJson(`${LATEST}/currencies.json`)).toEqual({
    ...{ eur: 'Euro', jpy: 'Japanese Yen', usd: 'US Dollar', xau: expect.any(String) },
  });
  for (const path of ['/currencies/usd', '/currencies']) {
    const bodies = [LATEST, '/currency-api/latest/v1', '/currency-api@2026-10-02/v1', '/currency-api/2026-10-02/v1'];
    const texts = bodies.flatMap((base) => [`${base}${path}.json`, `${base}${path}.min.json`]).map(world.file);
    expect(new Set(await Promise.all(texts)).size).toBe(1);
  }
  expect(await world.findings()).toEqual([]);
});

test('a rate that is unknown, zero, negative or of a retired market is left out', async () => {
  const world = compatWorld();
  await world.ingest([
    ...['eur', 'chf', 'gbp', 'dem', 'sek', 'usd'].map((code) =>
      pair(`${code}-usd`, 1, code.toUpperCase(), 'USD', code === 'dem' ? 'retired' : 'active'),
    ),
    price('eur-usd', 0, null),
    price('chf-usd', 0, 0),
    price('gbp-usd', 0, -5),
    price('dem-usd', 0, 5),
    price('usd-usd', 0, 100),
  ]);
  await world.nextDay();
  expect(await world.fileJson(`${LATEST}/currencies.json`)).toEqual({});
  expect(await world.file(`${LATEST}/currencies/eur.json`)).toBe('404');
});

test('of several markets: the newest day, then the direct quote, then the first by slug', async () => {
  const world = compatWorld();
  await world.ingest([
    ...['b-eur', 'a-eur', 'old-eur'].map((slug) => pair(slug, 1, 'EUR')),
    pair('a-usd', 1, 'USD', 'EUR'),
    ...[price('b-eur', 1, 200), price('a-eur', 1, 300), price('old-eur', 0, 400), price('a-usd', 1, 50, 'EUR')],
  ]);
  await world.nextDay();
  const { rates, derived } = await ratesOf(world, 'eur');
  expect([rates.usd, derived.rates.usd?.market]).toEqual([3, 'a-eur']);
  expect((await ratesOf(world, 'usd')).derived.rates.eur?.market).toBe('a-usd');
  await world.ingest([price('old-eur', 2, 400)]);
  await world.nextDay();
  expect((await ratesOf(world, 'eur')).derived.rates.usd?.market).toBe('old-eur');
  expect((await ratesOf(world, 'usd')).derived.rates.eur).toMatchObject({ market: 'old-eur', isInverse: true });
});

test('a currency that has lost its last market has no rate today, and keeps those of the day before', async () => {
  const world = compatWorld();
  await world.ingest([
    pair('eur-usd', 1, 'EUR'),
    pair('chf-usd', 1, 'CHF'),
    price('eur-usd', 0, 200),
    price('chf-usd', 0, 100),
  ]);
  await world.nextDay();
  await removeMarket(world, 'chf-usd');
  await world.nextDay();
  expect((await ratesOf(world, 'chf')).rates).toEqual({ chf: 1 });
  expect((await ratesOf(world, 'usd')).rates).toEqual({ eur: 0.5, usd: 1 });
  expect(await world.fileJson(`${LATEST}/currencies.json`)).not.toHaveProperty('chf');
  expect((await ratesOf(world, 'usd', '/currency-api@2026-10-02/v1')).rates).toHaveProperty('chf');
  expect(await world.file('/currency-api@2026-10-03/v1/currencies/chf.json')).toBe('404');
});

test('after a takedown, the rates of earlier days have none of its market, and keep all others', async () => {
  const world = compatWorld(['compat'], TEST_LOG);
  const from = (slug: string, attribution: string) => {
    const source = { label: 'S', url: 'https://example.com/', publisher: null, licence: null, attribution };
    return { ...pair(slug, 1, slug.slice(0, 3).toUpperCase()), sources: [source] } as never;
  };
  await world.ingest([from('eur-usd', 'By E'), from('chf-usd', 'By C')]);
  await world.ingest([price('eur-usd', 0, 200), price('chf-usd', 0, 777)]);
  await world.nextDay();
  await world.nextDay();
  const bases = ['2026-10-02', '2026-10-03', 'latest'].map((day) => `/currency-api/${day}/v1`);
  const before = await Promise.all(bases.map((base) => ratesOf(world, 'eur', base)));
  await removeMarket(world, 'chf-usd');
  await world.publish();
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
  await takeDown(world, 'chf-usd');
  await world.publish();
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('made');
  expect((await makeCompat({ storage: world.dependencies })).kind).toBe('present');
  for (const [place, base] of bases.entries()) {
    const usd = await ratesOf(world, 'usd', base);
    expect(usd).toMatchObject({ date: before[place]?.date, rates: { eur: 0.5, usd: 1 } });
    expect(usd.derived).toMatchObject({ rates: { eur: { market: 'eur-usd' } }, attributions: ['By E'] });
    expect((await ratesOf(world, 'chf', base)).rates).toEqual({ chf: 1 });
    if (place === 0) expect(await ratesOf(world, 'eur', base)).toEqual(before[place]);
  }
  const bodies = [...world.objects.snapshot()].filter(([key]) => key.includes('/compat/'));
  expect(bodies.filter(([, { body }]) => /7\.77|chf-usd|By C/.test(Buffer.from(body).toString()))).toEqual([]);
  expect(await world.findings()).toEqual([]);
});

test('verify finds a rate that is not that of its price, and a price that is not that of its market', async () => {
  const world = compatWorld();
  await world.ingest([pair('eur-usd', 1, 'EUR'), price('eur-usd', 0, 200)]);
  await world.nextDay();
  const key = 'public/api/v1/compat/currency-api/latest/v1/currencies/eur.json';
  const right = await world.file('/currency-api/latest/v1/currencies/eur.json');
  for (const [other, rule] of [
    [right.replace('"usd":2}', '"usd":3}'), 'amount'],
    [right.replace('"usd":2}', '"chf":1,"usd":2}'), 'canonical'],
    [right.replace('"2.00"', '"4.00"').replace('"usd":2}', '"usd":4}'), 'file'],
  ] as const) {
    await world.forge(key, () => other);
    expect((await world.findings()).map((finding) => finding.rule)).toContain(rule);
  }
});

describe('the sweep', () => {
  const keysOf = (world: ReturnType<typeof compatWorld>) =>
    [...world.objects.snapshot().keys()].filter((key) => key.includes('/compat/'));

  test('keeps everything of a deployment with compat but rates of a day five weeks ago', async () => {
    const world = compatWorld();
    await world.ingest([pair('eur-usd', 1, 'EUR'), pair('chf-usd', 1, 'CHF'), price('eur-usd', 0, 200)]);
    await world.nextDay();
    await removeMarket(world, 'chf-usd');
    await world.publish();
    const before = keysOf(world);
    world.clock.nowMs += 35 * DAY_MS;
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(keysOf(world)).toEqual(before);
    world.clock.nowMs += DAY_MS;
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(keysOf(world)).toEqual(before.filter((key) => !key.includes('/2026-10-02/')));
  });
});

describe('the name of a commodity', () => {
  const nameOf = (slug: string, of = 'unit') => commodityOf({ slug, unit: { quantity: 1, of } }, true);

  test.each([
    ['gold-usd', 'troy ounce', 'GOLD-USD'],
    ['eur-usd', 'EUR', 'EUR'],
    // Names that beancount or ISO 4217 use, and slugs that are no names.
    ['eur', 'euro note', 'M.EUR'],
    ['a-market-with-24-letters', 'unit', 'A-MARKET-WITH-24-LETTERS'],
    ['1-market-with-22-signs', 'unit', 'M.1-MARKET-WITH-22-SIGNS'],
    ['a-market-with-25-letters-', 'unit', expect.stringMatching(/^M\.A-MARKET-WI\.[0-9A-F]{10}$/)],
  ])('%s of %s', (slug, of, expected) => {
    expect(nameOf(slug, of)).toEqual(expected);
  });

  test('is another one for each slug, and one that beancount 2 and 3 accept', () => {
    const long = 'a'.repeat(70);
    const slugs = ['x', 'm-x', '3d', 'm-3d', 'usd', 'm-usd', `${long}-1`, `${long}-2`, `m-${long}`, 'null', 'nulls'];
    const names = slugs.map((slug) => nameOf(slug));
    expect(new Set(names).size).toBe(slugs.length);
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$/);
  });
});
