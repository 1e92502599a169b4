/**
 * The object store in a directory. One file per object holds its metadata and its bytes, so that one rename replaces
 * both at once:
 *
 *     <root>/objects/<key>+object    as `object-file.ts` writes it
 *     <root>/tmp/                    files that are being written
 *
 * The suffix has a character that keys cannot have, so `a` and `a/b` can both be objects, as in S3.
 *
 * If one of the two folders is missing, the store has failed: an unmounted disk or a folder that was moved away. Then no
 * object is absent, and nothing is written.
 *
 * A damaged file is no object for a put under the condition `absent`: it is replaced. All else rejects.
 *
 * One process owns the directory; the ledger's exclusive lock ensures it. A mutex in this process orders swaps and
 * deletes. Creation needs no mutex: link(2) refuses an existing name, whichever process made it.
 */
import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { access, type FileHandle, link, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DirectoryReader, ignoreMissing, OBJECT_SUFFIX, translateErrors } from './directory-reader.ts';
import { makeFolder, syncFolder } from './durable-files.ts';
import { StorageCorrupt } from './errors.ts';
import { encodeObjectFile, headOf, type ObjectFile, readChecked, readHeader, readObjectBody } from './object-file.ts';
import { checkListPrefix, checkObjectBody, checkObjectKey, LIST_PAGE_SIZE } from './object-rules.ts';
import type {
  ETag,
  GetResult,
  KeyPage,
  ObjectHead,
  ObjectMetadata,
  ObjectStore,
  PutCondition,
  PutResult,
} from './object-store.ts';

/**
 * Opens the store at `root` and creates it if it is missing. Finishes the half-done work of a killed process.
 *
 * @throws StorageUnavailable if the directory cannot be used
 */
export async function openDirectoryObjects(root: string): Promise<ObjectStore> {
  const store = new DirectoryObjects(root);
  await store.recover();
  return store;
}

class DirectoryObjects implements ObjectStore {
  readonly #root: string;
  readonly #reader: DirectoryReader;
  readonly #objects: string;
  readonly #tmp: string;
  /** Existing folders whose names are durable. */
  readonly #folders = new Set<string>();
  #foldersBeingMade: Promise<void> = Promise.resolve();
  readonly #busyKeys = new Map<string, Promise<unknown>>();

  constructor(root: string) {
    this.#root = root;
    this.#reader = new DirectoryReader(root);
    this.#objects = join(root, 'objects');
    this.#tmp = join(root, 'tmp');
  }

  /**
   * A file in `tmp` was being written when its process died. Its object may already be in place, but a loss of power
   * could still undo its name. Readers that see the object must be able to rely on it, so its name is synced first.
   */
  async recover(): Promise<void> {
    await translateErrors(this.#root, async () => {
      await makeFolder(this.#objects);
      await makeFolder(this.#tmp);
      for (const name of await readdir(this.#tmp)) {
        const path = join(this.#tmp, name);
        const head = await readOnce(path, readHeader);
        if (head !== null) await this.#syncFoldersOf(head.header.key);
        await unlink(path);
      }
    });
  }

  get(key: string, options: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    return this.#reader.get(key, options);
  }

  async stat(key: string): Promise<ObjectHead | null> {
    checkObjectKey(key);
    const path = this.#reader.pathOf(key);
    return translateErrors(path, () => this.#readHead(key, path));
  }

  async put(key: string, body: Uint8Array, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult> {
    checkObjectKey(key);
    checkObjectBody(key, body);
    const path = this.#reader.pathOf(key);
    // Copied before the first await, so that later changes of the caller's buffer are not stored.
    const file = encodeObjectFile(key, body, metadata);
    return this.#alone(key, () =>
      translateErrors(path, async () => {
        const isStored =
          condition.kind === 'absent'
            ? await this.#create(key, path, file)
            : await this.#swap(key, path, file, condition.etag);
        return isStored ? { kind: 'stored', etag: file.etag } : { kind: 'refused' };
      }),
    );
  }

  async delete(key: string, etag: ETag): Promise<'deleted' | 'refused'> {
    checkObjectKey(key);
    const path = this.#reader.pathOf(key);
    return this.#alone(key, () =>
      translateErrors(path, async () => {
        const current = await this.#readHead(key, path);
        if (current !== null && current.etag !== etag) return 'refused';
        if (current !== null) await unlink(path);
        // Also if the file was gone: the process that unlinked it may have died before the removal was durable.
        await syncFolder(dirname(path)).catch(ignoreMissing);
        return 'deleted';
      }),
    );
  }

  async list(prefix: string, options: { readonly after?: string } = {}): Promise<KeyPage> {
    checkListPrefix(prefix);
    const { after = '' } = options;
    const keys: string[] = [];
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    return translateErrors(this.#objects, async () => {
      // One key more than a page holds shows whether anything follows.
      await this.#reader.assertThere();
      for await (const key of this.#keysBelow(folder, prefix, after)) {
        if (keys.length === LIST_PAGE_SIZE) return { keys, next: keys.at(-1) ?? null };
        keys.push(key);
      }
      return { keys, next: null };
    });
  }

  async #create(key: string, path: string, file: ObjectFile): Promise<boolean> {
    // A refused caller finds the same bytes under this name and relies on them, so the name must be durable here too.
    if (await exists(path)) {
      if (await this.#isDamaged(key, path)) return await this.#replace(path, file);
      await syncFolder(dirname(path));
      return false;
    }
    // Making the object's folder would also make a vanished store anew, without its objects.
    await this.#reader.assertThere();
    const temporary = await this.#write(file);
    try {
      const isStored = await this.#linkInFolder(temporary, path);
      await syncFolder(dirname(path));
      return isStored;
    } finally {
      await unlink(temporary);
    }
  }

  async #swap(key: string, path: string, file: ObjectFile, old: ETag): Promise<boolean> {
    const current = await this.#readHead(key, path);
    return current?.etag === old && (await this.#replace(path, file));
  }

  async #isDamaged(key: string, path: string): Promise<boolean> {
    try {
      await readOnce(path, async (handle) => readObjectBody(handle, await readChecked(handle, key, path), path));
      return false;
    } catch (error) {
      if (error instanceof StorageCorrupt) return true;
      throw error;
    }
  }

  async #replace(path: string, file: ObjectFile): Promise<true> {
    const temporary = await this.#write(file);
    const moving = `${temporary}-moving`;
    try {
      // A second name is moved into place. The first name stays in `tmp` until the move is durable, so that `recover`
      // can finish it.
      await link(temporary, moving);
      await rename(moving, path);
      await syncFolder(dirname(path));
    } finally {
      await unlink(moving).catch(ignoreMissing);
      await unlink(temporary);
    }
    return true;
  }

