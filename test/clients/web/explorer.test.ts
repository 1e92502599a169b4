/** What the explorer makes of prices, moments and addresses, without a browser. */

import { describe, expect, test } from 'vitest';
import { DailyChanges } from '../../../clients/web/browser/explorer/daily-changes.ts';
import { keepEqual, rowBadges } from '../../../clients/web/browser/explorer/latest-rows.ts';
import { type OrderContext, sortedEntries } from '../../../clients/web/browser/explorer/list-order.ts';
import {
  countsBy,
  ListSelector,
  type ListView,
  parseView,
  viewFragment,
  WHOLE_VIEW,
} from '../../../clients/web/browser/explorer/list-view.ts';
import { marketMatcher } from '../../../clients/web/browser/explorer/market-search.ts';
import { metricColumns } from '../../../clients/web/browser/explorer/metric-columns.ts';
import { sparkLine } from '../../../clients/web/browser/explorer/spark-line.ts';
import { clockOffsetMs } from '../../../clients/web/browser/service-clock.ts';
import type { LatestEntry } from '../../../contract/bodies/latest-entries.ts';
import { priceWords } from '../../../contract/bodies/latest-words.ts';
import { changePercent, percentText, priceChange } from '../../../contract/bodies/price-change.ts';

const NOW_MS = Date.parse('2026-10-02T12:00:00Z');

const entry = (fields: Partial<LatestEntry> = {}): LatestEntry => ({
  slug: 'eur-huf',
  name: 'Euro, Hungarian forint',
  decimal: '36690.00',
  quantity: 100,
  unit: 'EUR',
  currency: 'HUF',
  observedAt: '2026-10-01T00:00:00Z',
  releasedAt: null,
  updatedAt: null,
  source: 'a test',
  status: 'final',
  unknownReason: null,
  recordedAt: null,
  kind: 'fx',
  decimalPerUnit: '366.9',
  confidence: 'high',
  disputed: false,
  retired: false,
  expectedNextAt: null,
  graceSeconds: null,
  rounded: false,
  sourceValue: null,
  ...fields,
});

/** As the page makes them: all in order, then those that match. */
function selectEntries(
  entries: readonly LatestEntry[],
  view: ListView,
  recent: OrderContext['recent'] = new Map(),
): readonly LatestEntry[] {
  return new ListSelector().select(sortedEntries(entries, view, { recent, shares: null }), view);
}

describe('a price', () => {
  const unknown = { decimal: null, decimalPerUnit: null };
  test.each<[string, Partial<LatestEntry>, string | null, readonly string[]]>([
    ['is that of one unit, with the decimals of its currency', {}, '366.90', ['per EUR']],
    ['has all decimals of one unit', { quantity: 1000, decimal: '1136.07' }, '1.13607', ['per EUR']],
    ['of a quantity that is no power of ten, too', { quantity: 8, decimal: '1.00' }, '0.125', ['per EUR']],
    ['of one unit is itself', { quantity: 1 }, '36,690.00', ['per EUR']],
    ['that cannot be divided exactly is not', { quantity: 3000 }, '36,690.00', ['per 3,000 EUR']],
    ['that is zero is zero', { decimal: '0.00', quantity: 1 }, '0.00', ['per EUR']],
    [
      'that is unknown says why',
      { ...unknown, unknownReason: 'withheld' },
      null,
      ['withheld, by its source or by this service'],
    ],
    ['may never have been observed', { ...unknown, observedAt: null }, null, ['no price recorded']],
  ])('%s', (_, fields, digits, below) => {
    expect(priceWords(entry(fields))).toEqual({ digits, value: digits?.replaceAll(',', '') ?? null, below });
  });
});

