/** The publisher's port to the caches between the object store and readers. */

/** Everything in the cache, or every object with one of these cache tags (contract/files/public-objects.ts). */
export type PurgeTargets = { readonly tags: readonly string[] } | 'everything';

export interface Purge {
  /**
   * Makes the caches read from the store again. Called only after the store is right. May be repeated for the same
   * targets. Rejects if it is not certain that the purge takes effect.
   */
  purge(targets: PurgeTargets): Promise<void>;
}

/** For a store without a cache in front of it. */
export const NO_CACHES: Purge = { purge: async () => undefined };
