/**
 * The object store in a directory: plain files, and an index.
 *
 *     <root>/public/…              public objects: exactly their bytes, at the path of their key
 *     <root>/store/index.sqlite    digest and metadata of each object (object-index.ts)
 *     <root>/store/objects/<key>+  internal objects
 *     <root>/store/tmp/            files that are being written
 *
 * An object is replaced in four steps, each durable before the next: its file in `tmp`, both versions in the index, the
 * move into place, the new version alone in the index. So at any moment, the digest of a file shows which version it is. A
 * file with another digest was changed by another program: it is corrupt.
 *
 * If one of the two folders is missing, the whole store counts as failed: a disk is not mounted, or a folder was moved
 * away. Then no object counts as absent, and nothing is written.
 *
 * A put with the condition `absent` replaces a corrupt file. Every other operation on it rejects. A file that already has the
 * bytes of a put stays as it is: only the index changes.
 *
 * One process owns the directory; the ledger's exclusive lock ensures it. A mutex orders puts and deletes of a key.
 */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, open, readdir, readFile, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { keyQueue, sharedRuns } from '../concurrency/key-queue.ts';
import { StorageCorrupt } from '../ports/errors.ts';
import { bodyDigest, checkListPrefix, checkObjectBody, checkObjectKey, LIST_PAGE_SIZE } from '../ports/object-rules.ts';
import type {
  ETag,
  GetResult,
  KeyPage,
  ObjectHead,
  ObjectMetadata,
  ObjectStore,
  PutCondition,
  PutResult,
} from '../ports/object-store.ts';
import { DirectoryReader, indexedVersions } from './directory-reader.ts';
import { makeFolder, syncPath } from './durable-files.ts';
import { besideOf, moveAcross } from './move-across.ts';
import { headOf, type IndexedObject, type ObjectIndex } from './object-index.ts';
import {
  ignoreMissing,
  internalFolder,
  isFile,
  isPublic,
  objectFile,
  PUBLIC_FOLDER,
  READABLE_FOLDER,
  temporaryFolder,
  translateErrors,
} from './object-places.ts';
import { openIndex } from './open-index.ts';

/**
 * Opens the store at `folder` and creates it if it is missing. Completes the unfinished work of a killed process.
 *
 * @throws StorageUnavailable if the directory cannot be used
 */
export async function openDirectoryObjects(folder: string): Promise<ObjectStore> {
  // Paths of files are compared, and `./data/` must be the same folder as `data`.
  const root = resolve(folder);
  return await translateErrors(root, async () => {
    await makeFolder(root);
    await makeFolder(join(root, PUBLIC_FOLDER), READABLE_FOLDER);
    for (const folder of [internalFolder(root), temporaryFolder(root)]) await makeFolder(folder);
    const index = await openIndex(root);
    const store = new DirectoryObjects(root, index);
    await store.recover();
    return store;
  });
}

const READABLE_FILE = 0o644;

class DirectoryObjects implements ObjectStore {
  readonly #root: string;
  readonly #index: ObjectIndex;
  readonly #reader: DirectoryReader;
  /** Folders that exist and whose names are durable. */
  readonly #folders: Set<string>;
  readonly #folderInTurn = keyQueue();
  readonly #inTurn = keyQueue();
  /** {@link syncPath}, shared by all calls that wait for the same folder. */
  readonly #sync: (folder: string) => Promise<void>;

  constructor(root: string, index: ObjectIndex) {
    this.#root = root;
    this.#index = index;
    this.#reader = new DirectoryReader(root, index);
    this.#folders = new Set([root, join(root, PUBLIC_FOLDER), dirname(internalFolder(root)), internalFolder(root)]);
    const shared = sharedRuns();
    this.#sync = (folder) => shared(folder, () => syncPath(folder));
  }

