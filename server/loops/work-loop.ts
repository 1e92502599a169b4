/** Does queued work in the background, one step at a time, so that the publisher gets its turn between two steps. */
import { createUploadRunner, type UploadDependencies } from '../../lambdas/ingest/run-upload.ts';
import { runWork } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';
import { logBatch, logUpload } from './work-log.ts';

const WORK_INTERVAL_MS = 60_000;

/**
 * A step waits this long for a running publication. If the publication takes longer, it goes on beside the next step.
 */
const PUBLISHER_TURN_MS = 250;

/** The only worker of its ledger, so leases of an earlier process are its own. */
const OWNER = 'embedded';

export interface WorkLoopOptions {
  readonly publishing: Pick<WakeLoop, 'wake' | 'settled'>;
  /** Called after each erasure. */
  readonly onErased: () => void;
  readonly report: Log['fault'];
  readonly info: Log['info'];
}

/** Starts the loop. It wakes by itself when work becomes due. */
export function startWorkLoop(
  dependencies: UploadDependencies & Runtime,
  { publishing, onErased, report, info }: WorkLoopOptions,
): WakeLoop {
  const { nowMs, pause, ledger } = dependencies;
  const runUpload = createUploadRunner(dependencies);
  const runners = createRunners(dependencies, async (id) => {
    const outcome = await runUpload(id);
    if (outcome === 'done') await logUpload(info, ledger, id);
    return outcome;
  });
  const loop = startWakeLoop({
    round: async (stopping) => {
      const { nextAtMs } = await runWork({
        ...dependencies,
        owner: OWNER,
        runners: {
          ...runners,
          ingest: async (item) => {
            const outcome = await runners.ingest(item);
            if (outcome === 'done') await logBatch(info, ledger, item.value.batch);
            return outcome;
          },
          erasure: async (item) => {
            const outcome = await runners.erasure(item);
            if (outcome === 'done') onErased();
            return outcome;
          },
        },
        failed: ({ sort }, error) => report(`work ${sort} failed`, error),
        hasTime: () => !stopping.aborted,
        afterStep: async () => {
          publishing.wake();
          await Promise.race([publishing.settled(), pause(PUBLISHER_TURN_MS)]);
        },
      });
      if (nextAtMs !== null) loop.wakeIn(nextAtMs - nowMs());
    },
    intervalMs: WORK_INTERVAL_MS,
    onError: (cause) => report('work has stopped until the next minute', cause),
  });
  return loop;
}
