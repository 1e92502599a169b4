/** Reads anybody's copy of what a service has published: of a running one, of a static host, or in a folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { boundedReader, DEFAULT_READ_LIMITS } from '../../publisher/verify/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import { ignoreMissing } from '../../storage/directory/object-places.ts';
import { staticHostReader } from '../commands/static-host.ts';
import { StartError } from '../service/start-error.ts';
import type { PublicTarget } from '../target/target.ts';

/** As {@link publishedFilesReader}, for a URL or folder as a person types it. @throws StartError for a malformed URL */
export function namedFilesReader(source: string, timeoutMs?: number): PublicReader {
  if (!/^https?:\/\//.test(source)) return publishedFilesReader(source, timeoutMs);
  const url = URL.parse(source);
  if (url !== null) return publishedFilesReader(url, timeoutMs);
  throw new StartError(`${JSON.stringify(source)} is no URL: give the base URL of the published files.`);
}

/**
 * Every service has each file at its own path, too, so all sources are read as a static host is.
 *
 * @param source a base URL, or the folder that has `api/v1/`
 * @returns a reader that rejects with `UpstreamUnavailable` or `UpstreamInvalid`, and with an error of the file system
 */
export function publishedFilesReader(source: URL | string, timeoutMs = DEFAULT_READ_LIMITS.timeoutMs): PublicReader {
  if (typeof source === 'string') {
    return filesReader(async (path) => (await readFile(join(source, path)).catch(ignoreMissing)) ?? null);
  }
  const base = new URL(source);
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return staticHostReader(boundedReader(base, { ...DEFAULT_READ_LIMITS, timeoutMs }));
}

/** @param read as of a target */
export function filesReader(read: PublicTarget['read']): PublicReader {
  return staticHostReader(async (path) => {
    const body = await read(path.replace(/^\//, ''));
    return { status: body === null ? 404 : 200, headers: new Map(), body: body ?? new Uint8Array() };
  });
}
