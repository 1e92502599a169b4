/**
 * Does queued work, together with any number of other workers. Work is queued in lanes. A lane is either one upload, one
 * erasure or one refresh, or a subject's batches in the order of their ids: the order of the requests, to the millisecond. Only
 * the first item of a lane may be worked on, by the worker that has leased it.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { Task } from '../../storage/records/batches.ts';
import { isRetryable } from './contended.ts';
import { type Lane, type LaneDependencies, Lanes, LEASED_AT_ONCE } from './lanes.ts';
import type { WorkItem, WorkOf } from './leases.ts';
import { type AnnouncedDone, runAnnounced } from './run-announced.ts';

type Kind = Task['kind'];

/**
 * Does an item's work, or a part of it. The transaction that does the last part removes the item from the queue. May be called
 * again for work that another worker or an earlier process has begun or done.
 *
 * - `later`: the item is not due, or another worker is ahead with it.
 * - `more`: a part of it is done, which has written to these markets.
 */
export type Runner<Name extends Kind> = (item: WorkOf<Name>) => Promise<StepOutcome>;
export type StepOutcome = 'done' | 'later' | { readonly more: readonly string[] };

export interface WorkDependencies extends LaneDependencies, Pick<Runtime, 'pause'> {
  readonly ledger: Ledger;
  /** A host without uploads has no runner for them. */
  readonly runners: { readonly [Name in Exclude<Kind, 'upload'>]: Runner<Name> } & {
    readonly upload?: Runner<'upload'>;
    /**
     * Does batches with few rows in one transaction, as far as possible. They are the first items of some lanes, each lane in
     * order. Returns the finished ones: the leading batches of each lane, or none. Default: each batch is done alone.
     */
    readonly together?: (items: readonly WorkOf<'ingest'>[]) => Promise<readonly WorkOf<'ingest'>[]>;
  };
  /** Receives each failure that is not a failure of storage. */
  readonly failed: (item: Pick<WorkItem, 'sort'>, error: unknown) => void;
  /**
   * The number of concurrent transactions with batches of few rows. Default: 1, for a ledger that commits one transaction after
   * the other. If their batches write to one market, all but one are decided again.
   */
  readonly transactionsAtOnce?: number;
  /** Called before each step; false leaves the rest for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Awaited after each step, so that other tasks can run. */
  readonly afterStep?: () => Promise<void>;
}

export interface WorkDone {
  readonly done: number;
  /** The number of items with a reported failure. The next run tries those that are still on the queue. */
  readonly failed: number;
  /** The number of items that are not due, or that another worker has. */
  readonly later: number;
  /** The time when the next of these items may be taken, or the next announced value becomes effective; null: unknown. */
  readonly nextAtMs: number | null;
}

/** DynamoDB answers in 4 to 13 ms, so other transactions can run meanwhile. Measured by `npm run bench -- aws`. */
export const AWS_TRANSACTIONS_AT_ONCE = 8;

/** The queue is read again after this time, to find new batches. */
const LOOK_AGAIN_MS = 1_000;

/** Due announced values are searched again after this time, even while there is other work. */
const LOOK_FOR_ANNOUNCED_MS = 60_000;

/**
 * The number of tries of an item in one run, while storage does not answer or other writers change the same items; and the
 * first pause.
 */
const TRIES = 3;
const FIRST_PAUSE_MS = 200;

/**
 * Does the queued work, and work that arrives meanwhile, until this worker may take nothing more or its time is over. Announced
 * values that are due, batches and large work take turns: a second of announced values, batches of each lane in turn, one part
 * of large work, and so on. An item that fails or is not due delays only its own lane.
 *
 * @throws StorageUnavailable if storage fails: the next run continues; FormatTooNew: a later version continues
 */
export async function runWork(dependencies: WorkDependencies): Promise<WorkDone> {
  const { nowMs, hasTime = () => true, transactionsAtOnce = 1 } = dependencies;
  const atOnce = dependencies.runners.together === undefined ? 1 : LEASED_AT_ONCE;
  const counts = { done: 0, failed: 0, later: 0 };
  const lanes = new Lanes(dependencies);
  let announced: AnnouncedDone = { effective: 0, failed: 0, nextAtMs: 0 };
  let announcedAtMs = 0;
  try {
    for (;;) {
      await Promise.all([lanes.look(), nowMs() >= announcedAtMs && settleAnnounced()]);
      const turnsBefore = lanes.turns;
      const lookAgainAtMs = nowMs() + LOOK_AGAIN_MS;
      while (nowMs() < lookAgainAtMs && hasTime()) {
        const small = lanes.nextSmall(transactionsAtOnce * atOnce, atOnce);
        if (small.length === 0) break;
        const taken = (await allEnded(small.map((lane) => lanes.take(lane)))).filter((lane) => lane !== null);
        await allEnded(lanes.sharing(taken, atOnce).map(stepTogether));
      }
      const large = hasTime() ? lanes.nextLarge() : undefined;
      const taken = large && (await lanes.take(large));
      if (taken) await step(taken);
      if (lanes.turns > turnsBefore || (nowMs() >= announcedAtMs && hasTime())) continue;
      // Other workers may have stopped because of this worker's leases. So it gives back the unused leases, and checks the
      // queue once more.
      if ((await lanes.giveBackAll()) && hasTime()) continue;
      return { ...counts, nextAtMs: earlier(lanes.nextAtMs, announced.nextAtMs) };
    }
  } finally {
    // If this fails, the leases end by time.
    await lanes.giveBackAll().catch(() => false);
  }

  /** For a short time only, because batches wait meanwhile. */
  async function settleAnnounced(): Promise<void> {
    const untilMs = nowMs() + LOOK_AGAIN_MS;
    announced = await runAnnounced({ ...dependencies, hasTime: () => hasTime() && nowMs() < untilMs });
    announcedAtMs = Math.min(announced.nextAtMs ?? Number.POSITIVE_INFINITY, nowMs() + LOOK_FOR_ANNOUNCED_MS);
    counts.failed += announced.failed;
    if (announced.effective > 0) await dependencies.afterStep?.();
  }

  /** Does the batches of these lanes in one transaction; then the first item of each lane for which that did nothing. */
  async function stepTogether(some: readonly Lane[]): Promise<void> {
    const items = some.flatMap((lane) => lanes.heldTogether(lane, atOnce));
    const done = items.length > 1 ? new Set(await dependencies.runners.together?.(items)) : NONE;
    const left = some.filter((lane) => {
      const count = lane.items.filter((item) => done.has(item)).length;
      counts.done += count;
      if (count > 0) lanes.done(lane, count);
      return count === 0;
    });
    if (left.length < some.length) await dependencies.afterStep?.();
    for (const lane of left) await step(lane);
  }

  async function step(lane: Lane): Promise<void> {
    const [item] = lane.items;
    if (item === undefined) return;
    const outcome = await runItem(dependencies, item);
    if (typeof outcome === 'object') await lanes.pause(lane, outcome.more);
    else {
      counts[outcome]++;
      if (outcome === 'done') lanes.done(lane);
      else await lanes.leave(lane);
    }
    await dependencies.afterStep?.();
  }
}

const NONE: ReadonlySet<WorkItem> = new Set();

/** Waits for all, even if one rejects, because leases are given back only after that. */
async function allEnded<Result>(running: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(running);
  return await Promise.all(running);
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
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
