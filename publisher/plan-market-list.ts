/** Plans the market list of a generation, and puts its new pages in place. */

import pMap from 'p-map';
import { publicKey } from '../contract/public-objects.ts';
import { StorageCorrupt } from '../storage/errors.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { readAll } from '../storage/paging.ts';
import {
  type HeadValue,
  LIST_PARTITION,
  type PublishedPage,
  pageKey,
  pagesOf,
  unlinkedKey,
} from '../storage/records/publication.ts';
import { sha256Hex } from '../storage/sha256.ts';
import type { BundleWriter } from './bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage, type PublishScope } from './dependencies.ts';
import { type ListItem, type ListPage, type ListPlan, planList } from './list-plan.ts';
import type { MarketsPlan } from './plan-markets.ts';
import { putPage } from './put-immutable.ts';
import { collectionItems } from './render.ts';

/**
 * Cuts the list anew from its start to the last page that changes. Items that have not changed are taken from the
 * pages that show them, checked against their recorded digests, and not from the ledger, which may be newer already:
 * so a list item and the market's body always belong to the same generation.
 */
export async function planMarketList(
  dependencies: PublisherStorage,
  bundle: BundleWriter,
  generation: number,
  head: HeadValue | null,
  markets: MarketsPlan,
  scope: PublishScope,
): Promise<ListPlan> {
  const layout = await readLayout(dependencies);
  const cutPages = scope === 'everything' ? layout.length : countPagesToCut(layout, markets);
  const replacedPages = layout.slice(0, cutPages);
  const items =
    scope === 'everything' || head === null || head.listDigest === null
      ? inOrder(new Map([...markets.allItems, ...present(markets.changedItems)]))
      : inOrder(await changedItems(dependencies.objects, head.listDigest, replacedPages, markets));
  const plan = planList({
    generation,
    pageSize: dependencies.pageSizes.markets,
    items,
    keptPages: layout.slice(cutPages),
    replacedPages,
  });
  const put = (page: ListPage) => putListPage(dependencies.objects, page);
  // In any order: nobody can reach one of them before HEAD is swapped, and then all of them are in place.
  await pMap(
    plan.cutPages.filter(({ isNew }) => isNew),
    put,
    { concurrency: OBJECT_CONCURRENCY },
  );
  await addLayoutRecords(bundle, generation, layout, plan);
  return plan;
}

export async function putListPage(objects: ObjectStore, { page, body, nextCursor }: ListPage): Promise<void> {
  await putPage(objects, { kind: 'market-list-page', cursor: page.cursor }, body, nextCursor);
}

/** The pages after the head, in order. */
export async function readLayout({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly PublishedPage[]> {
  const items = await readAll(ledger, pagesOf(LIST_PARTITION));
  return items.map((item) => item.value);
}

/** Pages up to the last changed slug; all of them when a market joins or leaves, since that moves every later one. */
function countPagesToCut(layout: readonly PublishedPage[], markets: MarketsPlan): number {
  if (markets.membershipChanged) return layout.length;
  const lastChanged = [...markets.changedItems.keys()].sort().at(-1) ?? '';
  return layout.filter((page) => page.first <= lastChanged).length;
}

async function changedItems(
  objects: ObjectStore,
  headDigest: string,
  pages: readonly PublishedPage[],
  markets: MarketsPlan,
): Promise<Map<string, string>> {
  const sources = [
    { key: publicKey({ kind: 'market-list' }), digest: headDigest },
    ...pages.map((page) => ({
      key: publicKey({ kind: 'market-list-page', cursor: page.cursor }),
      digest: page.digest,
    })),
  ];
  const bodies = await pMap(sources, ({ key, digest }) => readPublished(objects, key, digest), {
    concurrency: OBJECT_CONCURRENCY,
  });
  const items = new Map<string, string>();
  for (const body of bodies) {
    for (const { slug, body: item } of collectionItems(body)) items.set(slug, item);
  }
  for (const [slug, item] of markets.changedItems) {
    if (item === null) items.delete(slug);
    else items.set(slug, item);
  }
  return items;
}

async function readPublished(objects: ObjectStore, key: string, digest: string): Promise<string> {
  const found = await objects.get(key);
  if (found.kind === 'found' && sha256Hex(found.body) === digest) return Buffer.from(found.body).toString('utf8');
  throw new StorageCorrupt(`${key} is not what was published under that name: run a rebuild`);
}

function present(items: ReadonlyMap<string, string | null>): readonly [string, string][] {
  return [...items].filter((entry): entry is [string, string] => entry[1] !== null);
}

function inOrder(items: ReadonlyMap<string, string>): readonly ListItem[] {
  return [...items].map(([slug, body]) => ({ slug, body })).sort((left, right) => (left.slug < right.slug ? -1 : 1));
}

/** Adds what applying the generation shall note of the list. */
export async function addLayoutRecords(
  bundle: BundleWriter,
  generation: number,
  before: readonly PublishedPage[],
  plan: Pick<ListPlan, 'layout' | 'unlinked'>,
): Promise<void> {
  // First what is dropped: see addPageRecords.
  for (const page of plan.unlinked) {
    const objectKey = publicKey({ kind: 'market-list-page', cursor: page.cursor });
    await bundle.add({ kind: 'record', key: unlinkedKey(objectKey), value: { generation } });
  }
  for (let index = 0; index < Math.max(before.length, plan.layout.length); index++) {
    const page = plan.layout[index] ?? null;
    if (page?.cursor === before[index]?.cursor) continue;
    await bundle.add({ kind: 'record', key: pageKey(LIST_PARTITION, index), value: page });
  }
}
