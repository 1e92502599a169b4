import { describe, expect, test } from 'vitest';
import { checkObservation, type MarketTerms, parseRecord } from '../../lambdas/markets/rules/row-rules.ts';

const NOW_MS = Date.parse('2026-10-01T12:00:00Z');
const unit = { quantity: 1, of: 'barrel' };
const USD = { nativeCurrency: 'USD', unit };

const money = {
  type: 'observation',
  market: 'wti-usd',
  metric: 'price',
  amountMinor: 6117,
  currency: 'USD',
  sourceLabel: 'A source',
  sourceUrl: 'https://example.org/wti.csv',
  observedAt: '2026-09-30T00:00:00Z',
  confidence: 'high',
  status: 'final',
};
const { amountMinor, currency, ...withoutValue } = money;
const scalar = { ...withoutValue, metric: 'volume', value: '12.5', unit: 'Mbbl' };
const retraction = {
  type: 'retraction',
  market: 'wti-usd',
  metric: 'price',
  observedAt: '2026-09-30T00:00:00Z',
  sourceUrl: 'https://example.org/wti.csv',
  reason: 'a misprint',
};
const market = {
  type: 'market',
  slug: 'wti-usd',
  name: 'WTI, US dollar',
  kind: 'oil',
  nativeCurrency: 'USD',
  unit,
};
const source = { label: 'x', url: 'https://example.org', publisher: null, licence: null, attribution: null };

