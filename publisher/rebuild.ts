/** Rebuilding what is published from the ledger alone: after losing objects, or after rendering has changed. */
import { cursorGeneration } from '../contract/cursors.ts';
import { type PublicObjectName, publicKey } from '../contract/public-objects.ts';
import type { Item } from '../storage/ledger.ts';
import {
  HEAD_KEY,
  type HeadValue,
  MARKETS_PARTITION,
  type PublishedHeads,
  publishedHeadsKey,
  sha256Hex,
} from '../storage/records.ts';
import { markApplied } from './apply.ts';
import type { PublisherDependencies } from './dependencies.ts';
import { BundleLost, Superseded } from './errors.ts';
import { planHistory } from './history-plan.ts';
import { planList } from './list-plan.ts';
import { readLayout } from './plan-market-list.ts';
import { publish } from './publish.ts';
import { publicMetadata, putImmutable } from './put-immutable.ts';
import { readAll, readMarket } from './read-market.ts';
import { marketBody, notFoundBody, rendered, snapshotBody } from './render.ts';

export interface RebuildOutcome {
  /** The newest generation: a new one if anything is rendered otherwise than it was published. */
  readonly generation: number;
  /** Keys of the objects that were missing or held other bytes, and have been put back. */
  readonly restored: readonly string[];
}

/**
 * Renders everything from the ledger. What comes out other than it was published becomes a new generation; what is
 * missing from the store, or holds other bytes, is put back as it was. Errors as {@link publish}; may be called again.
 */
export async function rebuild(dependencies: PublisherDependencies): Promise<RebuildOutcome> {
  await publish(dependencies, 'everything').catch(async (error: unknown) => {
    if (!(error instanceof BundleLost)) throw error;
    // Its bodies may be in place in part. The next generation covers them all, so this one need not be finished.
    const head = (await dependencies.ledger.get(HEAD_KEY)) as Item;
    await markApplied(dependencies, head.value as HeadValue);
    await publish(dependencies, 'everything');
  });
  const restored: string[] = [];
  let generation = 0;
  for await (const object of renderEverything(dependencies)) {
    generation = Math.max(generation, object.generation);
    if (await restore(dependencies, object)) restored.push(publicKey(object.name));
  }
  return { generation, restored };
}

/** One public object as the ledger says it is published. */
export interface RenderedObject {
  readonly name: PublicObjectName;
  readonly body: string;
  readonly nextCursor: string | null;
  /** The generation that last changed it. */
  readonly generation: number;
}

/**
 * Renders every public object of the newest generation. A market that has been written to since it was published is
 * left out, with the list: they belong to the generation that comes next. Nothing is rendered before the first.
 */
export async function* renderEverything(dependencies: PublisherDependencies): AsyncGenerator<RenderedObject> {
  const { ledger, pageSizes } = dependencies;
  const head = (await ledger.get(HEAD_KEY))?.value as HeadValue | undefined;
  if (head === undefined) return;
  const { generation } = head;
  const items: { slug: string; body: string }[] = [];
  for (const { sort: slug } of await readAll(ledger, MARKETS_PARTITION)) {
    const view = await readMarket(ledger, slug, pageSizes.observations, 'everything');
    const published = await ledger.get(publishedHeadsKey(slug));
    if (view.record === null || published === null) continue;
    const body = marketBody(slug, view.record.revision, view.record.value);
    items.push({ slug, body });
    const history = planHistory({ ...view.history, generation, pageSize: pageSizes.observations });
    const { marketDigest, historyDigest } = published.value as PublishedHeads;
    if (rendered(body).digest !== marketDigest || history.head.digest !== historyDigest) continue;
    for (const { page, body, nextCursor } of history.pages) {
      const { cursor } = page;
      yield { name: { kind: 'history-page', slug, cursor }, body, nextCursor, generation: cursorGeneration(cursor) };
    }
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
  if (rendered(notFoundBody()).digest === head.notFoundDigest) {
    yield { name: { kind: 'not-found' }, body: notFoundBody(), nextCursor: null, generation };
  }
  yield { name: { kind: 'snapshot' }, body: snapshotBody(head), nextCursor: null, generation };
}

/** Puts the object back if it is missing or differs; returns whether it had to. */
async function restore({ objects }: PublisherDependencies, object: RenderedObject): Promise<boolean> {
  const { name, body, nextCursor, generation } = object;
  const key = publicKey(name);
  const found = await objects.get(key);
  if (found.kind === 'found' && sha256Hex(found.body) === rendered(body).digest) return false;
  const bytes = Buffer.from(body);
  if ('cursor' in name) {
    await putImmutable(objects, key, bytes, publicMetadata(name, generation, nextCursor));
    return true;
  }
  if (found.kind === 'found' && found.metadata.generation > generation) throw new Superseded(`${key} is newer`);
  const condition =
    found.kind === 'found' ? ({ kind: 'matches', etag: found.etag } as const) : ({ kind: 'absent' } as const);
  const result = await objects.put(key, bytes, publicMetadata(name, generation, nextCursor), condition);
  if (result.kind === 'refused') throw new Superseded(`${key} was put by somebody else meanwhile`);
  return true;
}
