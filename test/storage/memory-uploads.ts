/** Uploads in memory for tests: a target names only its file, which {@link MemoryUploads.put} stores. */
import { checkUploadId, UPLOAD_TARGET_SECONDS, type UploadStore } from '../../storage/ports/upload-store.ts';

export interface MemoryUploads extends UploadStore {
  put(id: string, bytes: Uint8Array): void;
  /** The files that may be removed. */
  readonly ended: ReadonlySet<string>;
}

/** @param areEndedGone false: a worker that has lost its lease may still read the file of an upload that has ended */
export function openMemoryUploads(nowMs: () => number, areEndedGone = true): MemoryUploads {
  const files = new Map<string, Uint8Array>();
  const ended = new Set<string>();
  return {
    ended,
    async markEnded(id) {
      ended.add(id);
    },
    put(id, bytes) {
      checkUploadId(id);
      files.set(id, bytes);
    },
    async presign(id, { bytes, sha256 }) {
      checkUploadId(id);
      const expiresAt = new Date(nowMs() + UPLOAD_TARGET_SECONDS * 1000).toISOString();
      return { url: `https://uploads.test/${id}?${sha256}`, headers: { 'content-length': String(bytes) }, expiresAt };
    },
    async head(id) {
      const file = files.get(id);
      return file === undefined ? null : { bytes: file.length };
    },
    async *read(id, fromByte) {
      const file = files.get(id);
      if (file === undefined || (areEndedGone && ended.has(id)))
        throw new RangeError(`${id} is read although it is not there`);
      yield file.subarray(fromByte);
    },
  };
}
