/** Every read is counted, also the last ones before somebody asks or the edge ends. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ReadCounts } from '../../../server/edge/read-counts.ts';
import { startEdge } from '../../../server/edge-host/edge-thread.ts';
import { temporaryFolder } from '../../storage/temporary-folder.ts';

test.each(['measure', 'stop'] as const)('reads are counted at the end of %s', async (call) => {
  const folder = await temporaryFolder();
  const edge = startEdge({ fault: () => {} });
  onTestFinished(() => edge.stop());
  const reads = new ReadCounts();
  const baseUrl = await edge.open(
    {
      host: '127.0.0.1',
      port: 0,
      proxies: [],
      dataFolder: folder,
      uploadsFolder: join(folder, 'uploads'),
      isMeasured: true,
    },
    { health: async () => ({ healthy: true, body: null }), noteDamage: () => {}, reads },
  );
  // Not ready yet: 503, of the router. The edge tells its counts once a second: these are between two such moments.
  for (let read = 1; read <= 5; read++) expect((await fetch(`${baseUrl}/api/v1/markets`)).status).toBe(503);
  await edge[call]();
  expect(reads.classes[5]).toBe(5);
});
