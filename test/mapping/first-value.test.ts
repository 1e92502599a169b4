/** The words with which a person checks the first price of a file before it is signed. */
import { expect, test } from 'vitest';
import { FirstValue } from '../../mapping/check/first-value.ts';

const market = (quantity: number, of: string, nativeCurrency = 'USD') => ({
  ...{ type: 'market', slug: 'a', name: 'A', kind: 'x', nativeCurrency, unit: { quantity, of } },
});
const observation = (value: object) => ({
  ...{ type: 'observation', market: 'a', metric: 'price', observedAt: '2026-10-01T00:00:00Z', sourceLabel: 'S' },
  ...{ sourceUrl: 'https://example.org/', confidence: 'high', status: 'final', ...value },
});

test.each<[string, object, object]>([
  [
    'a 0.10 USD per token = 100,000.00 USD per 1M tokens, 1 Oct 2026',
    market(1_000_000, 'token'),
    { value: '0.1', currency: 'USD', quotedQuantity: 1 },
  ],
  [
    'a 0.2871 EUR per kWh = 28.71 EUR per 100 kWh, 1 Oct 2026',
    market(100, 'kWh', 'EUR'),
    { amountMinor: 2871, currency: 'EUR', sourceValue: '28.71', quotedQuantity: 100 },
  ],
  ['a -36.98 USD per barrel, 1 Oct 2026', market(1, 'barrel'), { amountMinor: -3698, currency: 'USD' }],
  ['a 5 JPY per 3 kg, 1 Oct 2026', market(3, 'kg', 'JPY'), { amountMinor: 5, currency: 'JPY' }],
  ['a context 2000 tokens, 1 Oct 2026', market(1, 'token'), { metric: 'context', value: '2000', unit: 'token' }],
])('%s', (text, defined, value) => {
  const first = new FirstValue();
  first.add(observation({ amountMinor: 1, currency: 'USD', market: 'undefined' }), 1);
  first.add(defined, 2);
  first.add(observation({ amountMinor: null, currency: 'USD', unknownReason: 'withheld' }), 3);
  first.add(observation({ amountMinor: 7, currency: 'USD' }), 4);
  first.add(observation(value), 5);
  first.add(observation({ amountMinor: 1, currency: 'USD' }), 6);
  first.refuse(4);
  expect(first.text?.replace('2,000', '2000')).toBe(text);
});
