/**
 * The embedded edge over a directory store, on a free port that it prints. Its health is its memory.
 * Arguments: the folder of the store, the limit of the cache (empty: the default), the file for a profile.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import type { CacheUsage } from '../../embedded/edge/cache.ts';
import { createEdgeServer } from '../../embedded/edge/server.ts';
import { DirectoryReader } from '../../storage/directory-reader.ts';

/** With --expose-gc, garbage is collected first. */
export interface EdgeMemory extends CacheUsage {
  /** The heap of V8, and buffers outside of it. */
  readonly usedBytes: number;
}

function memory(): EdgeMemory & { readonly [name: string]: number } {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { ...cacheUsage(), usedBytes: heapUsed + external };
}

/** From now on until the process is told to end: not with --cpu-prof, which also counts the start. */
async function profileInto(path: string): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  process.on('SIGTERM', async () => {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(path, JSON.stringify(profile));
    process.exit(0);
  });
}

const [folder, maxCacheBytes, profilePath] = process.argv.slice(2);
if (folder === undefined) throw new RangeError('give the folder of a directory store');
const { server, cacheUsage } = createEdgeServer({
  objects: new DirectoryReader(folder),
  nowMs: Date.now,
  ...(maxCacheBytes && { limits: { maxCacheBytes: Number(maxCacheBytes) } }),
  health: () => ({ healthy: true, body: memory() }),
});
if (profilePath !== undefined) await profileInto(profilePath);
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
