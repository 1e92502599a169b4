/** The load of a scenario: writers and readers that go on through every fault, and one account of both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../simulator/random.ts';
import { type Account, openAccount } from './account.ts';
import { createGate } from './gate.ts';
import { startReaders } from './readers.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Trial } from './trial.ts';
import { writeBatches } from './writers/batches.ts';
import { removeMarkets } from './writers/removals.ts';
import { sendUploads } from './writers/uploads.ts';
import { changeWatchlists } from './writers/watchlists.ts';
import { openWriter, type Writer } from './writers/writer.ts';

export interface LoadOptions {
  readonly trial: Trial;
  readonly service: ServiceProcess;
  /** Between two writes of one writer. The rate limit admits ten a second to all writers together. */
  readonly writePauseMs: number;
  /** Between two reads of one reader. */
  readonly readPauseMs: number;
  readonly markets?: number;
  readonly batchWriters?: number;
  /** Statuses besides 200 and 304 that readers of published URLs may get while the fault lasts. */
  readonly isReadAllowed?: (status: number) => boolean;
}

export interface Load {
  readonly account: Account;
  /** Resolves when a writer sends its next write. */
  nextWrite(): Promise<void>;
  /** Runs a task while no writer writes: each has settled its last write, or left it unknown. */
  quietly(task: () => Promise<void>): Promise<void>;
  /** Ends the writers, as far as they can settle their last write. */
  stopWriting(): Promise<void>;
  /** Ends writers and readers at once, whatever they wait for. */
  end(): Promise<void>;
}

/** The service must serve. */
export function startLoad(options: LoadOptions): Load {
  const { trial, service, writePauseMs, readPauseMs, markets = 12, batchWriters = 2, isReadAllowed } = options;
  const account = openAccount(markets);
  const [stopping, over] = [new AbortController(), new AbortController()];
  const gate = createGate();
  let written = Promise.withResolvers<void>();
  const run = async (loop: (writer: Writer) => Promise<void>) => {
    const writer = openWriter({
      trial,
      service,
      account,
      // Each has numbers of its own, so that the order of answers does not change what the others send.
      random: new Random(trial.random.uint32()),
      pauseMs: writePauseMs,
      stopping: stopping.signal,
      over: over.signal,
      gate,
      onSend() {
        written.resolve();
        written = Promise.withResolvers();
      },
    });
    try {
      await loop(writer);
    } catch (error) {
      if (!over.signal.aborted) throw error;
    } finally {
      writer.close();
      gate.leave();
    }
  };
  const loops = [
    ...Array.from({ length: batchWriters }, () => writeBatches),
    changeWatchlists,
    sendUploads,
    removeMarkets,
  ];
  gate.enter(loops.length);
  const writing = Promise.all(loops.map(run));
  writing.catch(() => {});
  const readers = startReaders({
    trial,
    service,
    account,
    pauseMs: readPauseMs,
    ...(isReadAllowed && { isAllowed: isReadAllowed }),
  });
  return {
    account,
    nextWrite: () => written.promise,
    async quietly(task) {
      await gate.close();
      await task().finally(gate.open);
    },
    async stopWriting() {
      stopping.abort();
      await writing;
    },
    async end() {
      stopping.abort();
      over.abort();
      await Promise.all([writing, readers.stop()]);
    },
  };
}

/** Waits until `holds`, at most this long. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const untilMs = performance.now() + withinMs; ; ) {
    if (await holds()) return true;
    if (performance.now() > untilMs) return false;
    await sleep(50);
  }
}
