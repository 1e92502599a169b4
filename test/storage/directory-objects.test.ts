import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findDamagedObjects } from '../../storage/damaged-files.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/errors.ts';
import { encodeObjectFile } from '../../storage/object-file.ts';
import { bodyOfGeneration } from './child-bodies.ts';
import { runUntilKilled } from './child-process.ts';
import { bytes, etagOf, metadataOf, objectStoreContract } from './object-store-contract.ts';
import { makeTemporaryFolder, temporaryFolder } from './temporary-folder.ts';

// Thousands of synced files, and other processes, on machines that have other things to do.
vi.setConfig({ testTimeout: 30_000 });

objectStoreContract('the object store in a directory', async () => {
  const { folder, remove } = await makeTemporaryFolder();
  return {
    objects: await openDirectoryObjects(folder),
    reopen: () => openDirectoryObjects(folder),
    close: remove,
  };
});

const KEY = 'heads/market.json';
const absent = { kind: 'absent' } as const;

const COMPRESSED = Array.from({ length: 3000 }, (_, index) => `body ${index * index}`).join(' ');
const PLAIN = 'body '.repeat(800);

/** A store that holds one object, and the file in which it does. */
async function openWithObject(body = COMPRESSED) {
  const folder = await temporaryFolder();
  const objects = await openDirectoryObjects(folder);
  const etag = etagOf(await objects.put(KEY, bytes(body), metadataOf(1), absent));
  return { folder, objects, etag, file: join(folder, 'objects', `${KEY}+object`) };
}

/** Records syncs from now on, in order. */
async function watchSyncs(): Promise<('file' | 'folder')[]> {
  const synced: ('file' | 'folder')[] = [];
  const prototype = await fileHandlePrototype();
  const sync = prototype.sync;
  const watch = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof prototype) {
    synced.push((await this.stat()).isDirectory() ? 'folder' : 'file');
    return sync.call(this);
  });
  onTestFinished(() => watch.mockRestore());
  return synced;
}

async function fileHandlePrototype() {
  const handle = await open('.', 'r');
  await handle.close();
  return Object.getPrototypeOf(handle) as typeof handle;
}

