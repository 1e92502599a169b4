/** Installations of engines, kept between runs outside of the repository. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

/** Installs the engine if it is missing. Returns its folder. An interrupted installation leaves nothing. */
export async function installed(engine: Engine): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tidemark-engines');
  const folder = join(cache, `${engine.name}-${engine.version}`);
  if (existsSync(folder)) return folder;
  const unfinished = makeRunFolder(cache, `${engine.name}-${engine.version}-unfinished`);
  try {
    await engine.install(unfinished);
    await rename(unfinished, folder).catch((error) => {
      // Another run was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    removeRunFolder(unfinished);
  }
  return folder;
}
