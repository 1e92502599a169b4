/** The space that a data folder takes. */
import type { Dirent } from 'node:fs';
import { opendir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { PUBLIC_FOLDER, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import { LEDGER_FILE } from '../folder/data-folder.ts';

export const STORAGE_PARTS = ['ledger', 'objects', 'uploads', 'archive'] as const;
export type StoragePart = (typeof STORAGE_PARTS)[number];

/** Bytes on the disk, in whole blocks, as `du` counts. */
export type StorageSizes = { readonly [Part in StoragePart]: number };

/** Measures one file after the other, so that requests are hardly delayed. A missing part has 0 bytes. */
export async function measureStorage(folder: string): Promise<StorageSizes> {
  let ledger = 0;
  for (const suffix of ['', '-wal', '-shm']) ledger += await sizeOf(join(folder, LEDGER_FILE + suffix));
  const [objects, uploads, archive] = [
    (await sizeUnder(join(folder, PUBLIC_FOLDER))) + (await sizeUnder(join(folder, STORE_FOLDER))),
    await sizeUnder(join(folder, 'uploads')),
    await sizeUnder(join(folder, 'archive')),
  ];
  return { ledger, objects, uploads, archive };
}

/** The bytes on the disk of the folder that this process may still use. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function sizeUnder(folder: string): Promise<number> {
  let size = 0;
  try {
    for await (const entry of (await opendir(folder)) as AsyncIterable<Dirent>) {
      const path = join(folder, entry.name);
      size += entry.isDirectory() ? await sizeUnder(path) : await sizeOf(path);
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return size;
}

/** 0 for a file that was removed meanwhile. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).blocks * 512;
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
