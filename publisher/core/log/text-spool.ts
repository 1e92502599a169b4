/** Keeps many texts compressed in memory: a million entries of the log would not fit otherwise. Pure. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Characters that are compressed together: the texts of one market repeat each other. */
const BLOCK_LENGTH = 64 * 1024;

/** The most characters, of all owners together, that wait for compression. */
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;

/** Texts without line breaks, in order. */
class PackedTexts {
  readonly #blocks: Uint8Array[] = [];
  #waiting: string[] = [];
  /** Characters that are not compressed yet. */
  waitingLength = 0;

  add(text: string): void {
    this.#waiting.push(text);
    this.waitingLength += text.length;
    if (this.waitingLength >= BLOCK_LENGTH) this.pack();
  }

  pack(): void {
    if (this.#waiting.length === 0) return;
    // A copy: the compressor's own buffer is larger than its result.
    this.#blocks.push(Uint8Array.from(zstdCompressSync(this.#waiting.join('\n'))));
    this.#waiting = [];
    this.waitingLength = 0;
  }

  /** Decompresses block by block, so that only one block is in memory. */
  *[Symbol.iterator](): Generator<string> {
    for (const block of this.#blocks) yield* zstdDecompressSync(block).toString('utf8').split('\n');
    yield* this.#waiting;
  }
}

/** Texts of many owners. */
export class TextSpool {
  readonly #byOwner = new Map<string, PackedTexts>();
  #waitingLength = 0;

  add(owner: string, text: string): void {
    const owned = this.#byOwner.get(owner) ?? new PackedTexts();
    this.#byOwner.set(owner, owned);
    const before = owned.waitingLength;
    owned.add(text);
    this.#waitingLength += owned.waitingLength - before;
    if (this.#waitingLength < WAITING_LENGTH_MAX) return;
    for (const each of this.#byOwner.values()) each.pack();
    this.#waitingLength = 0;
  }

  textsOf(owner: string): Iterable<string> {
    return this.#byOwner.get(owner) ?? [];
  }

  owners(): string[] {
    return [...this.#byOwner.keys()];
  }
}
