/** Moves a file into place, even to another disk. */
import { copyFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncPath } from './durable-files.ts';

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
    await copyFile(from, besideOf(to));
    const { atime, mtime } = await stat(from);
    await utimes(besideOf(to), atime, mtime);
    await syncPath(besideOf(to));
    await rename(besideOf(to), to);
    await rm(from);
  }
}
