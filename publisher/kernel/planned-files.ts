/**
 * The files of one projection in one generation. They join the bundle only when the plan of the projection is complete,
 * so a plan that throws leaves nothing in it. At most one part is in memory; parts in vain are swept.
 *
 * Sizes are checked when a file is added, so that a file that is too large drops the plan, and not the generation.
 */
import type { ObjectRef } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { assertFits } from './assert-fits.ts';
import { BUNDLE_PART_BYTES, type BundleLine, type BundleWriter } from './bundle.ts';

export class PlannedFiles {
  readonly #storage: PublisherStorage;
  readonly #bundle: BundleWriter;
  readonly #parts: ObjectRef[] = [];
  #lines: BundleLine[] = [];
  #characters = 0;

  constructor(storage: PublisherStorage, bundle: BundleWriter) {
    this.#storage = storage;
    this.#bundle = bundle;
  }

  /** @throws FileTooLarge */
  async add(line: BundleLine): Promise<void> {
    assertFits(this.#storage, line);
    this.#lines.push(line);
    this.#characters += line.kind === 'record' ? JSON.stringify(line).length : line.body.length;
    if (this.#characters < BUNDLE_PART_BYTES) return;
    this.#parts.push(await this.#bundle.putPart(this.#lines));
    this.#lines = [];
    this.#characters = 0;
  }

  /** To be called once, if the plan is complete. */
  async join(): Promise<void> {
    for (const part of this.#parts) await this.#bundle.appendPart(part);
    for (const line of this.#lines) await this.#bundle.add(line);
  }
}
