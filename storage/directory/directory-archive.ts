/** The archive in a folder: `<first two characters>/<digest>`, files that only their owner may read. */
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Archive, checkDigest } from '../ports/archive.ts';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import { sha256Hex } from '../ports/sha256.ts';
import { makeFolder, syncPath } from './durable-files.ts';

/** @param newName gives unique names for unfinished files */
export function openDirectoryArchive(folder: string, newName: () => string): Archive {
  const folderOf = (sha256: string): string => join(folder, sha256.slice(0, 2));
  const fileOf = (sha256: string): string => {
    checkDigest(sha256);
    return join(folderOf(sha256), sha256);
  };

  async function keep(file: string, own: string, bytes: Uint8Array): Promise<void> {
    await makeFolder(own);
    if ((await stat(file).catch(ifAbsent)) === null) {
      const temporary = join(own, `${newName()}.part`);
      try {
        await writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true });
        await rename(temporary, file);
      } finally {
        await rm(temporary, { force: true });
      }
    }
    // Another call may have just renamed the file, and not have synced its name yet.
    await syncPath(own);
  }

  return {
    async put(sha256, bytes) {
      const file = fileOf(sha256);
      await keep(file, folderOf(sha256), bytes).catch((cause: Error) => {
        throw new StorageUnavailable(`the archive could not keep ${sha256}: ${cause.message}`, { cause });
      });
    },
    async get(sha256) {
      const bytes = await readFile(fileOf(sha256))
        .catch(ifAbsent)
        .catch((cause: Error) => {
          throw new StorageUnavailable(`the archive could not give ${sha256}: ${cause.message}`, { cause });
        });
      if (bytes !== null && sha256Hex(bytes) !== sha256) {
        throw new StorageCorrupt(`the archive holds other bytes than ${sha256} under that name: restore the file`);
      }
      return bytes;
    },
  };
}

function ifAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
