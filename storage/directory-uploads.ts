/**
 * Uploads as files of a folder. The place to put a file is a path of this service, with what the sender has said and a
 * signature over it in the query, so that it is used like one of S3: by a PUT without any other credential.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, syncFolder } from './durable-files.ts';
import { StorageUnavailable } from './ledger.ts';
import { checkUploadId, UPLOAD_TARGET_SECONDS, type UploadContent, type UploadStore } from './upload-store.ts';

/** What came of a PUT: stored, or why not. */
export type Received = 'stored' | 'forbidden' | 'content-differs';

export interface DirectoryUploads extends UploadStore {
  /**
   * Takes in a file. `forbidden`: the target was not given out here, or has expired. `content-differs`: the bytes are not
   * those that were said. Durable when it is `stored`; otherwise nothing is left behind.
   */
  receive(id: string, query: URLSearchParams, body: AsyncIterable<Uint8Array>): Promise<Received>;
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

  return {
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
        headers: { 'content-length': String(content.bytes) },
        expiresAt: new Date(expiresAtMs).toISOString(),
      };
    },
    async receive(id, query, body) {
      const content = contentOf(id, query);
      if (content === null) return 'forbidden';
      await makeFolder(folder);
      const temporary = join(folder, `${newName()}.part`);
      try {
        if (!(await isWritten(temporary, body, content))) return 'content-differs';
        await rename(temporary, fileOf(id));
        await syncFolder(folder);
        return 'stored';
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async head(id) {
      const file = fileOf(id);
      try {
        return { bytes: (await stat(file)).size };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw unavailable(id, error);
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

/** Writes what comes, as long as it can still be what was said; whether it is. */
async function isWritten(path: string, body: AsyncIterable<Uint8Array>, content: UploadContent): Promise<boolean> {
  const digest = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > content.bytes) return false;
      digest.update(chunk);
      await file.appendFile(chunk);
    }
    await file.sync();
    return bytes === content.bytes && digest.digest('hex') === content.sha256;
  } finally {
    await file.close();
  }
}

function unavailable(id: string, cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the upload ${id} could not be read: ${(cause as Error).message}`, { cause });
}
