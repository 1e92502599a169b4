/** A directory store that counts the disk space of its files, and the written bytes by kind of object. */
import type { PublicObjectKind } from '../contract/public-object-names.ts';
import { parsePublicKey } from '../contract/public-objects.ts';
import { LAYOUT_PREFIX } from '../publisher/core/lists/list-layout.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export type ObjectKind = PublicObjectKind | 'layout' | 'bundle';

/** File systems allocate space in blocks of this size. */
const BLOCK_BYTES = 4_096;

export function kindOf(key: string): ObjectKind {
  return parsePublicKey(key)?.kind ?? (key.startsWith(LAYOUT_PREFIX) ? 'layout' : 'bundle');
}

export class MeasuredObjects implements ObjectStore {
  readonly #objects: ObjectStore;
  readonly #sizes = new Map<string, number>();
  readonly #sums = new Map<ObjectKind, number>();
  readonly #written = new Map<ObjectKind, number>();
  #total = 0;
  #most = 0;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** The most space of all files at once since this was last asked. */
  takeMost(): number {
    const most = this.#most;
    this.#most = this.#total;
    return most;
  }

  /** The space of the files of this kind. */
  of(kind: ObjectKind): number {
    return this.#sums.get(kind) ?? 0;
  }

  sizeOf(key: string): number {
    return this.#sizes.get(key) ?? 0;
  }

  get total(): number {
    return this.#total;
  }

  /** Bytes of all files that were written, by kind. */
  get written(): ReadonlyMap<ObjectKind, number> {
    return this.#written;
  }

  readonly get: ObjectStore['get'] = (key, options) => this.#objects.get(key, options);
  readonly stat: ObjectStore['stat'] = (key) => this.#objects.stat(key);
  readonly list: ObjectStore['list'] = (prefix, options) => this.#objects.list(prefix, options);

  readonly put: ObjectStore['put'] = async (key, body, metadata, condition) => {
    const bytes = body.byteLength;
    const result = await this.#objects.put(key, body, metadata, condition);
    if (result.kind === 'stored') {
      const kind = kindOf(key);
      this.#written.set(kind, (this.#written.get(kind) ?? 0) + bytes);
      this.#resize(key, Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES);
    }
    return result;
  };

  readonly delete: ObjectStore['delete'] = async (key, etag) => {
    const result = await this.#objects.delete(key, etag);
    if (result === 'deleted') this.#resize(key, 0);
    return result;
  };

  #resize(key: string, size: number): void {
    const difference = size - this.sizeOf(key);
    const kind = kindOf(key);
    if (size === 0) this.#sizes.delete(key);
    else this.#sizes.set(key, size);
    this.#sums.set(kind, this.of(kind) + difference);
    this.#total += difference;
    this.#most = Math.max(this.#most, this.#total);
  }
}
