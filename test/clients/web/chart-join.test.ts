/** Several markets in one chart. */
import { describe, expect, it } from 'vitest';
import { joinedChart } from '../../../clients/web/browser/chart/chart-join.ts';
import { comparedSlugs } from '../../../clients/web/browser/history/compared-markets.ts';
import { ObservationStore } from '../../../clients/web/browser/history/observation-store.ts';
import { shownHistory } from '../../../clients/web/browser/history/shown-history.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import type { Market } from '../../../contract/values/market.ts';
import { row } from './price-row.ts';

const day = (number: number): number => Date.UTC(2026, 0, number) / 1000;

type Prices = Readonly<Record<number, string>>;

/** A market with the prices of days, from its own source and, at half of it or of its own days, from another one. */
function history(name: string, of: string, prices: Prices, late?: Prices) {
  const store = new ObservationStore();
  const days = (of: Prices, labels: readonly string[]) =>
    Object.entries(of).map((entry) => [...entry, labels] as const);
  const all =
    late === undefined ? days(prices, ['own', 'other']) : [...days(prices, ['own']), ...days(late, ['other'])];
  const rows = all.flatMap(([number, decimal, labels]) =>
    labels.map((sourceLabel) => {
      const own = sourceLabel === 'own' || late !== undefined ? decimal : String(Number(decimal) / 2);
      return row(Number(number), { id: `${name}${number}${sourceLabel}`, decimal: own, sourceLabel });
    }),
  );
  store.add(rows.toReversed().sort((one, other) => Date.parse(other.observedAt) - Date.parse(one.observedAt)));
  const market = {
    ...{ slug: name, name, nativeCurrency: 'USD', unit: { quantity: 1, of }, disputedMetrics: [], bySource: {} },
    sources: [{ label: 'own' }, { label: 'other' }],
    metrics: { price: rows.find(({ sourceLabel }) => sourceLabel === 'own') },
  } as unknown as Market;
  const wish = { asOf: null, metric: null, clock: 'recorded', hasReplaced: false, nowMs: 0 } as const;
  return { market, shown: finished(shownHistory(market, store, wish)) };
}

const gold = history('gold', 'ounce', { 1: '100', 2: '110', 4: '120' });
const silver = history('silver', 'ounce', { 2: '10', 3: '11' });
const euro = history('euro', 'EUR', { 2: '2', 4: '3' });

function lines(
  others: readonly (typeof gold)[],
  scale: 'linear' | 'log' | 'percent' | 'index' = 'linear',
  { main = gold, hidden = [] as string[], range = null as { min: number; max: number } | null } = {},
) {
  const { data, axisTexts, notes } = joinedChart(main, others, { scale, range }, new Set(hidden));
  const series = data.series.map(({ name, axis, values, rows }) => ({ name, axis, values: [...values], rows }));
  return { series, axisTexts, notes, scale: data.scale, seconds: data.seconds };
}

describe('the chart of several markets', () => {
  it('has all moments, each line its own; of another market only one source', () => {
    const { series, seconds, axisTexts, notes } = lines([silver, euro]);
    expect(seconds).toEqual([1, 2, 3, 4].map(day));
    expect(series.map(({ name, axis }) => [name, axis])).toEqual([
      ['gold: own', 'y'],
      ['gold: other', 'y'],
      [`silver: ${silver.shown.newest?.sourceLabel}`, 'y'],
      [`euro: ${euro.shown.newest?.sourceLabel}`, 'y2'],
    ]);
    expect(series[0]?.values).toEqual([100, 110, undefined, 120]);
    expect(series[3]?.values.map((value) => value === undefined)).toEqual([true, false, true, false]);
    expect(series[3]?.rows[3]?.observedAt).toBe('2026-01-04T00:00:00Z');
    expect([axisTexts, notes]).toEqual([['USD per ounce', 'USD per EUR'], []]);
  });

  it('compares from the first moment that all lines have', () => {
    const { series, axisTexts } = lines([silver, euro], 'index');
    expect(series[0]?.values.map((value) => value && Math.round(value))).toEqual([91, 100, undefined, 109]);
    expect(series.every(({ axis }) => axis === 'y')).toBe(true);
    expect(axisTexts).toEqual(['2 Jan 2026 = 100']);
  });

  // Its second source begins after all others have ended.
  const split = history('split', 'ounce', { 1: '100', 2: '110', 4: '120' }, { 20: '50', 21: '60' });
  const [own, other] = ['split: own', 'split: other'];

  it.each([
    [
      'as many lines as can be',
      [],
      null,
      '2 Jan 2026',
      { [own]: [91, 100, 109], 'silver: other': [100, 110] },
      [other],
    ],
    ['the others, of hidden lines', [own, 'silver: other'], null, '20 Jan 2026', { [other]: [100, 120] }, []],
    [
      'the lines that are shown',
      [],
      [3, 5],
      '3 Jan 2026',
      { [own]: [83, 92, 100], 'silver: other': [91, 100] },
      [other],
    ],
    ['what has a price', [], [15, 25], '20 Jan 2026', { [other]: [100, 120] }, [own, 'silver: other']],
  ] as const)(
    'is compared from a moment of %s, and nothing with a price before',
    (_of, hidden, days, since, values, out) => {
      const range = days === null ? null : { min: day(days[0]), max: day(days[1]) };
      const { series, axisTexts, notes } = lines([silver], 'index', { main: split, hidden: [...hidden], range });
      const seen = series.flatMap(({ name, values }) => {
        const known = values.flatMap((value) => (value == null ? [] : [Math.round(value)]));
        return known.length === 0 || (hidden as readonly string[]).includes(name) ? [] : [[name, known]];
      });
      expect(Object.fromEntries(seen)).toEqual(values);
      expect(axisTexts).toEqual([`${since} = 100`]);
      expect(notes.flatMap((note) => note.match(/^(.*) is left out: it has no price /)?.[1] ?? [])).toEqual(out);
    },
  );

  it.each([
    ['of all dates the longest', null, 'own'],
    ['of some dates the longest in them', { min: day(15), max: day(25) }, 'other'],
  ] as const)('has of another market the source whose history is, %s', (_name, range, source) => {
    const { series } = lines([split], 'linear', { range });
    expect(series.slice(2).map(({ name }) => name)).toEqual([`split: ${source}`]);
  });

  it('of one market compares each source with its first price, and says since when', () => {
    expect(lines([], 'index', { main: split })).toMatchObject({
      ...{ axisTexts: ['1 Jan 2026 = 100'], notes: ['other is compared since 20 Jan 2026.'] },
    });
  });

  it('has at most six markets, each once, by slugs', () => {
    expect(comparedSlugs('a,b,a,<b>,-c,d,e,f,g')).toEqual(['a', 'b', 'd', 'e', 'f']);
    expect(comparedSlugs('')).toEqual([]);
  });
});
