/**
 * For a ledger that was begun from the log: finds the pages that the store already has. A page with the same bytes keeps
 * its cursor. So readers in the middle of a history or of the list see no other pages, and a store under version control
 * does not change. Publishing would work without this too, but with new cursors.
 *
 * Safety: a cursor names a page by the digest of its bytes. A page is used only if rendering the ledger gives exactly these
 * bytes; the refresh renders them again.
 */
import { cursorGeneration, isCursorOf } from '../../../contract/files/cursors.ts';
import { parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import { put } from '../../../storage/ports/changes.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { listKeys } from '../../../storage/ports/objects.ts';
import { queryPages, readEach } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { MARKET_INDEX, type MarketRecordValue, marketKey, observationsOf } from '../../../storage/records/markets.ts';
import { HEAD_KEY, historyPageKey, type ObjectRef, publishedHeadsKey } from '../../../storage/records/publication.ts';
import { HistoryCutter } from '../../core/bodies/history-cutter.ts';
import { collectionItems } from '../../core/bodies/render.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { type ListedPage, putLayout } from '../../kernel/list/list-layout.ts';
import { orderedObservation } from '../../kernel/market-view.ts';
import { resume } from '../resume.ts';
import { LedgerWriter } from './ledger-writer.ts';

/**
 * Prepares a ledger that was begun from a log for its first publication. Does nothing for any other ledger. May be
 * repeated, and may be called after the ledger has received new data.
 *
 * @throws the errors of `resume`
 */
export async function takeOverStore(storage: PublisherStorage): Promise<void> {
  if (!(await storage.ledger.get(HEAD_KEY))?.value.isBegun) return;
  await keepKnownPages(storage);
  await resume(storage);
}

async function keepKnownPages(storage: PublisherStorage): Promise<void> {
  const { ledger, pageSizes } = storage;
  const head = await ledger.get(HEAD_KEY);
  if (head === null || head.revision === 0) return;
  const writer = new LedgerWriter(storage);
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    for (const [{ sort: slug }, record] of await readEach(ledger, items, ({ sort }) => marketKey(sort))) {
      if (record === null || record.value.observations <= pageSizes.observations) continue;
      await keepPagesOf(storage, writer, slug, record);
    }
  }
  const layout = await layoutOfStore(storage, head.revision, head.value.list.markets);
  const list = { ...head.value.list, layout };
  await writer.add(put(HEAD_KEY, head.revision, { ...head.value, list }));
  await writer.flush();
}

async function keepPagesOf(
  { ledger, objects, pageSizes }: PublisherStorage,
  writer: LedgerWriter,
  slug: string,
  { value: { unit } }: Item<MarketRecordValue>,
): Promise<void> {
  const cursors = await cursorsInStore(objects, slug);
  const heads = await ledger.get(publishedHeadsKey(slug));
  if (cursors.length === 0 || heads === null) return;
  let closedPages = 0;
  let isKnown = true;
  const cutter = new HistoryCutter({
    ...{ generation: heads.revision, pageSize: pageSizes.observations, quantity: unit.quantity },
    ...{ keptPages: 0, publishedPages: [] },
    cursorOf(digest) {
      const cursor = cursors.find((known) => isCursorOf(known, digest));
      isKnown &&= cursor !== undefined;
      return cursor;
    },
  });
  for await (const items of queryPages(ledger, observationsOf(slug))) {
    for (const item of items) {
      const [closed] = cutter.add([orderedObservation(item)]);
      if (!isKnown) break;
      if (closed !== undefined) await writer.add(put(historyPageKey(slug, closedPages++), heads.revision, closed.page));
    }
    if (!isKnown) break;
  }
  await writer.add(put(publishedHeadsKey(slug), heads.revision, { ...heads.value, closedPages }));
}

/** Newest first: two generations may have put the same bytes. */
async function cursorsInStore(objects: Pick<ObjectStore, 'list'>, slug: string): Promise<readonly string[]> {
  const prefix = publicKey({ kind: 'history-page', slug, cursor: '' }).replace(/\.json$/, '');
  const names = (await listKeys(objects, prefix)).map(parsePublicKey);
  const cursors = names.flatMap((name) => (name?.kind === 'history-page' ? [name.cursor] : []));
  return cursors.sort((one, other) => cursorGeneration(other) - cursorGeneration(one));
}

/** Null: the layout is unknown. The list is then cut with new pages. */
async function layoutOfStore(
  { objects }: Pick<PublisherStorage, 'objects'>,
  generation: number,
  markets: number,
): Promise<ObjectRef | null> {
  const head = await objects.get(publicKey({ kind: 'market-list' }));
  if (head.kind !== 'found') return null;
  const pages: ListedPage[] = [];
  for (let cursor = head.metadata.nextCursor; cursor !== null; ) {
    const page = await objects.get(publicKey({ kind: 'market-list-page', cursor }));
    if (page.kind !== 'found') return null;
    const digest = sha256Hex(page.body);
    // So the chain ends: no page can contain its own digest.
    if (!isCursorOf(cursor, digest)) return null;
    const [item] = collectionItems(Buffer.from(page.body).toString('utf8'));
    pages.push({ cursor, digest, first: item?.slug ?? '' });
    cursor = page.metadata.nextCursor;
  }
  return await putLayout(objects, generation, { markets, pages, superseded: [] });
}
