/**
 * Publishes in the background: when woken, and once a minute in any case, as a deployment on AWS does with its stream
 * and its schedule. A lost wake-up costs a minute, never a generation.
 */
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { isPutOffTooLong } from '../publisher/plan/put-off.ts';
import { type PublishOutcome, publish } from '../publisher/publish.ts';
import { collectGarbage } from '../publisher/sweep/collect-garbage.ts';
import type { LostObjects } from './lost-objects.ts';
import { PUBLISH_PACE_MS } from './pace.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

const POLL_INTERVAL_MS = 60_000;
/** How soon a generation tries put-off markets again. */
const PUT_OFF_RETRY_MS = 5_000;
const GARBAGE_INTERVAL_MS = 60 * 60 * 1000;
/** Sooner the first time, so that a server that is restarted every hour also sweeps. */
const FIRST_GARBAGE_MS = 10 * 60 * 1000;

export interface PublishLoopOptions {
  readonly report: (what: string, cause: unknown) => void;
  /** Called when the worker has refresh marks to set. */
  readonly onRefreshAsked: () => void;
  /** Lost objects: the publications of this loop put them back. */
  readonly lost?: Pick<LostObjects, 'failed' | 'prepare'>;
}

/** Starts the loop. A failure is reported; the next interval tries again. */
export function startPublishLoop(
  dependencies: PublisherDependencies,
  { report, onRefreshAsked, lost }: PublishLoopOptions,
): WakeLoop {
  const { nowMs } = dependencies;
  let garbageDueAtMs = nowMs() + FIRST_GARBAGE_MS;
  const loop = startWakeLoop({
    round: async (stopping) => {
      await lost?.prepare();
      const outcome = await publish(dependencies).catch((error: unknown) => {
        if (lost?.failed(error)) loop.wake();
        else report('publishing failed', error);
      });
      if (outcome !== undefined) {
        for (const message of putOffTooLong(outcome, nowMs())) report('a market is put off', new Error(message));
        if (outcome.asksForRefresh) onRefreshAsked();
        if (outcome.isMoreDue) loop.wake();
        const dueAtMs = nextDueAtMs(outcome, nowMs());
        if (dueAtMs !== null) loop.wakeIn(dueAtMs - nowMs());
      }
      if (nowMs() < garbageDueAtMs || stopping.aborted) return;
      garbageDueAtMs = nowMs() + GARBAGE_INTERVAL_MS;
      await collectGarbage(dependencies, { dryRun: false });
    },
    paceMs: PUBLISH_PACE_MS,
    intervalMs: POLL_INTERVAL_MS,
    onError: (cause) => report('sweeping failed', cause),
  });
  return loop;
}

/** When to publish again without a new write; null if the next interval is soon enough. */
function nextDueAtMs({ listDueAtMs, putOff }: PublishOutcome, nowMs: number): number | null {
  const retryAtMs = putOff.some((market) => !isPutOffTooLong(market, nowMs)) ? nowMs + PUT_OFF_RETRY_MS : null;
  const moments = [listDueAtMs, retryAtMs].filter((moment) => moment !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}

function putOffTooLong({ putOff }: PublishOutcome, nowMs: number): readonly string[] {
  return putOff
    .filter((market) => isPutOffTooLong(market, nowMs))
    .map(({ slug, reason }) => `${slug} has not been published for minutes: ${reason}. Repair it: docs/operations.md`);
}