describe('models on a list', () => {
  const money = (decimal: string, decimalPerUnit: string) => ({
    decimal,
    decimalPerUnit,
    unit: 'USD',
    observedAt: DAY,
  });
  const DAY = '2026-09-01T00:00:00Z';
  const model = (slug: string, metrics: NonNullable<LatestEntry['metrics']>, quantity = 1_000_000) =>
    entry({ slug, name: slug, decimal: null, observedAt: null, quantity, unit: 'token', currency: 'USD', metrics });
  const [cheap, dear, free] = [
    model(
      'cheap',
      { inputPrice: money('7.50', '0.000000075'), window: { decimal: '8', unit: 'token', observedAt: DAY } },
      100_000_000,
    ),
    model('dear', { inputPrice: money('5.00', '0.000005'), outputPrice: { ...money('1', '1'), disputed: true } }),
    model('free', {
      window: { decimal: null, unit: 'token', observedAt: '2026-10-01T00:00:00Z', unknownReason: 'withheld' },
    }),
  ];

  test('have columns of the metrics that most have, in one unit; others keep the column of the price', () => {
    expect(metricColumns([cheap, dear, free, entry({ observedAt: null })])).toEqual([
      { name: 'inputPrice', unit: 'USD per 1M tokens' },
      { name: 'window', unit: 'tokens' },
    ]);
    expect(metricColumns([cheap, entry(), entry()])).toBeNull();
    expect(metricColumns([])).toBeNull();
    const inEuros = model('euros', { inputPrice: { ...money('1.00', '0.000001'), unit: 'EUR' } });
    expect(metricColumns([cheap, inEuros])?.[0]).toEqual({ name: 'inputPrice', unit: null });
  });

  test('are sorted by what one unit costs, the unknown last, and by their last change', () => {
    const sorted = (sort: string, isDescending = false) =>
      selectEntries([free, dear, cheap], { ...WHOLE_VIEW, sort, isDescending }).map(({ slug }) => slug);
    expect(sorted('inputPrice')).toEqual(['cheap', 'dear', 'free']);
    expect(sorted('inputPrice', true)).toEqual(['dear', 'cheap', 'free']);
    expect(sorted('age')).toEqual(['free', 'cheap', 'dear']);
    expect(sorted('constructor')).toEqual(['cheap', 'dear', 'free']);
  });

  test('among markets with prices show their first metric, and what is disputed', () => {
    expect(priceWords(cheap)).toEqual({ digits: '0.075', value: '0.075', below: ['Input price', 'USD per 1M tokens'] });
    expect(priceWords(free)).toEqual({ digits: null, value: null, below: ['Window', 'tokens', 'unknown'] });
    expect(rowBadges(dear, NOW_MS).map(({ text }) => text)).toEqual(['disputed']);
  });
});

describe('a badge says that the price', () => {
  const due = (expectedNextAt: string, graceSeconds = 0) => ({ expectedNextAt, graceSeconds });
  test.each<[string, Partial<LatestEntry>, readonly string[]]>([
    ['is as it should be: none', {}, []],
    ['is not late within its grace', due('2026-10-02T11:00:00Z', 3600), []],
    ['is late since today', due('2026-10-02T11:00:00Z', 3599), ['late since 11:00 UTC']],
    ['is late since this year', due('2026-09-28T15:00:00Z'), ['late since 28 Sep']],
    ['is late since another year', due('2025-12-31T15:00:00Z'), ['late since 31 Dec 2025']],
    [
      'is disputed, provisional, of low confidence and of a retired market',
      { disputed: true, status: 'provisional', confidence: 'low', retired: true },
      ['disputed', 'provisional', 'low confidence', 'retired'],
    ],
    ['is a week old: none', { observedAt: '2026-09-25T12:00:00Z' }, []],
    ['is older, and nobody says when the next one is due', { observedAt: '2026-08-08T11:00:00Z' }, ['55 days old']],
    ['is old, and the last one', { observedAt: '2026-08-08T11:00:00Z', retired: true }, ['retired']],
    ['is old, and not late', { observedAt: '2026-08-08T11:00:00Z', ...due('2026-10-03T00:00:00Z') }, []],
    ['is rounded: its provenance says it', { rounded: true, sourceValue: '366.9000001' }, []],
  ])('%s', (_, fields, texts) => {
    const badges = rowBadges(entry(fields), NOW_MS);
    expect(badges.map(({ text }) => text)).toEqual(texts);
  });
});

