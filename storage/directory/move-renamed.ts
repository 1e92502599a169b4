/**
 * Moves the files of objects whose keys an earlier version spelled otherwise, with their entries of the index. An
 * interrupted move continues: until the new entry is settled, recovery decides by the file whether it holds, and the old
 * entry goes last.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pMap from 'p-map';
import { currentKey } from '../../contract/files/old-paths.ts';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { makeFolder, syncFolder } from './durable-files.ts';
import type { IndexedObject, ObjectIndex } from './object-index.ts';
import { ignoreMissing, objectFile, READABLE_FOLDER } from './object-places.ts';

const KEYS_AT_ONCE = 1_000;
const FILES_AT_ONCE = 32;
/** Nothing is put there any more. */
const OLD_FOLDERS = ['api/v1/histories', 'api/v1/market-pages', 'api/v1/history-pages', 'site'];

/** @param progress receives the number of files that were moved */
export async function moveRenamed(root: string, index: ObjectIndex, progress: (moved: number) => void): Promise<void> {
  if (index.isCurrent()) return;
  let moved = 0;
  for (let after = ''; ; ) {
    const keys = index.keys(`${PUBLIC_PREFIX}/`, after, KEYS_AT_ONCE);
    const renamed = keys.filter((key) => currentKey(key) !== key);
    await moveSome(root, index, renamed);
    moved += renamed.length;
    if (renamed.length > 0) progress(moved);
    if (keys.length < KEYS_AT_ONCE) break;
    after = keys.at(-1) as string;
  }
  for (const folder of OLD_FOLDERS) await removeEmpty(join(root, PUBLIC_PREFIX, folder));
  await index.sync();
  index.markCurrent();
}

/** The file may be gone, or be moved already. */
export async function moveFile(from: string, to: string): Promise<void> {
  if (from === to || !existsSync(from)) return;
  await makeFolder(dirname(to), READABLE_FOLDER);
  await rename(from, to).catch(ignoreMissing);
}

async function moveSome(root: string, index: ObjectIndex, keys: readonly string[]): Promise<void> {
  const moves: { readonly old: string; readonly key: string; readonly object: IndexedObject }[] = [];
  for (const old of keys) {
    const key = currentKey(old);
    const object = index.get(old)?.current ?? null;
    // A move that was interrupted has settled the new entry.
    if (object === null || index.get(key)?.current != null) index.delete(old);
    else moves.push({ old, key, object });
  }
  for (const { key, object } of moves) index.put(key, { current: null, next: object });
  await index.sync();
  const places = moves.map(({ old, key, object: { metadata } }) => {
    return { from: objectFile(root, old, metadata), to: objectFile(root, key, metadata) };
  });
  await pMap(places, ({ from, to }) => moveFile(from, to), { concurrency: FILES_AT_ONCE });
  await pMap(new Set(places.map(({ to }) => dirname(to))), (folder) => syncFolder(folder).catch(ignoreMissing), {
    concurrency: FILES_AT_ONCE,
  });
  for (const { old, key, object } of moves) {
    index.put(key, { current: object, next: null });
    index.delete(old);
  }
}

/** Removes a folder with the folders in it. A folder with a file of somebody else stays. */
async function removeEmpty(folder: string): Promise<void> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
  });
}
