/**
 * The edge in its own thread: public reads, and the connections of writes and uploads. It reads the objects' folder itself. So
 * no read waits for the event loop of the core, or for a message between the threads.
 */

import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MessagePort } from 'node:worker_threads';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { withTimeout } from '../../storage/concurrency/with-timeout.ts';
import { openDirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import type { HealthReport } from '../edge/answer.ts';
import type { Divert } from '../edge/bodies.ts';
import { ReadCounts } from '../edge/read-counts.ts';
import { createEdgeServer, type EdgeServer } from '../edge/server.ts';
import { tellDamage } from '../folder/damaged-objects.ts';
import { listen } from '../http/listen.ts';
import { createSenders } from '../http/sender.ts';
import { createUploadServer } from '../http/upload-server.ts';
import { type AnswerWrite, createWriteServer, type ReadBody } from '../http/write-server.ts';
import { orNotThereYet } from '../service/filling.ts';
import { DELAY_RESOLUTION_MS, loopDelays } from '../service/loop-delays.ts';
import { openPublicReader } from '../target/open-target.ts';
import type { CoreCalls, EdgeCalls, EdgeSettings } from './calls.ts';
import { createLink, type Link } from './link.ts';

/** The core has failed if it takes longer. Its own checks of the disk may take two seconds each. */
const HEALTH_DEADLINE_MS = 5_000;

const SILENT: HealthReport = {
  healthy: false,
  body: {
    status: 'failing',
    lastVerify: null,
    faults: [{ part: 'core', detail: 'The thread of ledger, writes and publishing does not answer.' }],
  },
};

export function hostEdge(port: MessagePort): void {
  const { nowMs, randomBytes } = systemRuntime;
  const counts = new ReadCounts();
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  const bodies = new Map<number, ReadBody>();
  let [edge, settings, divert]: [EdgeServer | null, EdgeSettings | null, Divert | null] = [null, null, null];
  let writes = 0;

  const report = (what: string, cause: unknown) =>
    link.tell('fault', what, cause instanceof Error ? cause.message : String(cause));

  async function open(opened: EdgeSettings): Promise<string> {
    settings = opened;
    const { wantsNewest } = createSenders(opened.proxies);
    const stored = orNotThereYet(await openPublicReader(opened.dataFolder), opened.dataFolder);
    edge = createEdgeServer({
      objects: tellDamage(stored, (key) => link.tell('damaged', key)),
      // Before the first generation, "not found" would be wrong, and caches would keep it.
      isReady: () => divert !== null,
      divert: (request) => divert?.(request) ?? null,
      // Only proxies that the operator has named may bypass the cache.
      ...(opened.proxies.length === 0 ? {} : { wantsNewest }),
      health: () =>
        withTimeout(link.ask('health'), HEALTH_DEADLINE_MS, () => new Error('no answer')).catch(() => SILENT),
      counts,
      report,
    });
    if (opened.isMeasured) delays.enable();
    return await listen(edge.server, opened);
  }

  function ready(uploadKey: Uint8Array): void {
    const { uploadsFolder, proxies } = settings as EdgeSettings;
    const takeUpload = createUploadServer({
      uploads: openDirectoryUploads({ folder: uploadsFolder, key: uploadKey, nowMs, newName: randomUUID }),
      mayReceive: (id) => link.ask('mayReceive', id),
      onStored: (id) => link.ask('onStored', id),
      nowMs,
      report,
    });
    const takeWrite = createWriteServer({
      answer: answerWrite,
      addressOf: createSenders(proxies).addressOf,
      newRequestId: () => newUlid(nowMs(), randomBytes),
    });
    divert = (request) => takeUpload(request) ?? takeWrite(request);
  }

  const answerWrite: AnswerWrite = async (head, readBody) => {
    const write = ++writes;
    bodies.set(write, readBody);
    try {
      return await link.ask('write', write, head);
    } finally {
      bodies.delete(write);
    }
  };

  const ours: EdgeCalls = {
    open,
    ready,
    purge: (targets) => edge?.purge(targets),
    invalidate: (key) => edge?.invalidate(key),
    async receiveBody(write, actor, maxBytes) {
      const read = bodies.get(write);
      if (read === undefined) throw new Error(`write ${write} is answered already`);
      return await read(actor, maxBytes);
    },
    measure() {
      const measured = loopDelays(delays);
      delays.reset();
      return { delays: measured, reads: counts };
    },
    stop: () => edge?.stop() ?? Promise.resolve(),
  };
  const link: Link<CoreCalls> = createLink<CoreCalls>(port, ours, (error) =>
    report('a call of the core failed', error),
  );
}
