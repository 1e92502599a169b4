/** Files that never change once they are there: a backup copies those that the backups before have not. */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { StartError } from '../service/start-error.ts';
import { type CopyStep, copyDurably, digestOf, isSame, sizeOf } from './copied-files.ts';
import { type Content, isSharedPath, type Manifest, SHARED_FOLDERS } from './manifest.ts';

export interface SharedPlan {
  readonly dataFolder: string;
  readonly dir: string;
  /** By path relative to both folders. */
  readonly kept: ReadonlyMap<string, Content>;
  readonly missing: readonly string[];
  readonly bytesToCopy: number;
}

/** @param before the manifest of the newest backup */
export async function planShared(dataFolder: string, dir: string, before: Manifest | null): Promise<SharedPlan> {
  const kept = new Map<string, Content>();
  const missing: string[] = [];
  let bytesToCopy = 0;
  for (const path of await listShared(dataFolder)) {
    const bytes = await sizeOf(join(dataFolder, path));
    // The service has removed it in the meantime, because its time is up.
    if (bytes === null) continue;
    const known = await contentInBackup(dataFolder, dir, path, before?.shared[path] ?? null);
    if (known?.bytes === bytes) kept.set(path, known);
    else if (known !== null) throw new StartError(changed(join(dataFolder, path), join(dir, path)));
    else {
      missing.push(path);
      bytesToCopy += bytes;
    }
  }
  return { dataFolder, dir, kept, missing, bytesToCopy };
}

/** The content of the copy in the backup; null if it must be made, also because it has lost its length. */
async function contentInBackup(
  dataFolder: string,
  dir: string,
  path: string,
  listed: Content | null,
): Promise<Content | null> {
  const bytes = await sizeOf(join(dir, path));
  if (bytes === null) return null;
  if (listed !== null) return listed.bytes === bytes ? listed : null;
  // A backup that was interrupted has copied it.
  const [copy, original] = [await digestOf(join(dir, path)), await digestOf(join(dataFolder, path))];
  return copy !== null && original !== null && isSame(copy, original) ? copy : null;
}

function changed(file: string, copy: string): string {
  return `${file} is not as long as its copy ${copy}, and such files never change: find out which is damaged, and put the other in its place.`;
}

/** Carries it out. Returns the content of all shared files of the backup. */
export async function copyShared(
  { dataFolder, dir, kept, missing }: SharedPlan,
  progress: CopyStep,
): Promise<Record<string, Content>> {
  const all = new Map(kept);
  for (const [done, path] of missing.entries()) {
    progress('Copying uploads and archives', done, missing.length);
    const content = await copyDurably(join(dataFolder, path), join(dir, path));
    if (content !== null) all.set(path, content);
  }
  return Object.fromEntries([...all].sort(([left], [right]) => (left < right ? -1 : 1)));
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
      if (entry.isFile() && isSharedPath(path)) paths.push(path);
    }
  }
  return paths;
}
