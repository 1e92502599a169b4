/** The paths of sources, and walks over their lists. */
import { type Client, jsonOf } from '../http/client.ts';
import { pageOf } from '../reads/walk.ts';

export const SOURCES_PATH = '/api/v1/sources';

export function sourcePath(name: string, rest = ''): string {
  return `${SOURCES_PATH}/${encodeURIComponent(name)}${rest}`;
}

/** The items of a list of the write API, page by page. */
export async function* walkList<Item>(client: Client, path: string): AsyncGenerator<Item> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const { data, page } = pageOf<Item>(jsonOf(await client.call({ method: 'GET', path: path + query })));
    yield* data;
    cursor = page.nextCursor;
  }
}
