/** One store of two: public objects in one place, all others in another. */
import { isPublic, PUBLIC_FOLDER } from '../../storage/directory/object-places.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/** @param write is awaited before each change of a public object */
export function splitObjects(publicOnes: ObjectStore, others: ObjectStore, write: () => Promise<void>): ObjectStore {
  const storeOf = (key: string) => (isPublic(key) ? publicOnes : others);
  const toChange = async (key: string) => {
    if (isPublic(key)) await write();
    return storeOf(key);
  };
  return {
    get: (key, options) => storeOf(key).get(key, options),
    stat: (key) => storeOf(key).stat(key),
    put: async (key, body, ...how) => {
      // Copied before the first await, as every store does.
      const copy = Uint8Array.from(body);
      return await (await toChange(key)).put(key, copy, ...how);
    },
    delete: async (key, etag) => await (await toChange(key)).delete(key, etag),
    async list(prefix, options) {
      if (`${PUBLIC_FOLDER}/`.startsWith(prefix) && !isPublic(prefix)) {
        throw new RangeError(`${JSON.stringify(prefix)} would list two stores`);
      }
      return await storeOf(prefix).list(prefix, options);
    },
  };
}
