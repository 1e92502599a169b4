/** The data of a market in files of prices besides its body: from the newest rows of its history. */
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { type NewestPrices, readRecentPrices } from '../../core/bodies/recent-prices.ts';

interface Shown {
  readonly recordedAt: string | null;
  /** Null: it is not asked for. */
  readonly recent: RecentEntry | null;
}

export class ShownPrices {
  readonly #objects: ObjectStore;
  readonly #newest: ReadonlyMap<string, NewestPrices>;
  readonly #isRecent: boolean;
  /** Two files show the same market. There are few markets then. */
  readonly #read = new Map<string, Promise<Shown>>();

  /**
   * @param newest of markets that this generation renders: their histories may not be in the store yet
   * @param isRecent whether the last prices are published
   */
  constructor(objects: ObjectStore, newest: ReadonlyMap<string, NewestPrices>, isRecent: boolean) {
    this.#objects = objects;
    this.#newest = newest;
    this.#isRecent = isRecent;
  }

  async of(slug: string): Promise<Shown> {
    if (!this.#isRecent) return await this.#readOne(slug);
    const read = this.#read.get(slug) ?? this.#readOne(slug);
    this.#read.set(slug, read);
    return await read;
  }

  async #readOne(slug: string): Promise<Shown> {
    const prices = await readRecentPrices(this.#objects, slug, this.#newest.get(slug) ?? null, this.#isRecent);
    return { recordedAt: prices.recordedAt, recent: this.#isRecent ? prices.entryWithYear(slug) : null };
  }
}
