/**
 * Publishes in the background: when woken, and once a minute whatever happens, as the CDN deployment does with its
 * stream and its sweep. A wake-up that gets lost costs a minute, never a generation.
 */
import { collectGarbage } from '../publisher/collect-garbage.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';

export interface PublishLoop {
  /** Says that something is due. Any number of calls during one round lead to one more round. */
  wake(): void;
  /** Lets the round under way finish, and starts no other. */
  stop(): Promise<void>;
}

const SWEEP_INTERVAL_MS = 60_000;
const GARBAGE_INTERVAL_MS = 60 * 60 * 1000;
/** Sooner the first time: a server that is restarted within the hour must sweep too. */
const FIRST_GARBAGE_MS = 10 * 60 * 1000;

/** Starts the loop. What goes wrong is reported, and tried again at the next sweep. */
export function startPublishLoop(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
): PublishLoop {
  let running: Promise<void> | null = null;
  let due = false;
  let stopped = false;
  let garbageDueAtMs = dependencies.nowMs() + FIRST_GARBAGE_MS;

  async function run(): Promise<void> {
    while (due && !stopped) {
      due = false;
      await publish(dependencies).catch((error: unknown) => report('publishing failed', error));
    }
    if (dependencies.nowMs() < garbageDueAtMs || stopped) return;
    garbageDueAtMs = dependencies.nowMs() + GARBAGE_INTERVAL_MS;
    await collectGarbage(dependencies, { dryRun: false }).catch((error: unknown) => report('sweeping failed', error));
  }

  function wake(): void {
    due = true;
    running ??= run().finally(() => {
      running = null;
      if (due && !stopped) wake();
    });
  }

  const sweep = setInterval(wake, SWEEP_INTERVAL_MS);
  sweep.unref();
  return {
    wake,
    async stop() {
      stopped = true;
      clearInterval(sweep);
      await running;
    },
  };
}