describe('a view', () => {
  const view = (fields: Partial<ListView>): ListView => ({ ...WHOLE_VIEW, ...fields });
  const entries = [
    entry({
      ...{ slug: 'b', name: 'São Tomé cocoa', kind: 'food', currency: 'USD', observedAt: '2026-09-26T00:00:00Z' },
      ...{ unit: 'tonne', decimal: '9000.00', quantity: 1, decimalPerUnit: '9000.00' },
    }),
    entry({ slug: 'a-2', name: 'item 10', disputed: true }),
    entry({ slug: 'a-1', name: 'Item 9', observedAt: null, decimal: null }),
  ];
  test.each<[string, Partial<ListView>, readonly string[]]>([
    ['of everything is by name, numbers as numbers', {}, ['a-1', 'a-2', 'b']],
    ['may be the other way round', { isDescending: true }, ['b', 'a-2', 'a-1']],
    ['finds words without accents and capitals', { text: ' tome SAO ' }, ['b']],
    ['finds slugs', { text: 'a-' }, ['a-1', 'a-2']],
    ['finds nothing for a word that is not there', { text: 'tome x' }, []],
    ['has one kind', { kind: 'food', hasCharts: false }, ['b']],
    ['has one currency', { currency: 'HUF' }, ['a-1', 'a-2']],
    ['by age has the youngest first, and the unknown last', { sort: 'age' }, ['a-2', 'b', 'a-1']],
    ['by age downwards has the unknown last, too', { sort: 'age', isDescending: true }, ['b', 'a-2', 'a-1']],
    ['by currency and price, the unknown last', { sort: 'price', isDescending: true }, ['a-2', 'b', 'a-1']],
  ])('%s', (_, fields, slugs) => {
    expect(selectEntries(entries, view(fields)).map(({ slug }) => slug)).toEqual(slugs);
    expect(parseView(`#${viewFragment(view(fields))}`)).toEqual(view({ ...fields, text: fields.text?.trim() ?? '' }));
  });

  test.each([
    [false, ['cheap', 'dear', 'dollar']],
    [true, ['dear', 'cheap', 'dollar']],
  ])('by price compares one unit within a currency, downwards: %s', (isDescending, slugs) => {
    const prices = [
      entry({ slug: 'dollar', currency: 'USD', decimal: '5.00', decimalPerUnit: '5' }),
      entry({ slug: 'dear', quantity: 1, decimal: '367.00', decimalPerUnit: '367' }),
      entry({ slug: 'cheap' }),
    ];
    expect(selectEntries(prices, view({ sort: 'price', isDescending })).map(({ slug }) => slug)).toEqual(slugs);
  });

  test('of everything has no fragment, and the target of a link is no view', () => {
    expect(viewFragment(WHOLE_VIEW)).toBe('');
    expect(parseView('#main')).toBeNull();
    expect(parseView('#sort=2&charts=no&x=1')).toEqual(WHOLE_VIEW);
  });

  test('offers each kind with its count', () => {
    expect([...countsBy([...entries, entry({ kind: '' })], 'kind')]).toEqual([
      ['food', 1],
      ['fx', 2],
    ]);
  });
});

