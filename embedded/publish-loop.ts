/**
 * Publishes in the background: when woken, and once a minute whatever happens, as the CDN deployment does with its
 * stream and its sweep. A wake-up that gets lost costs a minute, never a generation.
 */
import { collectGarbage } from '../publisher/collect-garbage.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

const SWEEP_INTERVAL_MS = 60_000;
const GARBAGE_INTERVAL_MS = 60 * 60 * 1000;
/** Sooner the first time: a server that is restarted within the hour must sweep too. */
const FIRST_GARBAGE_MS = 10 * 60 * 1000;

/** Starts the loop. What goes wrong is reported, and tried again at the next sweep. */
export function startPublishLoop(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
): WakeLoop {
  let garbageDueAtMs = dependencies.nowMs() + FIRST_GARBAGE_MS;
  return startWakeLoop({
    round: async (stopping) => {
      await publish(dependencies).catch((error: unknown) => report('publishing failed', error));
      if (dependencies.nowMs() < garbageDueAtMs || stopping.aborted) return;
      garbageDueAtMs = dependencies.nowMs() + GARBAGE_INTERVAL_MS;
      await collectGarbage(dependencies, { dryRun: false });
    },
    intervalMs: SWEEP_INTERVAL_MS,
    onError: (cause) => report('sweeping failed', cause),
  });
}
