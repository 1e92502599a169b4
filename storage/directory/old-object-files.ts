/**
 * The files of directory stores before plain files: `<root>/objects/objects/<key>+object`, each with a line of JSON before
 * its body, which may be a zstd frame. They are moved over one by one, so an interrupted move continues.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, unlink } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import pMap from 'p-map';
import { currentKey } from '../../contract/files/old-paths.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { bodyDigest } from '../ports/object-rules.ts';
import type { ObjectMetadata, ObjectStore } from '../ports/object-store.ts';
import { isPublic } from './object-places.ts';

const SUFFIX = '+object';
const FILES_AT_ONCE = 32;

interface Header extends ObjectMetadata {
  readonly key: string;
  readonly sizeBytes: number;
  readonly frameBytes?: number;
  readonly sha256: string;
}

export async function moveOldObjects(
  root: string,
  objects: Pick<ObjectStore, 'put'>,
  progress: (moved: number) => void,
): Promise<void> {
  const old = join(root, 'objects');
  const folder = join(old, 'objects');
  if (!existsSync(folder)) return;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let moved = 0;
  await pMap(
    entries.filter((entry) => entry.isFile() && entry.name.endsWith(SUFFIX)),
    async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const key = relative(folder, path).replaceAll(sep, '/').slice(0, -SUFFIX.length);
      const found = opened(await readFile(path), key);
      // A damaged one counts as lost: it is published again. Objects of kinds that are no longer published go.
      const isWanted = !isPublic(key) || parsePublicKey(currentKey(key)) !== null;
      if (found !== null && isWanted)
        await objects.put(currentKey(key), found.body, found.metadata, { kind: 'absent' });
      await unlink(path);
      progress(++moved);
    },
    { concurrency: FILES_AT_ONCE },
  );
  await rm(old, { recursive: true });
}

/** Null: the file is damaged. */
function opened(file: Buffer, key: string): { readonly body: Uint8Array; readonly metadata: ObjectMetadata } | null {
  try {
    const end = file.indexOf('\n');
    const header = JSON.parse(file.toString('utf8', 0, end)) as Header;
    const { contentType, cacheControl, cacheTag, generation, nextCursor, sizeBytes, frameBytes } = header;
    const content = file.subarray(end + 1);
    const body = frameBytes === undefined ? content : zstdDecompressSync(content, { maxOutputLength: sizeBytes });
    if (header.key !== key || bodyDigest(body) !== header.sha256) return null;
    return { body, metadata: { contentType, cacheControl, cacheTag, generation, nextCursor } };
  } catch {
    return null;
  }
}
