/** The scales of a chart: their ticks, and the values that they cannot show. */
import { describe, expect, it } from 'vitest';
import { exactTicks, logTicks } from '../../../clients/web/browser/chart/asked-range.ts';
import { chartData, isLeftOut } from '../../../clients/web/browser/chart/chart-data.ts';
import { joinedChart } from '../../../clients/web/browser/chart/chart-join.ts';
import type { ComparedHistory } from '../../../clients/web/browser/history/compared-markets.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import { RowWords } from '../../../clients/web/browser/market/row-words.ts';
import { row } from './price-row.ts';

it.each([
  [0.015, 60, ['0.02', '0.05', '0.1', '0.2', '0.5', '1', '2', '5', '10', '20', '50']],
  [2900, 4300, ['3,000', '3,500', '4,000']],
  [0.000_31, 0.000_33, ['0.00031', '0.000315', '0.00032', '0.000325', '0.00033']],
  [1e-6, 1e6, ['0.000001', '0.0001', '0.01', '1', '100', '10,000', '1,000,000']],
])('a logarithmic axis from %d to %d has labels with the digits that they need', (min, max, texts) => {
  const ticks = logTicks(min, max);
  expect(ticks.every((tick) => tick >= min && tick <= max * 1.000001)).toBe(true);
  expect(exactTicks(ticks)).toEqual(expect.arrayContaining(texts));
  expect(exactTicks(ticks).length).toBeLessThan(15);
});

/** A market with a price of each day, all by one source. */
function history(...prices: readonly string[]): ComparedHistory {
  const rows = prices.map((decimal, day) => row(day + 1, { decimal, decimalPerUnit: decimal, sourceLabel: 'own' }));
  const words = new RowWords({ quantity: 1, of: 'barrel' });
  const data = finished(chartData(rows.toReversed(), { metrics: ['price'], words }));
  return { market: { name: 'Oil' }, shown: { data, unit: 'USD per barrel' } } as ComparedHistory;
}

describe('a scale that cannot show a value', () => {
  const scaleOf = (history: ComparedHistory, scale: 'log' | 'percent' | 'index') => {
    const { data, notes } = joinedChart(history, [], { scale, range: null }, new Set());
    const [line] = data.series;
    const leftOut = [...(line?.rows.keys() ?? [])].filter((at) => line !== undefined && isLeftOut(line, at));
    return { scale: data.scale, values: line?.values, leftOut, marked: line?.marked, notes };
  };

  it('leaves it out, marks what stands alone then, and says so', () => {
    expect(scaleOf(history('2.00', '-36.98', '10.00', '0.00', '4.00', '5.00'), 'log')).toEqual({
      ...{ scale: 'log', values: [2, null, 10, null, 4, 5], leftOut: [1, 3], marked: [0, 2] },
      notes: ['2 prices of 0 or less cannot be shown on a log scale.'],
    });
    expect(scaleOf(history('2.00', '3.00'), 'log')).toMatchObject({ leftOut: [], notes: [] });
  });

  it.each(['percent', 'index'] as const)('of a base of 0 or less shows the values themselves: %s', (scale) => {
    expect(scaleOf(history('-36.98', '10.00'), scale)).toMatchObject({
      ...{ scale: 'linear', values: [-36.98, 10], leftOut: [] },
      notes: ['own cannot be shown from a base of −36.98 USD (1 Jan 2026).'],
    });
    expect(scaleOf(history('10.00', '-36.98'), scale)).toMatchObject({ scale, leftOut: [], notes: [] });
  });
});
