/** The part of a generation that one market contributes. Pure. */
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

/** SHA-256 in hex of the published head bodies; null for a body that is not published, or has wrong metadata. */
export interface ShownHeads {
  readonly market: string | null;
  readonly history: string | null;
}

export interface MarketPlan {
  /** The market's body, which is also its item in the list; null if the market is removed. */
  readonly body: string | null;
  /**
   * Whether its list item changes: it differs from the published one, or the ledger has no record of the published one.
   */
  readonly isChanged: boolean;
  /** The lines of the bundle: changed head bodies, and the records of them. */
  readonly lines: readonly BundleLine[];
}

/** Renders the market. Leaves out bodies and pages that are byte-identical to the published ones. */
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
  // A lost generation may have put the body: then it is in place, but no list shows the market.
  return { body: market.body, isChanged: isPut || published === null, lines };
}

function saysTheSame(heads: PublishedHeads, published: PublishedHeads | null): boolean {
  const names = Object.keys(heads) as (keyof PublishedHeads)[];
  return published !== null && names.every((name) => heads[name] === published[name]);
}

/** The bodies stay for the sweep. It removes bodies of markets without a published record. */
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
  // Superseded pages first: a page must at every moment be recorded as current or as superseded, or it would be swept.
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
