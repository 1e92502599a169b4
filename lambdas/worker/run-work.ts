/**
 * Does the work that requests have left behind: items of one queue, each by the runner of its kind. Batches are applied in
 * the order of their ids, which is that of the requests to the millisecond; between work of two kinds there is no order.
 */

import { setTimeout } from 'node:timers/promises';
import type { Item, Ledger } from '../../storage/ledger.ts';
import { queryPages } from '../../storage/paging.ts';
import { WORK_QUEUE, type WorkValue } from '../../storage/records/batches.ts';
import { mayPass } from '../markets/commit-markets.ts';

type Kind = WorkValue['kind'];

/**
 * Does one item's work to its end, and takes the item off the queue in its last transaction; or leaves it for a later run,
 * when it is not due yet. May be called again for work that was begun, or done, by another worker or before a crash.
 */
export type Runner<Value extends WorkValue = WorkValue> = (work: Value) => Promise<'done' | 'later'>;

type RunnerOf<Name extends Kind> = Runner<Extract<WorkValue, { kind: Name }>>;

export interface WorkDependencies {
  readonly ledger: Pick<Ledger, 'query'>;
  /** A host without a place for large files has no uploads. */
  readonly runners: { readonly [Name in Exclude<Kind, 'upload'>]: RunnerOf<Name> } & {
    readonly upload?: RunnerOf<'upload'>;
  };
  /** Told of each failure that is not one of storage: only a person can mend it. */
  readonly failed: (item: Item, error: unknown) => void;
  /** Asked before each item; false leaves it and all others on the queue for the next run. Default: always true. */
  readonly hasTime?: () => boolean;
  /** Waits before an item is tried again. Default: a timer. */
  readonly pause?: (milliseconds: number) => Promise<unknown>;
  /** From 0 to 1, exclusive: workers that have met must not meet again. Default: `Math.random`. */
  readonly random?: () => number;
}

export interface WorkDone {
  readonly done: number;
  /** Items of which `failed` was told. Those that are still on the queue are tried again by the next run. */
  readonly failed: number;
  /** Items that are not due yet. */
  readonly later: number;
}

const PAGE_ITEMS = 100;

/** How often an item is tried in one run when storage does not answer or others are in its way, and the first pause. */
const TRIES = 3;
const FIRST_PAUSE_MS = 200;

/**
 * Runs what is on the queue, and what comes while it does, until nothing is left but items that have failed or are not due,
 * or there is no more time. Items that fail do not hold up the others; the next run tries them again.
 *
 * @throws StorageUnavailable when storage fails, Contended when others are in the way: the run ends with that item, since
 *   those after it must not be done before it. The next run begins with it.
 */
export async function runWork(dependencies: WorkDependencies): Promise<WorkDone> {
  const tried = new Set<string>();
  const counts = { done: 0, failed: 0, later: 0 };
  for (;;) {
    const found = tried.size;
    for await (const items of queryPages(dependencies.ledger, WORK_QUEUE, { limit: PAGE_ITEMS })) {
      for (const item of items) {
        if (tried.has(item.sort)) continue;
        if (dependencies.hasTime?.() === false) return counts;
        tried.add(item.sort);
        counts[await runItem(dependencies, item)]++;
      }
    }
    if (tried.size === found) return counts;
  }
}

async function runItem(
  { runners, failed, pause = setTimeout, random = Math.random }: WorkDependencies,
  item: Item<WorkValue>,
): Promise<keyof WorkDone> {
  const work = item.value;
  for (let tries = 1; ; tries++) {
    try {
      return await runnerOf(runners, work.kind)(work);
    } catch (error) {
      if (!mayPass(error)) {
        failed(item, error);
        return 'failed';
      }
      if (tries === TRIES) throw error;
      await pause(FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + random()));
    }
  }
}

function runnerOf(runners: WorkDependencies['runners'], kind: Kind): Runner {
  const runner = Object.hasOwn(runners, kind) ? (runners[kind] as Runner) : undefined;
  if (runner === undefined) throw new Error(`no runner for work of kind ${kind}: a newer version has queued it`);
  return runner;
}
