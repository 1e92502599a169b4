/**
 * Does the work that requests have left behind, beside any number of other workers. Work is queued in lanes. A lane is a
 * subject's batches in the order of their ids, which is that of the requests to the millisecond; or it is one upload, one
 * erasure, one refresh. Of each lane the first item alone may be worked on, by the worker that has leased it.
 */
import type { Versioned } from '../../storage/changes.ts';
import { StorageUnavailable } from '../../storage/errors.ts';
import type { Task, WorkValue } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';
import { isRetryable } from './contended.ts';
import { type Lane, type LaneDependencies, Lanes } from './lanes.ts';
import type { WorkItem } from './leases.ts';

type Kind = Task['kind'];

/** A work item of one kind. */
export type WorkOf<Name extends Kind> = Versioned<WorkValue & { kind: Name }>;

/**
 * Does an item's work, or a part of it. The transaction that does the last of it takes the item off the queue. May be called
 * again for work that was begun, or done, by another worker or before a crash.
 *
 * - `later`: it is not due, or another worker is ahead with it.
 * - `more`: a part of it is done, which has written to these markets.
 */
export type Runner<Name extends Kind> = (item: WorkOf<Name>) => Promise<StepOutcome>;
export type StepOutcome = 'done' | 'later' | { readonly more: readonly string[] };

export interface WorkDependencies extends LaneDependencies, Pick<Runtime, 'pause'> {
  /** A host without a place for large files has no uploads. */
  readonly runners: { readonly [Name in Exclude<Kind, 'upload'>]: Runner<Name> } & {
    readonly upload?: Runner<'upload'>;
  };
  /** Told of each failure that is not one of storage. */
  readonly failed: (item: WorkItem, error: unknown) => void;
  /** Asked before each step; false leaves what is left for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Awaited after each step, so that others have their turn. */
  readonly afterStep?: () => Promise<void>;
}

export interface WorkDone {
  readonly done: number;
  /** Items of which `failed` was told. Those that are still on the queue are tried again by the next run. */
  readonly failed: number;
  /** Items that are not due, or with which another worker is ahead. */
  readonly later: number;
  /** When the next item that is not due, or that another worker has leased, may be taken; null where there is none. */
  readonly nextAtMs: number | null;
}

/** The queue is read again after so long, so that batches that have come meanwhile are seen. */
const LOOK_AGAIN_MS = 1_000;

/** How often an item is tried in one run when storage does not answer or others are in its way, and the first pause. */
const TRIES = 3;
const FIRST_PAUSE_MS = 200;

/**
 * Runs what is on the queue, and what comes while it does, until there is nothing left that it may take, or no more time.
 * Batches come first, each lane in turn; then one part of something large; and so on. An item that fails, or is not due, holds
 * up its own lane and no other one.
 *
 * @throws StorageUnavailable when storage fails. The next run goes on.
 */
export async function runWork(dependencies: WorkDependencies): Promise<WorkDone> {
  const { nowMs, hasTime = () => true } = dependencies;
  const counts = { done: 0, failed: 0, later: 0 };
  const lanes = new Lanes(dependencies);
  try {
    for (;;) {
      await lanes.look();
      const turnsBefore = lanes.turns;
      const lookAgainAtMs = nowMs() + LOOK_AGAIN_MS;
      while (nowMs() < lookAgainAtMs && hasTime()) {
        const lane = lanes.next('small');
        if (lane === undefined) break;
        await step(lane);
      }
      const large = hasTime() ? lanes.next('large') : undefined;
      if (large !== undefined) await step(large);
      if (lanes.turns > turnsBefore) continue;
      // Others may have ended because they saw its leases: it gives back those that it may not use, and looks once more.
      if ((await lanes.giveBackAll()) && hasTime()) continue;
      return { ...counts, nextAtMs: lanes.nextAtMs };
    }
  } finally {
    // If this fails, the leases end by themselves.
    await lanes.giveBackAll().catch(() => false);
  }

  async function step(lane: Lane): Promise<void> {
    const taken = await lanes.take(lane);
    const item = taken?.items[0];
    if (!taken || !item) return;
    const outcome = await runItem(dependencies, item);
    if (typeof outcome === 'object') await lanes.pause(taken, outcome.more);
    else {
      counts[outcome]++;
      if (outcome === 'done') lanes.done(taken);
      else await lanes.leave(taken);
    }
    await dependencies.afterStep?.();
  }
}

async function runItem(
  { runners, failed, pause, random }: WorkDependencies,
  item: WorkItem,
): Promise<StepOutcome | 'failed'> {
  for (let tries = 1; ; tries++) {
    try {
      return await runnerOf(runners, item.value.kind)(item);
    } catch (error) {
      if (isRetryable(error) && tries < TRIES) {
        await pause(FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + random()));
        continue;
      }
      if (error instanceof StorageUnavailable) throw error;
      failed(item, error);
      return 'failed';
    }
  }
}

function runnerOf(runners: WorkDependencies['runners'], kind: Kind): (item: WorkItem) => ReturnType<Runner<Kind>> {
  const runner = Object.hasOwn(runners, kind) ? runners[kind] : undefined;
  if (runner === undefined) throw new Error(`no runner for work of kind ${kind}: a newer version has queued it`);
  return runner as (item: WorkItem) => ReturnType<Runner<Kind>>;
}
