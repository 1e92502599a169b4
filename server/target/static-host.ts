/**
 * Reads a folder of plain files on a static host with the same answers as from the service. It adds what such a host cannot
 * send: the router's paths, statuses and header fields. So `verify` walks files as it walks a service. It judges the bytes, not
 * the headers of the host.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { cacheControlOf, PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { PROBLEM_CONTENT_TYPE, statusOfObject } from '../../contract/problems/edge-problems.ts';
import { boundedReader, DEFAULT_READ_LIMITS } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { ignoreMissing, objectFile } from '../../storage/directory/object-places.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { CORS_FIELDS, NO_SNIFFING } from '../edge/representation.ts';
import { routeRead } from '../edge/route.ts';
import { StartError } from '../service/start-error.ts';
import type { PublicTarget } from './target.ts';

/** Stores such as S3 answer 403 for a missing file, unless the reader may list the files. */
const MISSING: readonly number[] = [403, 404];

/**
 * Reads a service through its API, and a static host through its files. The first answer shows the kind of host.
 *
 * @param read GETs a URL or file below the base URL
 * @param onFiles called once if the host has only files
 */
export function hostReader(read: PublicReader, onFiles = () => {}): PublicReader {
  let known: PublicReader | null = null;
  const readerOf = async () => {
    if ((await read(SNAPSHOT_URL)).status === 200) return read;
    const hasFiles = (await read(`${SNAPSHOT_URL}.json`)).status === 200;
    // Otherwise the caller reports the fault, and the next read tries again.
    if (!hasFiles) return null;
    onFiles();
    return staticHostReader(read);
  };
  return async (url, headers) => {
    known ??= await readerOf();
    return await (known ?? read)(url, headers);
  };
}

/** @param read GETs a file by its path below the base URL */
export function staticHostReader(read: PublicReader): PublicReader {
  return async (url, { 'if-none-match': known } = {}) => {
    const routed = routeRead('GET', url);
    if (routed.kind === 'answer') return { ...routed, headers: mapOf(routed.fields) };
    const name = parsePublicKey(routed.key);
    const found = await read(pathOf(`/${routed.key}`));
    if (name === null) return found;
    const policy = PUBLIC_OBJECTS[name.kind];
    const isMissing = MISSING.includes(found.status);
    const gone =
      isMissing && policy.mayBeGone
        ? await read(pathOf(objectFile('', routed.key, { contentType: PROBLEM_CONTENT_TYPE })))
        : found;
    const { status, body } = gone.status === 200 ? gone : found;
    if (status !== 200) return { ...found, status: isMissing ? 404 : status };
    const contentType = gone === found ? policy.contentType : PROBLEM_CONTENT_TYPE;
    const etag = `"${sha256Hex(body).slice(0, 32)}"`;
    const headers = new Map([
      ...mapOf([...CORS_FIELDS, ...NO_SNIFFING]),
      ...(contentType === PAGE_CONTENT_TYPE ? Object.entries(pageHeaders(pathOf(`/${routed.key}`))) : []),
      ['content-type', contentType],
      ['cache-control', cacheControlOf(name)],
      ['etag', etag],
    ]);
    if (known === etag) return { status: 304, headers, body: new Uint8Array() };
    return { status: statusOfObject(contentType), headers, body };
  };
}

function pathOf(file: string): string {
  return file.slice(PUBLIC_PREFIX.length + 1);
}

/** @param fields names and values in turn */
function mapOf(fields: readonly string[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) map.set((fields[at] as string).toLowerCase(), fields[at + 1] as string);
  return map;
}

/**
 * Reads every source as a static host, because a service has each file at its own path, too.
 *
 * @param source a base URL, or the folder that contains `api/v1/`
 * @returns a reader that rejects with `UpstreamUnavailable`, with `UpstreamInvalid`, or with an error of the file system
 */
export function namedFilesReader(source: string, timeoutMs = DEFAULT_READ_LIMITS.timeoutMs): PublicReader {
  if (!/^https?:\/\//.test(source)) {
    return filesReader(async (path) => (await readFile(join(source, path)).catch(ignoreMissing)) ?? null);
  }
  const base = URL.parse(source);
  if (base === null) {
    throw new StartError(`${JSON.stringify(source)} is not a URL: give the base URL of the published files.`);
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return staticHostReader(boundedReader(base, { ...DEFAULT_READ_LIMITS, timeoutMs }));
}

/** @param read the `read` of a target */
export function filesReader(read: PublicTarget['read']): PublicReader {
  return staticHostReader(async (path) => {
    const body = await read(path.replace(/^\//, ''));
    return { status: body === null ? 404 : 200, headers: new Map(), body: body ?? new Uint8Array() };
  });
}
