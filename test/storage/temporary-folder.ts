/** A folder for one test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

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
