/**
 * Walks collections by their cursors. A cursor of a public one that has expired sends the walk back to the first page.
 *
 * Each walk ends, whatever the server answers: a public cursor names its page by the digest of it, so no page can lead back
 * to an earlier one, or be made while a reader walks.
 */
import { isCursorOf } from '../../contract/cursors.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { CommandError } from '../exit-codes.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { note } from '../output.ts';

export interface CollectionPage<Item> {
  readonly data: readonly Item[];
  readonly page: { readonly nextCursor: string | null };
}

/** A walk that takes more than the lifetime of a cursor (24 hours) this often would never end. */
const MOST_RESTARTS = 3;
/** Of a list of the write API, whose cursors say nothing. */
const MOST_PAGES = 10_000;

/**
 * Yields each item once, by its name, also after a restart. Items that changed in between are those of the page that
 * was read first.
 *
 * @throws CommandError for an answer that is no page, or after too many restarts
 */
export async function* walkCollection<Item>(
  client: Client,
  path: string,
  nameOf: (item: Item) => string,
): AsyncGenerator<Item> {
  const seen = new Set<string>();
  for (let restarts = 0, cursor: string | null = null; ; ) {
    const read: CollectionPage<Item> | null = await readPublicPage<Item>(client, path, cursor);
    if (read === null) {
      if (restarts++ === MOST_RESTARTS) {
        throw new CommandError('unreachable', 'Cursors expire before the walk reaches its end.', 'Ask for less.');
      }
      note('The cursor has expired: reading again from the first page.');
      cursor = null;
      continue;
    }
    const { data, page }: CollectionPage<Item> = read;
    for (const item of data) {
      const name = nameOf(item);
      if (seen.has(name)) continue;
      seen.add(name);
      yield item;
    }
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}

/**
 * A page of a public collection. Null: the cursor has expired.
 *
 * @param cursor null: the first page
 * @throws CommandError for another page than the cursor names
 */
export async function readPublicPage<Item>(
  client: Client,
  path: string,
  cursor: string | null,
): Promise<CollectionPage<Item> | null> {
  if (cursor === null) return pageOf(jsonOf(await client.read(path)));
  const answer = await client.read(`${path}?cursor=${encodeURIComponent(cursor)}`, [404]);
  if (answer.status === 404) return null;
  if (isCursorOf(cursor, sha256Hex(answer.text))) return pageOf(jsonOf(answer));
  const message = `The page ${cursor} of ${path} is not the one that its cursor names.`;
  throw new CommandError('unreachable', message, 'See what is wrong there: tidemark verify');
}

/** The items of a list of the write API, page by page. @throws CommandError for a cursor that was there before */
export async function* walkList<Item>(client: Client, path: string): AsyncGenerator<Item> {
  const seen = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query: string =
      cursor === undefined ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const { data, page }: CollectionPage<Item> = pageOf<Item>(
      jsonOf(await client.call({ method: 'GET', path: path + query })),
    );
    yield* data;
    cursor = page.nextCursor;
    if (cursor === null) return;
    if (seen.has(cursor) || seen.size === MOST_PAGES) {
      throw new CommandError('unreachable', `The list ${path} does not end.`, 'Is the base URL that of Tidemark?');
    }
    seen.add(cursor);
  }
}

function pageOf<Item>(json: unknown): CollectionPage<Item> {
  const { data, page } = (json ?? {}) as Partial<CollectionPage<Item>>;
  if (Array.isArray(data) && (page?.nextCursor === null || typeof page?.nextCursor === 'string')) {
    return { data, page: { nextCursor: page.nextCursor } };
  }
  throw new CommandError('unreachable', 'The answer is no page of a collection.', 'Is the base URL that of Tidemark?');
}
