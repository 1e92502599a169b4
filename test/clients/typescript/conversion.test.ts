/** Conversion on reading, by the table that the client for Python has, too. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  convert,
  currenciesFrom,
  DayRates,
  rateMarket,
  rateWays,
  readRates,
} from '../../../clients/typescript/conversion.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { ACTIVE_BY_EXPONENT, WITHDRAWN } from '../../../contract/values/money/iso-4217.ts';

type Case = readonly [
  name: string,
  value: string,
  to: string,
  decimal: string | null,
  rateOrReason: string,
  used: string,
];

const table = JSON.parse(readFileSync(join(import.meta.dirname, '../conversion.json'), 'utf8')) as {
  readonly iso4217: string;
  readonly markets: readonly Parameters<typeof rateMarket>[0][];
  readonly rateMarkets: readonly string[];
  readonly currencies: Readonly<Record<string, readonly string[]>>;
  readonly rows: Readonly<Record<string, readonly object[]>>;
  readonly cases: readonly Case[];
  readonly standing: readonly (readonly [string, object, reason: string | null, reasonAsOf: string | null])[];
};
const markets = table.markets.flatMap((market) => rateMarket(market) ?? []);
const rowOf = (fields: object) =>
  ({ kind: 'money', metric: 'price', status: 'final', supersededBy: null, ...fields }) as PublicObservation;
const rates = new Map(
  markets.map((market) => [
    market.slug,
    new DayRates(
      market,
      (table.rows[market.slug] ?? []).map((row) => rowOf({ currency: market.to, ...row })),
    ),
  ]),
);

test('the currencies are those of the service', () => {
  const active = ACTIVE_BY_EXPONENT.flatMap(([, codes]) => codes.split(' '));
  const withdrawn = WITHDRAWN.split('\n').map((line) => line.slice(0, 3));
  expect([...active, ...withdrawn].sort().join(' ')).toBe(table.iso4217);
});

test('a rate is the price of a currency, and no other price', () => {
  expect(markets.map(({ slug }) => slug).sort()).toEqual(table.rateMarkets);
});

test.each(Object.entries(table.currencies))('%s is converted to %j', (from, to) => {
  expect(currenciesFrom(markets, from)).toEqual(to);
  for (const one of to) expect(rateWays(markets, from, one)).not.toEqual([]);
});

test.each(table.cases)('%s', (_, value, to, decimal, rateOrReason, used) => {
  const [digits, currency = '', day] = value.split(' ');
  const row = rowOf({ decimal: digits === 'null' ? null : digits, currency, observedAt: `${day}T12:00:00Z` });
  const found = convert(row, to, rateWays(markets, currency, to), rates);
  expect([found.currency, found.decimal, found.reason ?? found.rate]).toEqual([to, decimal, rateOrReason]);
  const words = found.used.map(
    ({ market, isInverse, row: { observedAt } }) => `${isInverse ? '/' : ''}${market.slug} ${observedAt.slice(0, 10)}`,
  );
  expect(words.join(' ')).toBe(used);
});

test('a number without a currency, and an announced value, are not converted', () => {
  const scalar = { kind: 'scalar', value: '4.50', unit: 'percent', observedAt: '2026-11-20T12:00:00Z' };
  expect(convert(rowOf(scalar), 'EUR', [], rates).reason).toBe('not-money');
  const announced = { decimal: '1.00', currency: 'EUR', observedAt: '2026-11-20T12:00:00Z', announced: true };
  expect(convert(rowOf(announced), 'USD', rateWays(markets, 'EUR', 'USD'), rates).reason).toBe('no-rate-of-day');
});

test.each(table.standing)('a value that %s', (_, fields, reason, reasonAsOf) => {
  const row = rowOf({ decimal: '1.00', currency: 'EUR', observedAt: '2026-11-20T12:00:00Z', ...fields });
  const ways = rateWays(markets, 'EUR', 'USD');
  expect(convert(row, 'USD', ways, rates).reason).toBe(reason);
  expect(convert(row, 'USD', [], rates).reason).toBe(reason ?? 'no-rate');
  expect(convert(row, 'USD', ways, rates, '2026-11-21T00:00:00Z').reason).toBe(reasonAsOf);
});

test('a market without a rate is no way, and hides none by a third currency', async () => {
  const begun = { slug: 'usd-sek', from: 'USD', to: 'SEK', quantity: 1 };
  const asked: string[] = [];
  const read = await readRates([...markets, begun], 'USD', 'SEK', async (market) => {
    asked.push(market.slug);
    return rates.get(market.slug) ?? new DayRates(market, []);
  });
  expect(read.ways).toEqual(rateWays(markets, 'USD', 'SEK'));
  expect(asked).toEqual(['usd-sek', 'usd-chf', 'chf-sek']);
});
