/** Makes editions, a part at a time, between generations. See edition-keeper.ts for the safety of copies. */
import pMap from 'p-map';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { PublicEdition } from '../../contract/public-edition.ts';
import { publicKey } from '../../contract/public-objects.ts';
import { editionUrl } from '../../contract/routes.ts';
import { removed, replaced } from '../../storage/changes.ts';
import type { Item } from '../../storage/ledger.ts';
import { readMany } from '../../storage/paging.ts';
import { editionKey, nameOfWaiting, OPEN_EDITION_KEY, type OpenEditionValue } from '../../storage/records/editions.ts';
import { HEAD_KEY, publishedHeadsKey } from '../../storage/records/publication.ts';
import { collectionItems } from '../core/bodies/render.ts';
import { OBJECT_CONCURRENCY, type PublisherDependencies, type PublisherStorage } from '../dependencies.ts';
import type { Head } from '../kernel/swap-head.ts';
import type { EditionKeeper } from './edition-keeper.ts';

const DEFAULT_PAGES = 10;

/**
 * Opens the next edition, or copies a part of the open one, or completes it. Returns whether more can be done at once.
 *
 * @param head the applied generation
 * @throws Superseded if another publisher, or an operator, was faster
 */
export async function continueEdition(
  storage: Pick<PublisherDependencies, 'editionPages'> & PublisherStorage,
  keeper: EditionKeeper,
  head: Head,
): Promise<boolean> {
  if (keeper.open === null) return await openNext(storage, keeper, head);
  const edition = await storage.ledger.get(editionKey(keeper.open.value.name));
  if (edition?.value.state !== 'copying') {
    await keeper.close([]);
    return true;
  }
  for (let pages = 0; keeper.open?.value.next && pages < (storage.editionPages ?? DEFAULT_PAGES); pages++) {
    const next = await copyPage(storage, keeper, keeper.open.value);
    if (keeper.open !== null) await keeper.proceedTo(next);
  }
  const { open } = keeper;
  if (open === null || open.value.next !== null) return true;
  await keeper.put(
    { kind: 'edition', edition: open.value.name },
    Buffer.from(documentOf(open, edition.value.note)),
    null,
  );
  // It has failed if the document is another one.
  if (keeper.open !== null) await keeper.close([replaced(edition, { ...edition.value, state: 'published' })]);
  return true;
}

/** An edition can name the applied generation only if its list shows all of its markets. */
async function openNext(
  { ledger, newAttemptId }: PublisherStorage,
  { waiting }: EditionKeeper,
  head: Head,
): Promise<boolean> {
  const name = waiting === null ? null : nameOfWaiting(waiting);
  if (waiting === null || name === null) return false;
  const { generation, publishedAt, list, log, counts, applied } = head.value;
  if (!applied || list.isDoubtful || list.shows !== generation || list.digest === null || list.layout === null)
    return false;
  const edition = await ledger.get(editionKey(name));
  if (edition?.value.state !== 'waiting') return false;
  const position = log === undefined ? {} : { log: { size: log.size, root: log.root } };
  const value = { name, listDigest: list.digest, counts, ...position, publishedAt, next: { cursor: null } };
  const { committed } = await ledger.transact(
    [
      { kind: 'check', key: HEAD_KEY, if: { kind: 'written-by', attemptId: head.attemptId } },
      { kind: 'put', key: OPEN_EDITION_KEY, revision: generation, value, if: { kind: 'absent' } },
      replaced(edition, { ...edition.value, state: 'copying', generation, publishedAt, layout: list.layout }),
      removed(waiting),
    ],
    { attemptId: newAttemptId() },
  );
  return committed;
}

/** Copies the markets of one page of the list. Returns the next page. */
async function copyPage(
  { ledger, objects }: PublisherStorage,
  keeper: EditionKeeper,
  { name, next }: OpenEditionValue,
): Promise<OpenEditionValue['next']> {
  const cursor = next?.cursor ?? null;
  const first = publicKey({ kind: 'edition-list', edition: name });
  const page = cursor === null ? await bodyAt(objects, first) : await keeper.readPage(cursor);
  const generation = keeper.open?.revision;
  if (page === null || generation === undefined) return null;
  const text = page.toString('utf8');
  const items = collectionItems(text);
  // Read before the heads: a head that is not of a later generation is then the one that its record describes.
  const published = await readMany(
    ledger,
    items.map(({ slug }) => publishedHeadsKey(slug)),
  );
  const copyMarket = async ({ slug, body }: (typeof items)[number], index: number): Promise<void> => {
    const record = published[index] ?? null;
    const isOfEdition = record !== null && record.revision <= generation;
    await keeper.put({ kind: 'edition-market', edition: name, slug }, Buffer.from(body), null);
    await keeper.copyHistory(slug, isOfEdition ? record.value.historyDigest : null);
  };
  await pMap(items, copyMarket, { concurrency: OBJECT_CONCURRENCY });
  const { page: links } = JSON.parse(text) as { readonly page: { readonly nextCursor: string | null } };
  return links.nextCursor === null ? null : { cursor: links.nextCursor };
}

async function bodyAt(objects: PublisherStorage['objects'], key: string): Promise<Buffer | null> {
  const found = await objects.get(key);
  return found.kind === 'found' ? Buffer.from(found.body) : null;
}

function documentOf({ revision, value }: Item<OpenEditionValue>, note: string | null): string {
  const { counts, listDigest, log = null, name, publishedAt } = value;
  const markets = `${editionUrl(name)}/markets`;
  const document: PublicEdition = { counts, generation: revision, listDigest, log, markets, name, note, publishedAt };
  return canonicalJson(document);
}
