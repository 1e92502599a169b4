/** Finds repeated texts of any length in little memory. */

const FIRST_SLOTS = 1 << 12;
/** Two halves of the identity, the place, and the content. */
const WORDS = 4;
/** With this many, the table has 2^23 slots, which are 128 MiB. */
const IDENTITIES_MAX = 6_000_000;

/** The first occurrence of an identity. */
export interface Earlier {
  readonly place: number;
  /** Whether its content was the same. Wrong with a probability of 1 in 4 thousand million. */
  readonly isSame: boolean;
}

/**
 * Stores identities as 64 bits of their hash, with the place of each first occurrence and 32 bits of its content: 22 to 43
 * bytes each. Among a million different texts, the probability that one is mistaken for another is 3 in 100 million. After six
 * million identities, no more are stored, and further texts are compared with the stored ones.
 */
export class IdentitySet {
  /** A slot with place 0 is free. */
  #slots = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;

  /** Adds a text. Returns its first occurrence; null if this is the first one. @param place from 1 on */
  add(text: string, place: number, content = ''): Earlier | null {
    if (this.#size * WORDS * 4 >= this.#slots.length * 3) this.#grow();
    const [high, low] = hashOf(text);
    const [said] = hashOf(content);
    const at = this.#slotOf(high, low);
    const known = this.#slots[at + 2] as number;
    if (known !== 0) return { place: known, isSame: this.#slots[at + 3] === said };
    if (this.#size === IDENTITIES_MAX) return null;
    this.#slots.set([high, low, place, said], at);
    this.#size += 1;
    return null;
  }

  /** The slot of the identity, or the free slot for it. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const count = slots.length / WORDS;
    for (let slot = low % count; ; slot = (slot + 1) % count) {
      const at = slot * WORDS;
      if (slots[at + 2] === 0 || (slots[at] === high && slots[at + 1] === low)) return at;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + 2] === 0) continue;
      this.#slots.set(old.subarray(at, at + WORDS), this.#slotOf(old[at] as number, old[at + 1] as number));
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
