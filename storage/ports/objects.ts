/** What many callers do with an object store. */
import type { ETag, ObjectStore, PutCondition } from './object-store.ts';

/** Pages of all keys with a prefix, in order. */
export async function* keyPages(
  objects: Pick<ObjectStore, 'list'>,
  prefix: string,
): AsyncGenerator<readonly string[], void> {
  for (let after: string | null = ''; after !== null; ) {
    const { keys, next }: Awaited<ReturnType<ObjectStore['list']>> = await objects.list(prefix, { after });
    yield keys;
    after = next;
  }
}

/** All keys with a prefix, in order. */
export async function listKeys(objects: Pick<ObjectStore, 'list'>, prefix: string): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const keys of keyPages(objects, prefix)) all.push(...keys);
  return all;
}

/** Replaces only the object that was seen. @param etag null: none was seen */
export function ifStill(etag: ETag | null): PutCondition {
  return etag === null ? { kind: 'absent' } : { kind: 'matches', etag };
}

/** Removes the object, unless it is replaced meanwhile. */
export async function removeObject(objects: ObjectStore, key: string): Promise<void> {
  const present = await objects.stat(key);
  if (present !== null) await objects.delete(key, present.etag);
}
