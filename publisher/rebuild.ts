/** Rebuilding what is published from the ledger alone: after losing objects, or after rendering has changed. */

import { isDeepStrictEqual } from 'node:util';
import { pMapIterable } from 'p-map';
import { cursorGeneration } from '../contract/cursors.ts';
import { type PublicObjectName, publicKey, STATIC_KINDS } from '../contract/public-objects.ts';
import type { Change, Item, Ledger } from '../storage/ledger.ts';
import type { ObjectMetadata } from '../storage/object-store.ts';
import { readAll } from '../storage/paging.ts';
import { MARKET_INDEX } from '../storage/records/markets.ts';
import {
  DIRTY_MARKETS,
  type GenerationValue,
  generationKey,
  HEAD_KEY,
  type HeadValue,
  type PublishedHeads,
  parseDirtyMark,
  publishedHeadsKey,
} from '../storage/records/publication.ts';
import { sha256Hex } from '../storage/sha256.ts';
import { supersededIfMoved } from './apply.ts';
import { OBJECT_CONCURRENCY, type PublisherDependencies } from './dependencies.ts';
import { BundleLost, ImmutableMismatch, laterThanLedger, Superseded } from './errors.ts';
import { HistoryCutter } from './history-plan.ts';
import { planList } from './list-plan.ts';
import { readLayout } from './plan-market-list.ts';
import { publish } from './publish.ts';
import { publicMetadata, putImmutable } from './put-immutable.ts';
import { viewMarket } from './read-market.ts';
import { marketBody, rendered, snapshotBody } from './render.ts';

export interface RebuildOutcome {
  /** The newest generation: a new one if anything is rendered otherwise than it was published. */
  readonly generation: number;
  /** Keys of the objects that were missing, or had other bytes or metadata, and have been put back. */
  readonly restored: readonly string[];
}

/**
 * Renders everything from the ledger. What comes out other than it was published becomes a new generation; what is
 * missing from the store, or has other bytes or metadata, is put back as it was. May be called again.
 *
 * Nothing replaces an immutable page: where one has the right bytes and other metadata, all else is put back first, and
 * then `ImmutableMismatch` says which pages to delete. Other errors as {@link publish}.
 */
export async function rebuild(dependencies: PublisherDependencies): Promise<RebuildOutcome> {
  const { generation } = await publish(dependencies, 'everything').catch(async (error: unknown) => {
    if (!(error instanceof BundleLost)) throw error;
    await abandonUnapplied(dependencies);
    return await publish(dependencies, 'everything');
  });
  try {
    return { generation, restored: await restoreAll(dependencies) };
  } catch (error) {
    throw await supersededIfMoved(dependencies.ledger, { revision: generation }, error);
  }
}

/**
 * In any order, many at once: each is put as one applied generation has it, so what a reader finds behind a link is of that
 * generation, or as lost as it was before. No order would spare that, since links may have outlived what they lead to.
 */
async function restoreAll(dependencies: PublisherDependencies): Promise<readonly string[]> {
  const restored: string[] = [];
  const mislabelled: string[] = [];
  const restoreOne = async (object: RenderedObject) => ({ object, outcome: await restore(dependencies, object) });
  // As many bodies are in memory, and no more.
  const concurrency = OBJECT_CONCURRENCY;
  const restoring = pMapIterable(renderEverything(dependencies), restoreOne, { concurrency });
  for await (const { object, outcome } of restoring) {
    if (outcome === 'restored') restored.push(publicKey(object.name));
    if (outcome === 'mislabelled') mislabelled.push(publicKey(object.name));
  }
  if (mislabelled.length > 0) throw mislabelledPages(mislabelled);
  return restored;
}

/**
 * Gives up on a generation that cannot be applied: its bodies may be in place in part, and the generation to come covers
 * them all. A number is skipped, which fences out a publisher that has read the bundle before and is still applying it.
 * Then nothing changes the ledger's records of what is published, and HEAD's counts, which were true of the bundle, are
 * made what those records add up to: the generation to come counts on from them. Dying in between leaves a generation
 * without a bundle, as it was found.
 */