  /** Writes a durable file in `tmp`. */
  async #write(file: ObjectFile): Promise<string> {
    const temporary = join(this.#tmp, randomUUID());
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(file.bytes);
      await handle.sync();
    } catch (error) {
      await unlink(temporary);
      throw error;
    } finally {
      await handle.close();
    }
    return temporary;
  }

  /** Makes the folder. Makes it again if it was removed after this process had made it. */
  async #linkInFolder(from: string, path: string): Promise<boolean> {
    const folder = dirname(path);
    await this.#ensureFolder(folder);
    try {
      return await linkIfAbsent(from, path);
    } catch (error) {
      ignoreMissing(error);
      this.#folders.delete(folder);
      await this.#ensureFolder(folder);
      return await linkIfAbsent(from, path);
    }
  }

  /** One at a time: a call that finds a folder of another call must not go on before the folder's name is durable. */
  async #ensureFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return;
    const made = this.#foldersBeingMade.then(() => makeFolder(folder));
    this.#foldersBeingMade = made.catch(() => undefined);
    await made;
    this.#folders.add(folder);
  }

  async #syncFoldersOf(key: string): Promise<void> {
    for (let folder = dirname(key); ; folder = dirname(folder)) {
      await syncFolder(join(this.#objects, folder)).catch(ignoreMissing);
      if (folder === '.') return;
    }
  }

  async #readHead(key: string, path: string): Promise<ObjectHead | null> {
    return this.#readOnce(path, async (handle) => headOf((await readChecked(handle, key, path)).header));
  }

  /** As `readOnce`, and absent only if the store is there. */
  async #readOnce<Result>(path: string, task: (handle: FileHandle) => Promise<Result>): Promise<Result | null> {
    const found = await readOnce(path, task);
    if (found === null) await this.#reader.assertThere();
    return found;
  }

  /**
   * Every key in this folder that begins with `prefix` and comes after `after`, in order. Keeps one folder per level in
   * memory.
   */
  async *#keysBelow(folder: string, prefix: string, after: string): AsyncGenerator<string> {
    const entries = await readdir(join(this.#objects, folder), { withFileTypes: true }).catch(ignoreMissing);
    const names = (entries ?? []).flatMap(nameInKey).map((name) => folder + name);
    // A folder sorts as `name/`, with which all its keys begin. Keys are ASCII, whose UTF-16 order is its byte order.
    for (const name of names.filter((name) => mayHold(name, prefix, after)).sort()) {
      if (name.endsWith('/')) yield* this.#keysBelow(name, prefix, after);
      else yield name;
    }
  }

  /** Runs after all earlier calls for this key. */
  async #alone<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#busyKeys.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#busyKeys.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#busyKeys.get(key) === mine) this.#busyKeys.delete(key);
    }
  }
}

/** The part of a key that this file or folder stands for; empty if it is not ours. */
function nameInKey(entry: Dirent): string[] {
  if (entry.isDirectory()) return [`${entry.name}/`];
  return entry.name.endsWith(OBJECT_SUFFIX) ? [entry.name.slice(0, -OBJECT_SUFFIX.length)] : [];
}

/** Whether this key, or some key in this folder, begins with `prefix` and comes after `after`. */
function mayHold(name: string, prefix: string, after: string): boolean {
  if (name.endsWith('/')) {
    return (name.startsWith(prefix) || prefix.startsWith(name)) && (name > after || after.startsWith(name));
  }
  return name.startsWith(prefix) && name > after;
}

/**
 * Opens a file for the length of one task; null if it does not exist. A replacement during the task does not change the
 * open file.
 */
async function readOnce<Result>(path: string, task: (handle: FileHandle) => Promise<Result>): Promise<Result | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    ignoreMissing(error);
    return null;
  }
  try {
    return await task(handle);
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    ignoreMissing(error);
    return false;
  }
}

/** False if the name is taken. Of any number of callers in any process, exactly one gets true. */
async function linkIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
