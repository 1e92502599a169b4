import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';

/** Any JSON value, with difficult parts: names that look like integers, all of Unicode, extreme numbers. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
const name = fc.oneof(
  text,
  fc.nat().map(String),
  fc.constantFrom('', '0', '-0', '00', '1', '10', '9', '__proto__', 'toJSON'),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 5e-324, -5e-324, Number.MAX_VALUE, 2 ** 53, 1e21, 1e-7),
);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), number, text),
    fc.array(tie('value'), { maxLength: 5 }),
    // With and without a prototype, so that `__proto__` is a name like any other.
    fc.dictionary(name, tie('value'), { maxKeys: 6 }),
  ),
})).value;

describe('canonicalJson, for any value', () => {
  test('writes what another implementation of RFC 8785 writes', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 1000 },
    );
  });

  test('can be read back, and gives the same bytes again', () => {
    fc.assert(
      fc.property(json, (value) => {
        const written = canonicalJson(value);
        expect(canonicalJson(JSON.parse(written) as Json)).toBe(written);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('does not depend on the order in which members were set', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, json), { selector: ([key]) => key, maxLength: 8 }),
        fc.nat(),
        (members, turn) => {
          const turned = [...members.slice(turn % 8), ...members.slice(0, turn % 8)].reverse();
          expect(canonicalJson(Object.fromEntries(turned))).toBe(canonicalJson(Object.fromEntries(members)));
        },
      ),
    );
  });
});

describe('canonicalJson, by the examples of RFC 8785', () => {
  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('the double %s is refused', (bits) => {
    expect(() => canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toThrow(TypeError);
  });

  test('numbers, texts and literals (section 3.2.2)', () => {
    const value = {
      // biome-ignore lint/correctness/noPrecisionLoss: the RFC's own digits, one more than a double holds
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('names are ordered by UTF-16 code units, not by code points (section 3.2.3)', () => {
    const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    const written = canonicalJson(names);
    expect([...written.matchAll(/:(\d)/g)].map(([, number]) => Number(number))).toEqual([2, 4, 6, 7, 1, 5, 3]);
  });
});

describe('canonicalJson of', () => {
  test.each<[string, Json, string]>([
    ['names like integers', { 10: 1, 9: 2, 2: 3, '-1': 4 }, '{"-1":4,"10":1,"2":3,"9":2}'],
    ['such names after others in order', { a: 1, 1: 2 }, '{"1":2,"a":1}'],
    ['objects in arrays in objects', { b: [{ d: 1, c: 2 }], a: {} }, '{"a":{},"b":[{"c":2,"d":1}]}'],
    ['an empty name', { b: 1, '': 2 }, '{"":2,"b":1}'],
    ['the separators that JavaScript once refused', '\u2028\u2029', '"\u2028\u2029"'],
    ['control characters', '\b\t\n\f\r\u0000\u001f\u007f', '"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f"'],
    ['minus zero', -0, '0'],
    ['a member called toJSON that is data', { toJSON: 'text' }, '{"toJSON":"text"}'],
    ['an object without a prototype', Object.assign(Object.create(null), { b: 1, a: 2 }), '{"a":2,"b":1}'],
  ])('%s', (_, value, expected) => {
    expect(canonicalJson(value)).toBe(expected);
  });

  const array = Object.assign([1], { toJSON: () => 2 });
  const values: readonly [string, unknown][] = [
    ['a lone high surrogate', '\ud83d'],
    ['a lone low surrogate', 'a\ude00b'],
    ['surrogates in the wrong order', '\ude00\ud83d'],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['minus infinity', Number.NEGATIVE_INFINITY],
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['an object with a toJSON of its own', { toJSON: () => 1 }],
    ['an array with a toJSON of its own', array],
    // biome-ignore lint/suspicious/noSparseArray: the test needs a sparse array
    ['an array with a hole', [1, , 2]],
  ];
  const places: readonly [string, (value: unknown) => unknown][] = [
    ['alone', (value) => value],
    ['in an array', (value) => [1, value]],
    ['in an object', (value) => ({ a: 1, b: value })],
    ['in an object out of order', (value) => ({ b: value, a: 1 })],
    ['in an object behind a name out of order', (value) => ({ b: 1, a: value })],
    ['in an array behind an object out of order', (value) => [{ b: 1, a: 1 }, value]],
    ['deep down', (value) => [{ z: [{ y: value }], a: [] }]],
  ];

  test.each(values.flatMap(([what, value]) => places.map(([where, put]) => ({ what, where, value: put(value) }))))(
    '$what, $where, is refused',
    ({ value }) => {
      expect(() => canonicalJson(value as Json)).toThrow(TypeError);
    },
  );

  test.each([
    ['in order', { a: 1, '\ud83d': 2 }],
    ['out of order', { '\ud83d': 2, a: 1 }],
  ])('a name with a lone surrogate, %s, is refused', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});
