import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createCursors } from '../../lambdas/http/cursor.ts';
import { readQuery } from '../../lambdas/http/query.ts';

const cursors = createCursors(new Uint8Array(32).fill(7));
const CONTEXT = { actor: 'user:alice', operation: 'listClaims', filter: { state: 'open', market: 'gold-usd' } };
const EXPIRES = { expiresAtMs: 2000 };
const NOW = { nowMs: 1000 };
const signed = cursors.sign({ ...CONTEXT, ...EXPIRES, after: 'cl_01JD' });

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('cursors', () => {
  it('open in the context of their signature, with any order of the filter', () => {
    expect(cursors.open(signed, { ...CONTEXT, ...NOW })).toEqual({ after: 'cl_01JD' });
    const filter = { market: 'gold-usd', cursor: undefined, state: 'open' };
    expect(cursors.open(signed, { ...CONTEXT, ...NOW, filter })).toEqual({ after: 'cl_01JD' });
  });

  it.each([
    ['actor', { actor: 'user:bob' }],
    ['kind of actor', { actor: 'key:alice' }],
    ['operation', { operation: 'listWatchlists' }],
    ['filter', { filter: { state: 'closed', market: 'gold-usd' } }],
    ['filter that is shorter', { filter: { state: 'open' } }],
    ['filter that is longer', { filter: { ...CONTEXT.filter, actor: '' } }],
    ['filter with names and values moved', { filter: { 'state","open': 'market', market: 'gold-usd' } }],
    ['filter with values exchanged', { filter: { state: 'gold-usd', market: 'open' } }],
  ])('of another %s are malformed', (_, other) => {
    expect(cursors.open(signed, { ...CONTEXT, ...NOW, ...other })).toBe('malformed');
  });

  it('of another key are malformed', () => {
    const others = createCursors(new Uint8Array(32).fill(8));
    expect(others.open(signed, { ...CONTEXT, ...NOW })).toBe('malformed');
  });

  it('expire at their moment; with another signature they are malformed even then', () => {
    expect(cursors.open(signed, { ...CONTEXT, nowMs: 1999 })).toEqual({ after: 'cl_01JD' });
    expect(cursors.open(signed, { ...CONTEXT, nowMs: 2000 })).toBe('expired');
    expect(cursors.open(signed, { ...CONTEXT, nowMs: 2000, actor: 'user:bob' })).toBe('malformed');
  });

  it('with any character changed, left out or added are malformed', () => {
    for (let at = 0; at <= signed.length; at++) {
      const [before, after] = [signed.slice(0, at), signed.slice(at + 1)];
      for (const character of [...ALPHABET, '', '=', '+', '/', ' ', '\n', 'é']) {
        if (before + character + after === signed) continue;
        expect(cursors.open(before + character + after, { ...CONTEXT, ...NOW })).toBe('malformed');
      }
      expect(cursors.open(`${before}A${signed.slice(at)}`, { ...CONTEXT, ...NOW })).toBe('malformed');
    }
  });

  it('have a form that a query admits: at most 512 characters, and no credential', () => {
    expect(signed).toMatch(/^[\w-]{1,512}$/);
    expect(() => cursors.sign({ ...CONTEXT, ...EXPIRES, after: 'x'.repeat(400) })).toThrow(RangeError);
    expect(cursors.open('A'.repeat(1_000_000), { ...CONTEXT, ...NOW })).toBe('malformed');
  });

  it('need a long key', () => {
    expect(() => createCursors(new Uint8Array(31))).toThrow(RangeError);
  });

  const text = fc.string({ unit: 'binary', maxLength: 30 });
  const context = fc.record({ actor: text, operation: text, filter: fc.dictionary(text, text, { maxKeys: 4 }) });

  test('carry any sort key through a query', () => {
    fc.assert(
      fc.property(context, text, (bound, after) => {
        const query = readQuery(`cursor=${cursors.sign({ ...bound, ...EXPIRES, after })}`);
        const cursor = 'query' in query ? (query.query.cursor as string) : '';
        expect(cursors.open(cursor, { ...bound, ...NOW })).toEqual({ after });
      }),
      { numRuns: 500 },
    );
  });

  test('open only in their own context', () => {
    fc.assert(
      fc.property(context, context, (bound, other) => {
        fc.pre(JSON.stringify(bound) !== JSON.stringify(other));
        const cursor = cursors.sign({ ...bound, ...EXPIRES, after: 'x' });
        expect(cursors.open(cursor, { ...other, ...NOW })).toBe('malformed');
      }),
    );
  });

  test('cannot be guessed', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from([1, ...bytes]).toString('base64url')),
        ),
        (guess) => {
          expect(cursors.open(guess, { ...CONTEXT, ...NOW })).toBe('malformed');
        },
      ),
    );
  });
});
