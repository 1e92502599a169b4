/** Reads the whole store of a directory, beside the process that owns it. */
import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import pMap from 'p-map';
import { OBJECT_SUFFIX } from './directory-reader.ts';
import { StorageCorrupt } from './errors.ts';
import { readChecked, readObjectBody } from './object-file.ts';

export interface FilesRead {
  readonly read: number;
  /** Their keys. */
  readonly damaged: readonly string[];
}

/** More at once than a disk needs; each is small. */
const FILES_AT_ONCE = 32;

/**
 * Changes nothing. A file that is replaced or removed meanwhile is no fault.
 *
 * @param progress the number of files that were read, and of all
 */
export async function findDamagedObjects(
  root: string,
  progress: (done: number, of: number) => void = () => {},
): Promise<FilesRead> {
  const folder = join(root, 'objects');
  const damaged: string[] = [];
  // A restore leaves no store: the next start makes it.
  if (!existsSync(root)) return { read: 0, damaged };
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(OBJECT_SUFFIX));
  let read = 0;
  await pMap(
    files,
    async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const key = relative(folder, path).slice(0, -OBJECT_SUFFIX.length);
      if (await isDamaged(path, key)) damaged.push(key);
      progress(++read, files.length);
    },
    { concurrency: FILES_AT_ONCE },
  );
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
