import { data as listOne } from 'currency-codes';
import { describe, expect, test } from 'vitest';
import { checkCurrency, checkCurrencyCode, currencyExponent } from '../../contract/values/money/currencies.ts';
import { ACTIVE_BY_EXPONENT, MINOR_UNIT_ALIASES, NOT_MONEY, WITHDRAWN } from '../../contract/values/money/iso-4217.ts';

const NOW = '2026-10-01T00:00:00Z';
const active = new Map(
  ACTIVE_BY_EXPONENT.flatMap(([exponent, codes]) => codes.split(' ').map((code) => [code, exponent])),
);
const withdrawn = WITHDRAWN.split('\n').map((line) => line.split(' ') as [string, string, string]);

describe('exponents', () => {
  test.each([
    ['JPY', 0],
    ['XCG', 2],
    ['HRK', 2],
    ['BYR', 0],
    ['XAU', null],
    ['XXX', null],
    ['BTC', null],
    ['usd', null],
    ['GBp', null],
    ['', null],
    ['toString', null],
  ])('%s has %s', (code, exponent) => {
    expect(currencyExponent(code)).toBe(exponent);
  });
});

describe('the list of active codes', () => {
  const theirs = new Map(listOne.map(({ code, digits }) => [code, digits]));

  test('agrees with currency-codes on every exponent', () => {
    const differing = [...active].filter(([code, exponent]) => theirs.has(code) && theirs.get(code) !== exponent);
    expect(differing).toEqual([]);
  });

  test('has what list one of June 2024, which currency-codes ships, does not have yet', () => {
    expect([...active.keys()].filter((code) => !theirs.has(code))).toEqual(['XAD', 'XCG']);
  });

  test('leaves out ended currencies, and codes with exponent N.A. in ISO 4217 to which currency-codes gives 0', () => {
    const missing = [...theirs.keys()].filter((code) => !active.has(code)).sort();
    expect(missing).toEqual(['ANG', 'BGN', 'CUC', ...Object.keys(NOT_MONEY)].sort());
  });

  test('shares no code with the withdrawn ones, nor either with the aliases', () => {
    const codes = [...active.keys(), ...withdrawn.map(([code]) => code), ...Object.keys(MINOR_UNIT_ALIASES)];
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  test('withdrawn codes have an exponent and a day of the calendar in the past', () => {
    for (const [code, exponent, lastDay] of withdrawn) {
      expect([code, exponent]).toEqual([expect.stringMatching(/^[A-Z]{3}$/), expect.stringMatching(/^[02]$/)]);
      expect(new Date(`${lastDay}T00:00:00Z`).toISOString().slice(0, 10)).toBe(lastDay);
      expect(lastDay < NOW).toBe(true);
    }
  });

  test('aliases stand for active currencies', () => {
    expect(Object.values(MINOR_UNIT_ALIASES).filter((code) => !active.has(code))).toEqual([]);
  });
});

describe('validity at an instant', () => {
  test.each([
    ['EUR', NOW, null],
    ['HRK', '2022-12-31T23:59:59Z', null],
    ['HRK', '2023-01-01T00:00:00Z', 'currency.retired'],
    ['BYR', '2016-06-30T00:00:00Z', null],
    ['BYR', '2016-07-01T00:00:00Z', 'currency.retired'],
    ['DEM', '1999-06-01T00:00:00Z', null],
    ['GBX', NOW, 'currency.minor-unit-alias'],
    ['GBp', NOW, 'currency.minor-unit-alias'],
    ['XAU', NOW, 'currency.unknown'],
    ['XXX', NOW, 'currency.unknown'],
    ['usd', NOW, 'currency.unknown'],
    ['', NOW, 'currency.unknown'],
    ['constructor', NOW, 'currency.unknown'],
  ])('%s at %s: %s', (code, at, fault) => {
    expect(checkCurrency(code, at)?.code ?? null).toBe(fault);
  });

  test('a market may be in a currency of the past', () => {
    expect(checkCurrencyCode('HRK')).toBeNull();
  });

  test('a hint names the spelling or the currency that was meant', () => {
    expect(checkCurrency('usd', NOW)?.detail).toContain('USD');
    expect(checkCurrency('ZAc', NOW)?.detail).toContain('ZAR');
    expect(checkCurrency('XAU', NOW)?.detail).toContain('gold');
  });
});
