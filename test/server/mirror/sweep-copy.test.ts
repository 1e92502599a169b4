/** What the copy does not reach any more goes, but not before the cursors to it have expired. */
import { expect, test } from 'vitest';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { MirrorCopy } from '../../../server/mirror/copy.ts';
import { sweepCopy, type Unreached } from '../../../server/mirror/sweep-copy.ts';
import { readCheckpoint, readTexts, TEST_LOG } from '../../publisher/log/test-log.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { changeWorld, publishedWorld, roundOf, servedBy } from './mirrored-world.ts';

const RETENTION_MS = PAGE_RETENTION_SECONDS * 1000;
const NONE: ReadonlySet<string> = new Set();

const pagesOf = (objects: MemoryObjects) => [...servedBy(objects).keys()].filter((key) => key.includes('/pages/'));
const bytesOf = (objects: MemoryObjects) =>
  [...objects.snapshot().values()].reduce((sum, { body }) => sum + body.byteLength, 0);
const sweep = async (objects: MemoryObjects, before: Unreached, nowMs: number, lost = NONE, sizes: number[] = []) => {
  const copy = new MirrorCopy(objects, 1e9);
  const report = await sweepCopy(copy, before, { lost, logSizes: sizes, nowMs });
  expect(copy.usedBytes).toBe(bytesOf(objects));
  return report;
};

test('superseded pages stay for the lifetime of a cursor after the first sweep without them', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const first = pagesOf(copied);
  expect(await sweep(copied, {}, 0)).toEqual({ unreached: {}, removed: 0, broken: [] });
  await changeWorld(world);
  await roundOf(world, copied);
  const both = pagesOf(copied);
  const { unreached } = await sweep(copied, {}, 1_000);
  expect(first).toEqual(expect.arrayContaining(Object.keys(unreached)));
  expect(Object.keys(unreached).length).toBeGreaterThan(2);
  expect(await sweep(copied, unreached, RETENTION_MS + 999)).toMatchObject({ removed: 0, unreached });
  expect(pagesOf(copied)).toEqual(both);
  const removed = Object.keys(unreached).length;
  expect(await sweep(copied, unreached, RETENTION_MS + 1_000)).toEqual({ unreached: {}, removed, broken: [] });
  expect(pagesOf(copied)).toEqual(both.filter((key) => !(key in unreached)));
});

test('bodies of a market that the service lost go after the same time', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const { unreached } = await sweep(copied, {}, 0, new Set(['g']));
  expect(Object.keys(unreached)).toEqual(['public/api/v1/markets/g.json', 'public/api/v1/markets/g/history.json']);
  expect(await sweep(copied, unreached, RETENTION_MS, new Set(['g']))).toMatchObject({ removed: 2 });
  // It came back in between.
  expect((await sweep(copied, unreached, 1)).unreached).toEqual({});
});

test('a market with a gap in its history is found, and taken over again', async () => {
  const world = await publishedWorld();
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const [page = ''] = pagesOf(copied).filter((key) => key.includes('/a/history/pages/'));
  const present = await copied.stat(page);
  if (present !== null) await copied.delete(page, present.etag);
  const { broken } = await sweep(copied, {}, 0);
  expect(broken).toEqual(['a']);
  expect(await roundOf(world, copied, { broken: new Set(broken) })).toMatchObject({ state: 'current', copied: 1 });
  expect(servedBy(copied)).toEqual(servedBy(world.objects));
});

test('partial tiles of an earlier size go, full ones and those in use stay', async () => {
  const world = await publishedWorld(TEST_LOG);
  const copied = openMemoryObjects();
  for (const [key, { body, metadata }] of world.objects.snapshot()) {
    if (key.includes('/log/')) await copied.put(key, body, metadata, { kind: 'absent' });
  }
  const first = [...servedBy(copied).keys()];
  await changeWorld(world);
  for (const [key, { body, metadata }] of world.objects.snapshot()) {
    if (key.includes('/log/')) await copied.put(key, body, metadata, { kind: 'absent' });
  }
  const { size } = (await readCheckpoint(world.objects)) ?? { size: 0 };
  const { unreached } = await sweep(copied, {}, 0, NONE, [size]);
  const partial = first.filter((key) => key.includes('.p/'));
  expect(partial).toHaveLength(3);
  expect(Object.keys(unreached)).toEqual(partial);
  expect((await sweep(copied, {}, 0, NONE, [size, (await readTexts(world.objects)).length])).unreached).toEqual(
    unreached,
  );
  const earlier = Number(/p\/(\d+)/.exec(partial[0] ?? '')?.[1]);
  expect((await sweep(copied, {}, 0, NONE, [size, earlier])).unreached).toEqual({});
  expect((await sweep(copied, unreached, RETENTION_MS, NONE, [size])).removed).toBe(3);
});