describe('a search for', () => {
  const gold = entry({ slug: 'gold-usd', name: 'Gold, US dollar', kind: 'metal', unit: 'troy ounce', currency: 'USD' });
  const bitcoin = entry({ slug: 'bitcoin-eur', name: 'Bitcoin, Euro', kind: 'crypto', unit: 'BTC', currency: 'EUR' });
  const cash = entry({ slug: 'bitcoin-cash-eur', name: 'Bitcoin Cash', kind: 'crypto', unit: 'BCH', currency: 'EUR' });
  const euro = entry({ slug: 'eur-usd', name: 'Euro, US dollar', kind: 'fx', unit: 'EUR', currency: 'USD' });
  const ticker = entry({ slug: 'x-1', name: 'X', kind: 'crypto', unit: 'ETH', currency: 'USD' });
  test.each<[string, readonly LatestEntry[]]>([
    ['btc', [bitcoin]],
    ['BCH', [cash]],
    ['bitcoin', [bitcoin, cash]],
    ['xau', [gold]],
    ['XAU/USD', [gold]],
    ['xauusd', [gold]],
    ['ounce', [gold]],
    ['metal usd', [gold]],
    ['EUR/USD', [euro]],
    ['eurusd', [euro]],
    ['btc-eur', [bitcoin]],
    ['ethereum', [ticker]],
    ['xag', []],
    ['constructor', []],
    ['', [gold, bitcoin, cash, euro, ticker]],
  ])('%s', (text, found) => {
    expect([gold, bitcoin, cash, euro, ticker].filter(marketMatcher(text))).toEqual(found);
  });

  test.each([
    ['bitcoin eur', [bitcoin, cash]],
    ['Bitcoin', [bitcoin, cash]],
    ['bitcoin cash', [cash]],
    ['eur', [euro, cash, bitcoin]],
  ])('%s shows the market of that very name or slug before longer ones, if no order was chosen', (text, found) => {
    const all = [cash, bitcoin, euro];
    expect(new ListSelector().select(all, { ...WHOLE_VIEW, text })).toEqual(found);
    const chosen = new ListSelector().select(all, { ...WHOLE_VIEW, text, sort: 'price' });
    expect(chosen).toEqual(all.filter((each) => found.includes(each)));
  });

  test('letter by letter finds what the whole text finds, also after other lists and filters', () => {
    const all = [gold, bitcoin, cash, euro, ticker];
    const selector = new ListSelector();
    for (const text of ['', 'b', 'bi', 'bitcoin ', 'bitcoin b', 'bi', 'eur', 'r e', 'eur btc', '']) {
      for (const kind of ['', 'crypto', '']) {
        for (const entries of [all, all.toReversed()]) {
          const wanted = { ...WHOLE_VIEW, text, kind, sort: 'age' };
          const matches = marketMatcher(text);
          const found = entries.filter((each) => matches(each) && (kind === '' || each.kind === kind));
          expect(selector.select(entries, wanted)).toEqual(found);
        }
      }
    }
  });

  test('the first entries of a search are those of the whole one, and no further ones are looked at', () => {
    const looked = new Set<string>();
    const many = Array.from({ length: 20_000 }, (_, n) => {
      const slug = `market-${n}`;
      return {
        ...gold,
        slug,
        name: `Market ${n}`,
        get kind() {
          looked.add(slug);
          return n % 2 === 0 ? 'metal' : 'crypto';
        },
      };
    });
    const selector = new ListSelector();
    selector.select(many, WHOLE_VIEW);
    selector.prepare(many);
    looked.clear();
    for (const text of ['m', 'ma', 'market 7', 'market-19']) {
      const wanted = { ...WHOLE_VIEW, text, kind: 'crypto' };
      looked.clear();
      const first = selector.selectFirst(many, wanted, 16);
      expect(looked.size).toBeLessThanOrEqual(34);
      expect(first).toEqual(selector.select(many, wanted).slice(0, 16));
    }
    expect(selector.selectFirst(many, { ...WHOLE_VIEW, text: 'market 19999' }, 16)).toBeNull();
  });
});

describe('the change of a price', () => {
  const at = (observedAt: string, decimal: string | null) => ({ observedAt: `${observedAt}T00:00:00Z`, decimal });
  const prices = [
    ...[at('2026-10-05', '110.00'), at('2026-10-02', '100.00'), at('2026-09-07', '88.00')],
    ...[at('2026-09-05', '80.00'), at('2026-09-01', null), at('2025-10-05', '0.00'), at('2025-10-02', '220.00')],
  ];
  test.each([
    ['day', '+10 %', '2026-10-02T00:00:00Z'],
    ['month', '+37.5 %', '2026-09-05T00:00:00Z'],
  ] as const)('in a %s is to the price of about that time', (span, text, since) => {
    const change = priceChange(prices, span);
    expect([percentText(change?.share ?? 0), change?.since]).toEqual([text, since]);
  });
  test.each<[string, readonly (typeof prices)[number][]]>([
    ['nothing is from that time', prices.slice(0, 1)],
    ['the newest price is unknown', [at('2026-10-05', null), ...prices.slice(1)]],
    ['the price of that time is unknown', [at('2026-10-05', '1.00'), at('2026-10-04', null)]],
    ['the price of that time is zero', [at('2026-10-05', '1.00'), at('2026-10-04', '0.00')]],
    ['the price of that time is negative', [at('2026-10-05', '1.00'), at('2026-10-04', '-1.00')]],
    ['the sign has changed', [at('2026-10-05', '-29.17'), at('2026-10-04', '45.72')]],
    ['there is no price', []],
  ])('is unknown if %s', (_, points) => {
    expect(priceChange(points, 'day')).toBeNull();
  });
  test('to a price of zero is a fall by all of it', () => {
    expect(priceChange([at('2026-10-05', '0.00'), at('2026-10-04', '45.72')], 'day')?.share).toBe(-1);
  });
  test('orders the markets, those without one last', () => {
    const recent = (slug: string, ...decimal: string[]) =>
      [slug, { slug, decimal, observedAt: ['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'] }] as const;
    const all = ['rises', 'falls', 'new'].map((slug) => entry({ slug, name: slug }));
    const known = new Map([recent('rises', '1.00', '2.00'), recent('falls', '2.00', '1.00')]);
    const view = { ...WHOLE_VIEW, sort: 'day', isDescending: true };
    expect(selectEntries(all, view, known).map(({ slug }) => slug)).toEqual(['rises', 'falls', 'new']);
  });
});

