/** Folders that many tests need, and that take seconds of a processor to make: each is made once in a run of tests. */
import { access, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRunFolder } from './aws/engines/run-folder.ts';

/** The variable that names where they are. The first process of the run sets it. */
export const MADE_FOLDER = 'TIDEMARK_TEST_SAMPLES';

/** Its path. Whoever asks first makes it; the others wait, and try it after a failure. Outside of a run it is made each time. */
export async function madeOnce(name: string, make: (folder: string) => Promise<unknown>): Promise<string> {
  const made = join(process.env[MADE_FOLDER] ?? makeRunFolder(tmpdir(), 'tidemark-made'), name);
  const [begun, unfinished] = [`${made}-begun`, `${made}-unfinished`];
  while (!(await isThere(made))) {
    const isMine = await mkdir(begun).then(
      () => true,
      () => false,
    );
    if (!isMine) {
      await sleep(100);
      continue;
    }
    try {
      await make(unfinished);
      await rename(unfinished, made);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      await rmdir(begun);
      throw error;
    }
  }
  return made;
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
