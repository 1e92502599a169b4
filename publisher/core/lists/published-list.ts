/** Reads the published list as a whole, from one generation. */
import pMap from 'p-map';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { ListState } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { Superseded } from '../../errors.ts';
import { storedText } from '../../kernel/files/stored-digest.ts';
import { readLayout } from '../../kernel/list/list-layout.ts';

const PAGES_AT_ONCE = 8;

/**
 * The markets of each page, ordered by slug. The first page is read at once, because a newer list may be published before
 * the other pages are read. The result may be iterated again: it stays the same.
 *
 * @throws Superseded if a newer list is published already
 */
export async function publishedMarkets(
  { objects }: Pick<PublisherStorage, 'objects'>,
  list: ListState,
): Promise<AsyncIterable<readonly Market[]>> {
  const layout = await readLayout(objects, list);
  const digest = list.digest;
  if (layout === null || digest === null) throw new Superseded('the published list is not known');
  const read = async (name: PublicObjectName, expected: string): Promise<readonly Market[]> => {
    const text = await storedText(objects, name, expected);
    // The first page is the only one that changes.
    if (text === null) throw new Superseded('the list has changed');
    return (JSON.parse(text) as { data: Market[] }).data;
  };
  const first = await read({ kind: 'market-list' }, digest);
  const { pages: others } = layout;
  async function* pages() {
    yield first;
    for (let start = 0; start < others.length; start += PAGES_AT_ONCE) {
      const some = others.slice(start, start + PAGES_AT_ONCE);
      yield* await pMap(some, (page) => read({ kind: 'market-list-page', cursor: page.cursor }, page.digest));
    }
  }
  return { [Symbol.asyncIterator]: pages };
}
