/** What one market comes to in a generation. Pure. */
import { publicKey } from '../../contract/public-objects.ts';
import {
  historyPageKey,
  type PublishedHeads,
  publishedHeadsKey,
  supersededPageKey,
} from '../../storage/records/publication.ts';
import type { BundleLine } from '../commit/bundle.ts';
import type { HistoryPlan } from './history-cutter.ts';
import type { MarketView } from './market-view.ts';
import { marketBody, rendered } from './render.ts';

/** SHA-256 in hex of the head bodies that readers have; null for one that they have not, or not as it must be. */
export interface ShownHeads {
  readonly market: string | null;
  readonly history: string | null;
}

export interface MarketPlan {
  /** The market's body, which is also its item in the list; null when the market has been removed. */
  readonly body: string | null;
  /** Whether its list item changes: it differs from what readers have, or the ledger does not know that they have it. */
  readonly isChanged: boolean;
  /** What applying the generation writes: head bodies that have changed, and the records that say so. */
  readonly lines: readonly BundleLine[];
}

/** Renders the market, and leaves out of it and its history whatever is byte-identical to what readers have. */
export function planMarket(
  view: MarketView,
  history: HistoryPlan,
  generation: number,
  shown: ShownHeads = { market: view.published?.marketDigest ?? null, history: view.published?.historyDigest ?? null },
): MarketPlan {
  const { slug, record, published } = view;
  if (record === null) return planRemoval(view, generation);
  const market = rendered(marketBody(slug, record.revision, record.value));
  const isPut = market.digest !== shown.market;
  const lines: BundleLine[] = [];
  if (history.head.digest !== shown.history) {
    const { body, nextCursor } = history.head;
    lines.push({ kind: 'put', key: publicKey({ kind: 'history', slug }), body, nextCursor });
  }
  if (isPut) {
    lines.push({ kind: 'put', key: publicKey({ kind: 'market', slug }), body: market.body, nextCursor: null });
  }
  const heads: PublishedHeads = {
    marketDigest: market.digest,
    historyDigest: history.head.digest,
    revision: record.revision,
    closedPages: history.closedPages,
    observations: record.value.observations,
    unknownValues: record.value.unknownValues,
    joined: published === null ? generation : published.joined,
  };
  if (lines.length > 0 || !saysTheSame(heads, published)) {
    lines.push({ kind: 'record', key: publishedHeadsKey(slug), value: heads });
  }
  lines.push(...pageRecords(slug, generation, history));
  // The body of a generation that was lost is in place, and no list shows the market.
  return { body: market.body, isChanged: isPut || published === null, lines };
}

function saysTheSame(heads: PublishedHeads, published: PublishedHeads | null): boolean {
  const names = Object.keys(heads) as (keyof PublishedHeads)[];
  return published !== null && names.every((name) => heads[name] === published[name]);
}

/** The bodies stay until the sweep: it takes those of which the ledger knows no published heads. */
function planRemoval({ slug, published, publishedPages }: MarketView, generation: number): MarketPlan {
  if (published === null) return { body: null, isChanged: false, lines: [] };
  const lines: BundleLine[] = [
    ...pageRecords(slug, generation, { pages: [], superseded: publishedPages, closedPages: 0 }),
    { kind: 'record', key: publishedHeadsKey(slug), value: null },
  ];
  return { body: null, isChanged: true, lines };
}

function pageRecords(
  slug: string,
  generation: number,
  { pages, superseded, closedPages }: Pick<HistoryPlan, 'pages' | 'superseded' | 'closedPages'>,
): readonly BundleLine[] {
  const lines: BundleLine[] = [];
  // Superseded pages first: at no moment is a page neither current nor known as superseded, or it would be swept.
  for (const { page } of superseded) {
    const objectKey = publicKey({ kind: 'history-page', slug, cursor: page.cursor });
    lines.push({ kind: 'record', key: supersededPageKey(objectKey), value: { generation } });
  }
  for (const { index, page, isRecorded } of pages) {
    if (!isRecorded) lines.push({ kind: 'record', key: historyPageKey(slug, index), value: page });
  }
  for (const { index } of superseded) {
    if (index >= closedPages) lines.push({ kind: 'record', key: historyPageKey(slug, index), value: null });
  }
  return lines;
}
