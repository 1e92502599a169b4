/** Opens the index of a directory store. A lost or damaged index is made again from the files. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { cursorGeneration } from '../../contract/files/cursors.ts';
import {
  PUBLIC_OBJECTS,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
  storedHeaders,
} from '../../contract/files/public-objects.ts';
import { bodyDigest } from '../ports/object-rules.ts';
import type { ObjectMetadata } from '../ports/object-store.ts';
import { type IndexedObject, ObjectIndex } from './object-index.ts';
import { ignoreMissing, indexPath, internalFolder, keysAt, objectFile, PUBLIC_FOLDER } from './object-places.ts';

export async function openIndex(root: string): Promise<ObjectIndex> {
  const path = indexPath(root);
  let index: ObjectIndex;
  try {
    index = new ObjectIndex(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true });
    index = new ObjectIndex(path);
  }
  if (!index.isWhole()) {
    await index.atOnce(async () => {
      await rebuild(root, index);
      index.markWhole();
    });
    await index.sync();
  }
  // The operator has deleted all files, so that they are made again. Later, an empty folder means that its disk is not
  // mounted.
  if ((await readdir(join(root, PUBLIC_FOLDER))).length === 0) index.forgetPublic();
  return index;
}

/** https://sqlite.org/rescode.html: SQLITE_CORRUPT, SQLITE_NOTADB. */
function isDamage(error: unknown): boolean {
  const code = ((error as { errcode?: number }).errcode ?? 0) % 256;
  return code === 11 || code === 26;
}

/**
 * The bytes are not checked: `verify` and the publisher find wrong ones. A head gets the generation of the snapshot,
 * because the snapshot is put last. If a later generation was being applied, it is applied again.
 */
async function rebuild(root: string, index: ObjectIndex): Promise<void> {
  const shown = await readFile(join(root, publicKey({ kind: 'snapshot' }))).catch(ignoreMissing);
  const generation = shown === undefined ? 0 : generationOf(shown);
  for (const [folder, isInternal] of [
    [join(root, PUBLIC_FOLDER), false],
    [internalFolder(root), true],
  ] as const) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const keys = keysAt(relative(folder, path).replaceAll(sep, '/'), isInternal);
      // The folder of public files may be a checkout that has other files too.
      const ours = keys.filter((key) => isInternal || parsePublicKey(key) !== null);
      if (ours.length === 0) continue;
      const bytes = await readFile(path);
      for (const key of ours) {
        const metadata = isInternal ? internalMetadata(key) : metadataAt(key, bytes, generation, path);
        if (metadata === null || bytes.length === 0 || objectFile(root, key, metadata) !== path) continue;
        const current: IndexedObject = { digest: bodyDigest(bytes), sizeBytes: bytes.length, metadata };
        index.put(key, { current, next: null });
      }
    }
  }
}

/** The metadata with which the object was put. Null: it is not a public object. */
function metadataAt(key: string, bytes: Buffer, newest: number, path: string): ObjectMetadata | null {
  const name = parsePublicKey(key);
  const isGone = path.endsWith('.gone.json');
  if (name === null || (isGone && !PUBLIC_OBJECTS[name.kind].mayBeGone)) return null;
  return metadataOfBody(name, bytes, newest, isGone);
}

/** The metadata of a public object. @param newest the generation of a body that can be replaced */
export function metadataOfBody(name: PublicObjectName, bytes: Buffer, newest: number, isGone: boolean): ObjectMetadata {
  const headers = storedHeaders(name, isGone);
  return {
    ...headers,
    generation: 'cursor' in name ? cursorGeneration(name.cursor) : newest,
    nextCursor: headers.contentType === 'application/json' ? nextCursorOf(bytes) : null,
  };
}

function internalMetadata(key: string): ObjectMetadata {
  const generation = Number(/\/(\d+)-/.exec(key)?.[1] ?? 0);
  return { contentType: 'application/zstd', cacheControl: 'no-store', cacheTag: null, generation, nextCursor: null };
}

function generationOf(snapshot: Buffer): number {
  try {
    const { generation } = JSON.parse(snapshot.toString('utf8')) as { generation?: unknown };
    return Number.isSafeInteger(generation) ? (generation as number) : 0;
  } catch {
    return 0;
  }
}

/** A page ends with its links. */
function nextCursorOf(bytes: Buffer): string | null {
  return (
    /"page":\{[^{}]*"nextCursor":"([^"]+)"\}\}$/.exec(bytes.toString('latin1', Math.max(0, bytes.length - 400)))?.[1] ??
    null
  );
}
