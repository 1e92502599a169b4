/** Finds texts that occur twice, in little memory: 24 bytes each at most, however long they are. */

const FIRST_SLOTS = 1 << 12;

/**
 * Remembers texts by 64 bits of their hash, and the line of each one's first occurrence. Among a million different
 * texts, one is taken for another with a probability of 3 in 100 million.
 */
export class IdentitySet {
  /** High half, low half and line of each slot; a line of 0 is a free slot. */
  #slots = new Uint32Array(FIRST_SLOTS * 3);
  #size = 0;

  /** Adds a text. Returns the line of its first occurrence; null if this is the first one. */
  add(text: string, line: number): number | null {
    if (this.#size * 6 >= this.#slots.length) this.#grow();
    const [high, low] = hashOf(text);
    const found = this.#place(high, low, line);
    if (found === null) this.#size += 1;
    return found;
  }

  #place(high: number, low: number, line: number): number | null {
    const slots = this.#slots;
    const count = slots.length / 3;
    for (let slot = low % count; ; slot = (slot + 1) % count) {
      const at = slot * 3;
      const known = slots[at + 2] as number;
      if (known !== 0 && slots[at] === high && slots[at + 1] === low) return known;
      if (known !== 0) continue;
      slots.set([high, low, line], at);
      return null;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 3) {
      const line = old[at + 2] as number;
      if (line !== 0) this.#place(old[at] as number, old[at + 1] as number, line);
    }
  }
}

/** Two multiplicative hashes over the text's UTF-16 code units, mixed at the end as in MurmurHash3. */
function hashOf(text: string): [high: number, low: number] {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  return [mix(high ^ (low >>> 13)), mix(low ^ (high >>> 16))];
}

function mix(half: number): number {
  let mixed = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
