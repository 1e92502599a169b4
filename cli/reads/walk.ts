/** Walks collections by their cursors. A cursor of a public one that has expired sends the walk back to the first page. */

import { CommandError } from '../exit-codes.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { note } from '../output.ts';

interface Page<Item> {
  readonly data: readonly Item[];
  readonly page: { readonly nextCursor: string | null };
}

/** A walk that takes more than the lifetime of a cursor (24 hours) this often would never end. */
const MOST_RESTARTS = 3;

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
    const answer = await client.read(cursor === null ? path : `${path}?cursor=${cursor}`, cursor === null ? [] : [404]);
    if (answer.status === 404) {
      if (restarts++ === MOST_RESTARTS) {
        throw new CommandError('unreachable', 'Cursors expire before the walk reaches its end.', 'Ask for less.');
      }
      note('The cursor has expired: reading again from the first page.');
      cursor = null;
      continue;
    }
    const { data, page } = pageOf<Item>(jsonOf(answer));
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

/** The items of a list of the write API, page by page. */
export async function* walkList<Item>(client: Client, path: string): AsyncGenerator<Item> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query: string =
      cursor === undefined ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const { data, page }: Page<Item> = pageOf(jsonOf(await client.call({ method: 'GET', path: path + query })));
    yield* data;
    cursor = page.nextCursor;
  }
}

function pageOf<Item>(json: unknown): Page<Item> {
  const { data, page } = (json ?? {}) as Partial<Page<Item>>;
  if (Array.isArray(data) && (page?.nextCursor === null || typeof page?.nextCursor === 'string')) {
    return { data, page: { nextCursor: page.nextCursor } };
  }
  throw new CommandError('unreachable', 'The answer is no page of a collection.', 'Is the base URL that of Tidemark?');
}
