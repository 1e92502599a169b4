/** Many texts of many owners, compressed in memory: a million entries of the log would not fit otherwise. Pure. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Characters of one owner that are compressed together. Texts of one market repeat each other. */
const BLOCK_LENGTH = 64 * 1024;

/** Characters of all owners that wait to be compressed. */
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;

interface Owned {
  readonly blocks: Uint8Array[];
  waiting: string[];
  waitingLength: number;
}

/** Texts without line breaks, in order, by owner. */
export class TextSpool {
  readonly #byOwner = new Map<string, Owned>();
  #waitingLength = 0;

  add(owner: string, text: string): void {
    let owned = this.#byOwner.get(owner);
    if (owned === undefined) {
      owned = { blocks: [], waiting: [], waitingLength: 0 };
      this.#byOwner.set(owner, owned);
    }
    owned.waiting.push(text);
    owned.waitingLength += text.length;
    this.#waitingLength += text.length;
    if (owned.waitingLength >= BLOCK_LENGTH) this.#pack(owned);
    if (this.#waitingLength >= WAITING_LENGTH_MAX) for (const each of this.#byOwner.values()) this.#pack(each);
  }

  /** One block after the other, so that only one is in memory. */
  *textsOf(owner: string): Generator<string> {
    const { blocks, waiting } = this.#byOwner.get(owner) ?? { blocks: [], waiting: [] };
    for (const block of blocks) yield* zstdDecompressSync(block).toString('utf8').split('\n');
    yield* waiting;
  }

  owners(): string[] {
    return [...this.#byOwner.keys()];
  }

  drop(owner: string): void {
    this.#waitingLength -= this.#byOwner.get(owner)?.waitingLength ?? 0;
    this.#byOwner.delete(owner);
  }

  #pack(owned: Owned): void {
    if (owned.waiting.length === 0) return;
    // A copy: the compressor's own buffer is larger than its result.
    owned.blocks.push(Uint8Array.from(zstdCompressSync(owned.waiting.join('\n'))));
    this.#waitingLength -= owned.waitingLength;
    owned.waiting = [];
    owned.waitingLength = 0;
  }
}
