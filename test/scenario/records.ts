/** The records of the scenario: markets in currencies of 0, 2 and 3 decimals, with prices from one source. */
import assert from 'node:assert/strict';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';

export const SOURCE = {
  label: 'Exchange',
  url: 'https://exchange.example/prices',
  publisher: 'Example Exchange',
  licence: 'CC0-1.0',
  attribution: null,
} as const;

export interface Price {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly amountMinor: number | null;
  readonly sourceValue: string | null;
  readonly rounded?: boolean;
}

export function marketRecord(slug: string, nativeCurrency: string): IngestRecordInput {
  const unit = { quantity: 1, of: 'kilogram' };
  return { type: 'market', slug, name: `Market ${slug}`, kind: 'food', nativeCurrency, unit, sources: [SOURCE] };
}

/** The identity of the price of a day. */
export function priceOn(market: string, day: string) {
  return {
    market,
    metric: 'price',
    observedAt: `${day}T00:00:00Z`,
    sourceUrl: `${SOURCE.url}/${market}/${day}.json`,
  } as const;
}

/** A number with its provenance. */
export function priceFields(market: string, currency: string, { day, amountMinor, sourceValue, rounded }: Price) {
  const { observedAt, sourceUrl } = priceOn(market, day);
  return {
    amountMinor,
    currency,
    sourceValue,
    rounded: rounded ?? false,
    unknownReason: amountMinor === null ? 'not-published' : null,
    sourceLabel: SOURCE.label,
    sourceUrl,
    observedAt,
    confidence: 'high',
    status: 'final',
  } as const;
}

const MINOR_DIGITS: Readonly<Record<string, number>> = { EUR: 2, JPY: 0, KWD: 3, USD: 2 };

/** The price as the market shows it: for one kilogram. */
export function shownPrice(market: string, currency: string, price: Price) {
  const minorDigits = MINOR_DIGITS[currency] ?? assert.fail(`no decimals for ${currency}`);
  const { amountMinor } = price;
  const decimal = amountMinor === null ? null : (amountMinor / 10 ** minorDigits).toFixed(minorDigits);
  const texts = { minorDigits, decimal, decimalPerUnit: decimal };
  return { kind: 'money', releasedAt: null, ...priceFields(market, currency, price), ...texts } as const;
}

export function priceRecord(market: string, currency: string, price: Price): IngestRecordInput {
  return { type: 'observation', market, metric: 'price', ...priceFields(market, currency, price) };
}

/** The markets of the first batch: by name, their currency and their prices, newest last. */
export const FIRST_MARKETS = {
  yen: {
    currency: 'JPY',
    prices: [
      { day: '2025-06-02', amountMinor: 4180, sourceValue: '4180' },
      { day: '2025-06-03', amountMinor: 4230, sourceValue: '4230' },
    ],
  },
  gold: {
    currency: 'USD',
    prices: [
      { day: '2025-06-02', amountMinor: 410_000, sourceValue: '4100.00' },
      { day: '2025-06-03', amountMinor: 412_910, sourceValue: '4129.10045482', rounded: true },
    ],
  },
  dinar: { currency: 'KWD', prices: [{ day: '2025-06-03', amountMinor: 25_125, sourceValue: '25.125' }] },
  quiet: { currency: 'EUR', prices: [{ day: '2025-06-03', amountMinor: null, sourceValue: null }] },
} as const satisfies Record<string, { readonly currency: string; readonly prices: readonly Price[] }>;
