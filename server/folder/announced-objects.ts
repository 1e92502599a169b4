/** The objects of the publisher: the edge learns of each put and delete, so that it shows no older body for longer. */
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/**
 * @param announce receives the key when the store has the new object, and before the publisher goes on. So a reader who sees that
 *   a generation is published asks edges that have been told.
 */
export function announceChanges(store: ObjectStore, announce: (key: string) => void): ObjectStore {
  return changedStore(store, {
    // Also after a failure: the store may have done it.
    put: (key, body, metadata, condition) => store.put(key, body, metadata, condition).finally(() => announce(key)),
    delete: (key, etag) => store.delete(key, etag).finally(() => announce(key)),
  });
}
