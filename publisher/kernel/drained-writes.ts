/** When the work fails, no write to the object store is left running. */
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { PublisherStorage } from '../dependencies.ts';

/**
 * Many objects are put at once. When one put fails, others are still under way, and more would follow. A caller that then
 * tries again, releases a lease or ends the process would overlap with them.
 *
 * @returns the result of the work. When it rejects, every write that it began has ended, and it can begin no other
 */
export async function withDrainedWrites<Storage extends Pick<PublisherStorage, 'objects'>, Result>(
  storage: Storage,
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const { objects } = storage;
  const running = new Set<Promise<unknown>>();
  let hasFailed = false;
  const write = async <Outcome>(send: () => Promise<Outcome>): Promise<Outcome> => {
    if (hasFailed) throw new Error('this call of publish has failed, so it writes nothing more');
    const sent = send();
    running.add(sent);
    try {
      return await sent;
    } finally {
      running.delete(sent);
    }
  };
  const settling = changedStore(objects, {
    put: (...put) => write(() => objects.put(...put)),
    delete: (key, etag) => write(() => objects.delete(key, etag)),
  });
  try {
    return await work({ ...storage, objects: settling });
  } catch (error) {
    hasFailed = true;
    await Promise.allSettled(running);
    throw error;
  }
}
