/** What the explorer makes of prices, moments and addresses, without a browser. */

import { describe, expect, test } from 'vitest';
import { rowBadges } from '../../../clients/web/browser/explorer/latest-rows.ts';
import { type OrderContext, sortedEntries } from '../../../clients/web/browser/explorer/list-order.ts';
import {
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
    ['that cannot be divided exactly is not', { quantity: 3000 }, '36,690.00', ['per 3,000 EUR']],
    [
      'that is unknown says why',
      { ...unknown, unknownReason: 'withheld' },
      null,
      ['withheld, by its source or by this service'],
    ],
    ['may never have been observed', { ...unknown, observedAt: null }, null, ['no price yet']],
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
    ['is not late within its grace', due('2026-10-02T11:00:00Z', 3600), []],
    ['is late since today', due('2026-10-02T11:00:00Z', 3599), ['late since 11:00 UTC']],
    ['is late since another year', due('2025-12-31T15:00:00Z'), ['late since 31 Dec 2025']],
    [
      'is disputed, provisional, of low confidence and of a retired market',
      { disputed: true, status: 'provisional', confidence: 'low', retired: true },
      ['disputed', 'provisional', 'low confidence', 'retired'],
    ],
    ['is a week old: none', { observedAt: '2026-09-25T12:00:00Z' }, []],
    ['is older, and nobody says when the next one is due', { observedAt: '2026-08-08T11:00:00Z' }, ['55 days old']],
    ['is old, and not late', { observedAt: '2026-08-08T11:00:00Z', ...due('2026-10-03T00:00:00Z') }, []],
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
    ['finds words without accents and capitals', { text: ' tome SAO ' }, ['b']],
    ['finds nothing for a word that is not there', { text: 'tome x' }, []],
    ['has one kind', { kind: 'food', hasCharts: false }, ['b']],
    ['by age has the youngest first, and the unknown last', { sort: 'age' }, ['a-2', 'b', 'a-1']],
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
});

describe('a search for', () => {
  const gold = entry({ slug: 'gold-usd', name: 'Gold, US dollar', kind: 'metal', unit: 'troy ounce', currency: 'USD' });
  const bitcoin = entry({ slug: 'bitcoin-eur', name: 'Bitcoin, Euro', kind: 'crypto', unit: 'BTC', currency: 'EUR' });
  const cash = entry({ slug: 'bitcoin-cash-eur', name: 'Bitcoin Cash', kind: 'crypto', unit: 'BCH', currency: 'EUR' });
  const euro = entry({ slug: 'eur-usd', name: 'Euro, US dollar', kind: 'fx', unit: 'EUR', currency: 'USD' });
  const ticker = entry({ slug: 'x-1', name: 'X', kind: 'crypto', unit: 'ETH', currency: 'USD' });
  test.each<[string, readonly LatestEntry[]]>([
    ['btc', [bitcoin]],
    ['bitcoin', [bitcoin, cash]],
    ['xau', [gold]],
    ['xauusd', [gold]],
    ['metal usd', [gold]],
    ['EUR/USD', [euro]],
    ['ethereum', [ticker]],
    ['constructor', []],
    ['', [gold, bitcoin, cash, euro, ticker]],
  ])('%s', (text, found) => {
    expect([gold, bitcoin, cash, euro, ticker].filter(marketMatcher(text))).toEqual(found);
  });

  test.each([
    ['bitcoin eur', [bitcoin, cash]],
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
    ['the price of that time is zero', [at('2026-10-05', '1.00'), at('2026-10-04', '0.00')]],
    ['the sign has changed', [at('2026-10-05', '-29.17'), at('2026-10-04', '45.72')]],
  ])('is unknown if %s', (_, points) => {
    expect(priceChange(points, 'day')).toBeNull();
  });
  test('orders the markets, those without one last', () => {
    const observedAt = ['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'];
    const recent = (slug: string, ...decimal: string[]) => [slug, { slug, decimal, observedAt }] as const;
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
});

describe('the clock of this computer', () => {
  test.each<[string, string | null, string | null, number]>([
    ['is right by a stored answer with its own date', 'Fri, 02 Oct 2026 11:56:00 GMT', '240', 0],
    ['is right by a stored answer with the date of now', 'Fri, 02 Oct 2026 12:00:01 GMT', '240', 0],
    ['is taken as right without headers', null, 'x', 0],
    ['is ahead', 'Fri, 02 Oct 2026 11:00:00 GMT', null, 3_600_000],
  ])('%s', (_, date, age, offsetMs) => {
    expect(clockOffsetMs(date, age, NOW_MS)).toBe(offsetMs);
  });
});
