/**
 * Temporary files of the tests lie in memory, where there is plenty: tests wait for the disk longer than they compute, because a
 * data folder syncs whatever it writes. `kill -9` loses as little there as on a disk.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** Three sets of tests run at once. A fresh clone with its dependencies takes the most: about one of these. */
const NEEDED_BYTES = 8 * 2 ** 30;

/** Vitest's `globalSetup`, before others that make files. The tests inherit TMPDIR. */
export default function setup(): () => void {
  if (Math.min(freeBytes(IN_MEMORY), freemem()) < NEEDED_BYTES) return () => {};
  const folder = mkdtempSync(join(IN_MEMORY, 'tidemark-tests-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
