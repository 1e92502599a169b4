/** The embedded edge over a directory store, on a free port that it prints. */
import type { AddressInfo } from 'node:net';
import { createEdgeServer } from '../../embedded/edge/server.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new RangeError('give the folder of a directory store');
const { server } = createEdgeServer({
  objects: await openDirectoryObjects(folder),
  nowMs: Date.now,
  health: () => ({ healthy: true, body: null }),
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
