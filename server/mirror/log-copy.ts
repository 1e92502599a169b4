/** The log's files in the copy. */
import { gunzipSync } from 'node:zlib';
import { LOG_ROOT, PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { ENTRY_BYTES_MAX } from '../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { HASH_BYTES } from '../../contract/log/merkle.ts';
import type { TileReader } from '../../contract/log/proofs.ts';
import { ndjsonPath, TILE_WIDTH, tilePath } from '../../contract/log/tiles.ts';
import { UpstreamInvalid } from '../../publisher/verify/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { MirrorCopy } from './copy.ts';

/** A tile of entries with a line break each. */
const MAX_LINES_BYTES = TILE_WIDTH * (ENTRY_BYTES_MAX + 1);

/** GETs a file of the log. @throws UpstreamInvalid if it is not there */
export async function readLogFile(reader: PublicReader, path: string): Promise<Buffer> {
  const { status, body } = await reader(`${LOG_ROOT}/${path}`);
  if (status === 200) return Buffer.from(body);
  throw new UpstreamInvalid(`GET ${LOG_ROOT}/${path} failed: ${status}. The log is incomplete`);
}

/** Hashes of a tile of the copy; also the first ones of a wider tile. */
export function tilesOfCopy(copy: MirrorCopy, size: number): TileReader {
  return async (level, n, width) => {
    const tile = await readLogFile(copy.reader, tilePath(level, n, Math.max(width, widthAt(level, n, size))));
    return tile.subarray(0, width * HASH_BYTES);
  };
}

const widthAt = (level: number, n: number, size: number) =>
  Math.min(TILE_WIDTH, Math.max(0, Math.floor(size / TILE_WIDTH ** level) - n * TILE_WIDTH));

/** The lines of a file of NDJSON. @throws LogFaultError for another number of lines, or something else than gzip */
export function linesOf(gzipped: Buffer, n: number, width: number): readonly string[] {
  let text: string;
  try {
    text = gunzipSync(gzipped, { maxOutputLength: MAX_LINES_BYTES }).toString('utf8');
  } catch (cause) {
    throw new LogFaultError(`the entries ${ndjsonPath(n, width)} cannot be unpacked`, { cause });
  }
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length !== width) {
    throw new LogFaultError(`the entries ${ndjsonPath(n, width)} have another number of lines than ${width}`);
  }
  return lines;
}

/** Stores a file of the log. @param contentType default: that of its kind */
export async function putLogFile(
  copy: MirrorCopy,
  path: string,
  body: Buffer,
  generation: number,
  contentType?: string,
): Promise<void> {
  const name = parsePublicKey(`${PUBLIC_PREFIX}${LOG_ROOT}/${path}`);
  if (name === null) throw new Error(`${path} is no path of the log`);
  await copy.put(name, { body, generation, ...(contentType !== undefined && { contentType }) });
}