describe('the object store in a directory', () => {
  test('loses nothing that it acknowledged, and tears nothing, when its process is killed', async () => {
    const death = fc.record({ afterLines: fc.integer({ min: 1, max: 60 }), delayMs: fc.integer({ min: 0, max: 5 }) });
    await fc.assert(
      fc.asyncProperty(death, async (death) => {
        const { folder, remove } = await makeTemporaryFolder();
        const acknowledged = await runUntilKilled('write-objects', folder, death);
        const objects = await openDirectoryObjects(folder);
        const head = await objects.get('head.json');
        // The last swap may have happened, but not yet been acknowledged.
        expect([acknowledged, acknowledged + 1]).toContain(head.kind === 'found' && head.metadata.generation);
        const { keys } = await objects.list('');
        for (let generation = 1; generation <= acknowledged; generation++) {
          expect(keys).toContain(`pages/${generation % 5}/${generation}.json`);
        }
        for (const key of keys) {
          const object = await objects.get(key);
          const body = object.kind === 'found' && Buffer.from(object.body).toString();
          const generation = object.kind === 'found' ? object.metadata.generation : 0;
          expect(body === Buffer.from(bodyOfGeneration(generation)).toString()).toBe(true);
        }
        expect(await readdir(join(folder, 'tmp'))).toEqual([]);
        await remove();
      }),
      { numRuns: 3 },
    );
  });

  test('syncs bytes before the name that shows them, and every new folder with the one above it', async () => {
    const objects = await openDirectoryObjects(await temporaryFolder());
    const synced = await watchSyncs();
    const etag = etagOf(await objects.put('a/b/c.json', bytes('one'), metadataOf(1), absent));
    // The new names: `a` in the root, `b` in `a`, and the object's in `b`.
    expect(synced.splice(0)).toEqual(['file', 'folder', 'folder', 'folder']);
    await objects.put('a/b/d.json', bytes('one'), metadataOf(1), absent);
    expect(synced.splice(0)).toEqual(['file', 'folder']);
    await objects.put('a/b/c.json', bytes('two'), metadataOf(2), { kind: 'matches', etag });
    expect(synced.splice(0)).toEqual(['file', 'folder']);
    await objects.delete('a/b/d.json', etag);
    expect(synced.splice(0)).toEqual(['folder']);
  });

  test('syncs the name of an object before it refuses to create it again, and the lack of one before it is deleted', async () => {
    const { objects, etag } = await openWithObject();
    const synced = await watchSyncs();
    await objects.put(KEY, bytes('other'), metadataOf(1), absent);
    expect(synced.splice(0)).toEqual(['folder']);
    await objects.delete('heads/none.json', etag);
    expect(synced.splice(0)).toEqual(['folder']);
  });

  test('shows no object in a new folder before the name of that folder is durable', async () => {
    const folder = await temporaryFolder();
    const objects = await openDirectoryObjects(folder);
    const above = await stat(join(folder, 'objects'));
    const events: string[] = [];
    const prototype = await fileHandlePrototype();
    const sync = prototype.sync;
    const watch = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof prototype) {
      const { ino } = await this.stat();
      // Slow enough for the other puts to overtake it, if they could.
      if (ino === above.ino) await setTimeout(50);
      await sync.call(this);
      if (ino === above.ino) events.push('folder');
    });
    onTestFinished(() => watch.mockRestore());
    const puts = ['a', 'b', 'c'].map(async (name) => {
      await objects.put(`new/${name}`, bytes(name), metadataOf(1), absent);
      events.push('object');
    });
    await Promise.all(puts);
    expect(events).toEqual(['folder', 'object', 'object', 'object']);
  });

  test.each([
    ['creating', 'heads/new.json', absent],
    ['swapping', KEY, undefined],
  ])('is unavailable when the disk fails while %s, and leaves nothing behind', async (_what, key, condition) => {
    const { folder, objects, etag } = await openWithObject();
    const failure = Object.assign(new Error('i/o error'), { code: 'EIO' });
    const fail = vi.spyOn(await fileHandlePrototype(), 'sync').mockRejectedValueOnce(failure);
    const storing = objects.put(key, bytes('two'), metadataOf(2), condition ?? { kind: 'matches', etag });
    await expect(storing).rejects.toMatchObject({ constructor: StorageUnavailable, cause: failure });
    fail.mockRestore();
    expect([await readdir(join(folder, 'tmp')), (await objects.list('')).keys]).toEqual([[], [KEY]]);
    expect((await objects.stat(KEY))?.etag).toBe(etag);
  });

  test('removes leftovers of a killed process when it opens, once its finished objects are durable', async () => {
    const { folder, file, etag } = await openWithObject();
    await copyFile(file, join(folder, 'tmp', 'written'));
    await copyFile(file, join(folder, 'tmp', 'written-moving'));
    await writeFile(join(folder, 'tmp', 'half'), '{"version":1,"ke');
    const { bytes: lost } = encodeObjectFile('no/such/folder.json', bytes('x'), metadataOf(1));
    await writeFile(join(folder, 'tmp', 'lost'), lost);
    const synced = await watchSyncs();
    const objects = await openDirectoryObjects(folder);
    // Twice the folder of the object and its parent; and the parent of the unfinished object.
    expect(synced).toEqual(['folder', 'folder', 'folder', 'folder', 'folder']);
    expect([await readdir(join(folder, 'tmp')), (await objects.stat(KEY))?.etag]).toEqual([[], etag]);
  });

  test('leaves no temporary file, with any outcome of a put', async () => {
    const { folder, objects, etag } = await openWithObject();
    const second = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag }));
    await objects.put(KEY, bytes('three'), metadataOf(2), { kind: 'matches', etag });
    await Promise.all([1, 2, 3].map((racer) => objects.put('x.json', bytes(`${racer}`), metadataOf(1), absent)));
    await objects.delete(KEY, second);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });

  test('creates an object once, also where two stores share the directory', async () => {
    const folder = await temporaryFolder();
    const stores = [await openDirectoryObjects(folder), await openDirectoryObjects(folder)];
    for (let round = 0; round < 30; round++) {
      const key = `round/${round}.json`;
      const puts = stores.map((store, index) => store.put(key, bytes(`store ${index}`), metadataOf(1), absent));
      const results = (await Promise.all(puts)).map((result) => result.kind);
      expect(results.toSorted()).toEqual(['refused', 'stored']);
      expect(await stores[0]?.get(key)).toMatchObject({ body: Buffer.from(`store ${results.indexOf('stored')}`) });
    }
  });

  test('compresses a body of more than one block, and gives it back', async () => {
    const { objects, file } = await openWithObject();
    expect((await stat(file)).size).toBeLessThan(COMPRESSED.length / 2);
    expect(await objects.get(KEY)).toMatchObject({ body: Buffer.from(COMPRESSED), sizeBytes: COMPRESSED.length });
    expect(await objects.stat(KEY)).toMatchObject({ sizeBytes: COMPRESSED.length });
  });

  test('keeps a large body as it is that compression does not make smaller', async () => {
    const { folder, objects } = await openWithObject();
    const noise = randomBytes(20_000);
    await objects.put('noise.bin', noise, metadataOf(1), absent);
    expect((await stat(join(folder, 'objects', 'noise.bin+object'))).size).toBeGreaterThan(noise.length);
    expect(await objects.get('noise.bin')).toMatchObject({ body: noise });
  });

  test.each<[string, (file: string) => Promise<void>]>([
    ['emptied', (file) => truncate(file, 0)],
    ['cut off in its body', (file) => truncate(file, 3000)],
    ['cut off in its header', (file) => truncate(file, 20)],
    ['longer than it was', async (file) => writeFile(file, Buffer.concat([await readFile(file), bytes('more')]))],
    ['without a header', (file) => writeFile(file, '{"data":[]}\n')],
    ['of a later format', async (file) => replaceInFile(file, '"version":', '"version":9')],
    ['of another key', async (file) => replaceInFile(file, 'heads/market.json', 'heads/mareks.json')],
    ['with a wrong byte in its body', async (file) => flipByte(file, 3000)],
    ['with a smaller length in its header', async (file) => replaceInFile(file, /"sizeBytes":\d/, '"sizeBytes":')],
    ['with a greater length in its header', async (file) => replaceInFile(file, '"sizeBytes":', '"sizeBytes":1')],
  ])('finds a file corrupt that is %s', async (_what, damage) => {
    for (const body of [PLAIN, COMPRESSED]) {
      const { objects, file } = await openWithObject(body);
      await damage(file);
      await expect(objects.get(KEY)).rejects.toBeInstanceOf(StorageCorrupt);
    }
  });

  test('replaces a file that is corrupt by a put where no object is, and finds it until then', async () => {
    for (const damage of [(file: string) => truncate(file, 20), (file: string) => flipByte(file, 3000)]) {
      const { folder, objects, file } = await openWithObject();
      expect(await findDamagedObjects(folder)).toEqual({ read: 1, damaged: [] });
      await damage(file);
      expect(await findDamagedObjects(folder)).toEqual({ read: 1, damaged: [KEY] });
      const puts = ['two', 'three'].map((body) => objects.put(KEY, bytes(body), metadataOf(2), absent));
      expect((await Promise.all(puts)).map(({ kind }) => kind)).toEqual(['stored', 'refused']);
      expect(await objects.get(KEY)).toMatchObject({ body: Buffer.from('two') });
      expect(await findDamagedObjects(folder)).toEqual({ read: 1, damaged: [] });
    }
  });

  test('neither swaps nor deletes a file that is corrupt, and works again once that is removed', async () => {
    const { objects, etag, file } = await openWithObject();
    await truncate(file, 100);
    const swapped = objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag });
    await expect(swapped).rejects.toBeInstanceOf(StorageCorrupt);
    await expect(objects.delete(KEY, etag)).rejects.toBeInstanceOf(StorageCorrupt);
    await rm(file);
    expect(await objects.put(KEY, bytes('two'), metadataOf(2), absent)).toMatchObject({ kind: 'stored' });
  });

  test('is unavailable where no folder can be made', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'file'), '');
    for (const place of ['file', 'file/deeper']) {
      await expect(openDirectoryObjects(join(folder, place))).rejects.toBeInstanceOf(StorageUnavailable);
    }
  });

  test('is unavailable when its folder can no longer be used', async () => {
    const { folder, objects, etag } = await openWithObject();
    await rm(join(folder, 'objects'), { recursive: true });
    await writeFile(join(folder, 'objects'), '');
    const matches = { kind: 'matches', etag } as const;
    const calls = [
      objects.get(KEY),
      objects.stat(KEY),
      objects.put('new/key.json', bytes('x'), metadataOf(2), absent),
      objects.put(KEY, bytes('x'), metadataOf(2), matches),
      objects.delete(KEY, etag),
      objects.list(''),
    ];
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
    }
  });

  test.each(['objects', 'tmp'])(
    'is unavailable while its folder %s is away, and as it was once that is back',
    async (name) => {
      const { folder, objects, etag } = await openWithObject();
      await rename(join(folder, name), join(folder, 'away'));
      const calls = [
        objects.get('unknown.json'),
        objects.stat('unknown.json'),
        objects.put('new/key.json', bytes('x'), metadataOf(2), absent),
        objects.delete('unknown.json', etag),
        objects.list(''),
      ];
      for (const result of await Promise.allSettled(calls)) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
      }
      await rename(join(folder, 'away'), join(folder, name));
      expect((await objects.list('')).keys).toEqual([KEY]);
      expect(await objects.get('unknown.json')).toEqual({ kind: 'absent' });
    },
  );

  test('makes the folder of an object again that was removed', async () => {
    const { folder, objects } = await openWithObject();
    await rm(join(folder, 'objects', 'heads'), { recursive: true });
    expect(await objects.put(KEY, bytes('x'), metadataOf(2), absent)).toMatchObject({ kind: 'stored' });
  });

  test('does not list foreign files', async () => {
    const { folder, objects } = await openWithObject();
    await writeFile(join(folder, 'objects', 'heads', '.DS_Store'), '');
    await writeFile(join(folder, 'objects', 'README.md'), '');
    await mkdir(join(folder, 'objects', 'heads', 'empty'));
    expect((await objects.list('')).keys).toEqual([KEY]);
  });
});

async function flipByte(file: string, at: number): Promise<void> {
  const content = await readFile(file);
  content[at] = (content[at] as number) ^ 1;
  await writeFile(file, content);
}

async function replaceInFile(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, 'latin1');
  await writeFile(file, text.replace(from, to), 'latin1');
}
