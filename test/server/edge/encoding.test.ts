import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Coding, chooseCoding, compress, isTextType } from '../../../server/edge/encoding.ts';

describe('the coding of a body of compressible size', () => {
  test.each<[string | undefined, Coding]>([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br, gzip', 'br'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['zstd, deflate', 'identity'],
    // Weights.
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.5', 'br'],
    ['gzip;q=0.001', 'gzip'],
    ['gzip;q=0.5, identity', 'identity'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    // Weight 0 means not acceptable.
    ['br;q=0', 'identity'],
    ['gzip;Q=0', 'identity'],
    ['GZIP;Q=0, BR;Q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, br;q=0', 'identity'],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0, *', 'br'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0, identity;q=0.1', 'identity'],
    // Nothing is acceptable: the field is disregarded.
    ['*;q=0', 'identity'],
    ['identity;q=0', 'identity'],
    ['identity;q=0, deflate', 'identity'],
    // Nonsense.
    [';;;', 'identity'],
    ['gzip;q=x', 'identity'],
  ])('Accept-Encoding %j: %s', (acceptEncoding, expected) => {
    expect(chooseCoding(acceptEncoding, 2_000, true)).toBe(expected);
  });
});

describe('the size decides', () => {
  test.each<[string | undefined, number, Coding]>([
    ['br', 0, 'identity'],
    ['br', 999, 'identity'],
    ['br', 1_000, 'br'],
    ['br', 10_000_000, 'br'],
    ['br', 10_000_001, 'identity'],
    [undefined, 1_000, 'identity'],
    // Unless plain bytes are refused.
    ['identity;q=0, gzip', 10, 'gzip'],
    ['*;q=0', 10, 'identity'],
  ])('Accept-Encoding %j with %d bytes: %s', (acceptEncoding, sizeBytes, expected) => {
    expect(chooseCoding(acceptEncoding, sizeBytes, true)).toBe(expected);
  });
});

test.each<[string, boolean]>([
  ['application/json', true],
  ['application/problem+json', true],
  ['application/x-ndjson', true],
  ['text/csv; charset=utf-8', true],
  ['text/plain; charset=utf-8', true],
  ['application/octet-stream', false],
  ['application/gzip', false],
  ['application/vnd.apache.parquet', false],
])('%s is worth compressing: %s', (contentType, isText) => {
  expect(isTextType(contentType)).toBe(isText);
  expect(chooseCoding('gzip', 2_000, isText)).toBe(isText ? 'gzip' : 'identity');
});

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)('%s is undone by its own decoder and is smaller', async (coding, decompress) => {
  const body = Buffer.from('{"slug":"gold-usd"}'.repeat(100));
  const compressed = await compress(body, coding);
  expect(decompress(compressed)).toEqual(body);
  expect(compressed.length).toBeLessThan(body.length / 5);
});
