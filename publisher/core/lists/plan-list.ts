/** Plans the market list of a generation, and puts its new pages in place. */
import pMap, { pMapIterable } from 'p-map';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { ListState } from '../../../storage/records/publication.ts';
import { DEFAULT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { type ListedPage, type ListLayout, readLayout } from '../../kernel/list-layout.ts';
import { putPage } from '../../kernel/put-immutable.ts';
import type { PageEntries } from '../planned-projections.ts';
import { type CutListPage, ItemsMiscounted, ListCutter, type ListHead, type ListInput } from './list-cutter.ts';
import {
  itemsOfBodies,
  itemsOfPages,
  type ListChanges,
  ListPageLost,
  type ListSource,
  listedMarkets,
} from './list-items.ts';

export interface ListPlan {
  readonly head: ListHead;
  readonly layout: ListLayout;
  /** What projections take from its pages, in order. */
  readonly pages: readonly PageEntries[];
  /** Whether every page of the previous list is in the new layout, as current or as superseded. */
  readonly isPreviousKnown: boolean;
}

interface WantedList {
  readonly generation: number;
  readonly before: ListState | null;
  readonly changes: ListChanges;
  readonly isDue: (slug: string) => boolean;
  /** What projections take from each page of a list of this many markets; null: nothing. */
  readonly ofPage: (markets: number) => ((body: string) => PageEntries) | null;
}

/** The pages that are cut, and the pages that are kept behind them. */
type Cut = Pick<ListInput, 'total' | 'items' | 'keptCursor' | 'reusable'> & {
  readonly kept: readonly ListedPage[];
  /** In the whole list. */
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
  if (isTrusted) {
    try {
      return await cutList(storage, wanted, cutOfPages(storage, before, layout, changes), false);
    } catch (error) {
      if (!(error instanceof ListPageLost || error instanceof ItemsMiscounted)) throw error;
    }
  }
  const listed = await listedMarkets(storage, changes, isDue);
  const pages = layout?.pages ?? [];
  const items = itemsOfBodies(storage, listed, sourcesOf(before, pages), changes);
  const total = listed.length;
  const cut = { total, markets: total, items, keptCursor: null, reusable: byDigest(pages), kept: [] };
  return { ...(await cutList(storage, wanted, cut, true)), isPreviousKnown: isTrusted };
}

/** The previous list: its first page, and these pages. */
function sourcesOf(before: ListState | null, pages: readonly ListedPage[]): readonly ListSource[] {
  return [
    { key: publicKey({ kind: 'market-list' }), digest: before?.digest ?? '', first: '' },
    ...pages.map(({ cursor, digest, first }) => {
      return { key: publicKey({ kind: 'market-list-page', cursor }), digest, first };
    }),
  ];
}

/** Whether the previous list was cut as this version cuts it, with the page size of this deployment. */
export function isCutAlike({ pageSize, linkedSince }: ListState, { markets }: PublisherStorage['pageSizes']): boolean {
  return pageSize === markets && linkedSince !== undefined;
}

/** Pages up to the last changed slug. If a market joins or leaves, all pages, because every later item moves. */
function cutOfPages(
  { objects, pageSizes }: PublisherStorage,
  before: ListState | null,
  { markets, pages }: ListLayout,
  changes: ListChanges,
): Cut {
  const all = [...changes.values()];
  const moves = all.filter(({ wasListed, isListed }) => wasListed !== isListed);
  const joined = moves.filter(({ isListed }) => isListed).length;
  const lastChanged = [...changes.keys()].reduce((last, slug) => (slug > last ? slug : last), '');
  const isMoved = moves.length > 0 || (before !== null && !isCutAlike(before, pageSizes));
  const cutPages = isMoved ? pages.length : pages.filter(({ first }) => first <= lastChanged).length;
  const replaced = pages.slice(0, cutPages);
  const kept = pages.slice(cutPages);
  const marketsAfter = markets + joined - (moves.length - joined);
  return {
    // If pages are kept behind them, all pages that are cut are full.
    total: kept.length > 0 ? (cutPages + 1) * pageSizes.markets : marketsAfter,
    markets: marketsAfter,
    items:
      before === null
        ? itemsOfChanges(changes)
        : itemsOfPages(objects, sourcesOf(before, replaced), kept[0]?.first ?? null, changes),
    keptCursor: kept[0]?.cursor ?? null,
    reusable: byDigest(replaced),
    kept,
  };
}

/** For the first list, which has no previous list. */
async function* itemsOfChanges(changes: ListChanges) {
  const listed = [...changes].filter(([, { isListed }]) => isListed);
  const inOrder = listed.sort(([left], [right]) => (left < right ? -1 : 1));
  yield await Promise.all(inOrder.map(async ([slug, { item }]) => ({ slug, body: await item() })));
}

async function cutList(
  storage: PublisherStorage,
  { generation, ofPage }: Pick<WantedList, 'generation' | 'ofPage'>,
  { kept, markets, ...cut }: Cut,
  isDoubtful: boolean,
): Promise<ListPlan> {
  const { objects, pageSizes, concurrency = DEFAULT_CONCURRENCY } = storage;
  const read = ofPage(markets);
  const cutter = new ListCutter({ ...cut, generation, pageSize: pageSizes.markets });
  const put = async (cutPage: CutListPage) => {
    await putPage(objects, { kind: 'market-list-page', cursor: cutPage.page.cursor }, cutPage, isDoubtful);
    return { page: cutPage.page, entries: read?.(cutPage.body) };
  };
  const pages: ListedPage[] = [];
  const entries: PageEntries[] = [];
  // In any order: no reader can reach one of them before HEAD is swapped, and by then all of them are in place.
  for await (const done of pMapIterable(cutter.pages(), put, { concurrency: concurrency.objects })) {
    pages.push(done.page);
    if (done.entries !== undefined) entries.push(done.entries);
  }
  const head = await cutter.finish();
  const layout: ListLayout = {
    markets,
    pages: [...pages.reverse(), ...kept],
    superseded: [...cut.reusable.values()].map(({ cursor }) => cursor),
  };
  if (read === null) return { head, layout, pages: [], isPreviousKnown: true };
  const readKept = async (page: ListedPage) => read(await keptPage(storage, page));
  const ofKept = await pMap(kept, readKept, { concurrency: concurrency.objects });
  return { head, layout, pages: [read(head.body), ...entries.reverse(), ...ofKept], isPreviousKnown: true };
}

/** @throws ListPageLost */
async function keptPage({ objects }: PublisherStorage, { cursor, digest }: ListedPage): Promise<string> {
  const key = publicKey({ kind: 'market-list-page', cursor });
  const found = await objects.get(key);
  if (found.kind !== 'found' || sha256Hex(found.body) !== digest) throw new ListPageLost(key);
  return Buffer.from(found.body).toString();
}

function byDigest(pages: readonly ListedPage[]): Map<string, ListedPage> {
  return new Map(pages.map((page) => [page.digest, page]));
}
