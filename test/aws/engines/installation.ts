/** Installations of engines, kept between runs outside of the repository. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from './engine.ts';

/** Installs the engine unless it is there, and tells where. An installation that is cut off leaves nothing behind. */
export async function installed(engine: Engine): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tidemark-engines');
  const folder = join(cache, `${engine.name}-${engine.version}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await engine.install(unfinished);
    await rename(unfinished, folder).catch((error) => {
      // Another run was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
