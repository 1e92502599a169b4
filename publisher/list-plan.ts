/**
 * How the market list is cut into pages. Pure.
 *
 *   [ head: first 100 slugs ] ─► [ page 1 ] ─► [ page 2 ] ─► … ─► [ last page ]
 *
 * Rendered from the last page to the first, because each page names the next one by its digest. So a walk that began
 * on one generation ends on it, and pages behind the last change are shared between generations.
 */
import { pageCursor } from '../contract/cursors.ts';
import type { PublishedPage } from '../storage/records/publication.ts';
import { collectionBody, type Rendered, rendered } from './render.ts';

/** One list item: a slug and its market's canonical body. */
export interface ListItem {
  readonly slug: string;
  readonly body: string;
}

export interface ListInput {
  readonly generation: number;
  readonly pageSize: number;
  /** Every item of the pages that are cut anew, in order of slug, from the very first. */
  readonly items: readonly ListItem[];
  /** The pages behind `items`, untouched, in order: their membership and bytes stay. */
  readonly keptPages: readonly PublishedPage[];
  /** The pages that `items` replace, in order; index 0 is the first page after the head. */
  readonly replacedPages: readonly PublishedPage[];
}

export interface ListPage {
  readonly page: PublishedPage;
  readonly body: string;
  readonly nextCursor: string | null;
  readonly isNew: boolean;
}

export interface ListPlan {
  readonly head: Rendered & { readonly nextCursor: string | null };
  /** The pages that were cut, last first. */
  readonly cutPages: readonly ListPage[];
  /** All pages after the head, in order. */
  readonly layout: readonly PublishedPage[];
  /** Published pages that are no longer part of the list. */
  readonly unlinked: readonly PublishedPage[];
}

/** Cuts the items into pages. A page with the same bytes as one of the replaced pages keeps that page's cursor. */
export function planList(input: ListInput): ListPlan {
  const reusable = new Map(input.replacedPages.map((page) => [page.digest, page]));
  const cutPages: ListPage[] = [];
  let nextCursor = input.keptPages[0]?.cursor ?? null;
  const pageCount = Math.max(1, Math.ceil(input.items.length / input.pageSize));
  for (let number = pageCount - 1; number >= 1; number--) {
    const covered = input.items.slice(number * input.pageSize, (number + 1) * input.pageSize);
    const cut = cutPage(covered, nextCursor, input.generation, reusable);
    cutPages.push(cut);
    nextCursor = cut.page.cursor;
  }
  const head = listHead(input.items.slice(0, input.pageSize), nextCursor);
  const layout = [...cutPages.map(({ page }) => page).reverse(), ...input.keptPages];
  return { head, cutPages, layout, unlinked: [...reusable.values()] };
}

/** One page after the head. One with the bytes of a published page is that page, which `reusable` then no longer holds. */
export function cutPage(
  covered: readonly ListItem[],
  nextCursor: string | null,
  generation: number,
  reusable: Map<string, PublishedPage>,
): ListPage {
  const { body, digest } = rendered(collectionBody(bodiesOf(covered), nextCursor));
  const published = reusable.get(digest);
  reusable.delete(digest);
  const cursor = pageCursor(generation, digest);
  const page = published ?? { cursor, digest, first: covered[0]?.slug ?? '', last: covered.at(-1)?.slug ?? '' };
  return { page, body, nextCursor, isNew: published === undefined };
}

/** The first page. */
export function listHead(covered: readonly ListItem[], nextCursor: string | null): ListPlan['head'] {
  return { ...rendered(collectionBody(bodiesOf(covered), nextCursor)), nextCursor };
}

function bodiesOf(items: readonly ListItem[]): readonly string[] {
  return items.map((item) => item.body);
}
