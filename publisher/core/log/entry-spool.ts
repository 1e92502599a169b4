/**
 * The entries of one market, from the moment its view is read until the plan takes it. Several markets are read at once,
 * and the order of the log is the order in which the plan takes them. A spool keeps a bounded number of characters in
 * memory, and puts the rest into the store as objects to which nothing links. The sweep removes them.
 */
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import type { ObjectRef } from '../../../storage/records/publication.ts';
import { REDO_PREFIX } from '../../kernel/bundle.ts';
import { putPacked, readPacked } from '../../kernel/files/packed-object.ts';

/** The characters that one spool keeps in memory. Up to as many spools exist as markets are planned at once: 64 on AWS. */
const KEPT_CHARACTERS = 1024 * 1024;

export class EntrySpool {
  readonly #objects: ObjectStore;
  readonly #generation: number;
  readonly #kept: number;
  readonly #spilled: ObjectRef[] = [];
  #texts: string[] = [];
  #characters = 0;

  constructor(objects: ObjectStore, generation: number, kept = KEPT_CHARACTERS) {
    this.#objects = objects;
    this.#generation = generation;
    this.#kept = kept;
  }

  async add(texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      this.#texts.push(text);
      this.#characters += text.length;
    }
    if (this.#characters < this.#kept) return;
    this.#spilled.push(await putPacked(this.#objects, REDO_PREFIX, this.#generation, this.#texts.join('\n')));
    this.#texts = [];
    this.#characters = 0;
  }

  /** The entries in parts, in the order in which they were added. @throws StorageCorrupt if an object is lost */
  async *parts(): AsyncGenerator<readonly string[]> {
    for (const ref of this.#spilled) {
      const text = await readPacked(this.#objects, ref);
      if (text === null) throw new StorageCorrupt(`${ref.key} is lost, although the generation is not committed yet`);
      yield text.split('\n');
    }
    yield this.#texts;
  }
}
