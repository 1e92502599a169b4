/**
 * Plans the market list of a full republish from what its ranges have rendered, with little of it in memory: pages are
 * cut from the last to the first, since each names the next one, and so the ranges are read in that order too.
 */
import { pMapIterable } from 'p-map';
import type { ObjectStore } from '../storage/object-store.ts';
import type { PublishedPage, RenderedRangeValue } from '../storage/records/publication.ts';
import { readLines } from './bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from './dependencies.ts';
import { cutPage, type ListItem, type ListPage, type ListPlan, listHead } from './list-plan.ts';
import { putListPage, readLayout } from './plan-market-list.ts';

export interface RepublishedList extends Pick<ListPlan, 'head' | 'layout' | 'unlinked'> {
  /** What was published before. */
  readonly before: readonly PublishedPage[];
}

/** Cuts the whole list, puts its new pages in place, and gives what `planList` would have given. */
export async function planRepublishedList(
  storage: PublisherStorage,
  generation: number,
  ranges: readonly RenderedRangeValue[],
): Promise<RepublishedList> {
  const before = await readLayout(storage);
  const cutter = new Cutter(storage, generation, ranges, before);
  const put = async (page: ListPage): Promise<PublishedPage> => {
    if (page.isNew) await putListPage(storage.objects, page);
    return page.page;
  };
  const layout: PublishedPage[] = [];
  for await (const page of pMapIterable(cutter.pages(), put, { concurrency: OBJECT_CONCURRENCY })) layout.push(page);
  return { ...(await cutter.finish()), layout: layout.reverse(), before };
}

class Cutter {
  readonly #generation: number;
  readonly #pageSize: number;
  readonly #reusable: Map<string, PublishedPage>;
  readonly #source: AsyncGenerator<readonly ListItem[]>;
  /** The items from place `#start` of the list on, as far as they are not cut yet. */
  #items: ListItem[] = [];
  #start: number;
  #nextCursor: string | null = null;

  constructor(
    { objects, pageSizes }: PublisherStorage,
    generation: number,
    ranges: readonly RenderedRangeValue[],
    before: readonly PublishedPage[],
  ) {
    this.#generation = generation;
    this.#pageSize = pageSizes.markets;
    this.#reusable = new Map(before.map((page) => [page.digest, page]));
    this.#source = readBackwards(objects, ranges);
    this.#start = ranges.reduce((sum, { listed }) => sum + listed, 0);
  }

  /** All pages after the head, last first. */
  async *pages(): AsyncGenerator<ListPage> {
    for (let number = Math.ceil(this.#start / this.#pageSize) - 1; number >= 1; number--) {
      const from = number * this.#pageSize;
      while (this.#start > from && (await this.#readMore()));
      const page = cutPage(this.#items.splice(from - this.#start), this.#nextCursor, this.#generation, this.#reusable);
      this.#nextCursor = page.page.cursor;
      yield page;
    }
  }

  /** To be called when all pages are cut. */
  async finish(): Promise<Pick<RepublishedList, 'head' | 'unlinked'>> {
    while (await this.#readMore());
    const head = listHead(this.#items, this.#nextCursor);
    return { head, unlinked: [...this.#reusable.values()] };
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#items.unshift(...value);
    this.#start -= value.length;
    return true;
  }
}

async function* readBackwards(
  objects: ObjectStore,
  ranges: readonly RenderedRangeValue[],
): AsyncGenerator<readonly ListItem[]> {
  for (const { items } of ranges.toReversed()) {
    if (items === null) continue;
    yield (await readLines(objects, items)).map((line) => JSON.parse(line) as ListItem);
  }
}
