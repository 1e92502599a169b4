/** Entries of a long market wait in the store, and come back in order. */
import { expect, test } from 'vitest';
import { EntrySpool } from '../../../publisher/core/log/entry-spool.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';

test('a spool keeps a bounded part in memory, and gives all texts in order', async () => {
  const objects = openMemoryObjects();
  const spool = new EntrySpool(objects, 7, 10);
  const texts = Array.from({ length: 9 }, (_, index) => `text ${index}`);
  for (const text of texts) await spool.add([text]);
  expect([...objects.snapshot().keys()]).toHaveLength(4);
  const parts: (readonly string[])[] = [];
  for await (const part of spool.parts()) parts.push(part);
  expect(parts.map(({ length }) => length)).toEqual([2, 2, 2, 2, 1]);
  expect(parts.flat()).toEqual(texts);
});
