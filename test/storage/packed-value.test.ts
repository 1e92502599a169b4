/** The texts of values in the SQLite ledger. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { packValue, unpackValue } from '../../storage/ports/packed-value.ts';

const pack = (value: Json) => packValue(value, canonicalJson(value));

const MONEY = {
  amountMinor: 412910,
  confidence: 'high',
  currency: 'USD',
  id: 'obs_f3b4e6867d5ebdcdd3e88cc4',
  kind: 'money',
  metric: 'price',
  observedAt: '2026-09-29T00:00:00Z',
  recordedAt: '2026-09-30T00:00:00.000Z',
  releasedAt: null,
  retraction: null,
  rounded: true,
  sourceLabel: 'A label, "quoted"',
  sourceUrl: 'https://data.example/',
  sourceValue: '4129.10045482',
  status: 'final',
  supersededAt: null,
  supersededBy: null,
  supersedes: null,
  unknownReason: null,
};
const { amountMinor: _, currency: __, ...COMMON } = MONEY;
const SCALAR = { ...COMMON, kind: 'scalar', unit: 'percent', value: '1.5' };
const SUPERSEDED = {
  firstRevision: 7,
  supersededAt: '2026-10-01T00:00:00Z',
  supersededBy: 'obs_00000000000000000000000a',
};

describe('the text of a value', () => {
  // Files hold these bytes: a change of them is a new form.
  test.each([
    [
      'money',
      MONEY,
      '1[412910,"high","USD","obs_f3b4e6867d5ebdcdd3e88cc4","money","price","2026-09-29T00:00:00Z","2026-09-30T00:00:00.000Z",null,null,true,"A label, \\"quoted\\"","https://data.example/","4129.10045482","final",null,null,null,null]',
    ],
    [
      'a scalar',
      SCALAR,
      '2["high","obs_f3b4e6867d5ebdcdd3e88cc4","scalar","price","2026-09-29T00:00:00Z","2026-09-30T00:00:00.000Z",null,null,true,"A label, \\"quoted\\"","https://data.example/","4129.10045482","final",null,null,null,"percent",null,"1.5"]',
    ],
    [
      'superseded money',
      { ...MONEY, ...SUPERSEDED },
      '3[412910,"high","USD",7,"obs_f3b4e6867d5ebdcdd3e88cc4","money","price","2026-09-29T00:00:00Z","2026-09-30T00:00:00.000Z",null,null,true,"A label, \\"quoted\\"","https://data.example/","4129.10045482","final","2026-10-01T00:00:00Z","obs_00000000000000000000000a",null,null]',
    ],
    [
      'a superseded scalar',
      { ...SCALAR, ...SUPERSEDED },
      '4["high",7,"obs_f3b4e6867d5ebdcdd3e88cc4","scalar","price","2026-09-29T00:00:00Z","2026-09-30T00:00:00.000Z",null,null,true,"A label, \\"quoted\\"","https://data.example/","4129.10045482","final","2026-10-01T00:00:00Z","obs_00000000000000000000000a",null,"percent",null,"1.5"]',
    ],
  ])('of an observation of %s leaves out the names of its fields', (_name, value, text) => {
    expect(pack(value)).toBe(text);
    expect(unpackValue(text)).toEqual(value);
    expect(canonicalJson(unpackValue(text))).toBe(canonicalJson(value));
  });

  test.each([
    ['another field', { ...MONEY, note: 'x' }],
    ['a field less', COMMON],
    ['another field in place of one', { ...COMMON, currency: 'USD', amount: 1 }],
  ])('is JSON for an observation with %s', (_name, value) => {
    expect(pack(value)).toBe(canonicalJson(value));
  });

  test('gives back every value', () => {
    const anyValue = fc.oneof(
      fc.jsonValue() as fc.Arbitrary<Json>,
      fc.record(Object.fromEntries(Object.keys(MONEY).map((field) => [field, fc.jsonValue()]))),
      fc.constantFrom<Json>([[1]], [], 1, '1[2]', [1, [2]]),
    ) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(unpackValue(packValue(value, text)))).toBe(text);
      }),
    );
  });

  test.each(['', '{', '1[', '1[1]', '3[1]', '5[1]', '9[]', '1{}'])('%j is refused', (text) => {
    expect(() => unpackValue(text)).toThrow(SyntaxError);
  });
});
