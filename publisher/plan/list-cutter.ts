/**
 * How the market list is cut into pages, from items that come from the last to the first. Pure.
 *
 *   [ head: first 100 slugs ] ─► [ page 1 ] ─► [ page 2 ] ─► … ─► [ last page ]
 *
 * Rendered from the last page to the first, because each page names the next one by its digest. So a walk that began
 * on one generation ends on it, pages behind the last change are shared between generations, and no more of the list than a
 * page or two is in memory.
 */
import { pageCursor } from '../../contract/cursors.ts';
import type { ListedPage } from './list-layout.ts';
import { collectionBody, type Rendered, rendered } from './render.ts';

/** One list item: a slug and its market's canonical body. */
export interface ListItem {
  readonly slug: string;
  readonly body: string;
}

export interface CutListPage {
  readonly page: ListedPage;
  readonly body: string;
  readonly nextCursor: string | null;
  /** Whether no published page has these bytes. */
  readonly isNew: boolean;
}

export type ListHead = Rendered & { readonly nextCursor: string | null };

export interface ListInput {
  readonly generation: number;
  readonly pageSize: number;
  /** How many items there are to cut. */
  readonly total: number;
  /** The items, some at a time: each piece in order, the last piece first. */
  readonly items: AsyncIterable<readonly ListItem[]>;
  /** The cursor of the first page that stays as it is, behind all that is cut; null where nothing stays. */
  readonly keptCursor: string | null;
  /** Published pages that may come out again, by digest: such a page keeps its cursor, and leaves this map. */
  readonly reusable: Map<string, ListedPage>;
}

/** The items are not as many as was said: what they were counted by is of another time. */
export class ItemsMiscounted extends Error {
  override readonly name = 'ItemsMiscounted';
}

export class ListCutter {
  readonly #input: ListInput;
  readonly #source: AsyncIterator<readonly ListItem[]>;
  /** From place `#start` of the list on, as far as they are not cut yet. */
  #items: ListItem[] = [];
  #start: number;
  #nextCursor: string | null;

  constructor(input: ListInput) {
    this.#input = input;
    this.#source = input.items[Symbol.asyncIterator]();
    this.#start = input.total;
    this.#nextCursor = input.keptCursor;
  }

  /** All pages after the head, last first. @throws ItemsMiscounted */
  async *pages(): AsyncGenerator<CutListPage> {
    const { pageSize, total } = this.#input;
    for (let number = Math.ceil(total / pageSize) - 1; number >= 1; number--) {
      const from = number * pageSize;
      while (this.#start > from) if (!(await this.#readMore())) throw new ItemsMiscounted();
      yield this.#cut(this.#items.splice(from - this.#start));
    }
  }

  /** To be called when all pages are cut. @throws ItemsMiscounted */
  async finish(): Promise<ListHead> {
    while (await this.#readMore());
    if (this.#start !== 0) throw new ItemsMiscounted();
    return { ...rendered(collectionBody(bodiesOf(this.#items), this.#nextCursor)), nextCursor: this.#nextCursor };
  }

  #cut(covered: readonly ListItem[]): CutListPage {
    const { generation, reusable } = this.#input;
    const nextCursor = this.#nextCursor;
    const { body, digest } = rendered(collectionBody(bodiesOf(covered), nextCursor));
    const published = reusable.get(digest);
    reusable.delete(digest);
    const page = published ?? { cursor: pageCursor(generation, digest), digest, first: covered[0]?.slug ?? '' };
    this.#nextCursor = page.cursor;
    return { page, body, nextCursor, isNew: published === undefined };
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#items.unshift(...value);
    this.#start -= value.length;
    return true;
  }
}

function bodiesOf(items: readonly ListItem[]): readonly string[] {
  return items.map((item) => item.body);
}
