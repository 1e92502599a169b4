/** The room that is left on the disk. */
import { statfs } from 'node:fs/promises';

const GIB = 1024 ** 3;
/** Left for the ledger and for everything that is published: of the disk, and at most. */
const KEPT_SHARE = 0.05;
const KEPT_BYTES_MAX = GIB;

/** Whether this many more bytes leave enough for everything else. Some file systems report 0 blocks: then nothing is known. */
export async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  const { blocks, bavail, bsize } = await statfs(folder);
  const kept = Math.min(KEPT_BYTES_MAX, KEPT_SHARE * blocks * bsize);
  return blocks === 0 || bavail * bsize >= bytes + kept;
}
