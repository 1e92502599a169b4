/**
 * A damaged object counts as lost, so the repair of lost objects repairs it, too. The publisher finds it absent and puts it
 * again. Meanwhile readers get 503: a 404 would say that the resource does not exist, and caches would keep it.
 */
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { findDamagedObjects } from '../../storage/directory/damaged-files.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';

export interface Damage {
  /** The publisher's objects: a damaged object is absent, and a put replaces it. */
  readonly objects: ObjectStore;
  /** Records that a reader has found this object damaged. */
  note(key: string): void;
  /**
   * Records the objects whose files another program has removed or changed. Null: the objects are in a bucket.
   *
   * @param isRead whether the bytes are compared, too
   */
  readonly search: ((isRead: boolean) => Promise<void>) | null;
  /** Sets the function that is called for each public object that is found damaged. */
  onFound(call: () => void): void;
  /**
   * Returns the damaged public objects that have not been published again yet, and records that this is now being tried.
   *
   * @param giveUp receives, once, the objects that publishing again has not repaired
   */
  takeUntried(giveUp: (keys: readonly string[]) => void): Promise<readonly string[]>;
}

/**
 * The objects for readers: a read of a damaged object rejects, as in the store.
 *
 * @param note receives the keys of damaged objects
 */
export function tellDamage(store: Pick<ObjectStore, 'get'>, note: Damage['note']): Pick<ObjectStore, 'get'> {
  return {
    async get(key, options) {
      try {
        return await store.get(key, options);
      } catch (error) {
        if (error instanceof StorageCorrupt) note(key);
        throw error;
      }
    },
  };
}

/** The ETag for deleting an object that counts as absent. */
const ANY_ETAG = '' as ETag;

type State = 'found' | 'tried' | 'given-up';

/**
 * @param store replaces a damaged object in a put under the condition `absent`, as the directory store does
 * @param folder the data folder whose files the objects are. Null: they are in a bucket
 */
export function watchDamage(store: ObjectStore, folder: string | null): Damage {
  /** By key. Repaired objects leave it. */
  const damaged = new Map<string, State>();
  let found = (): void => undefined;

  function note(key: string): void {
    // Only public objects are noted: the publisher itself makes the others again, or reports them as lost.
    if (damaged.has(key) || !key.startsWith(`${PUBLIC_PREFIX}/`)) return;
    damaged.set(key, 'found');
    found();
  }

  /** Whether nothing publishes the object any more. Then it is deleted, so that readers find it absent. */
  async function isGone(key: string): Promise<boolean> {
    if ((await orElse(key, undefined, () => store.stat(key))) !== null) return false;
    await store.delete(key, ANY_ETAG);
    return damaged.delete(key);
  }

  async function orElse<Result>(key: string, instead: Result, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageCorrupt)) throw error;
      note(key);
      return instead;
    }
  }

  const objects: ObjectStore = {
    get: (key, options) =>
      orElse(key, { kind: 'absent' }, async () => {
        // A damaged object is read completely: "not modified" is decided without its body.
        const result = await store.get(key, damaged.has(key) ? {} : options);
        if (result.kind === 'found') damaged.delete(key);
        return result;
      }),
    async stat(key) {
      if (!damaged.has(key)) return await orElse(key, null, () => store.stat(key));
      // Its body is read, too, because the damage may be there.
      const result = await objects.get(key);
      return result.kind === 'found' ? result : null;
    },
    put: (key, body, metadata, condition) =>
      orElse(key, { kind: 'refused' }, async () => {
        const result = await store.put(key, body, metadata, condition);
        if (result.kind === 'stored') damaged.delete(key);
        return result;
      }),
    delete: (key, etag) => orElse(key, 'refused', () => store.delete(key, etag)),
    async list(prefix, options) {
      const { keys, next } = await store.list(prefix, options);
      return { keys: keys.filter((key) => !damaged.has(key)), next };
    },
  };

  return {
    objects,
    note,
    search: folder === null ? null : async (isRead) => (await findDamagedObjects(folder, isRead)).damaged.forEach(note),
    onFound: (call) => {
      found = call;
    },
    async takeUntried(giveUp) {
      for (const key of [...damaged.keys()]) await objects.get(key);
      const inState = (state: State) => [...damaged].filter(([, is]) => is === state).map(([key]) => key);
      const [untried, unmended] = [inState('found'), inState('tried')];
      for (const key of untried) damaged.set(key, 'tried');
      const left: string[] = [];
      for (const key of unmended) {
        if (await isGone(key)) continue;
        damaged.set(key, 'given-up');
        left.push(key);
      }
      if (left.length > 0) giveUp(left);
      return untried;
    },
  };
}

/**
 * The objects of the publisher, with a call to the edge for each put and delete, so that the edge does not serve older bodies.
 *
 * @param announce receives the key when the store has the new object, before the publisher continues. So a reader who sees that
 *   a generation is published gets it from edges that have been informed.
 */
export function announceChanges(store: ObjectStore, announce: (key: string) => void): ObjectStore {
  return changedStore(store, {
    // Announced after a failure, too, because the store may have made the change.
    put: (key, body, metadata, condition) => store.put(key, body, metadata, condition).finally(() => announce(key)),
    delete: (key, etag) => store.delete(key, etag).finally(() => announce(key)),
  });
}