/** The faults of a record as `code pointer`, in order. */
function faultsOf(input: unknown, ofMarket: MarketTerms | null = USD): string[] {
  const parsed = parseRecord(input);
  const errors =
    'errors' in parsed
      ? parsed.errors
      : parsed.record.type === 'market'
        ? []
        : checkObservation(parsed.record, ofMarket, NOW_MS);
  for (const { detail } of errors) expect(detail.length).toBeGreaterThan(5);
  return errors.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('good records', () => {
  test.each<[string, object]>([
    ['an amount', money],
    ['a market', market],
    ['a market in a currency of the past', { ...market, nativeCurrency: 'HRK' }],
    ['a scalar', scalar],
    ['WTI on 2020-04-20', { ...money, amountMinor: -3698, observedAt: '2020-04-20T00:00:00Z' }],
    ['an asserted zero', { ...money, amountMinor: 0, zeroAsserted: true }],
    ['an asserted scalar zero', { ...scalar, value: '0.00', zeroAsserted: true }],
    ['an unknown amount with a reason', { ...money, amountMinor: null, unknownReason: 'withheld' }],
    ['an unknown scalar with a reason', { ...scalar, value: null, unknownReason: 'not-published' }],
    ['another metric in another currency', { ...money, metric: 'margin', currency: 'EUR' }],
    ['tomorrow, which has begun in Kiribati', { ...money, observedAt: '2026-10-02T12:00:00Z' }],
    ['a confirmed date before 1900', { ...money, observedAt: '1861-01-01T00:00:00Z', dateConfirmed: true }],
    ['a retraction of a URL that is no longer taken', { ...retraction, sourceUrl: 'https://example.org/?api_key=1' }],
    ['January 1970', { ...money, observedAt: '1970-01-01T00:00:00Z' }],
    ['the largest amount', { ...money, amountMinor: Number.MAX_SAFE_INTEGER }],
  ])('%s is accepted', (_, record) => {
    expect(faultsOf(record)).toEqual([]);
  });

  test('null stays null, and defaults are filled in', () => {
    expect(parseRecord({ ...money, amountMinor: null, unknownReason: 'not-published' })).toEqual({
      record: {
        ...money,
        amountMinor: null,
        sourceValue: null,
        rounded: false,
        unknownReason: 'not-published',
        zeroAsserted: false,
        dateConfirmed: false,
        outlierConfirmed: false,
        reinstated: false,
      },
    });
  });
});

describe('refused by the shape', () => {
  test.each<[string, unknown, string[]]>([
    ['no object', 7, ['record.invalid ']],
    ['an array', [money], ['record.invalid ']],
    ['no type', { ...money, type: undefined }, ['record.invalid /type']],
    ['an unknown type', { ...money, type: 'trade' }, ['record.invalid /type']],
    ['no value at all', withoutValue, ['record.invalid ']],
    ['a fraction of a cent', { ...money, amountMinor: 61.17 }, ['amount.not-integral /amountMinor']],
    ['2^53', { ...money, amountMinor: 2 ** 53 }, ['amount.out-of-range /amountMinor']],
    [
      '1e400, as JSON.parse reads it',
      { ...money, amountMinor: JSON.parse('1e400') },
      ['amount.out-of-range /amountMinor'],
    ],
    ['an amount as text', { ...money, amountMinor: '6117' }, ['record.invalid /amountMinor']],
    ['no amount', { ...money, amountMinor: undefined }, ['record.invalid /amountMinor']],
    ['pence', { ...money, currency: 'GBp' }, ['currency.minor-unit-alias /currency']],
    ['lower case', { ...money, currency: 'usd' }, ['currency.unknown /currency']],
    ['no currency', { ...withoutValue, amountMinor: 1 }, ['record.invalid /currency']],
    ['an unknown field', { ...money, amout: 1 }, ['record.invalid /amout']],
    ['an unknown field with a slash', { ...money, 'a/b~c': 1 }, ['record.invalid /a~1b~0c']],
    ['two values', { ...money, value: '1', unit: 'x' }, ['record.invalid /value', 'record.invalid /unit']],
    ['a scalar that is not a decimal', { ...scalar, value: '4e+06' }, ['record.invalid /value']],
    ['a float for a scalar', { ...scalar, value: 0.1 }, ['record.invalid /value']],
    ['no time', { ...money, observedAt: undefined }, ['provenance.incomplete /observedAt']],
    ['an empty label', { ...money, sourceLabel: '' }, ['provenance.incomplete /sourceLabel']],
    [
      'texts of a market with invisible characters',
      { ...market, name: '\u202eevil', unit: { quantity: 1, of: 'bar\u200brel' } },
      ['record.invalid /name', 'record.invalid /unit/of'],
    ],
    ['no confidence', { ...money, confidence: undefined }, ['provenance.incomplete /confidence']],
    ['no URL', { ...money, sourceUrl: undefined }, ['source.url-missing /sourceUrl']],
    ['a null URL', { ...money, sourceUrl: null }, ['source.url-missing /sourceUrl']],
    ['a market quoted in gold', { ...market, nativeCurrency: 'XAU' }, ['currency.unknown /nativeCurrency']],
    ['a market quoted in pence', { ...market, nativeCurrency: 'GBX' }, ['currency.minor-unit-alias /nativeCurrency']],
    [
      'a market with a quantity of 0',
      { ...market, unit: { quantity: 0, of: 'barrel' } },
      ['record.invalid /unit/quantity'],
    ],
    [
      'a source with a relative URL',
      { ...market, sources: [{ ...source, url: '/x' }] },
      ['source.url-not-absolute /sources/0/url'],
    ],
    [
      'a source with an e-mail address',
      {
        ...market,
        sources: [source, { ...source, url: 'https://example.org/?to=jo@example.org', publisher: 'jo@example.org' }],
      },
      ['source.url-not-public /sources/1/url', 'record.invalid /sources/1/publisher'],
    ],
    [
      'many faults',
      { ...money, amountMinor: 0.5, currency: 'ZAc', market: '', sourceUrl: null },
      [
        'record.invalid /market',
        'source.url-missing /sourceUrl',
        'amount.not-integral /amountMinor',
        'currency.minor-unit-alias /currency',
      ],
    ],
  ])('%s', (_, input, faults) => {
    expect(faultsOf(input)).toEqual(faults);
  });
});

describe('refused by a rule', () => {
  test.each<[string, object, string[]]>([
    ['a currency after its end', { currency: 'BYR' }, ['currency.retired /currency', 'currency.not-native /currency']],
    ['gold as money', { currency: 'XAU' }, ['currency.unknown /currency', 'currency.not-native /currency']],
    [
      'pence in capitals',
      { currency: 'GBX' },
      ['currency.minor-unit-alias /currency', 'currency.not-native /currency'],
    ],
    ['another currency than the market’s', { currency: 'EUR' }, ['currency.not-native /currency']],
    ['a zero', { amountMinor: 0 }, ['amount.zero-unasserted /amountMinor']],
    ['more than a day ahead', { observedAt: '2026-10-02T12:00:01Z' }, ['date.future /observedAt']],
    ['the year 2062', { observedAt: '2062-09-30T00:00:00Z' }, ['date.future /observedAt']],
    ['a spreadsheet’s zero', { observedAt: '1899-12-30T00:00:00Z' }, ['date.implausible /observedAt']],
    [
      'a confirmed date in the future',
      { observedAt: '2062-09-30T00:00:00Z', dateConfirmed: true },
      ['date.future /observedAt'],
    ],
    ['the year 26', { observedAt: '0026-09-30T00:00:00Z' }, ['date.implausible /observedAt']],
    ['an empty URL', { sourceUrl: '  ' }, ['source.url-missing /sourceUrl']],
    ['a relative URL', { sourceUrl: '/wti.csv' }, ['source.url-not-absolute /sourceUrl']],
    [
      'a URL with an e-mail address',
      { sourceUrl: 'https://example.org/?to=jo@example.org' },
      ['source.url-not-public /sourceUrl'],
    ],
    [
      'a URL with a key of another service',
      { sourceUrl: 'https://example.org/prices?apikey=9F8E7D6C5B4A3928' },
      ['source.url-not-public /sourceUrl'],
    ],
    ['null without a reason', { amountMinor: null }, ['provenance.incomplete /unknownReason']],
    ['a reason with a value', { unknownReason: 'withheld' }, ['provenance.incomplete /unknownReason']],
    [
      'all faults at once',
      { amountMinor: 0, currency: 'HRK', observedAt: '2027-01-01T00:00:00Z', sourceUrl: '', unknownReason: 'withheld' },
      [
        'currency.retired /currency',
        'currency.not-native /currency',
        'amount.zero-unasserted /amountMinor',
        'date.future /observedAt',
        'source.url-missing /sourceUrl',
        'provenance.incomplete /unknownReason',
      ],
    ],
  ])('%s', (_, change, faults) => {
    expect(faultsOf({ ...money, ...change })).toEqual(faults);
  });

  test.each(['0', '0.00', '-0', '000'])('a scalar zero written %s', (value) => {
    expect(faultsOf({ ...scalar, value })).toEqual(['amount.zero-unasserted /value']);
  });

  test('a scalar null without a reason', () => {
    expect(faultsOf({ ...scalar, value: null })).toEqual(['provenance.incomplete /unknownReason']);
  });

  test('a price that is not money', () => {
    expect(faultsOf({ ...scalar, metric: 'price' })).toEqual(['currency.not-native /unit']);
  });

  test('a retraction without a URL', () => {
    expect(faultsOf({ ...retraction, sourceUrl: '/wti.csv' })).toEqual(['source.url-not-absolute /sourceUrl']);
  });

  test('the currency is not compared if the market is unknown', () => {
    expect(faultsOf({ ...money, currency: 'EUR' }, null)).toEqual([]);
  });
});
