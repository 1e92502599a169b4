/**
 * A damaged object counts as lost: what puts lost objects back mends it too. The publisher finds it absent and puts it
 * again. Readers get 503 in the meantime: a 404 would say that there is no such thing, and caches would keep it.
 */
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';

export interface Damage {
  /** Of the publisher: damaged objects are absent, and a put replaces them. */
  readonly objects: ObjectStore;
  /** Somebody else has found this object damaged. */
  note(key: string): void;
  /** Has this called for each public object that is found damaged. */
  onFound(call: () => void): void;
  /**
   * The damaged public objects for which publishing everything again was not tried yet; from now on it was.
   *
   * @param giveUp receives, once, those that it has not mended
   */
  takeUntried(giveUp: (keys: readonly string[]) => void): Promise<readonly string[]>;
}

/**
 * The objects for readers: rejects for damaged ones, as the store does.
 *
 * @param note receives their keys
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

/** Of an object that is not there. */
const ANY_ETAG = '' as ETag;

type State = 'found' | 'tried' | 'given-up';

/** @param store replaces a damaged object in a put under the condition `absent`, as the directory store does */
export function watchDamage(store: ObjectStore): Damage {
  /** Without those that were mended since. */
  const damaged = new Map<string, State>();
  let found = (): void => undefined;

  function note(key: string): void {
    // The publisher itself makes the other objects anew, or says that they are lost.
    if (damaged.has(key) || !key.startsWith(`${PUBLIC_PREFIX}/`)) return;
    damaged.set(key, 'found');
    found();
  }

  /** Nothing publishes it any more. To readers it is absent from now on. */
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
        // Whether an object is "not modified" is known without its body.
        const result = await store.get(key, damaged.has(key) ? {} : options);
        if (result.kind === 'found') damaged.delete(key);
        return result;
      }),
    async stat(key) {
      if (!damaged.has(key)) return await orElse(key, null, () => store.stat(key));
      // The damage may be in its body.
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
 * The objects of the publisher: the edge learns of each put and delete, so that it shows no older body for longer.
 *
 * @param announce receives the key when the store has the new object, and before the publisher goes on. So a reader who sees that
 *   a generation is published asks edges that have been informed.
 */
export function announceChanges(store: ObjectStore, announce: (key: string) => void): ObjectStore {
  return changedStore(store, {
    // Also after a failure: the store may have done it.
    put: (key, body, metadata, condition) => store.put(key, body, metadata, condition).finally(() => announce(key)),
    delete: (key, etag) => store.delete(key, etag).finally(() => announce(key)),
  });
}
