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
  const misused = (put: Promise<unknown>) => expect(put).rejects.toBeInstanceOf(ObjectStoreMisuse);

  test.each([PAGE, 'public/api/v1/markets/gold-usd/history/pages/1-00.json', 'redo/1.json'])(
    'throws when %s is put with other bytes or swapped, also after it was deleted',
    async (key) => {
      const objects = openMemoryObjects();
      const etag = etagOf(await objects.put(key, bytes('one'), metadataOf(1), absent));
      await misused(objects.put(key, bytes('two'), metadataOf(1), absent));
      await misused(objects.put(key, bytes('one'), metadataOf(2), { kind: 'matches', etag }));
      expect(await objects.put(key, bytes('one'), metadataOf(2), absent)).toEqual({ kind: 'refused' });
      await objects.delete(key, etag);
      await misused(objects.put(key, bytes('two'), metadataOf(1), absent));
      expect(await objects.put(key, bytes('one'), metadataOf(1), absent)).toEqual({ kind: 'stored', etag });
    },
  );

  test('throws when a head goes back to an older generation, also after it was deleted', async () => {
    const objects = openMemoryObjects();
    const etag = etagOf(await objects.put(HEAD, bytes('one'), metadataOf(5), absent));
    await misused(objects.put(HEAD, bytes('two'), metadataOf(4), { kind: 'matches', etag }));
    await objects.delete(HEAD, etag);
    await misused(objects.put(HEAD, bytes('two'), metadataOf(4), absent));
  });

  test('throws when a field is missing', async () => {
    for (const name of Object.keys(metadataOf(1))) {
      const { [name as keyof ObjectMetadata]: _missing, ...rest } = metadataOf(1);
      await misused(openMemoryObjects().put(HEAD, bytes('one'), rest as ObjectMetadata, absent));
    }
  });
});
