import { spawnSync } from 'node:child_process';
import { open, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BatchReader } from '../../storage/batch-reader.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { DirectoryReader } from '../../storage/directory-reader.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/errors.ts';
import type { ETag, GetResult } from '../../storage/object-store.ts';
import { metadataOf } from './object-store-contract.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Counts the reads that the thread did not answer. */
class CountingReader extends DirectoryReader {
  reads = 0;

  override async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetResult> {
    this.reads++;
    return await super.get(key, options);
  }
}

const BODIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`small/${index}`, `body ${index} €`])),
  repeating: 'tide'.repeat(3_000),
  large: Array.from({ length: 20_000 }, (_, index) => index).join(' '),
};
const KEYS = Object.keys(BODIES);

async function openStore() {
  const folder = await temporaryFolder();
  const store = await openDirectoryObjects(folder);
  for (const [key, body] of Object.entries(BODIES)) {
    await store.put(key, Buffer.from(body), metadataOf(1), { kind: 'absent' });
  }
  const usual = new CountingReader(folder);
  const batched = new BatchReader(usual);
  return { folder, store, usual, batched };
}

/** Reads all until the thread answers. */
async function startThread({ usual, batched }: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  await expect
    .poll(
      async () => {
        usual.reads = 0;
        await Promise.all(KEYS.map((key) => batched.get(key)));
        return usual.reads;
      },
      { timeout: 20_000 },
    )
    .toBeLessThan(KEYS.length);
  usual.reads = 0;
}

describe('many reads at once', () => {
  test('get what one read gets: with the thread and without it', async () => {
    const opened = await openStore();
    const { store, usual, batched } = opened;
    const expected = await Promise.all(KEYS.map((key) => store.get(key)));
    const plain = (results: readonly GetResult[]) =>
      results.map((result) => (result.kind === 'found' ? { ...result, body: Buffer.from(result.body) } : result));
    expect(plain(await Promise.all(KEYS.map((key) => batched.get(key))))).toEqual(plain(expected));
    await startThread(opened);
    expect(plain(await Promise.all(KEYS.map((key) => batched.get(key))))).toEqual(plain(expected));
    // The large one alone needs more than one read of its file.
    expect(usual.reads).toBe(1);
  });

  test('say "not modified" of the version that the reader has, and bring a newer one', async () => {
    const opened = await openStore();
    const { store, batched, usual } = opened;
    await startThread(opened);
    const [kept, replaced] = ['small/1', 'small/2'] as const;
    const etags = await Promise.all([kept, replaced].map(async (key) => (await store.stat(key))?.etag as ETag));
    await store.put(replaced, Buffer.from('newer'), metadataOf(2), { kind: 'matches', etag: etags[1] as ETag });
    const [same, newer] = await Promise.all(
      [kept, replaced].map((key, index) => batched.get(key, { ifNoneMatch: etags[index] as ETag })),
    );
    expect(same).toEqual({ kind: 'not-modified' });
    expect(newer).toMatchObject({ kind: 'found', metadata: { generation: 2 } });
    expect(newer?.kind === 'found' && Buffer.from(newer.body).toString()).toBe('newer');
    expect(usual.reads).toBe(0);
  });

  test('tell of objects that are absent, damaged or of another key, as one read does', async () => {
    const opened = await openStore();
    const { batched, usual } = opened;
    await startThread(opened);
    await truncate(usual.pathOf('small/1'), 100);
    const copied = await readFile(usual.pathOf('small/3'));
    await writeFile(usual.pathOf('small/2'), copied);
    const bytes = await readFile(usual.pathOf('small/4'));
    bytes[bytes.length - 1] = 0x21;
    await writeFile(usual.pathOf('small/4'), bytes);
    const keys = ['small/0', 'small/1', 'small/2', 'small/3', 'small/4', 'small/none', '../outside'];
    const results = await Promise.allSettled(keys.map((key) => batched.get(key)));
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value.kind : result.reason))).toEqual([
      'found',
      expect.any(StorageCorrupt),
      expect.any(StorageCorrupt),
      'found',
      expect.any(StorageCorrupt),
      'absent',
      expect.any(RangeError),
    ]);
  });

  test('fail when the folder has vanished', async () => {
    const opened = await openStore();
    await startThread(opened);
    await rename(join(opened.folder, 'objects'), join(opened.folder, 'away'));
    const results = await Promise.allSettled(KEYS.map((key) => opened.batched.get(key)));
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(StorageUnavailable) });
  });

  test('wait for a file that hangs only if they want that file', async ({ skip }) => {
    const opened = await openStore();
    const { batched, folder, usual } = opened;
    await startThread(opened);
    const [path, aside] = [usual.pathOf('small/1'), join(folder, 'aside')];
    await rename(path, aside);
    // Who opens it to read waits for a writer.
    if (spawnSync('mkfifo', [path]).status !== 0) skip('there is no mkfifo here');
    const results = KEYS.map((key) => batched.get(key));
    const stuck = results[KEYS.indexOf('small/1')]?.catch((error: unknown) => error);
    const others = results.filter((_, index) => KEYS[index] !== 'small/1');
    expect((await Promise.all(others)).every(({ kind }) => kind === 'found')).toBe(true);
    // The thread hangs still. Reads that begin now do not wait for it.
    const before = usual.reads;
    expect(await batched.get('small/2')).toMatchObject({ kind: 'found' });
    expect(usual.reads).toBe(before + 1);
    const fifo = join(folder, 'fifo');
    await rename(path, fifo);
    await rename(aside, path);
    const writer = await open(fifo, 'w');
    await writer.close();
    expect(await stuck).toBeInstanceOf(StorageUnavailable);
    await startThread(opened);
  });
});
