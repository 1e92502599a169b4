import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApiKeyParts, formatApiKey, newSecret, parseApiKey } from '../../lambdas/credentials/api-key-format.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const base62 = (length: number) =>
  fc.string({ unit: fc.constantFrom(...BASE62), minLength: length, maxLength: length });

const anyParts: fc.Arbitrary<ApiKeyParts> = fc.record({
  env: fc.constantFrom('live', 'test', 'dev'),
  keyId: base62(16),
  secret: base62(33),
});

describe('an API key', () => {
  it('looks like this', () => {
    const text = formatApiKey({ env: 'live', keyId: '0123456789ABCDEF', secret: 'abcdefghijklmnopqrstuvwxyz0123456' });
    expect(text).toBe('tdm_live_0123456789ABCDEF_abcdefghijklmnopqrstuvwxyz01234562DbB6E');
  });

  it('is read as it was written', () => {
    const property = fc.property(anyParts, (parts) => {
      expect(parseApiKey(formatApiKey(parts))).toEqual(parts);
    });
    fc.assert(property);
  });

  it('is refused with any one character changed', () => {
    const anyCharacter = fc.oneof(
      fc.constantFrom(...BASE62, '_'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const property = fc.property(anyParts, fc.nat(), anyCharacter, (parts, position, character) => {
      const text = formatApiKey(parts);
      const index = position % text.length;
      fc.pre(text[index] !== character);
      expect(parseApiKey(text.slice(0, index) + character + text.slice(index + 1))).toBeNull();
    });
    fc.assert(property, { numRuns: 500 });
  });
});

describe('a new key', () => {
  it('has a secret of at least 190 bits', () => {
    expect(newSecret(randomBytes).length * Math.log2(62)).toBeGreaterThan(190);
  });

  it('has each character equally often, given each byte equally often', () => {
    let next = 0;
    const everyByte = (count: number) => Uint8Array.from({ length: count }, () => next++ % 256);
    // 248 characters to a round of bytes, and 31 rounds: 233 secrets are 31 × 248 characters and one more.
    const text = Array.from({ length: 233 }, () => newSecret(everyByte))
      .join('')
      .slice(0, 31 * 248);
    const counts = new Set([...BASE62].map((character) => text.split(character).length - 1));
    expect(counts).toEqual(new Set([31 * 4]));
  });
});
