/** What the store should hold and does not list. */

import { PUBLIC_PREFIX, type PublicObjectName, publicKey, STATIC_KINDS } from '../../contract/public-objects.ts';
import { readAll } from '../../storage/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { type PublishedHeads, pagesOf, publishedHeadsKey, publishedPartition } from '../../storage/records/publication.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import { readLayout } from '../plan/plan-list.ts';
import { assertSameOrigin } from '../publish.ts';

/**
 * The keys that the newest generation needs and that are not in the store: somebody has deleted files, or restored a
 * copy without them. Looks at names alone, so damaged bytes are found only when they are read. A {@link rebuild} puts
 * back what is lost. Throws `StorageCorrupt` where the store is of a later state of the ledger, or of another one.
 */
export async function findLostObjects(dependencies: PublisherDependencies): Promise<readonly string[]> {
  const { objects } = dependencies;
  if ((await assertSameOrigin(dependencies)) === null) return [];
  const present = new Set<string>();
  for (let after: string | null | undefined; after !== null; ) {
    const page = await objects.list(`${PUBLIC_PREFIX}/`, after === undefined ? {} : { after });
    for (const key of page.keys) present.add(key);
    after = page.next;
  }
  const lost: string[] = [];
  for await (const name of publishedNames(dependencies)) {
    const key = publicKey(name);
    if (!present.has(key)) lost.push(key);
  }
  return lost;
}

async function* publishedNames(dependencies: PublisherDependencies): AsyncGenerator<PublicObjectName> {
  const { ledger } = dependencies;
  for (const kind of STATIC_KINDS) yield { kind };
  for (const { sort: slug } of await readAll(ledger, MARKET_INDEX)) {
    const heads = (await ledger.get(publishedHeadsKey(slug)))?.value as PublishedHeads | undefined;
    if (heads === undefined) continue;
    if (heads.closedPages > 0) {
      for (const { value } of await readAll(ledger, pagesOf(publishedPartition(slug)))) {
        yield { kind: 'history-page', slug, cursor: value.cursor };
      }
    }
    yield { kind: 'history', slug };
    yield { kind: 'market', slug };
  }
  for (const { cursor } of await readLayout(dependencies)) yield { kind: 'market-list-page', cursor };
  yield { kind: 'market-list' };
  yield { kind: 'snapshot' };
}
