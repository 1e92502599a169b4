import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';

interface HistoryBody {
  /** Undefined: it is the problem document of a removed market. */
  readonly data?: readonly PublicObservation[];
  readonly page: { readonly nextCursor: string | null };
}

/**
 * The observations of each page in the store, newest first. A page is read when it is needed.
 *
 * @param first the cursor of the first page; undefined: the newest page. Null: there is no page
 * @param missing gives the error for a page that the store lacks
 */
export async function* storedHistory(
  objects: ObjectStore,
  slug: string,
  first: string | null | undefined,
  missing: (key: string) => Error,
): AsyncGenerator<readonly PublicObservation[]> {
  for (let cursor = first; cursor !== null; ) {
    const name: PublicObjectName =
      cursor === undefined ? { kind: 'history', slug } : { kind: 'history-page', slug, cursor };
    const found = await objects.get(publicKey(name));
    const text = found.kind === 'found' ? Buffer.from(found.body).toString() : '{}';
    const { data, page } = JSON.parse(text) as HistoryBody;
    if (data === undefined) throw missing(publicKey(name));
    yield data;
    cursor = page.nextCursor;
  }
}
