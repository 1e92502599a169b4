/**
 * Reads objects of a directory store. It may run in any thread or process, while another one owns the directory. It changes
 * nothing.
 */
import { existsSync, statSync } from 'node:fs';
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

/** The most attempts for an object that is replaced while it is read. After that, something else is wrong. */
const MAX_ROUNDS = 200;
/** A deletion removes the file first, and its index entry right after: this much later, a missing file is lost. */
const DELETION_MS = 100;

export class DirectoryReader implements Pick<ObjectStore, 'get' | 'stat'> {
  readonly #root: string;
  readonly #rejectsLost: boolean;
  #index: ObjectIndex | null;
  /** The folders in which everything was right. */
  #seen = '';

  /**
   * @param index default: the index of the folder, opened for reading once it exists
   * @param options.rejectsLost whether to reject for an object whose file was removed by another program, as for a damaged
   *   one. Default: it is absent
   */
  constructor(root: string, index: ObjectIndex | null = null, { rejectsLost = false } = {}) {
    this.#root = root;
    this.#index = index;
    this.#rejectsLost = rejectsLost;
  }

  async get(key: string, { ifNoneMatch }: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    checkObjectKey(key);
    const found = await this.#read<Exclude<GetResult, { kind: 'absent' }>>(key, async (object, path, isMoving) => {
      if (etagOfDigest(object.digest) === ifNoneMatch) {
        return (await isInPlace(path, object, isMoving)) ? { kind: 'not-modified' } : null;
      }
      const body = await readFile(path).catch(ignoreMissing);
      if (body === undefined || bodyDigest(body) !== object.digest) return null;
      return { kind: 'found', body, ...headOf(object) };
    });
    return found ?? { kind: 'absent' };
  }

  async stat(key: string): Promise<ObjectHead | null> {
    checkObjectKey(key);
    return await this.#read(key, async (object, path, isMoving) =>
      (await isInPlace(path, object, isMoving)) ? headOf(object) : null,
    );
  }

  /** Null: there is no such object. @throws StorageCorrupt if its file has other bytes */
  async #read<Result>(
    key: string,
    readVersion: (object: IndexedObject, path: string, isMoving: boolean) => Promise<Result | null>,
  ): Promise<Result | null> {
    return await translateErrors(join(this.#root, key), async () => {
      for (let round = 1; ; round++) {
        const entry = this.#entry(key);
        for (const object of indexedVersions(entry)) {
          const path = objectFile(this.#root, key, object.metadata);
          const found = await readVersion(object, path, entry?.next != null);
          if (found !== null) return found;
        }
        // The object may have been replaced in the meantime, or is being replaced now.
        const isMoving = entry?.next != null || !isSame(entry, this.#entry(key));
        if (isMoving && round < MAX_ROUNDS) continue;
        await this.assertThere();
        const places = indexedVersions(entry).map(({ metadata }) => objectFile(this.#root, key, metadata));
        const present = await Promise.all(places.map((place) => stat(place).catch(ignoreMissing)));
        const isLost = !present.some(isFile);
        if (isLost && !(await this.#rejectsFor(key, entry))) return null;
        const fault = isLost ? 'is missing' : 'does not hold what was published';
        throw new StorageCorrupt(
          `${places[0]} ${fault}: another program has ${isLost ? 'removed' : 'changed'} it, or the disk. ` +
            'A server that runs publishes it again from the ledger.',
        );
      }
    });
  }

  /** Whether to reject for this entry, which has no file. */
  async #rejectsFor(key: string, entry: IndexEntry | null): Promise<boolean> {
    if (!this.#rejectsLost || entry === null) return false;
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
   * @throws StorageUnavailable if a folder of the store is missing, or if the folder of public objects is empty although it
   *   should not be, like a mount point without its disk: then no object counts as absent
   */
  async assertThere(): Promise<void> {
    const folders = [STORE_FOLDER, PUBLIC_FOLDER].map((name) => join(this.#root, name));
    const identity = folders.map(identityOf).join();
    if (identity === this.#seen) return;
    // Before the folders are read: a first object that is put in the meantime is in the index once its file is there.
    const hasPublic = this.#index?.hasPublic() === true;
    for (const folder of folders) {
      const names = await readdir(folder).catch(ignoreMissing);
      if (names !== undefined && (names.length > 0 || !hasPublic)) continue;
      throw new StorageUnavailable(
        `the folder ${folder} has vanished: put it back, or start again to publish everything again`,
      );
    }
    this.#seen = identity;
  }
}

/** Another one after a name was added or removed, and for another folder of that name, such as an empty mount point. */
function identityOf(folder: string): string {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return `${found?.dev} ${found?.ino} ${found?.mtimeNs}`;
}

export function indexedVersions(entry: IndexEntry | null): readonly IndexedObject[] {
  return [entry?.next ?? [], entry?.current ?? []].flat();
}

function isSame(one: IndexEntry | null, other: IndexEntry | null): boolean {
  const digests = (entry: IndexEntry | null) => indexedVersions(entry).map(({ digest }) => digest);
  return digests(one).join() === digests(other).join();
}

/**
 * Whether the file holds this version. The two versions of an object that is being replaced may have the same size, and a move
 * that has failed leaves both in the index. So the digest decides then.
 */
async function isInPlace(path: string, { sizeBytes, digest }: IndexedObject, isMoving: boolean): Promise<boolean> {
  if (isMoving) {
    const body = await readFile(path).catch(ignoreMissing);
    return body !== undefined && bodyDigest(body) === digest;
  }
  const found = await stat(path).catch(ignoreMissing);
  return isFile(found) && found.size === sizeBytes;
}
