/**
 * Temporary files of the tests lie in memory, where there is plenty: tests wait for the disk longer than they compute, because a
 * data folder syncs whatever it writes. `kill -9` loses as little there as on a disk.
 */
import { chmodSync, readFileSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { makeRunFolder, removeRunFolder } from './aws/engines/run-folder.ts';

const IN_MEMORY = '/dev/shm';
/** Four sets of tests run at once. A fresh clone with its dependencies takes the most: about one of these. */
const NEEDED_BYTES = 8 * 2 ** 30;

/** Vitest's `globalSetup`, before others that make files. The tests inherit TMPDIR. */
export default function setup(): () => void {
  if (Math.min(freeBytes(), freemem()) < NEEDED_BYTES) return () => {};
  const folder = makeRunFolder(IN_MEMORY, 'tidemark-tests');
  // Some tests start programs of other users.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => removeRunFolder(folder);
}

/** 0 where no program may be started: some tests install packages. */
function freeBytes(): number {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, path]) => path === IN_MEMORY);
    if (mount === undefined || /\bnoexec\b/.test(mount[3] ?? '')) return 0;
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
