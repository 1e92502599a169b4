import { describe, expect, test } from 'vitest';
import type { ObjectMetadata } from '../../storage/ports/object-store.ts';
import { ObjectStoreMisuse, openMemoryObjects } from './memory-objects.ts';
import { bytes, etagOf, metadataOf, objectStoreContract } from './object-store-contract.ts';

objectStoreContract('the object store in memory', async () => {
  const objects = openMemoryObjects();
  return { objects, reopen: async () => objects, close: async () => undefined };
});

const PAGE = 'public/api/v1/markets/pages/1-00.json';
const HEAD = 'public/api/v1/markets.json';
const absent = { kind: 'absent' } as const;

describe('the object store in memory is stricter than a real one', () => {
  test.each([PAGE, 'public/api/v1/markets/gold-usd/history/pages/1-00.json', 'redo/1.json'])(
    'throws when %s is put with other bytes, also after it was deleted',
    async (key) => {
      const objects = openMemoryObjects();
      const etag = etagOf(await objects.put(key, bytes('one'), metadataOf(1), absent));
      await expect(objects.put(key, bytes('two'), metadataOf(1), absent)).rejects.toBeInstanceOf(ObjectStoreMisuse);
      await objects.delete(key, etag);
      await expect(objects.put(key, bytes('two'), metadataOf(1), absent)).rejects.toBeInstanceOf(ObjectStoreMisuse);
      expect(await objects.put(key, bytes('one'), metadataOf(1), absent)).toEqual({ kind: 'stored', etag });
    },
  );

  test('refuses, as a real one would, to create a page again with the same bytes', async () => {
    const objects = openMemoryObjects();
    await objects.put(PAGE, bytes('one'), metadataOf(1), absent);
    expect(await objects.put(PAGE, bytes('one'), metadataOf(2), absent)).toEqual({ kind: 'refused' });
  });

  test('throws when an immutable object is swapped', async () => {
    const objects = openMemoryObjects();
    const etag = etagOf(await objects.put(PAGE, bytes('one'), metadataOf(1), absent));
    const swapped = objects.put(PAGE, bytes('one'), metadataOf(2), { kind: 'matches', etag });
    await expect(swapped).rejects.toBeInstanceOf(ObjectStoreMisuse);
  });

  test('throws when a head goes back to an older generation, also after it was deleted', async () => {
    const objects = openMemoryObjects();
    const etag = etagOf(await objects.put(HEAD, bytes('one'), metadataOf(5), absent));
    const older = objects.put(HEAD, bytes('two'), metadataOf(4), { kind: 'matches', etag });
    await expect(older).rejects.toBeInstanceOf(ObjectStoreMisuse);
    await objects.delete(HEAD, etag);
    await expect(objects.put(HEAD, bytes('two'), metadataOf(4), absent)).rejects.toBeInstanceOf(ObjectStoreMisuse);
  });

  test.each(['contentType', 'cacheControl', 'cacheTag', 'generation', 'nextCursor'])(
    'throws when %s is missing',
    async (name) => {
      const { [name as keyof ObjectMetadata]: _missing, ...rest } = metadataOf(1);
      const stored = openMemoryObjects().put(HEAD, bytes('one'), rest as ObjectMetadata, absent);
      await expect(stored).rejects.toBeInstanceOf(ObjectStoreMisuse);
    },
  );

  test('counts calls by method, and lists stored objects', async () => {
    const objects = openMemoryObjects();
    const etag = etagOf(await objects.put(HEAD, bytes('one'), metadataOf(1), absent));
    await objects.put(HEAD, bytes('four'), metadataOf(1), absent);
    await objects.put(HEAD, bytes('four'), metadataOf(1), { kind: 'matches', etag });
    await objects.get(HEAD);
    await objects.stat(HEAD);
    await objects.list('');
    await objects.delete(HEAD, etag);
    expect(objects.counts).toEqual({ get: 1, stat: 1, put: 3, delete: 1, list: 1 });
    expect(objects.puts).toEqual([
      { key: HEAD, sizeBytes: 3 },
      { key: HEAD, sizeBytes: 4 },
    ]);
    objects.resetCounts();
    expect([objects.counts.put, objects.puts]).toEqual([0, []]);
  });

  test('gives a snapshot that later puts do not change', async () => {
    const objects = openMemoryObjects();
    const etag = etagOf(await objects.put(HEAD, bytes('one'), metadataOf(1), absent));
    const snapshot = objects.snapshot();
    await objects.put(HEAD, bytes('two'), metadataOf(2), { kind: 'matches', etag });
    expect([...snapshot]).toEqual([[HEAD, { body: bytes('one'), metadata: metadataOf(1) }]]);
  });
});