test.each([
  [0.9949, '+99.49 %'],
  [-0.5, '−50.00 %'],
  [9.8311, '+983 %'],
  [12.345, '+1,235 %'],
])('a change of %d is %s', (share, text) => {
  expect(changePercent({ share, since: '' })).toBe(text);
});

describe('a small chart', () => {
  const days = ['2026-09-01T00:00:00Z', '2026-09-03T00:00:00Z', '2026-09-05T00:00:00Z', '2026-09-09T00:00:00Z'];
  const line = (...decimal: (string | null)[]) =>
    sparkLine({ slug: 'a', decimal, observedAt: days.slice(0, decimal.length) }, 'USD');
  test('has a true time axis, gaps, and a dot for a price between two gaps', () => {
    expect(line('1.00', '3.00', null, '2.00')).toEqual({
      path: 'M3 25L31.5 3M117 14h0',
      end: { x: 117, y: 14 },
      words: '4 prices since 1 Sep 2026: last 2.00, lowest 1.00, highest 3.00 USD, 1 unknown',
    });
  });
  test('of equal prices is level, and ends nowhere if the newest price is unknown', () => {
    expect(line('5', '5', null)).toEqual({
      path: 'M3 14L60 14',
      end: null,
      words: '3 prices since 1 Sep 2026: last unknown, lowest 5, highest 5 USD, 1 unknown',
    });
  });
  test('needs two prices', () => {
    expect([line(), line('1'), line(null, '1')]).toEqual([null, null, null]);
  });
});

test('an entry that is the same stays the same object', () => {
  const [one, two] = [entry(), entry({ slug: 'b' })];
  const after = keepEqual([one, two], [entry(), entry({ slug: 'b', decimal: '1.00' }), entry({ slug: 'c' })]);
  expect(after.map((each) => each === one || each === two)).toEqual([true, false, false]);
});

describe('the clock of this computer', () => {
  test.each<[string, string | null, string | null, number]>([
    ['is right', 'Fri, 02 Oct 2026 12:00:00 GMT', '0', 0],
    ['is right by a stored answer with its own date', 'Fri, 02 Oct 2026 11:56:00 GMT', '240', 0],
    ['is right by a stored answer with the date of now', 'Fri, 02 Oct 2026 12:00:01 GMT', '240', 0],
    ['is taken as right without headers', null, 'x', 0],
    ['is taken as right by a date that is none', 'yesterday', null, 0],
    ['is ahead', 'Fri, 02 Oct 2026 11:00:00 GMT', null, 3_600_000],
    ['is behind', 'Fri, 02 Oct 2026 12:30:00 GMT', '0', -1_800_000],
  ])('%s', (_, date, age, offsetMs) => {
    expect(clockOffsetMs(date, age, NOW_MS)).toBe(offsetMs);
  });
});

test('a part of the daily changes that fails late can be read again, and each part is counted once', async () => {
  const asked: PromiseWithResolvers<{ readonly kind: 'found'; readonly body: object }>[] = [];
  const parts = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`m-${n}`, `0${n}`]));
  const readAgain = async (path: string) => {
    if (path.endsWith('parts.json')) return { kind: 'found' as const, body: parts };
    const part = Promise.withResolvers<{ readonly kind: 'found'; readonly body: object }>();
    asked.push(part);
    return await part.promise;
  };
  const turn = () => new Promise(setImmediate);
  const changes = new DailyChanges({ readAgain }, () => {});
  for (const failing of [0, 1]) {
    changes.read();
    changes.read();
    await turn();
    asked[failing]?.reject(new TypeError('planted'));
    await turn();
    expect([changes.state, changes.shares]).toEqual(['failed', null]);
    for (const [at, part] of asked.entries()) if (at !== 1) part.resolve({ kind: 'found', body: {} });
    await turn();
  }
  expect([changes.partsRead, asked.length]).toEqual([6, 8]);
  changes.read();
  await turn();
  asked.at(-1)?.resolve({ kind: 'found', body: {} });
  await turn();
  expect([changes.state, changes.partsRead]).toEqual(['read', 7]);
});
