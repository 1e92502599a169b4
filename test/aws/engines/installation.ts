/** Installations of engines and tools, kept between runs outside of the repository. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Installable } from './engine.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tidemark-engines');

/** Installs it if it is missing. Returns its folder. An interrupted installation leaves nothing. */
export async function installed({ name, version, install }: Installable): Promise<string> {
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const unfinished = makeRunFolder(CACHE, `${name}-${version}-unfinished`);
  try {
    await install(unfinished);
    await rename(unfinished, folder).catch((error) => {
      // Another run was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    removeRunFolder(unfinished);
  }
  return folder;
}
