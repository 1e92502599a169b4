/**
 * Public objects as the files of a static host: each at its public path. The problem document of a removed market is beside
 * it, as `gold-usd.gone.json`, so that a host recognises by the path that the market is gone.
 *
 * Safety of a removal: the problem document is put first, and then the body is deleted with the ETag that was seen. While
 * both exist, the body counts. So each put takes effect at one moment, and a process that dies earlier has changed nothing.
 */
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { keysAt, objectFile } from '../directory/object-places.ts';
import type {
  ETag,
  GetResult,
  ObjectHead,
  ObjectMetadata,
  ObjectStore,
  PutCondition,
  PutResult,
} from '../ports/object-store.ts';
import { ifStill } from '../ports/objects.ts';

/** @param files a store whose keys are paths; it may have files of others, which are not listed */
export function publicFiles(files: ObjectStore): ObjectStore {
  return new PublicFiles(files);
}

class PublicFiles implements ObjectStore {
  readonly #files: ObjectStore;

  constructor(files: ObjectStore) {
    this.#files = files;
  }

  async get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetResult> {
    const { path, gone } = placesOf(key);
    const found = await this.#files.get(path, options);
    return found.kind === 'absent' && gone !== null ? await this.#files.get(gone, options) : found;
  }

  async stat(key: string): Promise<ObjectHead | null> {
    const { path, gone } = placesOf(key);
    return (await this.#files.stat(path)) ?? (gone === null ? null : await this.#files.stat(gone));
  }

  async put(key: string, body: Uint8Array, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult> {
    const { path, gone } = placesOf(key);
    if (gone === null) return await this.#files.put(path, body, metadata, condition);
    const isGone = metadata.contentType === PROBLEM_CONTENT_TYPE;
    const [here, other] = isGone ? [gone, path] : [path, gone];
    if (condition.kind === 'absent') {
      if ((await this.#files.stat(other)) !== null) return { kind: 'refused' };
      return await this.#files.put(here, body, metadata, condition);
    }
    const replaced = await this.#files.put(here, body, metadata, condition);
    if (replaced.kind === 'stored') return replaced;
    if ((await this.#files.stat(other))?.etag !== condition.etag) return replaced;
    const left = await this.#files.stat(here);
    const stored = await this.#files.put(here, body, metadata, ifStill(left?.etag ?? null));
    if (stored.kind === 'refused') return stored;
    const moved = await this.#files.delete(other, condition.etag);
    return isGone && moved === 'refused' ? { kind: 'refused' } : stored;
  }

  async delete(key: string, etag: ETag): Promise<'deleted' | 'refused'> {
    const { path, gone } = placesOf(key);
    if (gone === null) return await this.#files.delete(path, etag);
    const [present, left] = [await this.#files.stat(path), await this.#files.stat(gone)];
    if (present === null) return await this.#files.delete(gone, etag);
    // The leftover of a process that died after putting it beside the body.
    if (left !== null && present.etag === etag) await this.#files.delete(gone, left.etag);
    return await this.#files.delete(path, etag);
  }

  async list(prefix: string, { after = '' }: { readonly after?: string } = {}) {
    const { keys, next } = await this.#files.list(pathOf(prefix), { after: after === '' ? '' : pathOf(after) });
    const ours = keys.flatMap((path) => keysAt(path, false).find((key) => isPlaceOf(key, path)) ?? []);
    return { keys: [...new Set(ours)], next: next === null ? null : `${PUBLIC_PREFIX}/${next}` };
  }
}

const pathOf = (key: string) => key.slice(PUBLIC_PREFIX.length + 1);

function placesOf(key: string): { readonly path: string; readonly gone: string | null } {
  const name = parsePublicKey(key);
  const mayBeGone = name !== null && PUBLIC_OBJECTS[name.kind].mayBeGone;
  return {
    path: pathOf(key),
    gone: mayBeGone ? pathOf(objectFile('', key, { contentType: PROBLEM_CONTENT_TYPE }).slice(1)) : null,
  };
}

function isPlaceOf(key: string, file: string): boolean {
  const { path, gone } = placesOf(key);
  return parsePublicKey(key) !== null && (path === file || gone === file);
}
