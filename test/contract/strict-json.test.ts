import fc from 'fast-check';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_NAMES,
  MAX_JSON_VALUES,
  parseJson,
  parseNdjson,
} from '../../contract/values/strict-json.ts';

/** Faults as `code pointer`. */
function faultsOf(text: string): string[] {
  const result = parseJson(text);
  return 'faults' in result ? result.faults.map(({ code, pointer }) => `${code} ${pointer}`) : [];
}

const nested = (depth: number, inside = '') => '['.repeat(depth) + inside + ']'.repeat(depth);

describe('parseJson takes', () => {
  it.each([
    ['white space around tokens', ' \t\r\n{ "a" : [ 1 , "b" ] }\n'],
    ['escapes', String.raw`{"\u0061\"\\\/": "\ud83d\ude00\n\\"}`],
    ['a value that looks like structure', String.raw`["{\"a\":1,\"a\":2}", "\\", "[[", ",,", "__proto__"]`],
    ['one name in several objects', '[{"a":{"a":1}},{"a":2},{"b":[{"b":1}]}]'],
    ['the largest integers', '[9007199254740991, -9007199254740991, 0, -0]'],
    [
      'an integer with an exponent or a fraction of zeros',
      '[1e2, 1.5E+1, 120e-1, 4.0, 0e0, 0.000, 100.000000000000000000]',
    ],
    ['digits that no integer has', '[0.1, 4123.45, 1.2345678901234567, 5e-324, 1e-7, 0.30000000000000004]'],
    ['names that only look forbidden', '{"__proto": 1, "Constructor": 2, "proto\\ttype": 3}'],
    ['the greatest depth', nested(MAX_JSON_DEPTH)],
    ['a single value', '"text"'],
  ])('%s', (_, text) => {
    expect(parseJson(text)).toEqual({ value: JSON.parse(text) });
  });

  it('as many values as are admitted', () => {
    expect(faultsOf(`[0${',0'.repeat(MAX_JSON_VALUES - 1)}]`)).toEqual([]);
  });
});

