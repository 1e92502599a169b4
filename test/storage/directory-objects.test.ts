import { mkdir, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PublicObjectName, publicKey } from '../../contract/files/public-objects.ts';
import { publicMetadata } from '../../publisher/kernel/files/fenced-put.ts';
import { findDamagedObjects } from '../../storage/directory/damaged-files.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { ObjectIndex } from '../../storage/directory/object-index.ts';
import { indexPath } from '../../storage/directory/object-places.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { bodyDigest } from '../../storage/ports/object-rules.ts';
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

const KEY = 'public/heads/market.json';
const absent = { kind: 'absent' } as const;

const COMPRESSED = Array.from({ length: 3000 }, (_, index) => `body ${index * index}`).join(' ');
const PLAIN = 'body '.repeat(800);

/** A store that holds one object, and the file in which it does. */
async function openWithObject(body = COMPRESSED) {
  const folder = await temporaryFolder();
  const objects = await openDirectoryObjects(folder);
  const etag = etagOf(await objects.put(KEY, bytes(body), metadataOf(1), absent));
  return { folder, objects, etag, file: join(folder, KEY) };
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
        expect(await readdir(join(folder, 'store', 'tmp'))).toEqual([]);
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
    await objects.delete('public/heads/none.json', etag);
    expect(synced.splice(0)).toEqual(['folder']);
  });

  test('shows no object in a new folder before the name of that folder is durable', async () => {
    const folder = await temporaryFolder();
    const objects = await openDirectoryObjects(folder);
    const above = await stat(join(folder, 'public'));
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
      await objects.put(`public/new/${name}`, bytes(name), metadataOf(1), absent);
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
    expect([await readdir(join(folder, 'store', 'tmp')), (await objects.list('')).keys]).toEqual([[], [KEY]]);
    expect((await objects.stat(KEY))?.etag).toBe(etag);
  });

  test.each(['before', 'after'])('finishes a replacement whose process was killed %s the move', async (moment) => {
    const { folder, objects, etag, file } = await openWithObject();
    const etag2 = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag }));
    const [index, written] = [new ObjectIndex(indexPath(folder)), await readFile(file)];
    const next = index.get(KEY)?.current ?? null;
    const current = { digest: bodyDigest(bytes('one')), sizeBytes: 3, metadata: metadataOf(1) };
    index.put(KEY, { current, next });
    await index.close();
    if (moment === 'before') await writeFile(file, 'one');
    await writeFile(join(folder, 'store', 'tmp', 'half'), written.subarray(0, 1));
    const again = await openDirectoryObjects(folder);
    expect([await readdir(join(folder, 'store', 'tmp'))]).toEqual([[]]);
    const found = await again.get(KEY);
    if (moment === 'after') expect(found).toMatchObject({ etag: etag2, metadata: { generation: 2 } });
    else expect(found).toMatchObject({ body: Buffer.from('one'), metadata: { generation: 1 } });
  });

  test('shows the version that is in place after a move that failed, also if both have the same size', async () => {
    const { folder, objects, etag, file } = await openWithObject('one');
    const etag2 = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag }));
    const index = new ObjectIndex(indexPath(folder));
    const next = index.get(KEY)?.current ?? null;
    index.put(KEY, { current: { digest: bodyDigest(bytes('one')), sizeBytes: 3, metadata: metadataOf(1) }, next });
    await index.close();
    await writeFile(file, 'one');
    expect(await objects.stat(KEY)).toMatchObject({ etag, metadata: { generation: 1 } });
    expect(await objects.get(KEY, { ifNoneMatch: etag2 })).toMatchObject({ kind: 'found', etag });
    // The replacement is tried again, and does not count as done.
    expect(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag })).toMatchObject({
      kind: 'stored',
    });
    expect(await readFile(file, 'utf8')).toBe('two');
  });

  test.each(['before', 'after'])(
    'finishes a removal that was killed %s the problem document was there',
    async (moment) => {
      const { folder, objects, etag, file } = await openWithObject();
      const gone = { ...metadataOf(2), contentType: 'application/problem+json' };
      await objects.put(KEY, bytes('gone'), gone, { kind: 'matches', etag });
      const index = new ObjectIndex(indexPath(folder));
      const next = index.get(KEY)?.current ?? null;
      index.put(KEY, { current: { digest: bodyDigest(bytes('one')), sizeBytes: 3, metadata: metadataOf(1) }, next });
      await index.close();
      await writeFile(file, 'one');
      const goneFile = file.replace('.json', '.gone.json');
      if (moment === 'before') await rm(goneFile);
      const again = await openDirectoryObjects(folder);
      expect(await again.stat(KEY)).toMatchObject({ metadata: { generation: moment === 'before' ? 1 : 2 } });
      const names = await readdir(join(folder, 'public', 'heads'));
      expect(names).toEqual([moment === 'before' ? 'market.json' : 'market.gone.json']);
    },
  );

  test('a public object is a file with exactly its bytes that everybody may read, whatever the umask', async () => {
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    const { folder, file } = await openWithObject();
    expect(await readFile(file, 'utf8')).toBe(COMPRESSED);
    const modes = await Promise.all(
      [file, join(folder, 'public', 'heads')].map(async (path) => (await stat(path)).mode & 0o777),
    );
    expect(modes).toEqual([0o644, 0o755]);
  });

  test('makes a lost or damaged index again from the files, and reads every object as before', async () => {
    for (const damage of [rm, (path: string) => writeFile(path, 'no database'.repeat(1_000))]) {
      const folder = await temporaryFolder();
      const objects = await openDirectoryObjects(folder);
      const names: readonly PublicObjectName[] = [
        { kind: 'market', slug: 'gold-usd' },
        { kind: 'market-list-page', cursor: `3-${'a'.repeat(32)}` },
        { kind: 'market-list' },
        { kind: 'log-tile', tile: '0/000' },
      ];
      const page = (text: string) => bytes(`{"data":[],"page":{"next":null,"nextCursor":${text}}}`);
      for (const name of names) {
        const nextCursor = name.kind === 'market-list' ? `3-${'a'.repeat(32)}` : null;
        const metadata = publicMetadata(name, 'cursor' in name ? 3 : 7, nextCursor);
        await objects.put(publicKey(name), page(JSON.stringify(nextCursor)), metadata, absent);
      }
      const goneName: PublicObjectName = { kind: 'market', slug: 'silver-usd' };
      await objects.put(publicKey(goneName), bytes('{"status":410}'), publicMetadata(goneName, 7, null, true), absent);
      await objects.put(
        publicKey({ kind: 'snapshot' }),
        bytes('{"generation":7}'),
        publicMetadata({ kind: 'snapshot' }, 7),
        absent,
      );
      await objects.put(
        'layout/7-ab.json.zst',
        bytes('x'),
        { ...metadataOf(7), contentType: 'application/zstd', cacheControl: 'no-store', cacheTag: null },
        absent,
      );
      const { keys } = await objects.list('');
      const before = await Promise.all(keys.map((key) => objects.get(key)));
      await damage(indexPath(folder));
      for (const suffix of ['-wal', '-shm']) await rm(indexPath(folder) + suffix, { force: true });
      const again = await openDirectoryObjects(folder);
      expect((await again.list('')).keys).toEqual(keys);
      expect(await Promise.all(keys.map((key) => again.get(key)))).toEqual(before);
    }
  });

  test('leaves no temporary file, with any outcome of a put', async () => {
    const { folder, objects, etag } = await openWithObject();
    const second = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag }));
    await objects.put(KEY, bytes('three'), metadataOf(2), { kind: 'matches', etag });
    await Promise.all([1, 2, 3].map((racer) => objects.put('x.json', bytes(`${racer}`), metadataOf(1), absent)));
    await objects.delete(KEY, second);
    expect(await readdir(join(folder, 'store', 'tmp'))).toEqual([]);
  });

  test.each<[string, (file: string) => Promise<void>]>([
    ['emptied', (file) => truncate(file, 0)],
    ['cut off in its body', (file) => truncate(file, 3000)],
    ['longer than it was', async (file) => writeFile(file, Buffer.concat([await readFile(file), bytes('more')]))],
    ['written by another program', (file) => writeFile(file, '{"data":[]}\n')],
    ['with a wrong byte in its body', async (file) => flipByte(file, 3000)],
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
      expect(await findDamagedObjects(folder, true)).toEqual({ read: 1, damaged: [] });
      await damage(file);
      expect(await findDamagedObjects(folder, true)).toEqual({ read: 1, damaged: [KEY] });
      const puts = ['two', 'three'].map((body) => objects.put(KEY, bytes(body), metadataOf(2), absent));
      expect((await Promise.all(puts)).map(({ kind }) => kind)).toEqual(['stored', 'refused']);
      expect(await objects.get(KEY)).toMatchObject({ body: Buffer.from('two') });
      expect(await findDamagedObjects(folder, true)).toEqual({ read: 1, damaged: [] });
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
    await rm(join(folder, 'public'), { recursive: true });
    await writeFile(join(folder, 'public'), '');
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

  test.each(['public', 'store'])(
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
    await objects.put('public/other.json', bytes('x'), metadataOf(1), absent);
    await rm(join(folder, 'public', 'heads'), { recursive: true });
    expect(await objects.put(KEY, bytes('x'), metadataOf(2), absent)).toMatchObject({ kind: 'stored' });
  });

  test('does not list foreign files', async () => {
    const { folder, objects } = await openWithObject();
    await writeFile(join(folder, 'public', 'heads', '.DS_Store'), '');
    await writeFile(join(folder, 'public', 'README.md'), '');
    await mkdir(join(folder, 'public', 'heads', 'empty'));
    expect((await objects.list('')).keys).toEqual([KEY]);
  });
});

async function flipByte(file: string, at: number): Promise<void> {
  const content = await readFile(file);
  content[at] = (content[at] as number) ^ 1;
  await writeFile(file, content);
}

test('no two versions of a file have the same second, by which web servers name them', async () => {
  const { objects, etag, file } = await openWithObject('1');
  const seconds = [Math.floor((await stat(file)).mtimeMs / 1000)];
  let present = etag;
  for (const body of ['2', '3', '4']) {
    present = etagOf(await objects.put(KEY, bytes(body), metadataOf(2), { kind: 'matches', etag: present }));
    seconds.push(Math.floor((await stat(file)).mtimeMs / 1000));
  }
  expect(new Set(seconds).size).toBe(4);
});
