/** Stores bodies with their entity tags. A body that has not changed costs a 304, and comes from this store. */

export interface KeptBody {
  readonly etag: string;
  readonly text: string;
}

/** Any store of bodies by URL. It may drop each of them at any time. */
export interface BodyStore {
  get(url: string): KeptBody | undefined | Promise<KeptBody | undefined>;
  set(url: string, body: KeptBody): void | Promise<void>;
}

const CHARACTERS_MAX = 16 * 1024 * 1024;

/** Bodies in memory: the most recently used ones, up to a number of characters. */
export class MemoryBodies implements BodyStore {
  readonly #bodies = new Map<string, KeptBody>();
  readonly #charactersMax: number;
  #characters = 0;

  constructor(charactersMax: number = CHARACTERS_MAX) {
    this.#charactersMax = charactersMax;
  }

  get(url: string): KeptBody | undefined {
    const body = this.#take(url);
    if (body !== undefined) this.#put(url, body);
    return body;
  }

  set(url: string, body: KeptBody): void {
    this.#take(url);
    if (body.text.length > this.#charactersMax) return;
    this.#put(url, body);
    // A map returns its keys in the order of insertion.
    for (const oldest of this.#bodies.keys()) {
      if (this.#characters <= this.#charactersMax) return;
      this.#take(oldest);
    }
  }

  #put(url: string, body: KeptBody): void {
    this.#bodies.set(url, body);
    this.#characters += body.text.length;
  }

  #take(url: string): KeptBody | undefined {
    const body = this.#bodies.get(url);
    if (this.#bodies.delete(url)) this.#characters -= body?.text.length ?? 0;
    return body;
  }
}
