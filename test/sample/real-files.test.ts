/**
 * Two real files that are not ours to bundle, where they are at hand beside the repository: what of them is refused, and
 * why. Everything else in them is accepted.
 */
import { existsSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ObservationRecord, RowError } from '../../contract/ingest/ingest-records.ts';
import { checkObservation, parseRecord } from '../../lambdas/markets/row-rules.ts';
import { type Mapped, readMapped, readMapping } from './read-mapped.ts';

const NOW_MS = Date.parse('2026-10-01T00:00:00Z');
const DATA = new URL('../../../shared/data/', import.meta.url);
const BIG_MAC = new URL('big-mac.csv', DATA);
const WFP = new URL('wfp.csv', DATA);
const BIG_MAC_MAPPING = new URL('big-mac.mapping.json', import.meta.url);
const WFP_MAPPING = new URL('wfp.mapping.json', import.meta.url);

/** Whether a file exists. Without it, the tests of the `describe` are skipped, with a reason. */
function isThere(file: URL): boolean {
  const there = existsSync(file);
  const name = file.pathname.split('/').at(-1);
  if (!there) beforeEach((context) => context.skip(`no ${name} beside the repository, and its licence keeps it out`));
  return there;
}

/** All faults of ingest in records that the mapping accepted. */
function faultsOf(mapped: Mapped): readonly RowError[] {
  return mapped.observations.flatMap(({ record }) => {
    const parsed = parseRecord(record);
    if ('errors' in parsed) return parsed.errors;
    return checkObservation(parsed.record as ObservationRecord, mapped.markets.get(record.market) ?? null, NOW_MS);
  });
}

describe('The Economist’s Big Mac prices', () => {
  const there = isThere(BIG_MAC);
  let mapped: Mapped;
  beforeAll(async () => {
    if (!there) return;
    mapped = await readMapped(readMapping(BIG_MAC_MAPPING), BIG_MAC);
  });

  /** Averages over countries, and prices quoted in thousandths: they have more decimals than the currency. */
  const NOT_INTEGRAL = [
    [249, '2.939573529 EUR'],
    [331, '3.057482443 EUR'],
    [372, '3.36856 EUR'],
    [426, '8.056 PEN'],
    [467, '8.056 PEN'],
    [494, '3.380031071 EUR'],
    [540, '3.437660401 EUR'],
    [595, '3.49245637 EUR'],
    [649, '3.583482241 EUR'],
    [653, '2.683 EUR'],
    [676, '39.97301987 SEK'],
    [703, '3.594849572 EUR'],
    [731, '40.55930138 SEK'],
    [742, '5.035 AUD'],
    [758, '3.623870489 EUR'],
    [813, '3.657962724 EUR'],
    [869, '3.67923829 EUR'],
  ] as const;

  test('17 rows do not fit the exponent of their currency', () => {
    const refused = mapped.refusals.filter(({ code }) => code === 'amount.not-integral');
    expect(refused.map(({ line }) => line)).toEqual(NOT_INTEGRAL.map(([line]) => line));
    for (const [index, { detail, pointer, column }] of refused.entries()) {
      expect(detail.startsWith(`${NOT_INTEGRAL[index]?.[1]} `)).toBe(true);
      expect([pointer, column]).toEqual(['/amountMinor', 'local_price']);
    }
  });

  test('one more is refused: Venezuela 2018, where 0 is no price', () => {
    const others = mapped.refusals.filter(({ code }) => code !== 'amount.not-integral');
    expect(others.map(({ line, code }) => [line, code])).toEqual([[1297, 'amount.zero-unasserted']]);
  });

  // In liras of that time, which the file labels as those of 2005.
  test('Turkey 2002, which the file writes as 4e+06, is four million', () => {
    const [found] = mapped.observations.filter(({ line }) => line === 86);
    expect(found?.record).toMatchObject({ amountMinor: 400_000_000, currency: 'TRY' });
  });

  test('the other 2,355 of 2,373 rows pass every rule', () => {
    expect(mapped.observations).toHaveLength(2373 - 17 - 1);
    expect(faultsOf(mapped)).toEqual([]);
  });

  test('where a country changed its currency, each currency is a market of its own', () => {
    const markets = [...mapped.markets.keys()];
    expect(markets).toHaveLength(75);
    expect(markets.filter((slug) => /-(ven|hrv)-/.test(slug)).sort()).toEqual([
      'big-mac-hrv-eur',
      'big-mac-hrv-hrk',
      'big-mac-ven-vef',
      'big-mac-ven-ves',
    ]);
  });

  test.each([
    ['big-mac-jpn-jpy', '2000-04-01', 294],
    ['big-mac-kwt-kwd', '2022-01-01', 1250],
    ['big-mac-usa-usd', '2000-04-01', 224],
    ['big-mac-are-aed', '2019-07-01', 1475],
  ])('%s in the month of %s is %i', (market, day, amountMinor) => {
    const found = mapped.observations.filter(
      ({ record }) => record.market === market && record.observedAt.startsWith(day),
    );
    expect(found.map(({ record }) => record.amountMinor)).toEqual([amountMinor]);
  });

  test('the euro area is an aggregate of medium confidence; countries are not', () => {
    const words = new Set(
      mapped.observations.map(
        ({ record }) => `${record.market === 'big-mac-euz-eur'} ${record.confidence} ${record.status}`,
      ),
    );
    expect(words).toEqual(new Set(['false high final', 'true medium aggregate']));
  });

  test('rounded instead of refused, the 17 keep their digits and say so', async () => {
    const mapping = readMapping(BIG_MAC_MAPPING);
    mapping.observation.value.rounding = 'nearest';
    const rounded = (await readMapped(mapping, BIG_MAC)).observations.filter(({ record }) => record.rounded);
    expect(rounded.map(({ line, record }) => [line, `${record.sourceValue} ${record.currency}`])).toEqual(NOT_INTEGRAL);
    expect(rounded[0]?.record.amountMinor).toBe(294);
    expect(rounded.find(({ line }) => line === 742)?.record.amountMinor).toBe(504);
  });
});

