/** What the publisher asks of the caches between the object store and readers. */

/** Everything that a cache holds, or whatever carries one of these cache tags (contract/public-objects.ts). */
export type PurgeTargets = { readonly tags: readonly string[] } | 'everything';

export interface Purge {
  /**
   * Has caches ask the store again. Called only after the store is right, so that they find what they should. May be
   * called again for the same targets. Rejects when it is not certain that the purge takes effect.
   */
  purge(targets: PurgeTargets): Promise<void>;
}

/** For a store without a cache in front of it. */
export const NO_CACHES: Purge = { purge: async () => undefined };
