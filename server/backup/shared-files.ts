/** Files that never change once they are there: a backup copies those that the backup before has not. */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { StartError } from '../service/start-error.ts';
import { type CopyStep, copyDurably, sizeOf } from './copied-files.ts';
import { type Content, type Manifest, SHARED_FOLDERS, SHARED_PATH } from './manifest.ts';

export interface SharedFiles {
  /** All shared files of the backup, by path relative to both folders. */
  readonly shared: Readonly<Record<string, Content>>;
  /** The number of those that were copied now. */
  readonly copied: number;
}

/**
 * A copy that no manifest names is of an interrupted backup, and is made again; so is one that has lost its length.
 *
 * @param before the manifest of the newest backup
 */
export async function copyShared(
  dataFolder: string,
  dir: string,
  before: Manifest | null,
  progress: CopyStep,
): Promise<SharedFiles> {
  const shared: Record<string, Content> = {};
  let copied = 0;
  const paths = await listShared(dataFolder);
  for (const [done, path] of paths.entries()) {
    progress('Copying uploads and archives', done, paths.length);
    const [file, copy] = [join(dataFolder, path), join(dir, path)];
    const bytes = await sizeOf(file);
    // The service has removed it in the meantime, because its time is up.
    if (bytes === null) continue;
    const listed = before?.shared[path];
    const isThere = listed !== undefined && (await sizeOf(copy)) === listed.bytes;
    if (isThere && listed.bytes !== bytes) {
      throw new StartError(
        `${file} is not as long as its copy ${copy}, and such files never change: find out which is damaged, and put the other in its place.`,
      );
    }
    const content = isThere ? listed : await copyDurably(file, copy);
    if (content === null) continue;
    if (!isThere) copied++;
    shared[path] = content;
  }
  return { shared, copied };
}

/** The shared files below a folder, complete ones only. */
export async function listShared(folder: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const shared of SHARED_FOLDERS) {
    const entries = await readdir(join(folder, shared), { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw new StartError(`${join(folder, shared)} cannot be read: ${error.message}`, { cause: error });
      },
    );
    for (const entry of entries) {
      const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
      if (entry.isFile() && SHARED_PATH.test(path)) paths.push(path);
    }
  }
  return paths;
}
