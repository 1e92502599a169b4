/** A small Tidemark behind the real edge, on a port: small pages, so that a few days are a walk. */
import { onTestFinished } from 'vitest';
import type { System } from '../../../clients/typescript/system.ts';
import { Tidemark, type TidemarkOptions } from '../../../clients/typescript/tidemark.ts';
import { PROJECTIONS } from '../../../contract/files/projections.ts';
import type { IngestMode, IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { publish } from '../../../publisher/publish.ts';
import { createEdgeServer } from '../../../server/edge/server.ts';
import { listening } from '../../listening.ts';
import { withLog } from '../../publisher/log/test-log.ts';
import { createWorld } from '../../publisher/world.ts';

export async function serveWorld() {
  const world = createWorld();
  const dependencies = { ...withLog(world.dependencies), projections: new Set(PROJECTIONS) };
  const asked: string[] = [];
  const statuses: number[] = [];
  const { server } = createEdgeServer({
    objects: world.objects,
    nowMs: () => world.clock.nowMs,
    health: () => ({ healthy: true, body: {} }),
  });
  server.prependListener('request', ({ url = '' }, response) => {
    asked.push(url.replace('/api/v1/', ''));
    response.once('finish', () => statuses.push(response.statusCode));
  });
  const url = await listening(server);
  const system: Partial<System> = { nowMs: () => world.clock.nowMs, sleep: async () => {} };
  return {
    world,
    url,
    asked,
    statuses,
    client: (options: Partial<TidemarkOptions> = {}) => new Tidemark({ url, system, ...options }),
    async publish(records: readonly IngestRecordInput[], mode: IngestMode = 'append') {
      await world.ingest(records, mode);
      await publish(dependencies);
      // Older answers are no longer fresh.
      world.clock.nowMs += 16_000;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** {@link serveWorld}, for one test. */
export async function serveWorldForTest() {
  const served = await serveWorld();
  onTestFinished(() => served.close());
  return served;
}

export async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
