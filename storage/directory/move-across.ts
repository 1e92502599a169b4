/** Moves a file into place, even to another disk. */
import { copyFile, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * The path at which a file from another disk is completed before it gets its name. If the process dies in between, the file
 * stays there.
 */
export function besideOf(path: string): string {
  return join(dirname(path), `.tidemark-${basename(path)}`);
}

/** Replaces the file at `to` in one step. The content of `from` must be durable. */
export async function moveAcross(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyWhole(from, besideOf(to));
    await rename(besideOf(to), to);
    await rm(from);
  }
}

async function copyWhole(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { atime, mtime } = await stat(from);
  await utimes(to, atime, mtime);
  const handle = await open(to, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
