/**
 * Continues from a store whose state the ledger does not know: after a restore of an older copy of the ledger, after a
 * bundle was lost between commit and apply, or when everything must be put again.
 *
 * Nothing is emptied, and no reader sees a 404. HEAD is raised above every generation that the store shows, so that all
 * fences let the next generations pass. Every market gets a refresh mark; a refresh compares the rendered bodies with
 * the published ones. The list stays until all refreshes are done. Readers may hold cursors of history or list pages
 * that the ledger does not know, so the sweep keeps these pages for the lifetime of a cursor.
 */
import { publicKey } from '../../contract/public-objects.ts';
import { type Change, type Ledger, MAX_GET_KEYS, MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import { inBatches, queryPages } from '../../storage/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import {
  FRESH_MARKS,
  HEAD_KEY,
  type HeadValue,
  type ListState,
  parseMark,
  publishedHeadsKey,
  REFRESH_MARKS,
  refreshMarkKey,
} from '../../storage/records/publication.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { shownGeneration } from '../commit/same-origin.ts';
import { raiseHead } from '../commit/swap-head.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { rendererOf } from '../plan/render.ts';

/**
 * Prepares the next generations to publish everything again. May be repeated. Returns the generation to which HEAD was
 * raised; null if nothing was ever published.
 *
 * @throws Superseded if another publisher publishes in the meantime
 */
export async function resume(storage: PublisherStorage): Promise<number | null> {
  const { ledger, nowMs } = storage;
  const head = await ledger.get(HEAD_KEY);
  const shown = await shownGeneration(storage);
  if (head === null && shown === 0) return null;
  // Before HEAD is raised: every publisher from then on finds the marks, so the worker need not set them again.
  await markEverything(storage);
  const atMs = nowMs();
  const generation = Math.max(head?.revision ?? 0, shown) + 1;
  const value: HeadValue = {
    generation,
    publishedAt: new Date(atMs).toISOString(),
    bundle: { key: '', digest: '' },
    applied: false,
    list: await listAsShown(storage, head?.value.list ?? null),
    renderer: rendererOf(storage.pageSizes),
    staticDigests: {},
    counts: { markets: 0, observations: 0, unknownValues: 0 },
  };
  // Two steps. The first is a generation without a bundle, which nobody can apply: it fences out a publisher that is
  // still applying an earlier one, so that nothing changes the counted records. If the process dies in between, HEAD
  // names a generation that must be resumed.
  const fence = await raiseHead(storage, head, value);
  await raiseHead(storage, fence, { ...value, applied: true, counts: await countPublished(storage) });
  return generation;
}

/** The published list. The layout may be an older one, because it is only used to keep the names of unchanged pages. */
async function listAsShown({ objects }: PublisherStorage, known: ListState | null): Promise<ListState> {
  const found = await objects.get(publicKey({ kind: 'market-list' }));
  const isFound = found.kind === 'found';
  return {
    generation: known?.generation ?? 0,
    shows: Math.max(known?.shows ?? 0, isFound ? found.metadata.generation : 0),
    digest: isFound ? sha256Hex(found.body) : null,
    markets: known?.markets ?? 0,
    publishedAtMs: 0,
    layout: known?.layout ?? null,
    isDoubtful: true,
  };
}

/** Sets the refresh mark of every market. */
async function markEverything({ ledger, newAttemptId }: PublisherStorage): Promise<void> {
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    for (const batch of inBatches(items, MAX_TRANSACT_CHANGES)) {
      const marks = batch.map(({ sort }): Change => {
        return { kind: 'put', key: refreshMarkKey(sort), revision: 0, value: null, if: { kind: 'any' } };
      });
      await ledger.transact(marks, { attemptId: newAttemptId() });
    }
  }
}

/** A removed market stays marked until a generation without it is applied; that generation also reduces the counts. */
async function publishedSlugs(ledger: Ledger): Promise<ReadonlySet<string>> {
  const slugs = new Set<string>();
  for await (const items of queryPages(ledger, MARKET_INDEX)) for (const { sort } of items) slugs.add(sort);
  for (const marks of [FRESH_MARKS, REFRESH_MARKS]) {
    for await (const items of queryPages(ledger, marks)) for (const mark of items) slugs.add(parseMark(mark).slug);
  }
  return slugs;
}

/** The published state by the ledger's records. The next generations count from there. */
async function countPublished({ ledger }: PublisherStorage): Promise<HeadValue['counts']> {
  const counts = { markets: 0, observations: 0, unknownValues: 0 };
  for (const batch of inBatches([...(await publishedSlugs(ledger))], MAX_GET_KEYS)) {
    for (const heads of await ledger.getMany(batch.map(publishedHeadsKey))) {
      if (heads === null) continue;
      counts.markets++;
      counts.observations += heads.value.observations;
      counts.unknownValues += heads.value.unknownValues;
    }
  }
  return counts;
}