async function abandonUnapplied({ ledger, nowMs, newAttemptId }: PublisherDependencies): Promise<void> {
  const head = (await ledger.get(HEAD_KEY)) as Item;
  const lost = head.value as HeadValue;
  if (lost.applied) return;
  const generation = lost.generation + 1;
  const swap = async (value: HeadValue, before: string, others: readonly Change[]): Promise<string> => {
    const attemptId = newAttemptId();
    const condition = { kind: 'written-by', attemptId: before } as const;
    const put: Change = { kind: 'put', key: HEAD_KEY, revision: generation, value, if: condition };
    const result = await ledger.transact([put, ...others], { attemptId });
    if (!result.committed) throw new Superseded(`another publisher has taken care of generation ${lost.generation}`);
    return attemptId;
  };
  const fence = await swap({ ...lost, generation }, head.attemptId, []);
  const { publishedAt, bundleKey } = lost;
  const record: GenerationValue = { generation, publishedAt, bundleKey, appliedAtMs: nowMs() };
  const unknown = { listDigest: null, staticDigests: {} };
  const counts = await countPublished(ledger);
  await swap({ ...lost, ...unknown, generation, applied: true, counts }, fence, [
    { kind: 'put', key: generationKey(generation), revision: generation, value: record, if: { kind: 'any' } },
  ]);
}

/** A market that was removed is still marked, since no mark is cleared before its generation is applied. */
async function countPublished(ledger: Ledger): Promise<HeadValue['counts']> {
  const marks = await readAll(ledger, DIRTY_MARKETS);
  const listed = await readAll(ledger, MARKET_INDEX);
  const slugs = new Set([...listed.map(({ sort }) => sort), ...marks.map((mark) => parseDirtyMark(mark).slug)]);
  const counts = { markets: 0, observations: 0, unknownValues: 0 };
  for (const slug of slugs) {
    const heads = (await ledger.get(publishedHeadsKey(slug)))?.value as PublishedHeads | undefined;
    if (heads === undefined) continue;
    counts.markets++;
    counts.observations += heads.observations;
    counts.unknownValues += heads.unknownValues;
  }
  return counts;
}

/** Read ahead, so that rendering them one after the other does not wait for the ledger's every answer. */
const MARKETS_AT_ONCE = 8;

/** One public object as the ledger says it is published. */
export interface RenderedObject {
  readonly name: PublicObjectName;
  readonly body: string;
  readonly nextCursor: string | null;
  /** The generation that last changed it. */
  readonly generation: number;
}

/**
 * Renders every public object of the newest generation: what has the digest that the ledger says is published. The head
 * bodies of a market that has been written to since are left out, with the list: they belong to the generation that comes
 * next. Nothing is rendered before the first.
 */
