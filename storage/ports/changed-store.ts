/** An object store with some operations replaced. */
import type { ObjectStore } from './object-store.ts';

/** Spreading a store would lose the methods of its class. */
export function changedStore(store: ObjectStore, changed: Partial<ObjectStore>): ObjectStore {
  return {
    get: (...asked) => store.get(...asked),
    stat: (key) => store.stat(key),
    list: (...asked) => store.list(...asked),
    put: (...sent) => store.put(...sent),
    delete: (...asked) => store.delete(...asked),
    ...(store.etagOf && { etagOf: store.etagOf }),
    ...changed,
  };
}
