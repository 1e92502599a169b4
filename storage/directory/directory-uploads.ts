/**
 * Uploads as files of a folder. The target of an upload is a path of this service, with the announced content and a
 * signature in the query. So it is used like a target of S3: by a PUT without any other credential.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Runtime } from '../aws/runtime.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import {
  checkUploadId,
  isUploadId,
  UPLOAD_TARGET_SECONDS,
  type UploadContent,
  type UploadStore,
} from '../ports/upload-store.ts';
import { makeFolder, syncPath } from './durable-files.ts';

/** The outcome of a PUT: stored, or the reason for the refusal. */
export type Received = 'stored' | 'stored-already' | 'forbidden' | 'content-differs' | 'being-received';

export interface DirectoryUploads extends UploadStore {
  /** Whether this service signed the target, and the target has not expired. Reads nothing from the disk. */
  isTarget(id: string, query: URLSearchParams): boolean;
  /**
   * Stores the file of a target.
   *
   * - `stored`: the file is durable.
   * - `stored-already`: the file existed before this call, and is durable. The body is not read.
   * - `forbidden`: the target is not valid, see {@link isTarget}.
   * - `content-differs`: the body does not have the announced length and digest.
   * - `being-received`: another call is receiving this upload. The body is not read.
   *
   * Except after `stored`, the call leaves no file behind. Several calls may run at once, but only one for each upload: the
   * disk holds no file twice. Memory holds at most one chunk of the body. Rejects with the body's own error, and with
   * `StorageUnavailable` if the file cannot be stored. If there is no room for it, it rejects before the first byte is
   * read.
   */
  receive(id: string, query: URLSearchParams, body: AsyncIterable<Uint8Array>): Promise<Received>;
  /**
   * Removes partial files of a dead process. Call it only while no file is being received.
   *
   * @throws StorageUnavailable if the folder cannot be read or written
   */
  removePartial(): Promise<void>;
  /** The ids of the files that have arrived. */
  list(): Promise<readonly string[]>;
  /** Removes the file of an upload that will not be read again. Does nothing if the file does not exist. */
  remove(id: string): Promise<void>;
}

export interface DirectoryUploadsOptions extends Pick<Runtime, 'nowMs'> {
  readonly folder: string;
  /** The secret from which the key that signs targets is derived. */
  readonly key: Uint8Array;
  /** Gives unique names for unfinished files. */
  readonly newName: () => string;
}

/** The suffix of unfinished files. */
const PARTIAL = '.part';

/** A file is synced in portions of this size, so that the last sync is short. */
const SYNC_BYTES = 64 * 1024 * 1024;

/** The path of a target, without its query. */
export function uploadPath(id: string): string {
  return `/api/v1/ingest/uploads/${id}/content`;
}

export function openDirectoryUploads(options: DirectoryUploadsOptions): DirectoryUploads {
  const { folder, key, nowMs, newName } = options;
  /** The announced bytes of the files that are being received, by upload. */
  const receiving = new Map<string, number>();
  const fileOf = (id: string): string => {
    checkUploadId(id);
    return join(folder, id);
  };
  const sign = (id: string, { bytes, sha256 }: UploadContent, expiresAtMs: number): Buffer =>
    createHmac('sha256', key).update(`${id}\n${bytes}\n${sha256}\n${expiresAtMs}`).digest();

  /** Null if this service did not sign the target, or the target has expired. */
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
        // Clients must send these headers, so that they work with a bucket too, which requires them. This service enforces
        // the content in any case.
        headers: { 'content-length': String(content.bytes), 'if-none-match': '*' },
        expiresAt: new Date(expiresAtMs).toISOString(),
      };
    },
    isTarget: (id, query) => contentOf(id, query) !== null,
    async receive(id, query, body) {
      const content = contentOf(id, query);
      if (content === null) return 'forbidden';
      if ((await head(id)) !== null) {
        // Another request may have just renamed the file, and not have synced its name yet.
        await onDisk(id, syncPath(folder));
        return 'stored-already';
      }
      // The room for other files counts as taken, even if they have not arrived completely.
      if (receiving.has(id)) return 'being-received';
      receiving.set(id, content.bytes);
      const announced = [...receiving.values()].reduce((sum, bytes) => sum + bytes, 0);
      const temporary = join(folder, newName() + PARTIAL);
      try {
        await onDisk(id, makeRoom(folder, announced));
        if (!(await isKept(id, temporary, body, content))) return 'content-differs';
        await onDisk(id, rename(temporary, fileOf(id)));
        await onDisk(id, syncPath(folder));
        return 'stored';
      } finally {
        receiving.delete(id);
        await onDisk(id, rm(temporary, { force: true }));
      }
    },
    async list() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw new StorageUnavailable(`the uploads could not be listed: ${error.message}`, { cause: error });
      });
      return names.filter(isUploadId);
    },
    async remove(id) {
      await onDisk(id, rm(fileOf(id), { force: true }));
    },
    async removePartial() {
      try {
        const names = await readdir(folder);
        for (const name of names.filter((name) => name.endsWith(PARTIAL))) await rm(join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        throw new StorageUnavailable(`old partial uploads could not be removed: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
    /** The server removes a file once the ledger says that its upload has ended. */
    async markEnded() {},
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

/** Turns a failure of the file system into StorageUnavailable, because the sender did not cause it. */
async function onDisk<Result>(id: string, work: Promise<Result>): Promise<Result> {
  return await work.catch((cause: unknown) => {
    throw new StorageUnavailable(`the upload ${id} could not be stored: ${(cause as Error).message}`, { cause });
  });
}

/**
 * Creates the folder; rejects if the disk has less free space than `bytes`. Some file systems report 0 blocks: then the
 * free space is unknown.
 */
async function makeRoom(folder: string, bytes: number): Promise<void> {
  await makeFolder(folder);
  const { blocks, bavail, bsize } = await statfs(folder);
  if (blocks === 0 || bavail * bsize >= bytes) return;
  throw Object.assign(new Error(`${folder} has no room for ${bytes} bytes`), { code: 'ENOSPC' });
}

/** Writes the body as long as it matches the announced content. Returns whether all of it matches. */
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
