/** Puts compat. None replaces an object of a newer generation: that is the problem document of a market that was removed. */
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { publicMetadata } from '../../kernel/put-immutable.ts';
import type { CompatFile } from './market-sections.ts';

export class CompatWriter {
  readonly #objects: PublisherStorage['objects'];
  readonly generation: number;

  /** @param generation that the compat show */
  constructor({ objects }: Pick<PublisherStorage, 'objects'>, generation: number) {
    this.#objects = objects;
    this.generation = generation;
  }

  /** Puts it unless it is in place with the same bytes. */
  async put({ name, text }: CompatFile): Promise<void> {
    const key = publicKey(name);
    const body = Buffer.from(text);
    for (;;) {
      const present = await this.#objects.get(key);
      if (present.kind === 'found') {
        if (present.metadata.generation > this.generation || body.equals(present.body)) return;
      }
      const condition =
        present.kind === 'found' ? ({ kind: 'matches', etag: present.etag } as const) : ({ kind: 'absent' } as const);
      const result = await this.#objects.put(key, body, publicMetadata(name, this.generation), condition);
      if (result.kind === 'stored') return;
    }
  }
}
