import { PUBLIC_PREFIX, type PublicObjectName, publicKey } from '../../contract/files/public-objects.ts';
import { ndjsonPath, tilePath, tilesOfGrowth } from '../../contract/log/tiles.ts';
import { keyPages } from '../../storage/ports/objects.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { historyPagesOf } from '../../storage/records/publication.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import { readLayout } from '../kernel/list/list-layout.ts';
import { publishedHeads } from '../kernel/marks.ts';
import { stateOf } from '../kernel/projection.ts';
import type { Head } from '../kernel/swap-head.ts';
import { assertSameOrigin } from '../kernel/text/same-origin.ts';
import { PROJECTORS } from '../projections.ts';

/**
 * The keys that the newest generation needs and the store lacks: files were deleted, or a copy without them was restored.
 * Publishing everything again puts lost objects back.
 *
 * @throws LedgerBehind if the store is later than the ledger, or belongs to another ledger
 */
export async function findLostObjects(dependencies: PublisherDependencies): Promise<readonly string[]> {
  const { objects } = dependencies;
  const head = await assertSameOrigin(dependencies);
  if (head === null) return [];
  const present = new Set<string>();
  for await (const keys of keyPages(objects, `${PUBLIC_PREFIX}/`)) for (const key of keys) present.add(key);
  const lost: string[] = [];
  for await (const name of publishedNames(dependencies, head)) {
    const key = publicKey(name);
    // The listing does not show objects that were published since it began.
    if (!present.has(key) && (await objects.stat(key)) === null) lost.push(key);
  }
  const { layout } = head.value.list;
  if (layout !== null && (await objects.stat(layout.key)) === null) lost.push(layout.key);
  return lost;
}

async function* publishedNames(storage: PublisherDependencies, head: Head): AsyncGenerator<PublicObjectName> {
  const { ledger, objects } = storage;
  for (const projector of PROJECTORS) {
    yield* projector.reachable?.published?.(storage, stateOf(projector, head.value)) ?? [];
  }
  for await (const [slug, { closedPages }] of publishedHeads(ledger)) {
    const pages = closedPages > 0 ? await readAll(ledger, historyPagesOf(slug)) : [];
    for (const { value } of pages) yield { kind: 'history-page', slug, cursor: value.cursor };
    yield { kind: 'history', slug };
    yield { kind: 'market', slug };
  }
  const layout = await readLayout(objects, head.value.list);
  for (const { cursor } of layout?.pages ?? []) yield { kind: 'market-list-page', cursor };
  const { log } = head.value;
  if (log !== undefined && !log.isDoubtful) {
    for (const { level, n, width } of tilesOfGrowth(0, log.size)) {
      const index = (path: string, root: string) => path.slice(root.length);
      yield { kind: 'log-tile', tile: index(tilePath(level, n, width), 'tile/') };
      if (level > 0) continue;
      yield { kind: 'log-tile', tile: index(tilePath('entries', n, width), 'tile/') };
      yield { kind: 'log-ndjson', tile: index(ndjsonPath(n, width).slice(0, -'.gz'.length), 'ndjson/') };
    }
    yield { kind: 'log-vkey' };
    yield { kind: 'log-checkpoint' };
  }
  yield { kind: 'market-list' };
  yield { kind: 'snapshot' };
}
