/** A host without the key: it puts tombstones in the place of signed entries. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { LOG_ROOT } from '../../../contract/files/public-objects.ts';
import { takenDownLine } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { readCheckpoint } from '../log/test-log.ts';
import { price, readerOf, type World } from '../world.ts';

/** Serves the log of a reader with the lines that match hidden, and everything else as it is. */
export function hidingHost(reader: PublicReader, pattern: RegExp): PublicReader {
  return async (url, headers) => {
    const answer = await reader(url, headers);
    if (url.startsWith(`${LOG_ROOT}/tile/entries/`)) return { ...answer, status: 410 };
    if (!url.startsWith(`${LOG_ROOT}/ndjson/`) || answer.status !== 200) return answer;
    const text = gunzipSync(answer.body).toString('utf8');
    return { ...answer, body: gzipSync(text.replace(pattern, (line) => takenDownLine(leafHash(line)))) };
  };
}

/**
 * Publishes a correction in a world with a log. The host shows everything as it was before, under the checkpoint that
 * has the correction.
 */
export async function hostWithoutCorrection(world: World): Promise<PublicReader> {
  const before = world.objects.copy();
  await world.ingest([price('c', 0, 4242)], 'correct');
  await publish(world.dependencies);
  const hiding = hidingHost(readerOf(world.objects), /^.*"amountMinor":4242\d*,.*$/m);
  const checkpoint = await readCheckpoint(world.objects);
  const log = JSON.stringify({ root: checkpoint?.root.toString('base64'), size: checkpoint?.size });
  return async (url, headers) => {
    if (url.startsWith(LOG_ROOT)) return await hiding(url, headers);
    const answer = await readerOf(before)(url, headers);
    if (url !== '/api/v1/snapshot') return answer;
    const body = Buffer.from(answer.body)
      .toString('utf8')
      .replace(/"log":\{[^}]*\}/, `"log":${log}`);
    return { ...answer, body: Buffer.from(body) };
  };
}
