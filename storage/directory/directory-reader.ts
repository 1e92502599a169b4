/**
 * Reads objects of a directory store. May run in any thread or process, beside the owner of the directory. Changes
 * nothing.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import { bodyDigest, checkObjectKey, etagOfDigest } from '../ports/object-rules.ts';
import type { ETag, GetResult, ObjectHead, ObjectStore } from '../ports/object-store.ts';
import { headOf, type IndexEntry, type IndexedObject, ObjectIndex } from './object-index.ts';
import {
  ignoreMissing,
  indexPath,
  isFile,
  objectFile,
  PUBLIC_FOLDER,
  STORE_FOLDER,
  translateErrors,
} from './object-places.ts';

/** An object may be replaced while it is read. More often than this, something else is wrong. */
const MAX_ROUNDS = 200;
/** A deletion removes the file, and its entry of the index at once after. */
const DELETION_MS = 100;

export class DirectoryReader implements Pick<ObjectStore, 'get' | 'stat'> {
  readonly #root: string;
  readonly #tellsLost: boolean;
  #index: ObjectIndex | null;

  /**
   * @param index default: that of the folder, opened for reading when it is there
   * @param options.tellsLost rejects for an object whose file somebody has removed, as for a damaged one. Default: it is absent
   */
  constructor(root: string, index: ObjectIndex | null = null, { tellsLost = false } = {}) {
    this.#root = root;
    this.#index = index;
    this.#tellsLost = tellsLost;
  }

  async get(key: string, { ifNoneMatch }: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    checkObjectKey(key);
    const found = await this.#read<Exclude<GetResult, { kind: 'absent' }>>(key, async (object, path) => {
      if (etagOfDigest(object.digest) === ifNoneMatch) {
        return (await hasSize(path, object)) ? { kind: 'not-modified' } : null;
      }
      const body = await readFile(path).catch(ignoreMissing);
      if (body === undefined || bodyDigest(body) !== object.digest) return null;
      return { kind: 'found', body, ...headOf(object) };
    });
    return found ?? { kind: 'absent' };
  }

  async stat(key: string): Promise<ObjectHead | null> {
    checkObjectKey(key);
    return await this.#read(key, async (object, path) => ((await hasSize(path, object)) ? headOf(object) : null));
  }

  /** Null: there is no such object. @throws StorageCorrupt if its file holds something else */
  async #read<Result>(
    key: string,
    readVersion: (object: IndexedObject, path: string) => Promise<Result | null>,
  ): Promise<Result | null> {
    return await translateErrors(join(this.#root, key), async () => {
      for (let round = 1; ; round++) {
        const entry = this.#entry(key);
        for (const object of indexedVersions(entry)) {
          const found = await readVersion(object, objectFile(this.#root, key, object.metadata));
          if (found !== null) return found;
        }
        // It was perhaps replaced in the meantime, or is just being replaced.
        const isMoving = entry?.next != null || !isSame(entry, this.#entry(key));
        if (isMoving && round < MAX_ROUNDS) continue;
        await this.assertThere();
        const places = indexedVersions(entry).map(({ metadata }) => objectFile(this.#root, key, metadata));
        const present = await Promise.all(places.map((place) => stat(place).catch(ignoreMissing)));
        const isLost = !present.some(isFile);
        if (isLost && !(await this.#tellsOf(key, entry))) return null;
        const fault = isLost ? 'is missing' : 'does not hold what was published';
        throw new StorageCorrupt(
          `${places[0]} ${fault}: another program has ${isLost ? 'removed' : 'changed'} it, or the disk. ` +
            'A server that runs publishes it again from the ledger.',
        );
      }
    });
  }

  /** Whether to reject for this entry without a file. */
  async #tellsOf(key: string, entry: IndexEntry | null): Promise<boolean> {
    if (!this.#tellsLost || entry === null) return false;
    await sleep(DELETION_MS);
    return isSame(entry, this.#entry(key));
  }

  #entry(key: string): IndexEntry | null {
    if (this.#index === null) {
      if (!existsSync(indexPath(this.#root))) return null;
      this.#index = new ObjectIndex(indexPath(this.#root), { isReadOnly: true });
    }
    return this.#index.get(key);
  }

  /**
   * @throws StorageUnavailable if a folder of the store is missing, or that of public objects is empty and should not be, as a
   *   mount point without its disk: then no object is absent
   */
  async assertThere(): Promise<void> {
    for (const name of [STORE_FOLDER, PUBLIC_FOLDER]) {
      const folder = join(this.#root, name);
      const names = await readdir(folder).catch(ignoreMissing);
      if (names !== undefined && (names.length > 0 || this.#index?.hasPublic() !== true)) continue;
      throw new StorageUnavailable(
        `the folder ${folder} has vanished: put it back, or start again to publish everything again`,
      );
    }
  }
}

export function indexedVersions(entry: IndexEntry | null): readonly IndexedObject[] {
  return [entry?.next ?? [], entry?.current ?? []].flat();
}

function isSame(one: IndexEntry | null, other: IndexEntry | null): boolean {
  const digests = (entry: IndexEntry | null) => indexedVersions(entry).map(({ digest }) => digest);
  return digests(one).join() === digests(other).join();
}

async function hasSize(path: string, { sizeBytes }: IndexedObject): Promise<boolean> {
  const found = await stat(path).catch(ignoreMissing);
  return isFile(found) && found.size === sizeBytes;
}
