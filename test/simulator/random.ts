/** Repeatable random numbers: the same seed gives the same draws (sfc32, seeded by splitmix32). */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    let state = seed | 0;
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = state ^ (state >>> 16);
      mixed = Math.imul(mixed, 0x21f0aaad);
      mixed ^= mixed >>> 15;
      mixed = Math.imul(mixed, 0x735a2d97);
      return mixed ^ (mixed >>> 15);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    for (let round = 0; round < 12; round++) this.uint32();
  }

  uint32(): number {
    const result = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + result) | 0;
    return result >>> 0;
  }

  /** From 0 to 1, exclusive. */
  unit(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** A whole number, both ends inclusive. */
  int(from: number, to: number): number {
    return from + Math.floor(this.unit() * (to - from + 1));
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.int(0, choices.length - 1)] as Choice;
  }

  /** A weighted choice. */
  weighted<Choice>(choices: readonly (readonly [weight: number, choice: Choice])[]): Choice {
    let left = this.unit() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return (choices.at(-1) as readonly [number, Choice])[1];
  }

  /** Uniform over orders of magnitude: as often from 1 to 10 as from 10 to 100. */
  spread(from: number, to: number): number {
    return from * (to / from) ** this.unit();
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.uint32() & 0xff);
  }
}
