/** An object store in memory, for benchmarks in which files would take longer than the measured work. */
import {
  bodyDigest,
  checkListPrefix,
  checkObjectBody,
  checkObjectKey,
  etagOfDigest,
  LIST_PAGE_SIZE,
} from '../../storage/ports/object-rules.ts';
import type { ObjectStore, StoredObject } from '../../storage/ports/object-store.ts';

export function openMemoryObjects(): ObjectStore {
  const objects = new Map<string, StoredObject>();
  return {
    async get(key, { ifNoneMatch } = {}) {
      const found = objects.get(key);
      if (found === undefined) return { kind: 'absent' };
      return found.etag === ifNoneMatch ? { kind: 'not-modified' } : { kind: 'found', ...found };
    },
    async stat(key) {
      return objects.get(key) ?? null;
    },
    async put(key, body, metadata, condition) {
      checkObjectKey(key);
      checkObjectBody(key, body);
      const current = objects.get(key);
      const holds = condition.kind === 'absent' ? current === undefined : current?.etag === condition.etag;
      if (!holds) return { kind: 'refused' };
      const etag = etagOfDigest(bodyDigest(body));
      objects.set(key, { etag, sizeBytes: body.byteLength, metadata, body });
      return { kind: 'stored', etag };
    },
    async delete(key, etag) {
      if ((objects.get(key)?.etag ?? etag) !== etag) return 'refused';
      objects.delete(key);
      return 'deleted';
    },
    async list(prefix, { after = '' } = {}) {
      checkListPrefix(prefix);
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
      const page = keys.slice(0, LIST_PAGE_SIZE);
      return { keys: page, next: keys.length > page.length ? (page.at(-1) ?? null) : null };
    },
  };
}