describe('parseJson refuses', () => {
  it('a byte order mark, by its name', () => {
    const result = parseJson('\ufeff{}');
    expect('faults' in result && result.faults[0]?.detail).toContain('byte order mark');
  });

  it.each<[string, string, string[]]>([
    ['nothing', '', ['json.malformed ']],
    ['white space', ' \n', ['json.malformed ']],
    ['a byte order mark', '\ufeff{}', ['json.malformed ']],
    ['text after the value', '{} {}', ['json.malformed ']],
    ['a line comment', '{} // end', ['json.malformed ']],
    ['a comment', '{/* a */}', ['json.malformed ']],
    ['a trailing comma', '[1,]', ['json.malformed ']],
    ['single quotes', "{'a':1}", ['json.malformed ']],
    ['NaN', '[NaN]', ['json.malformed ']],
    ['Infinity', '-Infinity', ['json.malformed ']],
    ['leading zeros', '[01]', ['json.malformed ']],
    ['hexadecimal', '[0x10]', ['json.malformed ']],
    ['a raw line feed in a string', '"a\nb"', ['json.malformed ']],
    ['a no-break space between tokens', '[1,\u00a02]', ['json.malformed ']],
    ['truncated text', '{"a":[1,2', ['json.malformed ']],

    ['a repeated name', '{"a":1,"b":2,"a":3}', ['json.duplicate-name /a']],
    ['the same name and value', '{"a":1,"a":1}', ['json.duplicate-name /a']],
    ['a name repeated as an escape', String.raw`{"a":1,"\u0061":2}`, ['json.duplicate-name /a']],
    ['a repeated empty name', '{"":1,"":2}', ['json.duplicate-name /']],
    ['a repeated index', '{"1":1,"1":2}', ['json.duplicate-name /1']],
    ['repeated names deep inside', '{"a":[0,{"x":[],"b/c~d":1,"b/c~d":2}]}', ['json.duplicate-name /a/1/b~1c~0d']],
    ['a name repeated after an object that has it', '{"a":{"b":1},"b":2,"a":3}', ['json.duplicate-name /a']],
    ['a name given three times', '{"a":1,"a":2,"a":3}', ['json.duplicate-name /a', 'json.duplicate-name /a']],

    ['__proto__', '{"__proto__":{"admin":true}}', ['json.forbidden-name /__proto__']],
    ['__proto__ as an escape', String.raw`{"__proto\u005f_":1}`, ['json.forbidden-name /__proto__']],
    [
      'constructor',
      '[{"constructor":{"prototype":{}}}]',
      ['json.forbidden-name /0/constructor', 'json.forbidden-name /0/constructor/prototype'],
    ],
    ['a name beyond 256 characters', `{"${'n'.repeat(257)}":1}`, [`json.name-too-long /${'n'.repeat(256)}`]],

    ['2^53', '{"amountMinor":9007199254740992}', ['json.number-out-of-range /amountMinor']],
    ['-2^53', '[-9007199254740992]', ['json.number-out-of-range /0']],
    ['an integer that would be rounded', '[1,9007199254740993]', ['json.number-out-of-range /1']],
    ['a large integer as an exponent', '[1e16]', ['json.number-out-of-range /0']],
    [
      'an exponent beyond every double',
      '[1e400, -1E+999]',
      ['json.number-out-of-range /0', 'json.number-out-of-range /1'],
    ],
    ['a fraction that would be rounded to an integer', '[1.00000000000000000001]', ['json.number-inexact /0']],
    ['a fraction that would be rounded up to an integer', '[9007199254740990.9]', ['json.number-inexact /0']],
    ['a small number that would become zero', '[0,1e-400]', ['json.number-inexact /1']],
    ['more digits than any number needs', `[0.${'1'.repeat(40)}]`, ['json.number-inexact /0']],

    ['a lone surrogate as an escape', String.raw`{"a":"\ud83d"}`, ['json.lone-surrogate /a']],
    ['halves in the wrong order', String.raw`["\ude00\ud83d"]`, ['json.lone-surrogate /0']],
    ['a lone surrogate in a name', String.raw`{"\uDC00":1}`, ['json.lone-surrogate /\udc00']],
    ['a lone surrogate as itself', '["\ud83d"]', ['json.lone-surrogate ']],
    ['a pair that is half an escape', '["\ud83d\\ude00"]', ['json.lone-surrogate ']],

    ['nesting beyond the greatest depth', nested(MAX_JSON_DEPTH + 1), ['json.too-deep ']],
    ['more values than are admitted', `[0${',0'.repeat(MAX_JSON_VALUES)}]`, ['json.too-many-values ']],
    [
      'more members of one object than are admitted',
      `{"a":{${Array.from({ length: MAX_JSON_NAMES + 2 }, (_, at) => `"n${at}":0`).join()}}}`,
      ['json.too-many-names '],
    ],
    [
      'several faults at once',
      String.raw`{"a":1,"a":1e400,"b":["\ud800"]}`,
      ['json.duplicate-name /a', 'json.number-out-of-range /a', 'json.lone-surrogate /b/0'],
    ],
  ])('%s', (_, text, expected) => {
    expect(faultsOf(text)).toEqual(expected);
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('100,000 %s inside each other, whole or cut off', (_, begin, end) => {
    const depth = 100_000;
    expect(faultsOf(`${begin.repeat(depth)}0${end.repeat(depth)}`)).toEqual([expect.stringMatching(/^json\.too-deep/)]);
    expect(faultsOf(begin.repeat(depth))).toEqual(['json.too-deep ']);
  });

  it('a million digits, quotes or backslashes, in linear time', () => {
    const count = 1_000_000;
    expect(faultsOf(`[1${'0'.repeat(count)}1]`)).toEqual(['json.number-out-of-range /0']);
    expect(faultsOf(`[0.${'0'.repeat(count)}1]`)).toEqual(['json.number-inexact /0']);
    expect(faultsOf(JSON.stringify('\\"'.repeat(count)))).toEqual([]);
    expect(faultsOf(JSON.stringify({ ['\\'.repeat(count)]: 1 }))).toHaveLength(1);
  });

  it('with a bounded answer for any number of faults', () => {
    const inner = `"${'n'.repeat(250)}":1,`.repeat(1000);
    const result = parseJson(`{"${'m'.repeat(1000)}":{${inner}"z":0}}`);
    expect(JSON.stringify(result).length).toBeLessThan(20_000);
  });
});

const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }),
);
const text = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }))
  .map((value) => value.toWellFormed());
