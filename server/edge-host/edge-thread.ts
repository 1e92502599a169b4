/** The thread of the edge, as the core sees it: see docs/decisions/056-edges-apart.md. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import { DEFAULT_EDGE_LIMITS } from '../edge/limits.ts';
import { ReadCounts } from '../edge/read-counts.ts';
import type { AnswerWrite } from '../http/write-server.ts';
import type { Log } from '../service/log.ts';
import type { CoreCalls, EdgeCalls, EdgeMeasured, EdgeSettings } from './calls.ts';
import { createLink, type Link } from './link.ts';

/** The core's handlers for writes and uploads. The edge calls them once there is something to read. */
export interface WriteDuties extends Pick<CoreCalls, 'mayReceive' | 'onStored'> {
  readonly answerWrite: AnswerWrite;
  /** Called after every request that has changed the ledger. */
  readonly onCommitted: () => void;
}

/** The edge's calls, with the core's handlers. */
export type EdgeThread = ReturnType<typeof startEdge>;

const SOURCE = new URL('./main.ts', import.meta.url);
/** The package has no sources: tools/build/build-package.ts puts the built file here. */
const BUILT = new URL('../../dist/edge-host.mjs', import.meta.url);

/** The time limit for calls that the edge answers at once. */
const DEADLINE_MS = 1_000;

/**
 * Starts the thread at once, so that it loads its code while the core begins. If the thread throws an uncaught error or exits,
 * the process ends: without readers the service has no use, and its supervisor restarts it.
 */
export function startEdge({ fault: report }: Pick<Log, 'fault'>) {
  let [isOpen, isEnding] = [false, false];
  let measured: EdgeMeasured = { delays: [], reads: new ReadCounts() };
  const worker = new Worker(existsSync(SOURCE) ? SOURCE : BUILT, { name: 'edge' });
  worker.on('error', (error) => {
    throw error;
  });
  worker.on('exit', (code) => {
    if (!isEnding) throw new Error(`the thread of the edge has ended with ${code}`);
  });
  // Before `open` the edge calls nothing but `fault`; before `ready` it sends no write. So handlers are added by these two
  // calls.
  const ours: Partial<CoreCalls> = { fault: report };
  const link: Link<EdgeCalls> = createLink<EdgeCalls>(worker, ours, (error) =>
    report('a message of the edge failed', error),
  );
  return {
    async open(settings: EdgeSettings, duties: Pick<CoreCalls, 'health' | 'damaged'>): Promise<string> {
      Object.assign(ours, duties);
      const baseUrl = await link.ask('open', settings);
      isOpen = true;
      return baseUrl;
    },
    async ready(uploadKey: Uint8Array, { answerWrite, onCommitted, mayReceive, onStored }: WriteDuties): Promise<void> {
      const write: CoreCalls['write'] = async (id, head) => {
        const handled = await answerWrite(head, (actor, maxBytes) => link.ask('receiveBody', id, actor, maxBytes));
        // Delayed until the answer has been sent to the edge, because background work occupies this event loop.
        if (handled.committed) setImmediate(onCommitted);
        return handled;
      };
      Object.assign(ours, { write, mayReceive, onStored } satisfies Partial<CoreCalls>);
      await link.ask('ready', uploadKey);
    },
    purge: (targets: PurgeTargets): Promise<void> => link.ask('purge', targets),
    /** Reports a changed object to the edge, before any answer that is relayed to it later. */
    invalidate: (key: string): void => link.tell('invalidate', key),
    /** If the edge does not answer in time, the result has no delays, and the counts of the last call. */
    async measure(): Promise<EdgeMeasured> {
      measured = await Promise.race([link.ask('measure'), late(DEADLINE_MS, { ...measured, delays: [] })]);
      return measured;
    },
    async stop(): Promise<void> {
      const graceMs = DEFAULT_EDGE_LIMITS.stopGraceMs + DEADLINE_MS;
      if (isOpen && !isEnding) await Promise.race([link.ask('stop'), late(graceMs, undefined)]);
      isEnding = true;
      await worker.terminate();
    },
  };
}

const late = <Value>(afterMs: number, value: Value): Promise<Value> => sleep(afterMs, value, { ref: false });
