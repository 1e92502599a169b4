/**
 * For a store that does not evaluate all conditions: they are compared before the request. So the promises of the port hold
 * for one process at a time, which a lease has to ensure. A request whose answer was lost may still replace a later object.
 */
import { keyQueue } from '../ports/key-queue.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { Conditions } from './s3-objects.ts';

/** @param store sends only these conditions, as `openS3Objects` does */
export function comparedBefore(store: ObjectStore, conditions: () => Promise<Conditions>): ObjectStore {
  const inOrder = keyQueue();
  const hasAll = async () => Object.values(await conditions()).every((isEvaluated) => isEvaluated);
  return {
    get: (key, options) => store.get(key, options),
    stat: (key) => store.stat(key),
    list: (prefix, options) => store.list(prefix, options),
    async put(key, body, metadata, condition) {
      // Copied before the first await, as every store does.
      const copy = Uint8Array.from(body);
      if (await hasAll()) return await store.put(key, copy, metadata, condition);
      return await inOrder(key, async () => {
        const etag = (await store.stat(key))?.etag;
        const isMet = etag === (condition.kind === 'absent' ? undefined : condition.etag);
        return isMet ? await store.put(key, copy, metadata, condition) : { kind: 'refused' };
      });
    },
    async delete(key, etag) {
      if (await hasAll()) return await store.delete(key, etag);
      return await inOrder(key, async () => {
        const present = await store.stat(key);
        if (present === null) return 'deleted';
        return present.etag === etag ? await store.delete(key, etag) : 'refused';
      });
    },
  };
}
