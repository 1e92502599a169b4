import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { checkObservation, parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { type Mapped, type MoneyObservation, readMapped, readMapping } from './read-mapped.ts';

const CSV = new URL('../../mapping/sample/currency-api.csv', import.meta.url);
const MAPPING = new URL('../../mapping/sample/mapping.json', import.meta.url);
const NOW_MS = Date.parse('2026-10-01T00:00:00Z');

let sample: Mapped;
/** Each market's observations in the order of time. */
let series: Map<string, MoneyObservation[]>;

beforeAll(async () => {
  sample = await readMapped(readMapping(MAPPING), CSV);
  series = Map.groupBy(
    sample.observations.map(({ record }) => record),
    ({ market }) => market,
  );
  for (const observations of series.values()) {
    observations.sort((one, other) => one.observedAt.localeCompare(other.observedAt));
  }
});

/** A plain decimal as an integer multiple of 10^-30: exact for every value of the file. */
function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(30, '0'));
}

describe('the whole sample', () => {
  test('is 175 markets on 57 dates, and no row is refused', () => {
    expect(sample.refusals).toEqual([]);
    expect(sample.markets.size).toBe(175);
    expect(sample.observations).toHaveLength(9975);
    for (const observations of series.values()) {
      expect(new Set(observations.map(({ observedAt }) => observedAt)).size).toBe(57);
    }
  });

  test('has 56 unknown values: 42 blank, 14 withheld', () => {
    const reasons = sample.observations.map(({ record }) => record.unknownReason ?? 'known');
    expect(
      Object.fromEntries([...Map.groupBy(reasons, (reason) => reason)].map(([key, all]) => [key, all.length])),
    ).toEqual({ known: 9919, 'not-published': 42, withheld: 14 });
  });

  test('passes the rules of ingest, record by record', () => {
    for (const market of sample.markets.values()) expect(parseRecord(market)).toEqual({ record: market });
    const faults = sample.observations.flatMap(({ record }) => {
      const parsed = parseRecord(record);
      if ('errors' in parsed) return parsed.errors;
      return checkObservation(parsed.record as ObservationRecord, sample.markets.get(record.market) ?? null, NOW_MS);
    });
    expect(faults).toEqual([]);
  });

  test('keeps the digits of every row that has any', () => {
    const lines = readFileSync(CSV, 'utf8').trimEnd().split('\n');
    const changed = sample.observations.filter(
      ({ line, record }) => (record.sourceValue ?? '') !== lines[line - 1]?.split(',').at(-1),
    );
    expect(changed).toEqual([]);
  });
});

describe('names', () => {
  test.each([
    ['eur-jpy', 'Euro, Japanese yen', 'fx', 'JPY', { quantity: 1000, of: 'EUR' }],
    ['eur-usd', 'Euro, US dollar', 'fx', 'USD', { quantity: 1000, of: 'EUR' }],
    ['usd-kwd', 'US dollar, Kuwaiti dinar', 'fx', 'KWD', { quantity: 1000, of: 'USD' }],
    ['gold-usd', 'Gold, US dollar', 'metal', 'USD', { quantity: 1, of: 'troy ounce' }],
    ['silver-usd', 'Silver, US dollar', 'metal', 'USD', { quantity: 100, of: 'troy ounce' }],
    ['platinum-inr', 'Platinum, Indian rupee', 'metal', 'INR', { quantity: 1, of: 'troy ounce' }],
    ['palladium-cny', 'Palladium, Chinese yuan', 'metal', 'CNY', { quantity: 1, of: 'troy ounce' }],
    ['bitcoin-usd', 'Bitcoin, US dollar', 'crypto', 'USD', { quantity: 1, of: 'BTC' }],
    ['ethereum-eur', 'Ethereum, Euro', 'crypto', 'EUR', { quantity: 1, of: 'ETH' }],
    ['internet-computer-usd', 'Internet Computer, US dollar', 'crypto', 'USD', { quantity: 1000, of: 'ICP' }],
  ])('%s', (slug, name, kind, nativeCurrency, unit) => {
    expect(sample.markets.get(slug)).toMatchObject({ name, kind, nativeCurrency, unit });
  });
});

describe('withheld values', () => {
  /** Pairs of digits next to each other in one series, of the observations that `keep` admits. */
  function neighbours(keep: (observation: MoneyObservation) => boolean): [MoneyObservation, MoneyObservation][] {
    return [...series.values()].flatMap((observations) => {
      const kept = observations.filter((observation) => observation.sourceValue && keep(observation));
      return kept
        .slice(1)
        .map((later, index): [MoneyObservation, MoneyObservation] => [kept[index] as MoneyObservation, later]);
    });
  }

  const isTenfold = ([one, other]: [MoneyObservation, MoneyObservation]) => {
    const [a, b] = [scaled(one.sourceValue as string), scaled(other.sourceValue as string)];
    return a > b * 10n || b > a * 10n;
  };

  test('without them, no value is more than ten times its neighbour', () => {
    expect(neighbours((observation) => observation.amountMinor !== null).filter(isTenfold)).toEqual([]);
  });

  test('each of them is more than ten times off both of its neighbours', () => {
    const leaps = neighbours(() => true).filter(isTenfold);
    expect(leaps).toHaveLength(28);
    for (const leap of leaps) {
      expect(leap.filter(({ unknownReason }) => unknownReason === 'withheld')).toHaveLength(1);
    }
  });
});

describe('quantities', () => {
  /** Whether any price of a market would lose more than 1 part in 100,000 to rounding at this quantity. */
  function losesTooMuch(slug: string, quantity: number): boolean {
    const exponent = currencyExponent(sample.markets.get(slug)?.nativeCurrency as string) as number;
    return (series.get(slug) ?? []).some(({ amountMinor, sourceValue }) => {
      if (amountMinor === null) return false;
      const exact = scaled(sourceValue as string) * BigInt(quantity) * 10n ** BigInt(exponent);
      const one = 10n ** 30n;
      const below = exact % one;
      const loss = below < one - below ? below : one - below;
      return loss * 100_000n > exact;
    });
  }

  test('are large enough that no price loses more than 1 part in 100,000', () => {
    expect([...sample.markets.values()].filter(({ slug, unit }) => losesTooMuch(slug, unit.quantity))).toEqual([]);
  });

  test('are the smallest such ones', () => {
    const larger = [...sample.markets.values()].filter(({ unit }) => unit.quantity > 1);
    expect(larger).toHaveLength(146);
    expect(larger.filter(({ slug, unit }) => !losesTooMuch(slug, unit.quantity / 10))).toEqual([]);
  });
});
