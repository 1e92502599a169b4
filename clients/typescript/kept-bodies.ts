/** Bodies with their entity tags. A body that has not changed costs a 304, and is read from here. */

export interface KeptBody {
  readonly etag: string;
  readonly text: string;
}

/** Any place that keeps bodies by URL. It may forget each of them at any time. */
export interface BodyStore {
  get(url: string): KeptBody | undefined | Promise<KeptBody | undefined>;
  set(url: string, body: KeptBody): void | Promise<void>;
}

const CHARACTERS_MAX = 16 * 1024 * 1024;

/** In memory: the bodies that were used last, up to a number of characters. */
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
    // A map gives its keys in the order in which they were put.
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
