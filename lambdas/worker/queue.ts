/** Reads the queue of work, a limited part of it at a time. */
import type { Ledger } from '../../storage/ports/ledger.ts';
import { type Page, readPage } from '../../storage/ports/paging.ts';
import { laneEnd, WORK_QUEUE, type WorkValue, workShardOf } from '../../storage/records/batches.ts';
import type { WorkItem } from './leases.ts';

/** The items of one page. At most two pages of a long lane are read. */
const PAGE_ITEMS = 25;
/** The pages of one view: it has the first items of 16 long lanes, or of 400 short ones. */
const PAGES_OF_A_VIEW = 16;

/** The first items of some lanes. */
export interface QueueView {
  readonly items: readonly WorkItem[];
  /** The place where the next view begins. */
  readonly next: string;
  /** Whether the view has the first item of every lane. */
  readonly isWhole: boolean;
}

/** The place before all lanes. */
export const QUEUE_BEGIN = '';

type Reader = Pick<Ledger, 'query'>;

/**
 * Reads the lanes from this place on. After the end of the queue, it continues from the beginning. The cost does not depend on
 * the length of the queue.
 *
 * @param start the beginning of a lane, so that no view begins within one
 */
export async function readQueue(ledger: Reader, start: string): Promise<QueueView> {
  const firsts = await readFirsts(ledger);
  const isShort = firsts.every(({ next }) => next === null);
  if (isShort) return { items: firsts.flatMap(({ items }) => items), next: start, isWhole: true };
  const items: WorkItem[] = [];
  let after = start;
  let isPastEnd = start === QUEUE_BEGIN;
  for (let pages = 0; pages < PAGES_OF_A_VIEW; pages++) {
    const page = await readOn(ledger, after, firsts);
    const [first, last] = [page.items[0], page.items.at(-1)];
    const isOnlyNew = ({ sort }: WorkItem) => !isPastEnd || start === QUEUE_BEGIN || sort <= start;
    items.push(...page.items.filter(isOnlyNew));
    if (page.next !== null && first !== undefined && last !== undefined) {
      const end = laneEnd(last.sort);
      after = laneEnd(first.sort) === end ? end : last.sort;
      if (isPastEnd && start !== QUEUE_BEGIN && after >= start) return whole();
    } else {
      if (isPastEnd) return whole();
      isPastEnd = true;
      after = QUEUE_BEGIN;
    }
  }
  const last = items.at(-1);
  return { items, next: last === undefined ? start : laneEnd(last.sort), isWhole: false };

  function whole(): QueueView {
    return { items, next: start, isWhole: true };
  }
}

/** Reads the first page of each partition concurrently. A short queue has no more than these. */
async function readFirsts(ledger: Reader): Promise<readonly Page<WorkValue>[]> {
  const ofShard = (partition: string) => readPage<WorkValue>(ledger, { partition }, { limit: PAGE_ITEMS });
  return await Promise.all(WORK_QUEUE.shards.map(ofShard));
}

/** The next page after this place, in this partition or a later one. The first page of each is known. */
async function readOn(ledger: Reader, after: string, firsts: readonly Page<WorkValue>[]): Promise<Page<WorkValue>> {
  const { shards } = WORK_QUEUE;
  const begin = after === QUEUE_BEGIN ? 0 : shards.indexOf(workShardOf(after));
  const from = { partition: shards[begin] as string };
  const rest = after === QUEUE_BEGIN ? [] : [await readPage<WorkValue>(ledger, from, { after, limit: PAGE_ITEMS })];
  const pages = [...rest, ...firsts.slice(begin + rest.length)];
  const page = pages.find(({ items }) => items.length > 0);
  if (page === undefined) return { items: [], next: null };
  return { items: page.items, next: page.next ?? (page === pages.at(-1) ? null : (page.items.at(-1)?.sort ?? null)) };
}
