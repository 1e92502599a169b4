/**
 * Uploads as files of a folder. The place to put a file is a path of this service, with what the sender has said and a
 * signature over it in the query, so that it is used like one of S3: by a PUT without any other credential.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, syncFolder } from './durable-files.ts';
import { StorageUnavailable } from './errors.ts';
import { checkUploadId, UPLOAD_TARGET_SECONDS, type UploadContent, type UploadStore } from './upload-store.ts';

/** What came of a PUT: stored, or why not. */
export type Received = 'stored' | 'stored-already' | 'forbidden' | 'content-differs';

export interface DirectoryUploads extends UploadStore {
  /** Whether the target was given out here, and has not expired. Asks nobody. */
  isTarget(id: string, query: URLSearchParams): boolean;
  /**
   * Takes in a file. `forbidden`: it is no target (see {@link isTarget}). `content-differs`: the bytes are not those that
   * were said. `stored-already`: it was there before this one came, of which nothing is read. Durable when it is `stored`
   * or was; otherwise nothing is left behind. Several may be under way at once, also for one upload. In memory there is never more
   * of a file than a chunk. Rejects with what the body rejects with, and with `StorageUnavailable` where the file cannot be
   * kept: when there is no room for it, before its first byte is read.
   */
  receive(id: string, query: URLSearchParams, body: AsyncIterable<Uint8Array>): Promise<Received>;
  /**
   * Removes what a process that died has left of files that were being received. Only while none is.
   *
   * @throws StorageUnavailable when the folder cannot be read or written
   */
  removePartial(): Promise<void>;
}

export interface DirectoryUploadsOptions {
  readonly folder: string;
  /** From which targets are signed. */
  readonly key: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Unique, for files that are not complete yet. */
  readonly newName: () => string;
}

/** What the names of files end in that are not complete. */
const PARTIAL = '.part';

/** A file is written to the disk in portions of this, so that its end is not kept waiting for all of it. */
const SYNC_BYTES = 64 * 1024 * 1024;

/** The path of a target, without its query. */
export function uploadPath(id: string): string {
  return `/api/v1/ingest/uploads/${id}/content`;
}

export function openDirectoryUploads({ folder, key, nowMs, newName }: DirectoryUploadsOptions): DirectoryUploads {
  const fileOf = (id: string): string => {
    checkUploadId(id);
    return join(folder, id);
  };
  const sign = (id: string, { bytes, sha256 }: UploadContent, expiresAtMs: number): Buffer =>
    createHmac('sha256', key).update(`${id}\n${bytes}\n${sha256}\n${expiresAtMs}`).digest();

  /** Null for a target that is none of ours, or no longer. */
  function contentOf(id: string, query: URLSearchParams): UploadContent | null {
    const content = { bytes: Number(query.get('bytes')), sha256: query.get('sha256') ?? '' };
    const expiresAtMs = Number(query.get('expires'));
    const signature = Buffer.from(query.get('signature') ?? '', 'base64url');
    const expected = sign(id, content, expiresAtMs);
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null;
    return nowMs() < expiresAtMs ? content : null;
  }

  async function head(id: string): Promise<{ readonly bytes: number } | null> {
    const file = fileOf(id);
    try {
      return { bytes: (await stat(file)).size };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw unavailable(id, error);
    }
  }

  return {
    head,
    async presign(id, content) {
      checkUploadId(id);
      const expiresAtMs = nowMs() + UPLOAD_TARGET_SECONDS * 1000;
      const query = new URLSearchParams({
        bytes: String(content.bytes),
        sha256: content.sha256,
        expires: String(expiresAtMs),
        signature: sign(id, content, expiresAtMs).toString('base64url'),
      });
      return {
        url: `${uploadPath(id)}?${query}`,
        // Held here whether it is sent or not; in a bucket it must be, and clients are to be the same.
        headers: { 'content-length': String(content.bytes), 'if-none-match': '*' },
        expiresAt: new Date(expiresAtMs).toISOString(),
      };
    },
    isTarget: (id, query) => contentOf(id, query) !== null,
    async receive(id, query, body) {
      const content = contentOf(id, query);
      if (content === null) return 'forbidden';
      if ((await head(id)) !== null) {
        // Another request may have renamed it a moment ago, and not have synced its name.
        await onDisk(id, syncFolder(folder));
        return 'stored-already';
      }
      await onDisk(id, makeRoom(folder, content.bytes));
      const temporary = join(folder, newName() + PARTIAL);
      try {
        if (!(await isKept(id, temporary, body, content))) return 'content-differs';
        await onDisk(id, rename(temporary, fileOf(id)));
        await onDisk(id, syncFolder(folder));
        return 'stored';
      } finally {
        await onDisk(id, rm(temporary, { force: true }));
      }
    },
    async removePartial() {
      try {
        const names = await readdir(folder);
        for (const name of names.filter((name) => name.endsWith(PARTIAL))) await rm(join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        throw new StorageUnavailable(`the uploads could not be tidied up: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
    async *read(id, fromByte) {
      const file = fileOf(id);
      try {
        yield* createReadStream(file, { start: fromByte }) as AsyncIterable<Uint8Array>;
      } catch (error) {
        throw unavailable(id, error);
      }
    },
  };
}

/** What fails where the file system does, and not the sender. */
async function onDisk<Result>(id: string, work: Promise<Result>): Promise<Result> {
  return await work.catch((cause: unknown) => {
    throw new StorageUnavailable(`the upload ${id} could not be kept: ${(cause as Error).message}`, { cause });
  });
}

/** Makes the folder; rejects where so many bytes do not fit in. Some file systems do not say, and have 0 blocks. */
async function makeRoom(folder: string, bytes: number): Promise<void> {
  await makeFolder(folder);
  const { blocks, bavail, bsize } = await statfs(folder);
  if (blocks > 0 && bavail * bsize < bytes) throw new Error(`${folder} has no room for ${bytes} bytes`);
}

/** Writes what comes, as long as it can still be what was said; whether it is. */
async function isKept(
  id: string,
  path: string,
  body: AsyncIterable<Uint8Array>,
  content: UploadContent,
): Promise<boolean> {
  const digest = createHash('sha256');
  const file = await onDisk(id, open(path, 'wx', 0o600));
  try {
    let bytes = 0;
    let syncedBytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > content.bytes) return false;
      digest.update(chunk);
      await onDisk(id, file.appendFile(chunk));
      if (bytes - syncedBytes < SYNC_BYTES) continue;
      await onDisk(id, file.datasync());
      syncedBytes = bytes;
    }
    if (bytes !== content.bytes || digest.digest('hex') !== content.sha256) return false;
    await onDisk(id, file.sync());
    return true;
  } finally {
    await onDisk(id, file.close());
  }
}

function unavailable(id: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${id} could not be read: ${(cause as Error).message}`, { cause });
}
