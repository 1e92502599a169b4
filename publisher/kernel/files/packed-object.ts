/**
 * Internal objects: compressed, immutable, named by a generation and by the digest of their contents. Different
 * versions of the compressor may give different bytes, so contents are compared, not bytes.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ObjectMetadata, ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { ObjectRef } from '../../../storage/records/publication.ts';
import { ImmutableMismatch } from '../../errors.ts';

/** `redo/`: the bundles of generations. `layout/`: the layouts of the market list. */
export type PackedPrefix = 'redo/' | 'layout/';

const PATTERN = /^(?:redo|layout)\/([1-9][0-9]{0,14})-[0-9a-f]{32}\.json\.zst$/;

/** Attempts when a put finds an existing object that is gone at the next read. */
const ROUNDS = 3;

/** The generation of a packed object; null for any other key. */
export function packedGeneration(key: string): number | null {
  const match = PATTERN.exec(key);
  return match ? Number(match[1]) : null;
}

/**
 * Puts the text under a name that is derived from it, unless it exists.
 *
 * @throws {@link ImmutableMismatch} if it exists with other text
 */
export async function putPacked(
  objects: ObjectStore,
  prefix: PackedPrefix,
  generation: number,
  text: string,
): Promise<ObjectRef> {
  const digest = sha256Hex(text);
  const key = `${prefix}${generation}-${digest.slice(0, 32)}.json.zst`;
  const bytes = zstdCompressSync(text);
  for (let round = 0; round < ROUNDS; round++) {
    const result = await objects.put(key, bytes, packedMetadata(key), { kind: 'absent' });
    if (result.kind === 'stored' || (await readPacked(objects, { key, digest })) === text) return { key, digest };
    // A rival with the same bundle may have applied and removed it in between.
    if ((await objects.stat(key)) !== null) break;
  }
  throw new ImmutableMismatch(
    `${key} is immutable and does not hold what its name says. Nothing was overwritten. Remove it by hand. The next publication puts it again.`,
  );
}

/** The text; null if the object is missing or does not match its name. */
export async function readPacked(objects: ObjectStore, { key, digest }: ObjectRef): Promise<string | null> {
  const found = await objects.get(key);
  if (found.kind !== 'found') return null;
  try {
    const text = zstdDecompressSync(found.body).toString('utf8');
    return sha256Hex(text) === digest ? text : null;
  } catch {
    return null;
  }
}

export function packedMetadata(key: string): ObjectMetadata {
  const generation = packedGeneration(key) ?? 0;
  return { contentType: 'application/zstd', cacheControl: 'no-store', cacheTag: null, generation, nextCursor: null };
}
