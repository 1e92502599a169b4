import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ApiKeyParts,
  formatApiKey,
  hashSecret,
  newApiKey,
  newSecret,
  parseApiKey,
  secretMatches,
} from '../../lambdas/credentials/api-key-format.ts';

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
    fc.assert(property, { numRuns: 2000 });
  });

  it('is refused with two neighbours exchanged', () => {
    const property = fc.property(anyParts, fc.nat(), (parts, position) => {
      const text = formatApiKey(parts);
      const index = position % (text.length - 1);
      fc.pre(text[index] !== text[index + 1]);
      const exchanged = `${text.slice(0, index)}${text[index + 1]}${text[index]}${text.slice(index + 2)}`;
      expect(parseApiKey(exchanged)).toBeNull();
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('is never found in other text, and no text makes reading throw', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(parseApiKey(text)).toBeNull();
    });
    fc.assert(property);
  });
});

describe('a new key', () => {
  it('is one that can be read', () => {
    const parts = newApiKey('dev', randomBytes);
    expect(parseApiKey(formatApiKey(parts))).toEqual(parts);
  });

  it('is never made twice', () => {
    const made = Array.from({ length: 1000 }, () => newApiKey('test', randomBytes));
    expect(new Set(made.map(({ keyId }) => keyId)).size).toBe(1000);
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(1000);
  });

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

describe('the hash of a secret', () => {
  it('is its SHA-256 in hex', () => {
    expect(hashSecret('secret')).toBe(createHash('sha256').update('secret').digest('hex'));
  });

  it.each([
    ['the secret matches', 'secret', hashSecret('secret'), true],
    ['another secret does not', 'Secret', hashSecret('secret'), false],
    ['nothing does not', '', hashSecret('secret'), false],
    ['the hash itself does not', hashSecret('secret'), hashSecret('secret'), false],
    ['no secret matches an empty hash', '', '', false],
    ['no secret matches a hash that was cut', 'secret', hashSecret('secret').slice(0, 62), false],
    ['no secret matches a malformed hash', 'secret', 'z'.repeat(64), false],
  ])('%s', (_, secret, hash, expected) => {
    expect(secretMatches(secret, hash)).toBe(expected);
  });
});
