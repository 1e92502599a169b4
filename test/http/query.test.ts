import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { readQuery } from '../../lambdas/http/query.ts';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
const API_KEY = 'tdm_live_01jd8n5w5xq6_c2VjcmV0c2VjcmV0';

function codeOf(raw: string): string | null {
  const result = readQuery(raw);
  return 'problem' in result ? result.problem.code : null;
}

describe('readQuery', () => {
  it.each<[string, Record<string, string>]>([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=', { a: '' }],
    ['a', { a: '' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=%3D%26%25', { a: '=&%' }],
    ['%61ctor=user%3Aalice', { actor: 'user:alice' }],
    ['at=2026-01-01T00:00:00+01:00', { at: '2026-01-01T00:00:00+01:00' }],
    ['a=%F0%9F%98%80', { a: '😀' }],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
    ['cursor=AQeyJ0ZG1f', { cursor: 'AQeyJ0ZG1f' }],
    ['keys=1&tokens=2', { keys: '1', tokens: '2' }],
  ])('reads %j', (raw, expected) => {
    const result = readQuery(raw);
    expect('query' in result && { ...result.query }).toEqual(expected);
  });

  it('treats a special name of JavaScript as a plain name', () => {
    const result = readQuery('__proto__=1');
    expect('query' in result && Object.entries(result.query)).toEqual([['__proto__', '1']]);
    expect(({} as Record<string, unknown>)[1]).toBeUndefined();
  });

  it('gives an object that schemas take', () => {
    const result = readQuery('state=open');
    expect(z.strictObject({ state: z.string() }).parse('query' in result && result.query)).toEqual({ state: 'open' });
  });

  it.each([
    ['a=%'],
    ['a=%4'],
    ['a=%zz'],
    ['%=1'],
    ['a=%FF'],
    ['a=%C0%AF'],
    ['a=%ED%A0%80'],
    ['a=\ud83d'],
    ['a=1&a=2'],
    ['a=1&%61=2'],
    ['__proto__=1&__proto__=2'],
    ['=1'],
    ['a=1&'],
    ['&a=1'],
    ['a=1&&b=2'],
    ['&'],
  ])('refuses %j', (raw) => {
    expect(codeOf(raw)).toBe('invalid-request');
  });

  it.each([
    ['access_token=abc'],
    ['Access-Token=abc'],
    ['token=abc'],
    ['token'],
    ['api_key=abc'],
    ['apikey=abc'],
    ['apiKey=abc'],
    ['key=abc'],
    ['Authorization=abc'],
    ['%74oken=abc'],
    [`a=${JWT}`],
    [`a=${API_KEY}`],
    [`a=1&b=${API_KEY}`],
    ['a=tdm%5Flive'],
    ['a=%20eyJhbGciOi'],
    ['a=bearer%20abc'],
    [API_KEY],
    [`${JWT}=1`],
    [`a=%&b=${JWT}`],
    [`a=${API_KEY}%`],
    [`a=1&a=${API_KEY}`],
  ])('refuses the credential in %j', (raw) => {
    expect(codeOf(raw)).toBe('credential-in-url');
  });

  test('reads every query back that was written by RFC 3986', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
    const name = text.filter((value) => value !== '');
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 5 }), (pairs) => {
        const raw = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const result = readQuery(raw);
        if ('query' in result) expect(Object.entries(result.query).sort()).toEqual(pairs.sort());
        else expect(result.problem.code).toBe('credential-in-url');
      }),
    );
  });

  test('never throws, and never repeats refused text', () => {
    const part = fc.oneof(
      fc.constantFrom('a', '%', '%41', '&', '=', '+', 'tdm_', 'eyJ', 'token', '__proto__', '\ud83d'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const result = readQuery(`a=SECRET&a=${parts.join('')}`);
        expect(JSON.stringify(result)).not.toContain('SECRET');
      }),
      { numRuns: 1000 },
    );
  });
});
