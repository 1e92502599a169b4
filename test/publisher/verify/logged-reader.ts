/** Reads a small deployment with a log. */

import { PUBLIC_CACHE_CONTROL } from '../../../contract/files/public-objects.ts';
import { VKEY_URL } from '../../../publisher/verify/log/log-files.ts';
import type { PublicReader, PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { testSigner } from '../log/test-log.ts';
import { readerOf } from '../world.ts';

/** The store, with the file that names the log's keys: the configuration of a deployment writes that one. */
export function loggedReader(objects: ObjectStore, ...vkeys: readonly string[]): PublicReader {
  const read = readerOf(objects);
  return async (url, headers) => {
    const answer = await read(url, headers);
    if (url !== VKEY_URL || answer.status !== 404) return answer;
    return vkeyAnswer(...(vkeys.length === 0 ? [testSigner().vkey] : vkeys));
  };
}

function vkeyAnswer(...vkeys: readonly string[]): PublicResponse {
  const headers = new Map([
    ['content-type', 'text/plain; charset=utf-8'],
    ['cache-control', PUBLIC_CACHE_CONTROL],
  ]);
  return { status: 200, headers, body: Buffer.from(vkeys.map((vkey) => `${vkey}\n`).join('')) };
}
