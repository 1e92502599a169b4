/** The part of a generation that one market contributes. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import {
  historyPageKey,
  type PublishedHeads,
  publishedHeadsKey,
  supersededPageKey,
} from '../../../storage/records/publication.ts';
import type { BundleLine, HeadPut } from '../../kernel/bundle.ts';
import { etagsOf, rendered } from '../../kernel/files/rendered.ts';
import type { HistoryPlan, MarketView } from '../../kernel/market-view.ts';
import type { MarketPart } from '../../kernel/projection.ts';
import { marketBody } from './render.ts';

/** SHA-256 in hex of the published head bodies; null for a body that is not published, or has wrong metadata. */
export interface StoredDigests {
  readonly market: string | null;
  readonly history: string | null;
}

export interface MarketPlan {
  /** The market's body, which is also its item in the list; null if the market is removed or lost. */
  readonly body: string | null;
  /**
   * Whether its list item changes: it differs from the published one, or the ledger has no record of the published one.
   */
  readonly isChanged: boolean;
  /** The lines of the bundle: changed head bodies, and the records of them. */
  readonly lines: readonly BundleLine[];
  /** Parts of the bundle that are already stored, to be applied before the lines. */
  readonly parts: MarketPart['parts'];
  /** The problem documents of a removed market, to be put after a list without it. */
  readonly gone: readonly HeadPut[];
}

/** The fields of {@link PublishedHeads} about the log. */
export type LoggedFields = Pick<PublishedHeads, 'logged' | 'loggedParts'>;

export interface MarketPlanInput {
  readonly view: MarketView;
  readonly history: HistoryPlan;
  readonly generation: number;
  /** Those fields after this generation; null: there is no log. */
  readonly logged: LoggedFields | null;
  /** Digests of the stored bodies. Undefined: the record's digests are right. */
  readonly stored: StoredDigests | undefined;
  readonly part: MarketPart;
  readonly objects: Pick<ObjectStore, 'etagOf'>;
}

/**
 * Renders the market. Leaves out bodies and pages whose bytes equal the published ones. Both bodies of a removed market
 * become the problem document; its pages stay for readers who are in the middle of a walk.
 */
export function planMarket(input: MarketPlanInput): MarketPlan {
  const { view, history, generation, logged, part, objects } = input;
  const { slug, record, published } = view;
  if (record === null) return planLoss(view, generation, part);
  const { removal, observations, unknownValues } = record.value;
  const document = removal && rendered(canonicalJson(removedMarketDocument(removal)));
  const market = document ?? rendered(marketBody(slug, record.revision, record.value));
  const bodies = { history: document ?? history.head, market };
  const shown = storedDigests(input);
  const puts = (['history', 'market'] as const).flatMap((kind): HeadPut[] => {
    const { body, digest } = bodies[kind];
    if (digest === shown[kind]) return [];
    const nextCursor = document === undefined && kind === 'history' ? history.head.nextCursor : null;
    const isGone = document === undefined ? {} : { isGone: true };
    return [{ kind: 'put', key: publicKey({ kind, slug }), body, nextCursor, ...isGone, ...replaced(view, kind) }];
  });
  const ofShown = { closedPages: history.closedPages, observations, unknownValues };
  const heads: PublishedHeads = {
    marketDigest: market.digest,
    historyDigest: bodies.history.digest,
    revision: record.revision,
    ...(document === undefined ? ofShown : { closedPages: 0, observations: 0, unknownValues: 0 }),
    joined: published?.joined ?? generation,
    ...(document === undefined
      ? etagsOf(objects, { market: market.body, history: history.head.body })
      : { isRemoved: true }),
    ...(part.files && { files: part.files }),
    ...(logged ?? loggedBefore(published)),
  };
  const gone = document === undefined ? [] : [...part.gone, ...puts];
  const lines: BundleLine[] = document === undefined ? [...part.lines, ...puts] : [...part.lines];
  if (lines.length + gone.length > 0 || view.isReset || !isDeepStrictEqual(heads, published)) {
    lines.push({ kind: 'record', key: publishedHeadsKey(slug), value: heads });
  }
  lines.push(...pageRecords(slug, generation, history));
  // A generation whose bundle was lost may have put the body: then the body is in place, but no list shows the market.
  const isChanged =
    document === undefined ? market.digest !== shown.market || published === null : !published?.isRemoved;
  return { body: document === undefined ? market.body : null, isChanged, lines, parts: part.parts, gone };
}

/** The ETag of the body to replace. A refresh cannot trust the records, so it gives none, and the put reads the store. */
function replaced({ published, isRefresh }: MarketView, kind: 'market' | 'history'): Pick<HeadPut, 'replaces'> {
  const etag = published === null ? null : published.etags?.[kind];
  return isRefresh || etag === undefined ? {} : { replaces: etag };
}

/** Without a running log, its last state stays recorded, so that the log can continue later. */
function loggedBefore(published: PublishedHeads | null): LoggedFields {
  if (published?.logged === undefined) return {};
  const { logged, loggedParts } = published;
  return loggedParts === undefined ? { logged } : { logged, loggedParts };
}

function storedDigests({ view: { published }, stored }: MarketPlanInput): StoredDigests {
  return stored ?? { market: published?.marketDigest ?? null, history: published?.historyDigest ?? null };
}

/** Whether the published list may show the market. */
export function isListed(published: PublishedHeads | null): boolean {
  return published !== null && !published.isRemoved;
}

/** The sweep removes the bodies later, because the market has no published record any more. */
function planLoss({ slug, published, publishedPages }: MarketView, generation: number, part: MarketPart): MarketPlan {
  if (published === null) return { body: null, isChanged: false, lines: part.lines, parts: [], gone: [] };
  const lines: BundleLine[] = [
    ...part.lines,
    ...pageRecords(slug, generation, { pages: [], superseded: publishedPages, closedPages: 0 }),
    { kind: 'record', key: publishedHeadsKey(slug), value: null },
  ];
  return { body: null, isChanged: !published.isRemoved, lines, parts: [], gone: [] };
}

function pageRecords(
  slug: string,
  generation: number,
  { pages, superseded, closedPages }: Pick<HistoryPlan, 'pages' | 'superseded' | 'closedPages'>,
): readonly BundleLine[] {
  const lines: BundleLine[] = [];
  // Record superseded pages first: at every moment a page must be recorded as current or as superseded, or the sweep would
  // remove it.
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
