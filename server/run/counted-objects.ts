/** Counts what a run changes of the public files. */
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

export interface FileCounts {
  readonly written: number;
  readonly removed: number;
}

export function countFiles(store: ObjectStore, isCounted: (key: string) => boolean) {
  const counts = { written: 0, removed: 0 };
  const objects = changedStore(store, {
    async put(key, body, metadata, condition) {
      const result = await store.put(key, body, metadata, condition);
      if (result.kind === 'stored' && isCounted(key)) counts.written++;
      return result;
    },
    async delete(key, etag) {
      const outcome = await store.delete(key, etag);
      if (outcome === 'deleted' && isCounted(key)) counts.removed++;
      return outcome;
    },
  });
  return { objects, counts: counts as FileCounts };
}
