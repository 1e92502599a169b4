/**
 * Reads objects of a directory store, in few calls: most reads of public objects are of small files, and each call is a
 * trip to a thread and back. May run in any process or thread, beside the owner of the directory. Changes nothing.
 */
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { StorageUnavailable } from './errors.ts';
import { readObjectFile } from './object-file.ts';
import { checkObjectKey } from './object-rules.ts';
import type { ETag, GetResult, ObjectStore } from './object-store.ts';

export const OBJECT_SUFFIX = '+object';

/** Each takes about 200 bytes. */
const REMEMBERED_FILES = 100_000;

/** A file that was read, and the version of the object in it. */
interface KnownFile {
  readonly etag: ETag;
  readonly ino: number;
  readonly size: number;
  readonly ctimeMs: number;
}

export class DirectoryReader implements Pick<ObjectStore, 'get'> {
  readonly #objects: string;
  readonly #tmp: string;
  readonly #known = new LRUCache<string, KnownFile>({ max: REMEMBERED_FILES });

  /** @param root the folder of the store */
  constructor(root: string) {
    this.#objects = join(root, 'objects');
    this.#tmp = join(root, 'tmp');
  }

  pathOf(key: string): string {
    // Not by `join`, which looks for dots. A key has no such segments.
    return `${this.#objects}/${key}${OBJECT_SUFFIX}`;
  }

  /**
   * A version that the caller has is first compared by its file alone. Objects are replaced by other files, under the same
   * name, so the inode and the moment of its last change tell versions apart. They are noted before the bytes are read: if
   * the file is replaced in between, the next comparison fails, and only costs a read.
   */
  async get(key: string, { ifNoneMatch }: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    checkObjectKey(key);
    const path = this.pathOf(key);
    return await translateErrors(path, async () => {
      const file = ifNoneMatch === undefined ? null : await stat(path).catch(ignoreMissing);
      const known = this.#known.get(key);
      if (file && known && known.etag === ifNoneMatch && isSameFile(file, known)) return { kind: 'not-modified' };
      const found = await readObjectFile(path, key, ifNoneMatch);
      if (found === null) {
        await this.assertThere();
        return { kind: 'absent' };
      }
      const etag = found.kind === 'found' ? found.etag : ifNoneMatch;
      if (file && etag) this.#known.set(key, { etag, ino: file.ino, size: file.size, ctimeMs: file.ctimeMs });
      return found;
    });
  }

  /** @throws StorageUnavailable if a folder of the store is missing: then no object is absent */
  async assertThere(): Promise<void> {
    for (const folder of [this.#objects, this.#tmp]) {
      if ((await stat(folder).catch(ignoreMissing))?.isDirectory()) continue;
      throw new StorageUnavailable(
        `the folder ${folder} has vanished: put it back, or start again to publish everything again`,
      );
    }
  }
}

function isSameFile({ ino, size, ctimeMs }: Stats, known: KnownFile): boolean {
  return ino === known.ino && size === known.size && ctimeMs === known.ctimeMs;
}

export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Errors of the file system are StorageUnavailable. */
export async function translateErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // An error without a code is StorageCorrupt, or a fault of ours.
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new StorageUnavailable(
      `${path} cannot be used (${error.message}): check its folder, permissions and free space`,
      { cause: error },
    );
  }
}
