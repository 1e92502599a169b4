/**
 * How the market list is cut into pages, from the last item to the first. Pure.
 *
 *   [ head: first 100 slugs ] ─► [ page 1 ] ─► [ page 2 ] ─► … ─► [ last page ]
 *
 * Pages are rendered from the last to the first, because each page names the next one by its digest. So a walk that
 * began on one generation ends on it, and generations share the pages behind the last change. At most two pages are in
 * memory.
 */
import { pageCursor } from '../../../contract/files/cursors.ts';
import { NEXT_OF_LIST, NEXT_OF_PAGE } from '../../../contract/files/object-paths.ts';
import { type Rendered, rendered } from '../../kernel/files/rendered.ts';
import type { ListedPage } from '../../kernel/list/list-layout.ts';
import { collectionBody } from '../bodies/render.ts';

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

/** The first page. */
export type ListHead = Rendered & { readonly nextCursor: string | null };

export interface ListInput {
  readonly generation: number;
  readonly pageSize: number;
  /** The number of items to cut. */
  readonly total: number;
  /** The items in pieces: each piece in order, the last piece first. */
  readonly items: AsyncIterable<readonly ListItem[]>;
  /** The cursor of the first unchanged page, after everything that is cut; null if no page is kept. */
  readonly keptCursor: string | null;
  /**
   * Published pages by digest. A page that is cut again with the same digest keeps its cursor and is removed from this
   * map.
   */
  readonly reusable: Map<string, ListedPage>;
}

/** The number of items differs from the announced one: they were counted at another time. */
export class ItemsMiscounted extends Error {
  override readonly name = 'ItemsMiscounted';
}

/** All pages, the last page first and the head at the end. @throws ItemsMiscounted */
export async function* cutPages(input: ListInput): AsyncGenerator<CutListPage | ListHead> {
  const { generation, pageSize, total, reusable } = input;
  /** Items that are not cut yet, starting at index `start` of the list. */
  let items: ListItem[] = [];
  let start = total;
  let nextCursor = input.keptCursor;
  let from = (Math.ceil(total / pageSize) - 1) * pageSize;
  for await (const piece of input.items) {
    items = [...piece, ...items];
    start -= piece.length;
    for (; from > 0 && start <= from; from -= pageSize) {
      const covered = items.splice(from - start);
      const { body, digest } = rendered(collectionBody(bodiesOf(covered), nextCursor, NEXT_OF_PAGE));
      const published = reusable.get(digest);
      reusable.delete(digest);
      const page = published ?? { cursor: pageCursor(generation, digest), digest, first: covered[0]?.slug ?? '' };
      yield { page, body, nextCursor, isNew: published === undefined };
      nextCursor = page.cursor;
    }
  }
  if (start !== 0) throw new ItemsMiscounted();
  yield { ...rendered(collectionBody(bodiesOf(items), nextCursor, NEXT_OF_LIST)), nextCursor };
}

function bodiesOf(items: readonly ListItem[]): readonly string[] {
  return items.map((item) => item.body);
}
