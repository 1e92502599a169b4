/**
 * Continues from a store whose state the ledger does not know: after a restore of an older copy of the ledger, after a
 * bundle was lost between commit and apply, or when everything must be put again.
 *
 * Nothing is emptied, and no reader sees a 404. HEAD is raised above every generation that the store shows, so that the
 * conditions of all puts let the next generations pass. Every market gets a refresh mark; a refresh compares the rendered
 * bodies with the published ones. The list stays until all refreshes are done. Readers may hold cursors of history or list
 * pages that the ledger does not know, so the sweep keeps these pages for the lifetime of a cursor. The next generation
 * compares the log with the one in the store (log/reconcile-log.ts).
 */
import { publicKey } from '../../contract/files/public-objects.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import {
  HEAD_KEY,
  type HeadValue,
  type ListState,
  type LogState,
  refreshMark,
} from '../../storage/records/publication.ts';
import { rendererOf } from '../core/bodies/render.ts';
import { NO_LOG } from '../core/log/log-edge.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { BundleLost, ImmutableMismatch, Superseded } from '../errors.ts';
import { applyGeneration } from '../kernel/apply.ts';
import { changeMany } from '../kernel/change-many.ts';
import { withDrainedWrites } from '../kernel/drained-writes.ts';
import { type Head, isRaised, raiseHead } from '../kernel/swap-head.ts';
import { storeGeneration } from '../kernel/text/same-origin.ts';

export interface ResumeOptions {
  /** Whether the ledger may be older than the log: then the log states all markets again. */
  readonly isRestored?: boolean;
  /** HEAD is raised above this generation, too. */
  readonly above?: number;
  /** The part of the log of which the ledger has everything. Default: HEAD's state of it. */
  readonly log?: LogState;
}

/**
 * Prepares the next generations to publish everything again. May be repeated. Returns the generation to which HEAD was
 * raised; null if nothing was ever published.
 *
 * @throws Superseded if another publisher publishes in the meantime
 */
export async function resume(
  storage: PublisherStorage,
  { isRestored = false, above = 0, log }: ResumeOptions = {},
): Promise<number | null> {
  const { nowMs } = storage;
  const shown = await storeGeneration(storage);
  const head = await applyIfPossible(storage, shown);
  // Marks are set before HEAD is raised: every later publisher finds them, so the worker need not set them again. They are
  // set even if nothing was ever published, because a restored ledger may have lost the mark of a market.
  await markEverything(storage);
  if (head === null && shown === 0) return null;
  const atMs = nowMs();
  const generation = Math.max(head?.revision ?? 0, shown, above) + 1;
  const value: HeadValue = {
    generation,
    publishedAt: new Date(atMs).toISOString(),
    bundle: { key: '', digest: '' },
    applied: false,
    list: await listAsShown(storage, head?.value.list ?? null),
    renderer: rendererOf(storage),
    counts: { markets: 0, observations: 0, unknownValues: 0 },
    ...(await logInDoubt(storage, head?.value ?? null, isRestored ? generation : null, log)),
  };
  const raised = await raiseHead(storage, head, value);
  // If this process dies here, the next publisher applies it. Another publisher may also be faster.
  await applyGeneration(storage, raised).catch((error: unknown) => {
    if (!(error instanceof Superseded)) throw error;
  });
  return generation;
}

/**
 * To be called before {@link resume} by a process that cannot put public objects: if the bundle of the newest generation exists,
 * only a publisher can apply it.
 *
 * @throws Error if that generation is not applied yet. Nothing is changed
 */
export async function assertApplied(storage: PublisherStorage): Promise<void> {
  const head = await storage.ledger.get(HEAD_KEY);
  const { applied = true, bundle } = head?.value ?? {};
  // A raised HEAD has no bundle.
  if (head === null || applied || !bundle?.key || (await storage.objects.stat(bundle.key)) === null) return;
  if ((await storeGeneration(storage)) > head.revision) return;
  throw new Error(
    `nothing was done: generation ${head.revision} is not applied yet. Only the publisher can do it: let it run, and repeat this in a minute`,
  );
}

/**
 * HEAD, applied unless its bundle is lost or the store is later than the ledger. Another publisher may be applying it at
 * this moment: if that publisher put its checkpoint after the next generation has read the newest one, the log would fork.
 */
async function applyIfPossible(storage: PublisherStorage, shown: number): Promise<Head | null> {
  const head = await storage.ledger.get(HEAD_KEY);
  if (head === null || head.value.applied || shown > head.revision) return head;
  try {
    return await withDrainedWrites(storage, (settling) => applyGeneration(settling, head));
  } catch (error) {
    if (error instanceof BundleLost || error instanceof ImmutableMismatch || error instanceof StorageCorrupt)
      return head;
    throw error;
  }
}

/**
 * The part of the log of which the ledger has everything: without the entries of a generation that is not applied. Records
 * may already say that this generation stated some markets, so these are stated again.
 */
async function logInDoubt(
  { objects }: PublisherStorage,
  head: HeadValue | null,
  resetBefore: number | null,
  whole: LogState | undefined,
): Promise<Pick<HeadValue, 'log'>> {
  const { log = NO_LOG, generation = 0 } = head ?? {};
  if (log === NO_LOG && (await objects.stat(publicKey({ kind: 'log-checkpoint' }))) === null) return {};
  const isApplied = head === null || head.applied || isRaised(head);
  const known = whole ?? (isApplied ? log : { ...log, ...(log.was ?? NO_LOG) });
  const reset = resetBefore ?? (isApplied ? known.resetBefore : generation + 1);
  return { log: { ...known, isDoubtful: true, ...(reset === undefined ? {} : { resetBefore: reset }) } };
}

/** The published list. Its layout may be older, because it only serves to keep the names of unchanged pages. */
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
async function markEverything(storage: PublisherStorage): Promise<void> {
  for await (const items of queryPages(storage.ledger, MARKET_INDEX)) {
    await changeMany(
      storage,
      items.map(({ sort }) => refreshMark(sort)),
    );
  }
}
