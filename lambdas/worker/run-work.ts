/**
 * Does queued work, beside any number of other workers. Work is queued in lanes. A lane is a subject's batches in the
 * order of their ids, which is the order of the requests to the millisecond; or it is one upload, one erasure, one
 * refresh. Only the first item of a lane may be worked on, by the worker that has leased it.
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
 * Does an item's work, or a part of it. The transaction that does the last part takes the item off the queue. May be
 * called again for work that another worker or an earlier process has begun or done.
 *
 * - `later`: the item is not due, or another worker is ahead with it.
 * - `more`: a part of it is done, which has written to these markets.
 */
export type Runner<Name extends Kind> = (item: WorkOf<Name>) => Promise<StepOutcome>;
export type StepOutcome = 'done' | 'later' | { readonly more: readonly string[] };

export interface WorkDependencies extends LaneDependencies, Pick<Runtime, 'pause'> {
  readonly ledger: Ledger;
  /** A host that takes no large files has no uploads. */
  readonly runners: { readonly [Name in Exclude<Kind, 'upload'>]: Runner<Name> } & {
    readonly upload?: Runner<'upload'>;
    /**
     * Does batches of few rows in one transaction, as far as it can. They are the first of some lanes, each lane in order.
     * Returns those that are done: of each lane its first, or none. Default: each is done alone.
     */
    readonly together?: (items: readonly WorkOf<'ingest'>[]) => Promise<readonly WorkOf<'ingest'>[]>;
  };
  /** Receives each failure that is not a failure of storage. */
  readonly failed: (item: Pick<WorkItem, 'sort'>, error: unknown) => void;
  /**
   * Transactions with batches of few rows at the same time. Default: 1, for a ledger that commits one transaction after the
   * other. If their batches write to one market, all but one are decided again.
   */
  readonly transactionsAtOnce?: number;
  /** Asked before each step; false leaves the rest for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Awaited after each step, so that other tasks get their turn. */
  readonly afterStep?: () => Promise<void>;
}

export interface WorkDone {
  readonly done: number;
  /** Items whose failure was reported. If they are still on the queue, the next run tries them again. */
  readonly failed: number;
  /** Items that are not due, or that another worker has. */
  readonly later: number;
  /** When the next such item may be taken, or the next announced value becomes effective; null: neither is known. */
  readonly nextAtMs: number | null;
}

/** DynamoDB answers in 4 to 13 ms, and meanwhile others can be asked. Measured by `npm run bench -- aws`. */
export const AWS_TRANSACTIONS_AT_ONCE = 8;

/** The queue is read again after this long, to find new batches. */
const LOOK_AGAIN_MS = 1_000;

/** Announced values are looked for again after this long, also while there is other work. */
const LOOK_FOR_ANNOUNCED_MS = 60_000;

/**
 * Tries of an item in one run while storage does not answer or other writers change the same items; and the first
 * pause.
 */
const TRIES = 3;
const FIRST_PAUSE_MS = 200;

/**
 * Does the queued work, and work that arrives meanwhile, until this worker may take nothing more or its time is over.
 * Announced values that are due become effective before anything else. Batches come first, each lane in turn; then one part of
 * something large; and so on. An item that fails, or is not due, delays its own lane and no other.
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
      if (lanes.turns > turnsBefore) continue;
      // Other workers may have ended because of this worker's leases. So it gives back the leases that it does not use,
      // and looks once more.
      if ((await lanes.giveBackAll()) && hasTime()) continue;
      return { ...counts, nextAtMs: earlier(lanes.nextAtMs, announced.nextAtMs) };
    }
  } finally {
    // If this fails, the leases end by themselves.
    await lanes.giveBackAll().catch(() => false);
  }

  async function settleAnnounced(): Promise<void> {
    announced = await runAnnounced(dependencies);
    announcedAtMs = Math.min(announced.nextAtMs ?? Number.POSITIVE_INFINITY, nowMs() + LOOK_FOR_ANNOUNCED_MS);
    counts.failed += announced.failed;
    if (announced.effective > 0) await dependencies.afterStep?.();
  }

  /** One transaction for all, and then the first item of each lane of which it has done nothing. */
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

/** Before it rejects, too: leases are given back only after that. */
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
