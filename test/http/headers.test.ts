import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { etagOf, readIdempotencyKey, readIfMatch, readIfNoneMatch } from '../../lambdas/http/headers.ts';

describe('readIdempotencyKey', () => {
  const read = (field?: string) => {
    const result = readIdempotencyKey({ 'idempotency-key': field });
    return 'problem' in result ? result.problem.code : result.key;
  };

  it.each([
    ['a'.repeat(16)],
    ['Z_9-'.repeat(16)],
    ['01JD8N5W5XQ6M4T0VZ8R2K7C3A'],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
  ])('takes %s, bare or quoted, as the same key', (key) => {
    expect(read(key)).toBe(key);
    expect(read(`"${key}"`)).toBe(key);
  });

  it('reports a missing field', () => {
    expect(read(undefined)).toBe('idempotency-key-missing');
  });

  it.each([
    [''],
    ['""'],
    ['a'.repeat(15)],
    ['a'.repeat(65)],
    [`"${'a'.repeat(16)}`],
    [`${'a'.repeat(16)}"`],
    [`'${'a'.repeat(16)}'`],
    [`"${'a'.repeat(16)}";p=1`],
    [`${'a'.repeat(16)}, ${'b'.repeat(16)}`],
    [`${'a'.repeat(16)},${'a'.repeat(16)}`],
    [`${'a'.repeat(16)}\n`],
    [`${'a'.repeat(15)} b`],
    [`"${'a'.repeat(15)}\\\\"`],
    [`${'é'.repeat(16)}`],
  ])('refuses %j', (field) => {
    expect(read(field)).toBe('idempotency-key-malformed');
  });

  test('returns only well-formed keys, for any field', () => {
    const near = fc.stringMatching(/^"?[\w, -]{14,66}"?$/);
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: 'binary' })), (field) => {
        const result = readIdempotencyKey({ 'idempotency-key': field });
        if ('key' in result) expect(result.key).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
        else expect(result.problem.status).toBe(400);
      }),
    );
  });
});

describe('readIfMatch', () => {
  const read = (field?: string) => {
    const result = readIfMatch({ 'if-match': field });
    return 'problem' in result ? result.problem.code : result.ifMatch;
  };

  it.each<[string | undefined, readonly number[] | 'any' | null]>([
    [undefined, null],
    ['*', 'any'],
    [' * ', 'any'],
    ['"7"', [7]],
    ['"7", "8"', [7, 8]],
    ['"7","8" ,\t"0"', [7, 8, 0]],
    [', ,"7",', [7]],
    // Weak tags never match, nor do those that we have not made.
    ['W/"7"', []],
    ['W/"7", "8"', [8]],
    ['"seven"', []],
    ['"07"', []],
    ['"7.0"', []],
    ['"7 "'.replace(' ', ''), [7]],
    ['"+7"', []],
    ['"NaN"', []],
    ['"1e3"', []],
    ['""', []],
    ['"a,b", "7"', [7]],
    ['"9007199254740993"', []],
  ])('reads %j as %j', (field, expected) => {
    expect(read(field)).toEqual(expected);
  });

  it.each([
    [''],
    [','],
    ['7'],
    ['"7'],
    ['7"'],
    ['"7" "8"'],
    ['"7""8"'],
    ['w/"7"'],
    ['W/ "7"'],
    ['*, "7"'],
    ['"7", *'],
    ['"7", 8'],
    ["'7'"],
    ['"a b"'],
    ['"7"\n'],
    ['"\u20ac"'],
  ])('refuses %j', (field) => {
    expect(read(field)).toBe('invalid-request');
  });

  test('reads every list of our ETags back', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger().map(Math.abs), { minLength: 1 }), (revisions) => {
        expect(read(revisions.map(etagOf).join(', '))).toEqual(revisions);
      }),
    );
  });

  test('never throws, nor takes long over white space', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('"', ',', ' ', '\t', 'W/', '7', '*', '\n')), (pieces) => {
        expect(read(pieces.join(''))).toBeDefined();
      }),
    );
    expect(read(`${' '.repeat(1_000_000)}x`)).toBe('invalid-request');
  });
});

describe('readIfNoneMatch', () => {
  it.each([
    [undefined, { mustCreate: false }],
    ['*', { mustCreate: true }],
    [' * ', { mustCreate: true }],
  ])('reads %j', (field, expected) => {
    expect(readIfNoneMatch({ 'if-none-match': field })).toEqual(expected);
  });

  it.each([[''], ['"7"'], ['*, *'], ['*,"7"'], ['**']])('refuses %j', (field) => {
    expect(readIfNoneMatch({ 'if-none-match': field })).toHaveProperty('problem.code', 'invalid-request');
  });
});
