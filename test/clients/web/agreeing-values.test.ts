/** The head of a market's page and its table agree, also where caches have bodies of different moments. */
import { expect, it } from 'vitest';
import { decimalOf } from '../../../clients/typescript/decimal-of.ts';
import { historyView } from '../../../clients/web/browser/history/as-of-view.ts';
import { finished } from '../../../clients/web/browser/history/turns.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { row as priceRow } from './price-row.ts';

const row = (day: number, decimal: string | null, more: Partial<PublicObservation> = {}) =>
  priceRow(day, { id: `obs_${day}_${decimal}`, decimal, ...more } as Partial<PublicObservation>);

const first = row(2, '2.00');
const replaced = row(2, '2.00', { supersededBy: 'obs_new', supersededAt: '2026-01-05T00:00:00Z' });
const corrected = row(2, '2.50', { supersedes: first.id, recordedAt: '2026-01-05T00:00:00Z' });
const mistake = row(2, null, { supersedes: first.id, retraction: 'mistake' });
const before = row(1, '1.00');
const neighbour = row(2, '9.00', { sourceLabel: 'two', sourceUrl: 'https://two.example/' });

it.each([
  ['no history yet', first, [], '2.00'],
  ['a market that is newer than its history', row(3, '3.00'), [first, before], '3.00'],
  ['a market that has a correction before its history', corrected, [first, before], '2.50'],
  ['a correction that the market does not have', first, [corrected, replaced, before], '2.50'],
  ['a newer value that the market does not have', before, [first, before], '2.00'],
  ['a mistake that the market still has', first, [mistake, replaced, before], '1.00'],
  ['a mistake without another value', first, [mistake, replaced], undefined],
] as const)('of %s, the page shows one price', (_, price, rows, decimal) => {
  const market = { metrics: { price, volume: null }, bySource: {} } as unknown as Pick<Market, 'metrics' | 'bySource'>;
  const { metrics } = finished(historyView(market, rows, null));
  const shown = metrics.price as PublicObservation | null;
  expect(shown === null ? undefined : decimalOf(shown)).toBe(decimal);
  expect(metrics.volume).toBeNull();
});

it('the values side by side are those of the same moment', () => {
  const market = { metrics: { price: first }, bySource: { price: [first, neighbour] } } as unknown as Market;
  const { bySource } = finished(historyView(market, [corrected, replaced, neighbour], null));
  expect(bySource.price).toEqual([corrected, neighbour]);
});
