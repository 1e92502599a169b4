import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesIfNoneMatch } from '../../contract/values/etags.ts';

describe('If-None-Match with the current tag "abc"', () => {
  test.each([
    // One tag.
    ['"abc"', true],
    ['W/"abc"', true],
    ['"abd"', false],
    ['"ABC"', false],
    // Any.
    ['*', true],
    ['*, "x"', false],
    ['"*"', false],
    // Lists, with the white space and empty members that recipients must accept.
    ['"x","abc"', true],
    ['"x",\t"abc"', true],
    [', ,"abc"', true],
    ['"x" , "abc" ,', true],
    // A comma inside quotes does not separate.
    ['"x, \\"abc"', false],
    ['"x,abc"', false],
    ['"a,b", "abc"', true],
    ['"", "abc"', true],
    // Not well-formed: counts from its beginning to the fault.
    ['abc', false],
    ['"abc', false],
    ['abc"', false],
    ['w/"abc"', false],
    ['W/ "abc"', false],
    ['"x" "abc"', false],
    ['"abc" "x"', false],
    ['"abc", x', true],
    ['x, "abc"', false],
    ['', false],
    [' ', false],
    [',', false],
  ])('%j: %s', (field, expected) => {
    expect(matchesIfNoneMatch(field, '"abc"')).toBe(expected);
  });
});

test('property: a list matches exactly when it holds the tag, strong or weak', () => {
  const opaque = fc.stringMatching(/^[!#-~]{0,3}$/).map((text) => `"${text}"`);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), opaque), { minLength: 1 }), opaque, (listed, etag) => {
      const field = listed.map(([weak, tag]) => (weak ? `W/${tag}` : tag)).join(', ');
      expect(matchesIfNoneMatch(field, etag)).toBe(listed.some(([, tag]) => tag === etag));
    }),
  );
});

test('property: no field value makes it throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (field) => void matchesIfNoneMatch(field, '"abc"')));
});
