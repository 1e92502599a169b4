/** Reads the whole store of a directory, beside the process that owns it. */
import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { OBJECT_SUFFIX } from './directory-reader.ts';
import { StorageCorrupt } from './errors.ts';
import { readChecked, readObjectBody } from './object-file.ts';

export interface FilesRead {
  readonly read: number;
  /** Their keys. */
  readonly damaged: readonly string[];
}

/** Changes nothing. A file that is replaced or removed meanwhile is no fault. */
export async function findDamagedObjects(root: string): Promise<FilesRead> {
  const folder = join(root, 'objects');
  const damaged: string[] = [];
  let read = 0;
  // A restore leaves no store: the next start makes it.
  if (!existsSync(root)) return { read, damaged };
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(OBJECT_SUFFIX)) continue;
    const path = join(entry.parentPath, entry.name);
    const key = relative(folder, path).slice(0, -OBJECT_SUFFIX.length);
    read++;
    if (await isDamaged(path, key)) damaged.push(key);
  }
  return { read, damaged: damaged.sort() };
}

async function isDamaged(path: string, key: string): Promise<boolean> {
  try {
    const handle = await open(path, 'r');
    try {
      await readObjectBody(handle, await readChecked(handle, key, path), path);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof StorageCorrupt) return true;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return false;
}
