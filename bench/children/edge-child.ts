/** The embedded edge over a directory store, on a free port that it prints. Its health is what its cache holds. */
import type { AddressInfo } from 'node:net';
import { createEdgeServer } from '../../embedded/edge/server.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';

const [folder, maxCacheBytes] = process.argv.slice(2);
if (folder === undefined) throw new RangeError('give the folder of a directory store');
const { server, cacheUsage } = createEdgeServer({
  objects: await openDirectoryObjects(folder),
  nowMs: Date.now,
  ...(maxCacheBytes !== undefined && { limits: { maxCacheBytes: Number(maxCacheBytes) } }),
  health: () => ({ healthy: true, body: { ...cacheUsage() } }),
});
// By itself, so that node still writes a profile.
process.on('SIGTERM', () => process.exit(0));
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
