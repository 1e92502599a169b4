/** The paths of a directory store's files. */
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { StorageUnavailable } from '../ports/errors.ts';
import type { ObjectMetadata } from '../ports/object-store.ts';

/** The public objects, byte for byte. Any web server can serve this folder. */
export const PUBLIC_FOLDER = PUBLIC_PREFIX;
/** The index, internal objects, and files that are being written. */
export const STORE_FOLDER = 'store';

/** The mode of public folders: web servers run as other users. The data folder itself is closed to others by its owner. */
export const READABLE_FOLDER = 0o755;

export const indexPath = (root: string): string => join(root, STORE_FOLDER, 'index.sqlite');
export const temporaryFolder = (root: string): string => join(root, STORE_FOLDER, 'tmp');
export const internalFolder = (root: string): string => join(root, STORE_FOLDER, 'objects');

/** No key contains this character. So `a` and `a/b` can both be internal objects, as in S3. */
const INTERNAL_SUFFIX = '+';
const GONE_SUFFIX = '.gone.json';

/**
 * The file of an object. A public object has the path of its key. A problem document that replaces one has a path beside
 * it, so that a server can answer 410 because this file exists: `gold-usd.json` becomes `gold-usd.gone.json`.
 */
export function objectFile(root: string, key: string, { contentType }: Pick<ObjectMetadata, 'contentType'>): string {
  if (!isPublic(key)) return `${internalFolder(root)}/${key}${INTERNAL_SUFFIX}`;
  return `${root}/${isGone(key, contentType) ? key.replace(/\.json$/, '') + GONE_SUFFIX : key}`;
}

/** Whether a problem document replaces an object. The body for 404 is a separate object. */
function isGone(key: string, contentType: string): boolean {
  return contentType === PROBLEM_CONTENT_TYPE && !key.startsWith(`${PUBLIC_PREFIX}/errors/`);
}

export function isPublic(key: string): boolean {
  return key.startsWith(`${PUBLIC_PREFIX}/`);
}

/**
 * The inverse of {@link objectFile}, for a path below the folder of public or of internal objects. Several keys: the object
 * has one of them. Empty: no object has this path.
 */
export function keysAt(path: string, isInternal: boolean): readonly string[] {
  if (isInternal) return path.endsWith(INTERNAL_SUFFIX) ? [path.slice(0, -INTERNAL_SUFFIX.length)] : [];
  const key = `${PUBLIC_PREFIX}/${path}`;
  if (!key.endsWith(GONE_SUFFIX)) return [key];
  const gone = key.slice(0, -GONE_SUFFIX.length);
  return [`${gone}.json`, gone];
}

export function isFile(found: Stats | undefined): found is Stats {
  return found?.isFile() === true;
}

/** Ignores a missing file. A folder at the path of a file counts as a missing file. */
export function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR') throw error;
}

/** Turns errors of the file system and of the index into StorageUnavailable. */
export async function translateErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // An error without a code is StorageCorrupt, or a bug.
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new StorageUnavailable(
      `${path} cannot be used (${error.message}): check its folder, permissions and free space, and that its disk is writable`,
      { cause: error },
    );
  }
}
