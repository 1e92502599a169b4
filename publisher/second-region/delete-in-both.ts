import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';

/**
 * The first store, for the sweep: deleting a public object also deletes it in the second store. The second store comes
 * first: after a crash in between, the next sweep finds the object again in the first store. A newer generation of it in
 * the second store stays. What the sweep puts back is put back in both, too.
 *
 * So the second store loses only objects that the sweep has found unreachable by the ledger, even if the first store is
 * damaged.
 */
export function deletingInBoth(first: ObjectStore, second: ObjectStore): ObjectStore {
  return changedStore(first, {
    async delete(key, etag) {
      if (key.startsWith(`${PUBLIC_PREFIX}/`)) await deleteCopy(first, second, key, etag);
      return await first.delete(key, etag);
    },
    async put(key, body, metadata, condition) {
      if (key.startsWith(`${PUBLIC_PREFIX}/`)) await second.put(key, body, metadata, condition);
      return await first.put(key, body, metadata, condition);
    },
  });
}

async function deleteCopy(first: ObjectStore, second: ObjectStore, key: string, etag: ETag): Promise<void> {
  const [here, there] = await Promise.all([first.stat(key), second.stat(key)]);
  if (here?.etag !== etag || there === null || there.metadata.generation > here.metadata.generation) return;
  await second.delete(key, there.etag);
}
