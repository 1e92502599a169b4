/** The two stores, and how one object is copied. */
import { PUBLIC_OBJECTS, type PublicObjectName } from '../../contract/files/public-objects.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ETag, ObjectStore, StoredObject } from '../../storage/ports/object-store.ts';
import { ifStill } from '../../storage/ports/objects.ts';
import type { Concurrency } from '../dependencies.ts';
import { ImmutableMismatch } from '../errors.ts';

export interface CopyStorage {
  /** It is only read. */
  readonly ledger: Pick<Ledger, 'get' | 'query'>;
  /** The store into which the deployment publishes. It is only read. */
  readonly first: ObjectStore;
  /** A store of the same kind as the first: the same bytes have the same ETag in both. */
  readonly second: ObjectStore;
  readonly nowMs: () => number;
  readonly concurrency: Pick<Concurrency, 'objects'>;
  /** If it returns false, the round ends soon, and the next one continues. */
  readonly hasTime: () => boolean;
}

export type Stores = Pick<CopyStorage, 'first' | 'second'>;

/** An object of the first store, and the ETag that it replaces in the second. */
export interface ReadObject extends StoredObject {
  readonly key: string;
  readonly replaces: ETag | null;
}

/** More rounds than the writers that could ever compete for one object. */
const MAX_ROUNDS = 20;

/** Null: the first store lacks it, or the second has the same bytes. */
export async function readObject({ first, second }: Stores, key: string): Promise<ReadObject | null> {
  const there = await second.stat(key);
  const found = await first.get(key, there === null ? {} : { ifNoneMatch: there.etag });
  return found.kind === 'found' ? { ...found, key, replaces: there?.etag ?? null } : null;
}

/** Puts the object with its own generation. A newer one in the second store stays. */
export async function putObject(second: ObjectStore, object: ReadObject): Promise<void> {
  const { key, body, metadata, etag } = object;
  let { replaces } = object;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if ((await second.put(key, body, metadata, ifStill(replaces))).kind === 'stored') return;
    const there = await second.stat(key);
    if (there !== null && (there.etag === etag || there.metadata.generation > metadata.generation)) return;
    replaces = there?.etag ?? null;
  }
  throw new Error(`${key} could not be copied in ${MAX_ROUNDS} rounds`);
}

/** Copies an immutable object. False: both stores lack it. @throws ImmutableMismatch */
export async function copyImmutable({ first, second }: Stores, key: string): Promise<boolean> {
  const there = await second.stat(key);
  const found = await first.get(key, there === null ? {} : { ifNoneMatch: there.etag });
  if (found.kind !== 'found') return there !== null;
  if (there !== null)
    throw new ImmutableMismatch(
      `${key} is immutable and has other bytes in the second region. Remove it there by hand.`,
    );
  await putObject(second, { ...found, key, replaces: null });
  return true;
}

/** Whether the file is made outside of generations (`Projector.daily`). */
export function isMadeDaily(name: PublicObjectName | null): boolean {
  const retention = name === null ? null : PUBLIC_OBJECTS[name.kind].retention;
  return retention === 'export' || retention === 'compat';
}
