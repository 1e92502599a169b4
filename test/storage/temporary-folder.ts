/** A folder for one test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';

/** Makes an empty folder, which the caller removes. */
export async function makeTemporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-storage-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Makes an empty folder that goes when the running test ends. */
export async function temporaryFolder(): Promise<string> {
  const { folder, remove } = await makeTemporaryFolder();
  onTestFinished(remove);
  return folder;
}

/** An empty folder for all tests of a file, or of a `describe`. It is there once they run. */
export function folderForAll(): { readonly folder: string } {
  const temporary = { folder: '' };
  beforeAll(async () => {
    const { folder, remove } = await makeTemporaryFolder();
    temporary.folder = folder;
    return remove;
  });
  return temporary;
}