const name = text.filter((value) => !['__proto__', 'constructor', 'prototype'].includes(value));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), number, text),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 6 }),
  ),
})).value;

describe('parseJson, for any text', () => {
  test('returns the same as JSON.parse for each unambiguous value, with any spacing', () => {
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\t', '  '), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        expect(parseJson(written)).toEqual({ value: JSON.parse(written) });
      }),
      { numRuns: 300 },
    );
  });

  test('loses no digit of an integer in any spelling', () => {
    const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
    fc.assert(
      fc.property(integer, fc.constantFrom('', '.0', 'e0', '.00E+0'), (value, suffix) => {
        const result = parseJson(`[${value}${suffix}]`);
        if ('value' in result) expect(BigInt((result.value as number[])[0] as number)).toBe(value);
        else expect(value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER).toBe(true);
      }),
    );
  });

  test('never rounds a number to an integer', () => {
    const digits = fc.stringMatching(/^[0-9]{1,28}$/);
    fc.assert(
      fc.property(fc.nat(9999), digits, (whole, fraction) => {
        const result = parseJson(`${whole}.${fraction}`);
        if ('value' in result) expect(Number.isInteger(result.value)).toBe(/^0*$/.test(fraction));
      }),
    );
  });

  test('never throws, and accepts nothing that JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '\\"',
        '\\u',
        'd83d',
        '"a"',
        '"a":',
        '1',
        '-',
        '.',
        'e',
        '0',
        'true',
      ],
      ...['null', ' ', '\n', '/*', '*/', '//', "'", '\ud83d', '\ufeff', '\u2028', '__proto__', '"\\ud83d"'],
    );
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 12 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(anyText, (input) => {
        const result = parseJson(input);
        if ('value' in result) expect(JSON.parse(input)).toEqual(result.value);
        else expect(result.faults.length).toBeGreaterThan(0);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('parseNdjson', () => {
  const rules = { maxRecords: 3 };
  /** Faults as `line code pointer`. */
  const lineFaults = (input: string) => {
    const result = parseNdjson(input, rules);
    return 'faults' in result ? result.faults.map(({ line, code, pointer }) => `${line} ${code} ${pointer}`) : [];
  };

  it.each<[string, string, unknown[]]>([
    ['LF', '{"a":1}\n[2]\n', [{ a: 1 }, [2]]],
    ['CRLF', '1\r\n2\r\n', [1, 2]],
    ['no line end at the end', '1\n2', [1, 2]],
    ['blank lines at the end', '1\n\n\r\n\n', [1]],
    ['nothing', '', []],
    ['only blank lines', '\n\n', []],
    ['line separators in strings', '"\u2028"\n"\u0085"', ['\u2028', '\u0085']],
  ])('reads lines with %s', (_, input, records) => {
    expect(parseNdjson(input, rules)).toEqual({ records });
  });

  it.each<[string, string, string[]]>([
    ['a blank line between others', '1\n\n2', ['2 json.malformed ']],
    ['a blank line at the beginning', '\n1', ['1 json.malformed ']],
    ['a line of white space', '1\n ', ['2 json.malformed ']],
    ['two values on a line', '1 2', ['1 json.malformed ']],
    ['a value on two lines', '{"a":\n1}', ['1 json.malformed ', '2 json.malformed ']],
    ['a lone carriage return', '[1,\r2]\n3', ['1 json.malformed ']],
    ['an array of records', '[\n1,\n2]', ['1 json.malformed ', '2 json.malformed ', '3 json.malformed ']],
    ['an ambiguous record', '{}\n{"a":{"b":1,"b":2}}', ['2 json.duplicate-name /a/b']],
    ['more records than are admitted', '1\n2\n3\n4', ['4 json.too-many-records ']],
  ])('refuses %s', (_, input, expected) => {
    expect(lineFaults(input)).toEqual(expected);
  });

  it('refuses a million blank lines, and a million bad ones, with a bounded answer', () => {
    expect(parseNdjson(`${'\n'.repeat(1_000_000)}1`, rules)).toHaveProperty('faults.length', 1);
    expect(parseNdjson('x\n'.repeat(1_000_000), { maxRecords: 2_000_000 })).toHaveProperty('faults.length', 20);
  });

  it.each([
    ['values', '[0,0,0,0]', MAX_JSON_VALUES / 4, 'json.too-many-values'],
    ['long numbers', '[1234567890.123456]', 3_000, 'json.too-many-long-numbers'],
  ])('counts the %s of all lines together', (_, line, fitting, code) => {
    const lines = (count: number) => parseNdjson(`${line}\n`.repeat(count), { maxRecords: 100_000 });
    expect(lines(fitting)).toHaveProperty('records.length', fitting);
    expect(lines(fitting + 1)).toMatchObject({ faults: [{ line: fitting + 1, code }] });
  });
});

/** A megabyte of one shape. */
const MEGABYTE = 1024 * 1024;
const filled = (unit: string) =>
  `[${Array(Math.floor(MEGABYTE / (unit.length + 1)))
    .fill(unit)
    .join()}]`;
const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"n${at}":0`).join()}}`;

describe('a megabyte that keeps the engine busy is refused before the engine sees it', () => {
  test.each<[string, string, string]>([
    ['arrays in arrays', '['.repeat(MEGABYTE), 'json.too-deep'],
    ['objects in objects', '{"a":'.repeat(MEGABYTE / 5), 'json.too-deep'],
    ['numbers', filled('0'), 'json.too-many-values'],
    ['empty arrays', filled('[]'), 'json.too-many-values'],
    ['empty objects', filled('{}'), 'json.too-many-values'],
    ['empty texts', filled('""'), 'json.too-many-values'],
    ['objects of one member', filled('{"a":0}'), 'json.too-many-values'],
    ['nested arrays', filled(nested(30)), 'json.too-many-values'],
    ['escapes in short texts', filled(String.raw`"\n"`), 'json.too-many-values'],
    ['escapes in short names', filled(String.raw`{"\u0041":0}`), 'json.too-many-values'],
    ['numbers with an exponent', filled('1e1'), 'json.too-many-values'],
    ['different names', members(90_000), 'json.too-many-names'],
    [
      'one name',
      `{${Array(MEGABYTE / 8)
        .fill('"a":0')
        .join()}}`,
      'json.too-many-names',
    ],
    ['values that end in the middle', filled('0').slice(0, -1), 'json.too-many-values'],
  ])('%s', (_, text, code) => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    expect(faultsOf(text)).toEqual([`${code} `]);
    expect(parse).not.toHaveBeenCalled();
  });

  test.each([
    ['long integers', '1234567890123456'],
    ['exponents', '123456789012345e-3'],
    ['sixteen digits with an exponent', '1234567890123456e0'],
  ])('so is the closer look at many numbers: %s', (_, number) => {
    expect(faultsOf(`[${Array(3_001).fill(number).join()}]`)).toEqual([
      expect.stringMatching(/^json\.too-many-long-numbers/),
    ]);
  });

  test('texts of escapes are read once, not once for each escape', () => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const text = `[${Array(60_000).fill(String.raw`"\n\"\\"`).join()}]`;
    expect(faultsOf(text)).toEqual([]);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test('a thousand records of markets with their sources, a megabyte in all, fit', () => {
    const url = 'https://data.example/prices/2026';
    const source = { label: 'Daily prices', url, publisher: null, licence: 'CC0-1.0', attribution: null };
    const record = {
      type: 'market',
      slug: 'a',
      name: 'a',
      kind: 'a',
      nativeCurrency: 'USD',
      unit: {},
      sources: [source],
    };
    expect(
      faultsOf(JSON.stringify({ records: Array(1000).fill({ ...record, sources: Array(7).fill(source) }) })),
    ).toEqual([]);
  });
});
