/** Several markets in one chart. */
import { describe, expect, it } from 'vitest';
import { joinedChart } from '../../../clients/web/browser/market/chart-join.ts';
import { comparedSlugs } from '../../../clients/web/browser/market/compared-markets.ts';
import { ObservationStore } from '../../../clients/web/browser/market/observation-store.ts';
import { shownHistory } from '../../../clients/web/browser/market/shown-history.ts';
import { finished } from '../../../clients/web/browser/market/turns.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';

const day = (number: number): number => Date.UTC(2026, 0, number) / 1000;

/** A market with a price of each day, from its own source and, at half of it, from another one. */
function history(name: string, of: string, prices: Readonly<Record<number, string>>) {
  const store = new ObservationStore();
  const rows = Object.entries(prices).flatMap(([number, decimal]) =>
    ['own', 'other'].map((sourceLabel) => {
      const observedAt = new Date(day(Number(number)) * 1000).toISOString();
      const half = String(Number(decimal) / 2);
      return {
        ...{ id: `${name}${number}${sourceLabel}`, metric: 'price', kind: 'money', currency: 'USD', observedAt },
        ...{ decimal: sourceLabel === 'own' ? decimal : half, sourceLabel, sourceUrl: '', recordedAt: observedAt },
        ...{ releasedAt: null, unknownReason: null, retraction: null, supersedes: null, supersededBy: null },
        ...{ supersededAt: null },
      } as PublicObservation;
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
const wheat = history('wheat', 'tonne', { 2: '7' });

function lines(others: readonly (typeof gold)[], scale: 'linear' | 'log' | 'percent' | 'index' = 'linear') {
  const { data, axisTexts, notes } = joinedChart(gold, others, { scale, range: null });
  const series = data.series.map(({ name, axis, values, rows }) => ({ name, axis, values: [...values], rows }));
  return { series, axisTexts, notes, scale: data.scale, seconds: data.seconds };
}

describe('the chart of several markets', () => {
  it('is that of the market alone without others', () => {
    expect(lines([]).series.map(({ name }) => name)).toEqual(['own', 'other']);
  });

  it('has all moments, each line its own; of another market only the source whose price it shows', () => {
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
    expect(series[3]?.rows[3]?.observedAt).toBe('2026-01-04T00:00:00.000Z');
    expect([axisTexts, notes]).toEqual([['USD per ounce', 'USD per EUR'], []]);
  });

  it('compares from the first moment that all lines have', () => {
    const { series, axisTexts } = lines([silver, euro], 'index');
    expect(series[0]?.values.map((value) => value && Math.round(value))).toEqual([91, 100, undefined, 109]);
    expect(series.every(({ axis }) => axis === 'y')).toBe(true);
    expect(axisTexts).toEqual(['2 Jan 2026 = 100']);
  });

  it('of more than two units shows changes, and says so', () => {
    expect(lines([euro, wheat], 'log')).toMatchObject({
      scale: 'percent',
      notes: [expect.stringContaining('3 units')],
    });
    expect(lines([euro, wheat], 'index')).toMatchObject({ scale: 'index', notes: [] });
  });

  it('has at most six markets, each once, by slugs', () => {
    expect(comparedSlugs('a,b,a,<b>,-c,d,e,f,g')).toEqual(['a', 'b', 'd', 'e', 'f']);
    expect(comparedSlugs('')).toEqual([]);
  });
});
