/** One market and its newest observation, for the examples of the OpenAPI document. */
import type { Market } from '../../values/market.ts';
import type { PublicObservation } from '../../values/metric.ts';

const metric = {
  kind: 'money',
  amountMinor: 412910,
  currency: 'USD',
  minorDigits: 2,
  decimal: '4129.10',
  decimalPerUnit: '4129.10',
  sourceLabel: 'currency-api daily release',
  sourceUrl: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-09-29/v1/currencies/xau.json',
  observedAt: '2026-09-29T00:00:00Z',
  releasedAt: '2026-09-29T01:12:00Z',
  confidence: 'medium',
  status: 'final',
  sourceValue: '4129.10045482',
  rounded: true,
  unknownReason: null,
} as const;

export const market: Market = {
  slug: 'gold-usd',
  name: 'Gold, US dollar',
  kind: 'metal',
  status: 'active',
  nativeCurrency: 'USD',
  unit: { quantity: 1, of: 'troy ounce' },
  metrics: { price: metric },
  bySource: {},
  history: {
    count: 57,
    firstObservedAt: '2024-03-02T00:00:00Z',
    lastObservedAt: '2026-09-29T00:00:00Z',
    href: '/api/v1/markets/gold-usd/history',
  },
  sources: [
    {
      label: 'currency-api daily release',
      url: 'https://github.com/fawazahmed0/exchange-api',
      publisher: null,
      licence: 'CC0-1.0',
      attribution: null,
      cadence: {
        graceSeconds: 21_600,
        holidays: [],
        period: 'day',
        releaseAfterDays: 0,
        releaseTime: '02:00',
        weekdays: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
      },
      expectedNextAt: '2026-09-30T02:00:00Z',
      verification: { outcome: 'confirmed', verifiedAt: '2026-10-01T09:30:00Z', subject: 'source' },
    },
  ],
  disputed: false,
  disputedMetrics: [],
  representedBy: null,
  representedBySalt: null,
  updatedAt: '2026-09-29T06:00:00.000Z',
  revision: 57,
};

export const observation: PublicObservation = {
  ...metric,
  id: 'obs_3f9c1a7b5e2d4806a1c3e5f7',
  metric: 'price',
  recordedAt: '2026-09-29T06:00:00.000Z',
  retraction: null,
  supersedes: null,
  supersededAt: null,
  supersededBy: null,
};
