/**
 * The entries of the cache, in bounded memory. Room is made by the CLOCK algorithm: a hand goes round, past one entry after
 * another. An entry that was asked for since the hand last passed stays; any other leaves. So a hit sets a flag and moves
 * nothing, where a list in the order of use would write to three entries. Objects that are asked for once go first.
 */

/** What an entry holds for {@link BoundedEntries}, which alone changes it. */
export class BoundedEntry {
  readonly key: string;
  /** With the key. */
  bytes = 0;
  wasAsked = false;
  /** In the ring; -1: not kept. */
  place = -1;

  constructor(key: string) {
    this.key = key;
  }
}

export class BoundedEntries<Entry extends BoundedEntry> {
  readonly #maxBytes: number;
  readonly #bytesOf: (entry: Entry) => number;
  readonly #byKey = new Map<string, Entry>();
  /** In the order in which the hand passes. An entry comes to the place of one that has left. */
  readonly #ring: (Entry | null)[] = [];
  readonly #free: number[] = [];
  #hand = 0;
  #bytes = 0;

  /** @param bytesOf the memory of an entry without its key */
  constructor(maxBytes: number, bytesOf: (entry: Entry) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Never more than `maxBytes`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For a reader. */
  get(key: string): Entry | undefined {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) entry.wasAsked = true;
    return entry;
  }

  /** Not for a reader. */
  peek(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#byKey.keys();
  }

  /** Keeps an entry in place of one with the same key. Not if it is larger than all the room. */
  set(entry: Entry): void {
    const before = this.#byKey.get(entry.key);
    if (before !== undefined) this.#remove(before);
    const bytes = this.#counted(entry);
    if (!this.#makeRoom(bytes, null)) return;
    entry.bytes = bytes;
    entry.place = this.#free.pop() ?? this.#ring.length;
    this.#ring[entry.place] = entry;
    this.#bytes += bytes;
    this.#byKey.set(entry.key, entry);
  }

  /** To be called when a kept entry has grown. */
  resized(entry: Entry): void {
    this.#bytes -= entry.bytes;
    entry.bytes = this.#counted(entry);
    this.#bytes += entry.bytes;
    if (!this.#makeRoom(0, entry)) this.#remove(entry);
  }

  delete(key: string): void {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  #counted(entry: Entry): number {
    return this.#bytesOf(entry) + entry.key.length;
  }

  /** False: not even without all entries but `spared`. */
  #makeRoom(bytes: number, spared: Entry | null): boolean {
    while (this.#bytes + bytes > this.#maxBytes) {
      if (this.size === (spared === null ? 0 : 1)) return false;
      if (this.#hand >= this.#ring.length) this.#hand = 0;
      const entry = this.#ring[this.#hand++] ?? null;
      if (entry === null || entry === spared) continue;
      if (!entry.wasAsked) this.#remove(entry);
      entry.wasAsked = false;
    }
    return true;
  }

  #remove(entry: Entry): void {
    this.#ring[entry.place] = null;
    this.#free.push(entry.place);
    entry.place = -1;
    this.#bytes -= entry.bytes;
    this.#byKey.delete(entry.key);
  }
}
