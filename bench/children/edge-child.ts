/** The embedded edge over a directory store, on a free port that it prints. Its health is its memory. */
import type { AddressInfo } from 'node:net';
import type { CacheUsage } from '../../embedded/edge/cache.ts';
import { createEdgeServer } from '../../embedded/edge/server.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';

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

const [folder, maxCacheBytes] = process.argv.slice(2);
if (folder === undefined) throw new RangeError('give the folder of a directory store');
const { server, cacheUsage } = createEdgeServer({
  objects: await openDirectoryObjects(folder),
  nowMs: Date.now,
  ...(maxCacheBytes !== undefined && { limits: { maxCacheBytes: Number(maxCacheBytes) } }),
  health: () => ({ healthy: true, body: memory() }),
});
// By itself, so that node still writes a profile.
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
