import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createSecrets, MASTER_SECRET_BYTES, SEAL_IV_BYTES } from '../../lambdas/pipeline/secrets.ts';

const bytes = (fill: number, count = MASTER_SECRET_BYTES) => new Uint8Array(count).fill(fill);
const IV = bytes(3, SEAL_IV_BYTES);
const secrets = createSecrets(bytes(1));
const others = createSecrets(bytes(2));

describe('the secret of a deployment', () => {
  it.each([0, 16, 31, 33, 64])('is refused with %i bytes', (count) => {
    expect(() => createSecrets(bytes(1, count))).toThrow(RangeError);
  });

  it('gives each use a key of its own, and other deployments other ones', () => {
    expect(secrets.cursorKey).toHaveLength(32);
    expect(secrets.cursorKey).not.toEqual(bytes(1));
    expect(others.cursorKey).not.toEqual(secrets.cursorKey);
    expect(createSecrets(bytes(1)).cursorKey).toEqual(secrets.cursorKey);
  });
});

describe('a fingerprint', () => {
  const parts = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array()), { maxLength: 6 });

  test('is the same for the same parts, and another one for any others', () => {
    const plain = (list: readonly (string | Uint8Array)[]) =>
      JSON.stringify(list.map((part) => [...Buffer.from(part)]));
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(secrets.fingerprint(one) === secrets.fingerprint(other)).toBe(plain(one) === plain(other));
      }),
    );
  });

  it.each<[string[], string[]]>([
    [
      ['ab', ''],
      ['a', 'b'],
    ],
    [['a', 'b'], ['ab']],
    [
      ['', 'a'],
      ['a', ''],
    ],
    [['a'], ['a', '']],
    [
      ['POST', '/a'],
      ['POST/', 'a'],
    ],
  ])('distinguishes %j and %j', (one, other) => {
    expect(secrets.fingerprint(one)).not.toBe(secrets.fingerprint(other));
  });

  it('reveals nothing to a guess without the secret', () => {
    const print = secrets.fingerprint(['guess']);
    expect(print).toMatch(/^[0-9a-f]{64}$/);
    expect(others.fingerprint(['guess'])).not.toBe(print);
    expect(createHash('sha256').update('guess').digest('hex')).not.toBe(print);
  });
});

describe('a sealed text', () => {
  test('opens to its content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        expect(secrets.open(secrets.seal(text, context, IV), context)).toBe(text);
      }),
    );
  });

  test('opens with no other context and no other secret', () => {
    const sealed = secrets.seal('text', 'here', IV);
    for (const context of ['', 'there', 'here ', 'her']) expect(() => secrets.open(sealed, context)).toThrow();
    expect(() => others.open(sealed, 'here')).toThrow();
  });

  test('opens no longer once any of it is altered or cut off', () => {
    const sealed = Buffer.from(secrets.seal('text', 'here', IV), 'base64');
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const altered = Buffer.from(sealed);
        altered[at] = (altered[at] as number) ^ mask;
        expect(() => secrets.open(altered.toString('base64'), 'here')).toThrow();
        expect(() => secrets.open(sealed.subarray(0, at).toString('base64'), 'here')).toThrow();
      }),
    );
  });

  it('hides its content, and differs each time', () => {
    const one = secrets.seal('a long enough text', 'here', IV);
    expect(Buffer.from(one, 'base64').toString()).not.toContain('text');
    expect(secrets.seal('a long enough text', 'here', bytes(4, SEAL_IV_BYTES))).not.toBe(one);
  });
});
