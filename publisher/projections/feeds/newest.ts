/** Keeps the newest of many items. */
export class Newest<Item> {
  readonly #max: number;
  /** Newest first. */
  readonly #items: { readonly key: string; readonly item: Item }[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** @param key a greater key is newer. An item with a known key is skipped */
  add(key: string, item: Item): void {
    const last = this.#items[this.#max - 1];
    if (last !== undefined && key <= last.key) return;
    const place = this.#items.findIndex((other) => other.key <= key);
    if (place >= 0 && this.#items[place]?.key === key) return;
    this.#items.splice(place < 0 ? this.#items.length : place, 0, { key, item });
    this.#items.length = Math.min(this.#items.length, this.#max);
  }

  addAll(other: Newest<Item>): void {
    for (const { key, item } of other.#items) this.add(key, item);
  }

  /** Empty: there is no item. */
  get newestKey(): string {
    return this.#items[0]?.key ?? '';
  }

  get size(): number {
    return this.#items.length;
  }

  get items(): readonly Item[] {
    return this.#items.map(({ item }) => item);
  }
}
