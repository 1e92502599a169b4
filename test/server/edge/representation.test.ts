import { expect, test, vi } from 'vitest';
import { PUBLIC_CACHE_CONTROL, publicKey } from '../../../contract/files/public-objects.ts';
import { Representation } from '../../../server/edge/representation.ts';
import type { ETag } from '../../../storage/ports/object-store.ts';

const TEXT = 'tide'.repeat(1_000);

function represent(text: string): Representation {
  const body = new TextEncoder().encode(text);
  const metadata = { contentType: 'application/json', cacheControl: PUBLIC_CACHE_CONTROL, cacheTag: null };
  return new Representation(publicKey({ kind: 'market-list' }), {
    etag: '"e"' as ETag,
    sizeBytes: body.length,
    body,
    metadata: { ...metadata, generation: 1, nextCursor: null },
  });
}

test('a compressed variant is made once for several requests, and then kept', async () => {
  const representation = represent(TEXT);
  const made = vi.fn();
  expect(representation.ready('gzip')).toBeUndefined();
  const variants = await Promise.all([1, 2, 3].map(() => representation.variant('gzip', made)));
  expect(new Set(variants).size).toBe(1);
  expect(representation.ready('gzip')).toBe(variants[0]);
  expect(await representation.variant('gzip', made)).toBe(variants[0]);
  expect(made).toHaveBeenCalledTimes(1);
});

test('the memory of a variant is counted when it is reported', async () => {
  const representation = represent(TEXT);
  const before = representation.memoryBytes;
  expect(before).toBeGreaterThan(TEXT.length);
  let after = 0;
  const variant = await representation.variant('br', () => {
    after = representation.memoryBytes;
  });
  expect(after).toBeGreaterThanOrEqual(before + variant.body.length);
});

test('the plain variant is there without being made', async () => {
  const representation = represent(TEXT);
  const made = vi.fn();
  expect(await representation.variant('identity', made)).toBe(representation.ready('identity'));
  expect(made).not.toHaveBeenCalled();
});
