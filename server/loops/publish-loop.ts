/**
 * Publishes in the background: when woken, and at least once a minute, as the stream and the schedule do on AWS. A lost wake-up
 * costs at most a minute.
 */

import { MARKETS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../publisher/dependencies.ts';
import { firstOf, isDeferredTooLong } from '../../publisher/kernel/deferred.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import type { LostObjects } from '../folder/lost-objects.ts';
import { type Filling, MARKETS_OF_A_STEP } from '../service/filling.ts';
import type { Log } from '../service/log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** Readers' caches are fresh for 15 s, so faster generations would help no reader, and would fill the disk. */
const PUBLISH_PACE_MS = 1_000;

const LONGEST_SECONDS = 60;

/**
 * The least time between two lists: one second for each page, up to a minute; from 100,000 markets on, the same as on AWS.
 * Every new list leaves superseded pages on the disk until a sweep, at least a day later. A new list in every generation would
 * soon take more space than all listed data.
 */
export function listEverySeconds(markets: number): number {
  const pages = Math.ceil(markets / MARKETS_PAGE_SIZE);
  // A single page is replaced, so no superseded page remains.
  if (pages <= 1) return 0;
  return Math.max(Math.min(pages, LONGEST_SECONDS), defaultListEverySeconds(markets));
}

/** One generation spends about 0.2 s on files, so that a small batch is published soon even during a large upload. */
export const HISTORY_FILE_BYTES = 8 * 1024 * 1024;

const POLL_INTERVAL_MS = 60_000;
/** The time until a generation tries deferred markets again. */
const DEFERRED_RETRY_MS = 5_000;
const GARBAGE_INTERVAL_MS = 60 * 60 * 1000;
/** The first sweep comes earlier, so that a server that is restarted every hour also sweeps. */
const FIRST_GARBAGE_MS = 10 * 60 * 1000;

export interface PublishLoopOptions {
  readonly report: Log['fault'];
  readonly info: Log['info'];
  /** Called when the worker has refresh marks to set. */
  readonly onRefreshAsked: () => void;
  /** Called after each generation. */
  readonly onPublished?: () => void;
  /** Lost objects, which the publications of this loop restore. */
  readonly lost?: Pick<LostObjects, 'failed' | 'prepare'>;
  readonly filling?: Filling;
}

export interface PublishLoop extends WakeLoop {
  /** How long a wake-up has waited for its generation, in milliseconds; 0 if all bodies are published. */
  lagMs(): number;
  /**
   * As `lagMs`, but at most the time since the last successful publication. So a large import that makes progress is not a
   * stall.
   */
  stalledMs(): number;
  /** The error of the last publication; null if it succeeded. */
  failure(): unknown;
}

/** Starts the loop. A failure is reported; the next interval tries again. */
export function startPublishLoop(
  dependencies: PublisherDependencies,
  { report, info, onRefreshAsked, onPublished, lost, filling }: PublishLoopOptions,
): PublishLoop {
  const { nowMs } = dependencies;
  /** The first wake-up that no complete round has followed yet, and the first wake-up since the running round began. */
  let [waitingSinceMs, wokenAtMs]: [number | null, number | null] = [null, null];
  let succeededAtMs = nowMs();
  let failure: unknown = null;
  const lagMs = () => {
    const sinceMs = waitingSinceMs ?? wokenAtMs;
    return sinceMs === null ? 0 : Math.max(0, nowMs() - sinceMs);
  };
  const reportDeferred = ({ deferred }: PublishOutcome) => {
    const tooLong = deferred.filter((market) => isDeferredTooLong(market, nowMs()));
    if (tooLong.length === 0) return;
    const text = `${tooLong.length} for over five minutes (repair: docs/operations.md): ${firstOf(tooLong)}`;
    report('markets are deferred', new Error(text));
  };
  let garbageDueAtMs = nowMs() + FIRST_GARBAGE_MS;
  const loop = startWakeLoop({
    round: async (stopping) => {
      waitingSinceMs ??= wokenAtMs;
      wokenAtMs = null;
      await lost?.prepare();
      try {
        const startedMs = performance.now();
        const isFilling = filling?.isUnderWay() === true;
        const step = isFilling ? { ...dependencies, maxMarkedMarkets: MARKETS_OF_A_STEP } : dependencies;
        const outcome = await publish(step);
        filling?.published(outcome.marks, outcome.isMoreDue);
        succeededAtMs = nowMs();
        failure = null;
        logGeneration(info, outcome, performance.now() - startedMs);
        if (outcome.kind === 'published') onPublished?.();
        reportDeferred(outcome);
        if (outcome.asksForRefresh) onRefreshAsked();
        if (outcome.isMoreDue) loop.wake();
        if (outcome.areBodiesPublic) waitingSinceMs = null;
        const dueAtMs = nextDueAtMs(outcome, nowMs());
        if (dueAtMs !== null) loop.wakeIn(dueAtMs - nowMs());
      } catch (error) {
        failure = error;
        const againInMs = (await lost?.failed(error)) ?? null;
        if (againInMs === null) report('publishing failed', error);
        else loop.wakeIn(againInMs);
      }
      if (nowMs() < garbageDueAtMs || stopping.aborted) return;
      garbageDueAtMs = nowMs() + GARBAGE_INTERVAL_MS;
      await collectGarbage(dependencies, { dryRun: false }).catch((cause) => report('sweeping failed', cause));
    },
    paceMs: PUBLISH_PACE_MS,
    intervalMs: POLL_INTERVAL_MS,
    onError: (cause) => report('publishing failed', cause),
  });
  return {
    ...loop,
    wake() {
      wokenAtMs ??= nowMs();
      loop.wake();
    },
    lagMs,
    failure: () => failure,
    stalledMs: () => Math.max(0, Math.min(lagMs(), nowMs() - succeededAtMs)),
  };
}

function logGeneration(info: Log['info'], outcome: PublishOutcome, durationMs: number): void {
  const { kind, generation, marks, deferred, isMoreDue } = outcome;
  if (kind === 'unchanged') return;
  info('generation', { generation, marks, deferred: deferred.length, isMoreDue, durationMs: Math.round(durationMs) });
}

/** When to publish again without a new write; null if the next interval is soon enough. */
function nextDueAtMs({ listDueAtMs, deferred }: PublishOutcome, nowMs: number): number | null {
  const retryAtMs = deferred.some((market) => !isDeferredTooLong(market, nowMs)) ? nowMs + DEFERRED_RETRY_MS : null;
  const moments = [listDueAtMs, retryAtMs].filter((moment) => moment !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}
