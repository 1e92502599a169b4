/** Files whose presence survives a loss of power: a name is durable only once the folder that holds it is synced. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Syncs the names that a folder holds. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a folder and what is missing above it, and makes each new name durable. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  for (const parent of parentsOfNew(folder, first)) await syncFolder(parent);
}

/** {@link makeFolder}, for callers that cannot wait. */
export function makeFolderSync(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  for (const parent of parentsOfNew(folder, first)) {
    const descriptor = openSync(parent, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** The folders that gained a name, given the uppermost folder that `mkdir` created. */
function parentsOfNew(folder: string, first: string | undefined): string[] {
  if (first === undefined) return [];
  const parents: string[] = [];
  const top = dirname(resolve(first));
  for (let parent = dirname(resolve(folder)); parent.length >= top.length; parent = dirname(parent)) {
    parents.push(parent);
    if (parent === top) break;
  }
  return parents;
}
