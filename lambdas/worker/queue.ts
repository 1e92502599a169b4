/** Reads the queue of work, a bounded part of it at a time. */
import { created, removed } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readPage } from '../../storage/ports/paging.ts';
import { laneEnd, WORK_BY_ID, WORK_QUEUE, workKey } from '../../storage/records/batches.ts';
import { heldUntilMs, type LeaseDependencies, type WorkItem } from './leases.ts';

/** Of a long lane, at most two such pages are read. */
const PAGE_ITEMS = 25;
/** A view has the first items of 16 long lanes, or of 400 short ones. */
const PAGES_OF_A_VIEW = 16;

/** The first items of some lanes. */
export interface QueueView {
  readonly items: readonly WorkItem[];
  /** Where the next view begins. */
  readonly next: string;
  /** Whether it has the first item of every lane. */
  readonly isWhole: boolean;
  /** Whether an earlier version has queued work, which is not in the view: see {@link moveWorkById}. */
  readonly hasWorkById: boolean;
}

/** Before all lanes. */
export const QUEUE_BEGIN = '';

/**
 * The lanes from this place on, and from the beginning of the queue behind its end. Costs the same however long the queue
 * is.
 *
 * @param start where a lane begins, so that no view begins within one
 */
export async function readQueue(ledger: Pick<Ledger, 'query'>, start: string): Promise<QueueView> {
  const items: WorkItem[] = [];
  let hasWorkById = false;
  let after = start;
  let isPastEnd = start === QUEUE_BEGIN;
  for (let pages = 0; pages < PAGES_OF_A_VIEW; pages++) {
    const from = after === QUEUE_BEGIN ? {} : { after };
    const page = await readPage(ledger, WORK_BY_ID, { ...from, limit: PAGE_ITEMS });
    const [first, last] = [page.items[0], page.items.at(-1)];
    hasWorkById ||= first !== undefined && !isInLane(first);
    const isOnlyNew = ({ sort }: WorkItem) => !isPastEnd || start === QUEUE_BEGIN || sort <= start;
    items.push(...page.items.filter((item) => isInLane(item) && isOnlyNew(item)));
    if (page.next !== null && first !== undefined && last !== undefined) {
      const end = laneEnd(last.sort);
      after = isInLane(first) && laneEnd(first.sort) === end ? end : last.sort;
      if (isPastEnd && start !== QUEUE_BEGIN && after >= start) return whole();
    } else {
      if (isPastEnd) return whole();
      isPastEnd = true;
      after = QUEUE_BEGIN;
    }
  }
  const last = items.at(-1);
  return { items, next: last === undefined ? start : laneEnd(last.sort), isWhole: false, hasWorkById };

  function whole(): QueueView {
    return { items, next: start, isWhole: true, hasWorkById };
  }
}

/**
 * Gives work that an earlier version queued the keys of today, in order. What a worker of that version has leased stays, with
 * the rest of its lane, until the lease ends.
 */
export async function moveWorkById(dependencies: LeaseDependencies & { ledger: Pick<Ledger, 'query'> }): Promise<void> {
  const { ledger, owner, nowMs, newAttemptId } = dependencies;
  const held = new Set<string>();
  for await (const items of queryPages(ledger, WORK_BY_ID, { limit: PAGE_ITEMS })) {
    for (const item of items) {
      if (isInLane(item)) return;
      const { lane } = item.value;
      if (item.value.lease?.owner !== null && heldUntilMs(item, owner) > nowMs()) held.add(lane);
      if (held.has(lane)) continue;
      await ledger.transact([removed(item), created(workKey(item.sort, lane), item.value)], {
        attemptId: newAttemptId(),
      });
    }
  }
}

function isInLane({ sort }: { readonly sort: string }): boolean {
  return sort.startsWith(WORK_QUEUE.prefix);
}
