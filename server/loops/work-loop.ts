/** Does queued work in the background, one step at a time, so that the publisher runs between two steps. */
import { createUploadRunner, type UploadDependencies } from '../../lambdas/ingest/run-upload.ts';
import { runWork, type WorkDependencies, type WorkDone } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { checkpointKey, uploadKey, workIdOf } from '../../storage/records/batches.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

const WORK_INTERVAL_MS = 60_000;

/** A step waits up to this time for a running publication. A longer publication continues beside the step. */
const PUBLISHER_TURN_MS = 250;

/** This process alone works on its ledger, so it may take over leases of an earlier process. */
const OWNER = 'embedded';

export interface WorkRoundOptions {
  /** Called after each erasure. */
  readonly onErased: () => void;
  readonly report: Log['fault'];
  readonly info: Log['info'];
}

export interface WorkLoopOptions extends WorkRoundOptions {
  readonly publishing: Pick<WakeLoop, 'wake' | 'settled'>;
}

/** Returns a function that does the queued work that is due. It reports when more work is due. */
export function createWorkRound(
  dependencies: UploadDependencies & Runtime,
  { onErased, report, info }: WorkRoundOptions,
): (between?: Pick<WorkDependencies, 'hasTime' | 'afterStep'>) => Promise<WorkDone> {
  const { ledger } = dependencies;
  const runUpload = createUploadRunner(dependencies);
  const runners = createRunners(dependencies, async (id) => {
    const outcome = await runUpload(id);
    if (outcome === 'done') await logUpload(info, ledger, id);
    return outcome;
  });
  return (between = {}) =>
    runWork({
      ...dependencies,
      owner: OWNER,
      runners: {
        ...runners,
        ingest: async (item) => {
          const outcome = await runners.ingest(item);
          if (outcome === 'done') await logBatch(info, ledger, item.value.batch);
          return outcome;
        },
        together: async (items) => {
          const done = (await runners.together?.(items)) ?? [];
          for (const { value } of done) await logBatch(info, ledger, value.batch);
          return done;
        },
        erasure: async (item) => {
          const outcome = await runners.erasure(item);
          if (outcome === 'done') onErased();
          return outcome;
        },
      },
      failed: (item, error) => report(`work ${workIdOf(item)} failed`, error),
      ...between,
    });
}

/** Starts the loop. It wakes by itself when work becomes due. */
export function startWorkLoop(dependencies: UploadDependencies & Runtime, options: WorkLoopOptions): WakeLoop {
  const { nowMs, pause } = dependencies;
  const { publishing, report } = options;
  const workRound = createWorkRound(dependencies, options);
  const loop = startWakeLoop({
    round: async (stopping) => {
      const { nextAtMs } = await workRound({
        hasTime: () => !stopping.aborted,
        afterStep: async () => {
          publishing.wake();
          await Promise.race([publishing.settled(), pause(PUBLISHER_TURN_MS)]);
        },
      });
      if (nextAtMs !== null) loop.wakeIn(Math.min(WORK_INTERVAL_MS, nextAtMs - nowMs()));
    },
    intervalMs: WORK_INTERVAL_MS,
    onError: (cause) => report('the worker failed; it tries again within a minute', cause),
  });
  return loop;
}

async function logBatch(log: Log['info'], ledger: Pick<Ledger, 'get'>, id: string): Promise<void> {
  const checkpoint = (await ledger.get(checkpointKey(id)))?.value;
  if (checkpoint === undefined) return;
  const { state, accepted, unchanged, refused, markets } = checkpoint;
  log('batch', { id, state, accepted, unchanged, refused, markets: markets.length });
}

async function logUpload(log: Log['info'], ledger: Pick<Ledger, 'get'>, id: string): Promise<void> {
  const upload = (await ledger.get(uploadKey(id)))?.value;
  if (upload === undefined) return;
  const { state, accepted, unchanged, refused, partsDone, bytes, stoppedBecause } = upload;
  const reason = stoppedBecause === undefined ? {} : { stoppedBecause };
  log('upload', { id, state, accepted, unchanged, refused, parts: partsDone, bytes, ...reason });
}
