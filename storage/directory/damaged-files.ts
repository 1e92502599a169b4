/** Examines the whole store of a directory, also while another process owns it. */
import { existsSync } from 'node:fs';
import pMap from 'p-map';
import { StorageCorrupt } from '../ports/errors.ts';
import { DirectoryReader } from './directory-reader.ts';
import { ObjectIndex } from './object-index.ts';
import { indexPath } from './object-places.ts';

export interface FilesRead {
  readonly read: number;
  /** The keys of changed or missing files. */
  readonly damaged: readonly string[];
}

/** Files are small, so more are read at once than a disk can serve. */
const FILES_AT_ONCE = 32;
const KEYS_AT_ONCE = 1_000;

/**
 * Changes nothing. A file that is replaced or removed meanwhile does not count as damaged.
 *
 * @param isRead whether the bytes are compared, too. Otherwise a changed file is found only if it has another size
 * @param progress receives the number of files that were examined, and the number of all
 */
export async function findDamagedObjects(
  root: string,
  isRead: boolean,
  progress: (done: number, of: number) => void = () => {},
): Promise<FilesRead> {
  const damaged: string[] = [];
  // A restore leaves no store: the next start creates it.
  if (!existsSync(indexPath(root))) return { read: 0, damaged };
  const index = new ObjectIndex(indexPath(root), { isReadOnly: true });
  const reader = new DirectoryReader(root, index, { rejectsLost: true });
  let read = 0;
  try {
    const count = index.count();
    for (let after = ''; ; ) {
      const keys = index.keys('', after, KEYS_AT_ONCE);
      await pMap(
        keys,
        async (key) => {
          try {
            if (isRead ? (await reader.get(key)).kind === 'absent' : (await reader.stat(key)) === null) return;
          } catch (error) {
            if (!(error instanceof StorageCorrupt)) throw error;
            damaged.push(key);
          }
          progress(++read, count);
        },
        { concurrency: FILES_AT_ONCE },
      );
      if (keys.length < KEYS_AT_ONCE) return { read, damaged: damaged.sort() };
      after = keys.at(-1) as string;
    }
  } finally {
    await index.close();
  }
}
