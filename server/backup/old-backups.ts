/** Keeps the newest backups of a folder, with the shared files that they name. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../storage/directory/durable-files.ts';
import { backupNames, PARTIAL_SUFFIX, readManifest } from './manifest.ts';
import { listShared } from './shared-files.ts';

/** Returns the names of the backups that are kept, oldest first. */
export async function removeOldBackups(dir: string, keep: number): Promise<readonly string[]> {
  const names = backupNames(dir);
  const kept = names.slice(-keep);
  for (const name of names.slice(0, -keep)) {
    // A backup that is being removed must not look like a whole one.
    await rename(join(dir, name), join(dir, name + PARTIAL_SUFFIX));
    await syncFolder(dir);
    await rm(join(dir, name + PARTIAL_SUFFIX), { recursive: true });
  }
  // If one of them cannot be read, its files are unknown: then all files stay, and the error is reported.
  const used = new Set(kept.flatMap((name) => Object.keys(readManifest(dir, name).shared)));
  for (const path of await listShared(dir)) {
    if (!used.has(path)) await rm(join(dir, path), { force: true });
  }
  return kept;
}
