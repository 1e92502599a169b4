/** Plans the market list of a generation, and puts its new pages in place. */
import pMap, { pMapIterable } from 'p-map';
import type { ListState } from '../../../storage/records/publication.ts';
import { DEFAULT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { putPage } from '../../kernel/files/fenced-put.ts';
import { type ListedPage, type ListLayout, readLayout } from '../../kernel/list/list-layout.ts';
import type { PageEntries } from '../planned-projections.ts';
import { type CutListPage, cutPages, ItemsMiscounted, type ListHead, type ListInput } from './list-cutter.ts';
import {
  itemsOf,
  type ListChanges,
  ListPageLost,
  type ListPiece,
  pieceOfPage,
  piecesOfBodies,
  readListPage,
} from './list-items.ts';

export interface ListPlan {
  readonly head: ListHead;
  readonly layout: ListLayout;
  /** The entries that projections take from its pages, in order. */
  readonly entries: readonly PageEntries[];
  /** Reads its pages, in order. */
  readonly pages: () => AsyncIterable<string>;
  /** Whether every page of the previous list is in the new layout, as current or as superseded. */
  readonly isPreviousKnown: boolean;
}

interface WantedList {
  readonly generation: number;
  readonly before: ListState | null;
  readonly changes: ListChanges;
  readonly isDue: (slug: string) => boolean;
  /** Whether a projection has failed, perhaps because a page is lost: then pages that are kept are read too. */
  readonly mustReadAll: boolean;
  /** Gives the entries that projections take from a page of a list with this many markets; null: no projection takes entries. */
  readonly ofPage: (markets: number) => ((body: string) => PageEntries) | null;
}

/** The pages to cut, and the pages after them that are kept. */
type Cut = Pick<ListInput, 'total' | 'items' | 'keptCursor' | 'reusable'> & {
  readonly kept: readonly ListedPage[];
  /** The number of markets in the whole list. */
  readonly markets: number;
};

/**
 * Cuts the list again from its start to the last page that changes. If the previous list is not known, or has lost a
 * page, the whole list is cut from the published bodies.
 */
export async function planList(storage: PublisherStorage, wanted: WantedList): Promise<ListPlan> {
  const { before, changes, isDue } = wanted;
  const layout = await readLayout(storage.objects, before);
  const isTrusted = layout !== null && before?.isDoubtful !== true;
  if (isTrusted && before !== null) {
    try {
      const plan = await cutList(storage, wanted, cutOfPages(storage, before, layout, changes), false);
      if (wanted.mustReadAll) for await (const _ of plan.pages());
      return plan;
    } catch (error) {
      if (!(error instanceof ListPageLost || error instanceof ItemsMiscounted)) throw error;
    }
  }
  const known = layout?.pages ?? [];
  const { pieces, markets } = await piecesOfBodies(storage, piecesOf(storage, before, known), changes, isDue);
  const reusable = byDigest(known);
  const cut = { total: markets, markets, items: itemsOf(pieces, null, changes), keptCursor: null, reusable, kept: [] };
  return { ...(await cutList(storage, wanted, cut, true)), isPreviousKnown: isTrusted };
}

/** Whether the previous list was cut with the page size of this deployment. */
export function isCutAlike({ pageSize }: ListState, { markets }: PublisherStorage['pageSizes']): boolean {
  return pageSize === markets;
}

/** Cuts the pages up to the last changed slug. If a market joins or leaves, all pages are cut, because every later item moves. */
function cutOfPages(
  storage: PublisherStorage,
  before: ListState,
  { markets, pages }: ListLayout,
  changes: ListChanges,
): Cut {
  const { pageSizes } = storage;
  const all = [...changes.values()];
  const moves = all.filter(({ wasListed, isListed }) => wasListed !== isListed);
  const joined = moves.filter(({ isListed }) => isListed).length;
  const lastChanged = [...changes.keys()].reduce((last, slug) => (slug > last ? slug : last), '');
  const isMoved = moves.length > 0 || !isCutAlike(before, pageSizes);
  const cutPages = isMoved ? pages.length : pages.filter(({ first }) => first <= lastChanged).length;
  const replaced = pages.slice(0, cutPages);
  const kept = pages.slice(cutPages);
  const marketsAfter = markets + joined - (moves.length - joined);
  return {
    // If pages after them are kept, all pages that are cut are full.
    total: kept.length > 0 ? (cutPages + 1) * pageSizes.markets : marketsAfter,
    markets: marketsAfter,
    items: itemsOf(piecesOf(storage, before, replaced), kept[0]?.first ?? null, changes),
    keptCursor: kept[0]?.cursor ?? null,
    reusable: byDigest(replaced),
    kept,
  };
}

/** The previous list: its first page, and then these pages. */
function piecesOf(
  { objects }: PublisherStorage,
  before: ListState | null,
  pages: readonly ListedPage[],
): readonly ListPiece[] {
  return [
    pieceOfPage(objects, { kind: 'market-list' }, before?.digest ?? '', ''),
    ...pages.map(({ cursor, digest, first }) => pieceOfPage(objects, listPage(cursor), digest, first)),
  ];
}

const listPage = (cursor: string) => ({ kind: 'market-list-page', cursor }) as const;

async function cutList(
  storage: PublisherStorage,
  { generation, ofPage }: Pick<WantedList, 'generation' | 'ofPage'>,
  { kept, markets, ...cut }: Cut,
  isDoubtful: boolean,
): Promise<ListPlan> {
  const { objects, pageSizes, concurrency = DEFAULT_CONCURRENCY } = storage;
  const read = ofPage(markets);
  const put = async (one: CutListPage | ListHead) => {
    if (!('page' in one)) return one;
    await putPage(objects, listPage(one.page.cursor), one, isDoubtful);
    return { page: one.page, entries: read?.(one.body) };
  };
  const pages: ListedPage[] = [];
  const entries: PageEntries[] = [];
  let head: ListHead | undefined;
  // The order of these puts does not matter: no reader can reach a page before HEAD is swapped, and then all of them are in
  // place.
  const cutting = cutPages({ ...cut, generation, pageSize: pageSizes.markets });
  for await (const done of pMapIterable(cutting, put, { concurrency: concurrency.objects })) {
    if (!('page' in done)) head = done;
    else {
      pages.push(done.page);
      if (done.entries !== undefined) entries.push(done.entries);
    }
  }
  if (head === undefined) throw new ItemsMiscounted();
  const layout: ListLayout = {
    markets,
    pages: [...pages.reverse(), ...kept],
    superseded: [...cut.reusable.values()].map(({ cursor }) => cursor),
  };
  const readLater = (page: ListedPage) => readListPage(objects, listPage(page.cursor), page.digest);
  const first = head.body;
  async function* bodies() {
    yield first;
    yield* pMapIterable(layout.pages, readLater, { concurrency: concurrency.objects });
  }
  const plan = { head, layout, pages: bodies, isPreviousKnown: true };
  if (read === null) return { ...plan, entries: [] };
  const ofKept = await pMap(kept, async (page) => read(await readLater(page)), { concurrency: concurrency.objects });
  return { ...plan, entries: [read(first), ...entries.reverse(), ...ofKept] };
}

function byDigest(pages: readonly ListedPage[]): Map<string, ListedPage> {
  return new Map(pages.map((page) => [page.digest, page]));
}