export async function* renderEverything(dependencies: PublisherDependencies): AsyncGenerator<RenderedObject> {
  const { ledger, pageSizes, staticBodies } = dependencies;
  const head = (await ledger.get(HEAD_KEY))?.value as HeadValue | undefined;
  if (head === undefined || head.listDigest === null) return;
  const { generation } = head;
  const items: { slug: string; body: string }[] = [];
  const read = async ({ sort: slug }: Item) => {
    const view = await viewMarket(ledger, slug, 'everything');
    return { slug, view, published: await ledger.get(publishedHeadsKey(slug)) };
  };
  const listed = await readAll(ledger, MARKET_INDEX);
  for await (const { slug, view, published } of pMapIterable(listed, read, { concurrency: MARKETS_AT_ONCE })) {
    if (view.record === null || published === null) continue;
    const cutter = new HistoryCutter({ ...view, generation, pageSize: pageSizes.observations });
    for await (const some of view.observations()) {
      for (const { page, body, nextCursor, isNew } of cutter.add(some)) {
        const { cursor } = page;
        const name = { kind: 'history-page', slug, cursor } as const;
        if (!isNew) yield { name, body, nextCursor, generation: cursorGeneration(cursor) };
      }
    }
    const body = marketBody(slug, view.record.revision, view.record.value);
    items.push({ slug, body });
    const history = cutter.finish();
    const { marketDigest, historyDigest } = published.value as PublishedHeads;
    if (rendered(body).digest !== marketDigest || history.head.digest !== historyDigest) continue;
    const { body: historyBody, nextCursor } = history.head;
    yield { name: { kind: 'history', slug }, body: historyBody, nextCursor, generation: published.revision };
    yield { name: { kind: 'market', slug }, body, nextCursor: null, generation: published.revision };
  }
  const layout = await readLayout(dependencies);
  const list = planList({ generation, pageSize: pageSizes.markets, items, keptPages: [], replacedPages: layout });
  if (list.head.digest === head.listDigest) {
    for (const { page, body, nextCursor } of list.cutPages) {
      const { cursor } = page;
      yield { name: { kind: 'market-list-page', cursor }, body, nextCursor, generation: cursorGeneration(cursor) };
    }
    yield { name: { kind: 'market-list' }, body: list.head.body, nextCursor: list.head.nextCursor, generation };
  }
  for (const kind of STATIC_KINDS) {
    const { body, digest } = staticBodies[kind];
    if (digest === head.staticDigests?.[kind]) yield { name: { kind }, body, nextCursor: null, generation };
  }
  const { counts, listDigest, publishedAt } = head;
  const snapshot = snapshotBody({ counts, generation, listDigest, publishedAt });
  yield { name: { kind: 'snapshot' }, body: snapshot, nextCursor: null, generation };
}

/** Puts the object back unless it is as it should be; `mislabelled` where it is not, and nobody may replace it. */
async function restore(
  { objects }: PublisherDependencies,
  { name, body, nextCursor, generation }: RenderedObject,
): Promise<'right' | 'restored' | 'mislabelled'> {
  const key = publicKey(name);
  const metadata = publicMetadata(name, generation, nextCursor);
  const found = await objects.get(key);
  const isBodyRight = found.kind === 'found' && sha256Hex(found.body) === rendered(body).digest;
  const isRight = isBodyRight && isLabelled(name, found.metadata, metadata);
  const bytes = Buffer.from(body);
  if ('cursor' in name) {
    if (isBodyRight) return isRight ? 'right' : 'mislabelled';
    await putImmutable(objects, key, bytes, metadata);
    return 'restored';
  }
  if (found.kind === 'found' && found.metadata.generation > generation) {
    throw laterThanLedger(key, found.metadata.generation, generation);
  }
  if (isRight) return 'right';
  const condition =
    found.kind === 'found' ? ({ kind: 'matches', etag: found.etag } as const) : ({ kind: 'absent' } as const);
  const result = await objects.put(key, bytes, metadata, condition);
  if (result.kind === 'refused') throw new Superseded(`${key} was put by somebody else meanwhile`);
  return 'restored';
}

/**
 * Whether the metadata are what the object should have. The generation of a page is in its cursor, that of the snapshot in
 * its body. Of any other head the ledger notes only one that it is not later than: a market and its history share a note,
 * and the list and the static bodies have that of HEAD. So what is earlier is right.
 */
function isLabelled(name: PublicObjectName, found: ObjectMetadata, right: ObjectMetadata): boolean {
  const isDated = 'cursor' in name || name.kind === 'snapshot';
  return isDeepStrictEqual(isDated ? found : { ...found, generation: right.generation }, right);
}

/** So many are named in an error. */
const NAMED_AT_MOST = 20;

function mislabelledPages(keys: readonly string[]): ImmutableMismatch {
  const named = keys.slice(0, NAMED_AT_MOST).join(', ');
  const more = keys.length > NAMED_AT_MOST ? `, and ${keys.length - NAMED_AT_MOST} more` : '';
  return new ImmutableMismatch(
    `${named}${more}: the bytes are right, but not the metadata, and nothing may replace an immutable object. All else ` +
      'has been put back. Delete these and rebuild: that puts them back as they should be.',
  );
}