describe('World Food Programme prices', () => {
  const there = isThere(WFP);
  let mapped: Mapped;
  beforeAll(async () => {
    if (!there) return;
    mapped = await readMapped(readMapping(WFP_MAPPING), WFP);
  });

  const ofCurrency = (currency: string) =>
    mapped.refusals.filter(({ detail }) => new RegExp(`\\b${currency}\\b`).test(detail));

  test('every Belarusian row after 2016-06-30, 71 months of 3 goods, is refused: BYR had ended', () => {
    const retired = mapped.refusals.filter(({ code }) => code === 'currency.retired');
    expect(retired).toHaveLength(71 * 3);
    expect(ofCurrency('BYR').filter(({ code }) => code === 'currency.retired')).toHaveLength(71 * 3);
  });

  /** They are new roubles throughout (bread at 0.25, a ten-thousandth of its price in BYR), under the old code. */
  test('the 270 Belarusian rows before it are refused too: they have kopecks, and BYR has no minor unit', () => {
    expect(ofCurrency('BYR').filter(({ code }) => code === 'amount.not-integral')).toHaveLength(90 * 3);
    expect(mapped.observations.filter(({ record }) => record.currency === 'BYR')).toEqual([]);
  });

  /** Averages over several shops, in a currency without a minor unit. */
  test('16 Congolese rows are refused: fractions of a CFA franc', () => {
    const refused = ofCurrency('XAF');
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['amount.not-integral']));
    expect(refused.map(({ line }) => line)).toEqual([
      1952, 1953, 2011, 2119, 2160, 2161, 2218, 2258, 2259, 2316, 2478, 2557, 2790, 2865, 2931, 2995,
    ]);
  });

  test('the other 10,648 of 11,147 rows, in 83 series, pass every rule', () => {
    expect(mapped.refusals).toHaveLength(213 + 270 + 16);
    expect(mapped.observations).toHaveLength(11_147 - 213 - 270 - 16);
    expect(mapped.markets.size).toBe(83);
    expect(faultsOf(mapped)).toEqual([]);
  });

  test('no two rows are about the same month of the same market', () => {
    const identities = mapped.observations.map(({ record }) => `${record.market} ${record.observedAt}`);
    expect(new Set(identities).size).toBe(identities.length);
  });

  test('the price flag decides confidence and status', () => {
    const words = mapped.observations.map(({ record }) => `${record.confidence} ${record.status}`);
    expect(new Set(words)).toEqual(new Set(['high final', 'medium aggregate']));
    expect(words.filter((word) => word === 'medium aggregate')).toHaveLength(711 + 44);
  });

  test('a price for 100 kg is published for 100 kg', () => {
    const slug = 'wfp-bangladesh-2574-588-100-kg-wholesale-bdt';
    expect(mapped.markets.get(slug)?.unit).toEqual({ quantity: 100, of: 'kg' });
    expect(mapped.observations[0]?.record).toMatchObject({
      market: slug,
      amountMinor: 126140,
      sourceValue: '1261.4',
      observedAt: '1998-07-01T00:00:00Z',
      sourceUrl: 'https://data.humdata.org/dataset/wfp-food-prices-for-bangladesh',
    });
  });
});
