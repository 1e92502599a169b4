/**
 * Internal objects: compressed, immutable, named by a generation and by the digest of what they hold. Compressed bytes may
 * differ between two versions of the compressor, so nothing compares them: contents are compared.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ObjectMetadata, ObjectStore } from '../../storage/object-store.ts';
import type { ObjectRef } from '../../storage/records/publication.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import { ImmutableMismatch } from '../errors.ts';

/** `redo/`: what applying a generation writes. `layout/`: the pages of the market list. */
export type PackedPrefix = 'redo/' | 'layout/';

/** Bundles of format 1 were not compressed. They are never read, and swept like others. */
const PATTERN = /^(?:redo|layout)\/([1-9][0-9]{0,14})-[0-9a-f]{32}\.(?:json\.zst|ndjson)$/;

/** How often a put is tried again that finds an object first, and then none. */
const ROUNDS = 3;

/** The generation that a packed object was written for; null for the key of anything else. */
export function packedGeneration(key: string): number | null {
  const match = PATTERN.exec(key);
  return match ? Number(match[1]) : null;
}

/** Puts the text under a name made from it, unless it is there. Throws {@link ImmutableMismatch} where other text is. */
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
    const result = await objects.put(key, bytes, metadataOf(generation), { kind: 'absent' });
    if (result.kind === 'stored' || (await readPacked(objects, { key, digest })) === text) return { key, digest };
    // A rival that has prepared the same may have applied it, and removed it, in between.
    if ((await objects.stat(key)) !== null) break;
  }
  throw new ImmutableMismatch(
    `${key} is immutable and does not hold what its name says. Nothing was overwritten. Remove it by hand, then publish again.`,
  );
}

/** The text; null when the object is gone or does not hold what its name says. */
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

function metadataOf(generation: number): ObjectMetadata {
  return { contentType: 'application/zstd', cacheControl: 'no-store', cacheTag: null, generation, nextCursor: null };
}
