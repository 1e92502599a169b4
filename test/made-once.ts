/** Folders that many tests need, and that take seconds of a processor to make: each is made once in a run of tests. */
import { access, mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRunFolder } from './aws/engines/run-folder.ts';

/** The variable that names where they are. The first process of the run sets it. */
export const MADE_FOLDER = 'TIDEMARK_TEST_SAMPLES';

/** Its path. Whoever asks first makes it; the others wait. Outside of a run of tests it is made each time. */
export async function madeOnce(name: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const made = join(process.env[MADE_FOLDER] ?? makeRunFolder(tmpdir(), 'tidemark-made'), name);
  const isMine = await mkdir(`${made}-begun`).then(
    () => true,
    () => false,
  );
  if (isMine) {
    await make(`${made}-unfinished`);
    await rename(`${made}-unfinished`, made);
  }
  while (!(await isThere(made))) await sleep(100);
  return made;
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