  /** If the index does not know the end of a move, the digest of the file shows whether the move has happened. */
  async recover(): Promise<void> {
    for (const key of this.#index.unsettled()) {
      const { current = null, next = null } = this.#index.get(key) ?? {};
      if (next !== null) await rm(besideOf(this.#fileOf(key, next)), { force: true }).catch(ignoreMissing);
      if (next !== null && (await this.#holds(key, next))) {
        // Readers that see the object must be able to rely on its name.
        for (let folder = dirname(this.#fileOf(key, next)); ; folder = dirname(folder)) {
          await syncPath(folder);
          if (folder === this.#root) break;
        }
        await this.#settle(key, current, next);
      } else if (current === null) this.#index.delete(key);
      else this.#index.put(key, { current, next: null });
    }
    const temporary = temporaryFolder(this.#root);
    for (const name of await readdir(temporary)) await unlink(join(temporary, name));
  }

  get(key: string, options: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    return this.#reader.get(key, options);
  }

  stat(key: string): Promise<ObjectHead | null> {
    return this.#reader.stat(key);
  }

  async put(key: string, body: Uint8Array, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult> {
    checkObjectKey(key);
    checkObjectBody(key, body);
    // Copied before the first await, so that later changes of the caller's buffer are not stored.
    const bytes = Buffer.from(body);
    const object = { digest: bodyDigest(bytes), sizeBytes: bytes.byteLength, metadata: { ...metadata } };
    const { etag } = headOf(object);
    return this.#alone(key, async () => {
      const isAbsent = condition.kind === 'absent';
      const present = await (isAbsent ? this.#whole(key) : this.#reader.stat(key));
      const isMet = isAbsent ? present === null : present?.etag === condition.etag;
      if (isMet) {
        // Creating the object's folder would also create a vanished store again, without its objects.
        await this.#reader.assertThere();
        await this.#replace(key, object, bytes);
        return { kind: 'stored', etag };
      }
      // A refused caller finds the same bytes at this name and relies on them, so the name must be durable now.
      if (isAbsent && present !== null) await this.#sync(dirname(this.#fileOf(key, present)));
      return { kind: 'refused' };
    });
  }

  async delete(key: string, etag: ETag): Promise<'deleted' | 'refused'> {
    checkObjectKey(key);
    return this.#alone(key, async () => {
      const present = await this.#reader.stat(key);
      if (present !== null && present.etag !== etag) return 'refused';
      const path = this.#fileOf(key, present ?? { metadata: { contentType: '' } });
      if (present !== null) await unlink(path);
      // The folder is synced even if the file was missing: the process that unlinked it may have died before that was
      // durable.
      await this.#sync(dirname(path)).catch(ignoreMissing);
      this.#index.delete(key);
      return 'deleted';
    });
  }

  async list(prefix: string, options: { readonly after?: string } = {}): Promise<KeyPage> {
    checkListPrefix(prefix);
    return translateErrors(join(this.#root, PUBLIC_FOLDER), async () => {
      await this.#reader.assertThere();
      const keys: string[] = [];
      for (let after = options.after ?? ''; ; ) {
        const known = this.#index.keys(prefix, after, LIST_PAGE_SIZE);
        const present = await Promise.all(known.map((key) => this.#isThere(key)));
        for (const [index, key] of known.entries()) {
          if (!present[index]) continue;
          // One key more than a page holds shows that more follow.
          if (keys.length === LIST_PAGE_SIZE) return { keys, next: keys.at(-1) ?? null };
          keys.push(key);
        }
        if (known.length < LIST_PAGE_SIZE) return { keys, next: null };
        after = known.at(-1) as string;
      }
    });
  }

  #fileOf(key: string, { metadata }: { readonly metadata: Pick<ObjectMetadata, 'contentType'> }): string {
    return objectFile(this.#root, key, metadata);
  }

  /** Whether a file of the object exists. Another program may have deleted it. */
  async #isThere(key: string): Promise<boolean> {
    for (const object of indexedVersions(this.#index.get(key))) {
      if (isFile(await stat(this.#fileOf(key, object)).catch(ignoreMissing))) return true;
    }
    return false;
  }

  /** The object, if its file is right. Null for a corrupt object too. */
  async #whole(key: string): Promise<ObjectHead | null> {
    try {
      const found = await this.#reader.get(key);
      return found.kind === 'found' ? found : null;
    } catch (error) {
      if (error instanceof StorageCorrupt) return null;
      throw error;
    }
  }

  async #holds(key: string, object: IndexedObject): Promise<boolean> {
    const bytes = await readFile(this.#fileOf(key, object)).catch(ignoreMissing);
    return bytes !== undefined && bodyDigest(bytes) === object.digest;
  }

  async #replace(key: string, next: IndexedObject, bytes: Uint8Array): Promise<void> {
    const current = this.#index.get(key)?.current ?? null;
    const path = this.#fileOf(key, next);
    if (current?.digest === next.digest && path === this.#fileOf(key, current) && (await this.#holds(key, next))) {
      // The file may be from a checkout: neither durable, nor readable by a web server.
      if (isPublic(key)) await chmod(path, READABLE_FILE);
      await syncPath(path);
      await this.#sync(dirname(path));
      await this.#settle(key, current, next);
      return await this.#index.sync();
    }
    const temporary = join(temporaryFolder(this.#root), randomUUID());
    try {
      const before = isPublic(key) ? await stat(path).catch(ignoreMissing) : undefined;
      await writeDurably(temporary, bytes, isPublic(key) ? READABLE_FILE : null, before);
      this.#index.put(key, { current, next });
      await this.#index.sync();
      await this.#moveIntoFolder(key, temporary, path);
      await this.#sync(dirname(path));
    } catch (error) {
      await unlink(temporary).catch(ignoreMissing);
      throw error;
    }
    await this.#settle(key, current, next);
  }

  /** Ends a replacement, after the next version has been put in place. */
  async #settle(key: string, current: IndexedObject | null, next: IndexedObject): Promise<void> {
    const [before, after] = [current === null ? null : this.#fileOf(key, current), this.#fileOf(key, next)];
    // A problem document has another path than the body that it replaces, so the earlier file is removed.
    if (before !== null && before !== after) await unlink(before).catch(ignoreMissing);
    this.#index.put(key, { current: next, next: null });
  }

  /** Creates the folder, and creates it again if it was removed after this process had created it. */
  async #moveIntoFolder(key: string, from: string, path: string): Promise<void> {
    const folder = dirname(path);
    const mode = isPublic(key) ? READABLE_FOLDER : undefined;
    await this.#ensureFolder(folder, mode);
    try {
      await moveAcross(from, path);
    } catch (error) {
      ignoreMissing(error);
      for (let lost = folder; lost !== this.#root; lost = dirname(lost)) this.#folders.delete(lost);
      await this.#ensureFolder(folder, mode);
      // Only an empty folder is removed. The files in another folder are not ours.
      await rmdir(path).catch(ignoreMissing);
      await moveAcross(from, path);
    }
  }

  /** Syncs the parent of a folder that exists, too: a process that died then, or whose disk failed, may have made it. */
  async #ensureFolder(folder: string, mode?: number): Promise<void> {
    if (this.#folders.has(folder)) return;
    await this.#ensureFolder(dirname(folder), mode);
    await this.#folderInTurn(folder, async () => {
      if (this.#folders.has(folder)) return;
      await this.#giveWay(folder);
      await makeFolder(folder, mode, async () => undefined);
      await this.#sync(dirname(folder));
      this.#folders.add(folder);
    });
  }

  /** An earlier version published `api/v1/latest` as a file, which is a folder today. Files of others stay. */
  async #giveWay(folder: string): Promise<void> {
    const key = relative(this.#root, folder);
    if (!isFile(await stat(folder).catch(ignoreMissing)) || this.#index.get(key) === null) return;
    await unlink(folder);
    this.#index.delete(key);
  }

  #alone<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(key, () => translateErrors(join(this.#root, key), work));
  }
}

/**
 * Web servers derive an entity tag from the size and the time in whole seconds. So two versions of a file must have
 * different seconds.
 *
 * @param before the version that is replaced
 */
async function writeDurably(path: string, bytes: Uint8Array, mode: number | null, before?: Stats): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(bytes);
    if (mode !== null) await handle.chmod(mode);
    const earliest = before === undefined ? 0 : Math.floor(before.mtimeMs / 1000) + 1;
    if (before !== undefined && (await handle.stat()).mtimeMs < earliest * 1000)
      await handle.utimes(earliest, earliest);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
