/** An archive in memory. Stricter than any real one: it refuses bytes with another digest. */
import { type Archive, checkDigest } from '../../storage/ports/archive.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';

export interface MemoryArchive extends Archive {
  /** Mutable, so that tests can damage it. */
  readonly files: Map<string, Uint8Array>;
}

export function openMemoryArchive(): MemoryArchive {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    async put(sha256, bytes) {
      checkDigest(sha256);
      if (sha256Hex(bytes) !== sha256) throw new RangeError(`${sha256} is not the digest of these bytes`);
      files.set(sha256, bytes);
    },
    async get(sha256) {
      checkDigest(sha256);
      return files.get(sha256) ?? null;
    },
  };
}
