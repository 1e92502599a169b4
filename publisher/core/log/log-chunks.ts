/** The ledger's records of log entries: chunks of a tile, in parts. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { LedgerReader } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { CHUNK_ENTRIES, type LogChunkValue, logChunkKey, logChunksOf } from '../../../storage/records/log.ts';
import type { BundleLine } from '../../kernel/bundle.ts';

/** Texts of a part, in bytes. Even if zstd cannot shrink them, their base64 fits into one item. */
const PART_BYTES = 256 * 1024;

/**
 * The records of a tile's entries, starting with the chunk that holds entry `from` of the tile. A chunk of large entries has
 * several parts.
 *
 * @param before entries that the records have held until now. Shorter ones may need fewer parts: the others are removed
 */
export function chunkRecords(
  tile: number,
  entries: readonly string[],
  from: number,
  before: readonly string[] = [],
): readonly BundleLine[] {
  const records = new Map<string, BundleLine>();
  for (const { key } of partsOf(tile, before, from)) records.set(key.sort, { kind: 'record', key, value: null });
  for (const { key, texts } of partsOf(tile, entries, from)) {
    const value: LogChunkValue = { entries: zstdCompressSync(texts.join('\n')).toString('base64') };
    records.set(key.sort, { kind: 'record', key, value });
  }
  return [...records.values()];
}

/** More entries change no earlier part. */
function* partsOf(tile: number, entries: readonly string[], from: number) {
  for (let chunk = Math.floor(from / CHUNK_ENTRIES); chunk * CHUNK_ENTRIES < entries.length; chunk++) {
    let part = 0;
    let texts: string[] = [];
    let bytes = 0;
    for (const text of entries.slice(chunk * CHUNK_ENTRIES, (chunk + 1) * CHUNK_ENTRIES)) {
      const own = Buffer.byteLength(text) + 1;
      if (bytes + own > PART_BYTES) {
        yield { key: logChunkKey(tile, chunk, part++), texts };
        [texts, bytes] = [[], 0];
      }
      texts.push(text);
      bytes += own;
    }
    yield { key: logChunkKey(tile, chunk, part), texts };
  }
}

/** The first `width` entries of a tile. @throws StorageCorrupt if the ledger lacks one of them */
export async function readEntries(ledger: LedgerReader, tile: number, width: number): Promise<string[]> {
  const chunks = await readAll(ledger, logChunksOf(tile));
  try {
    const entries = chunks.flatMap(({ value }) =>
      zstdDecompressSync(Buffer.from(value.entries, 'base64')).toString('utf8').split('\n'),
    );
    if (entries.length >= width) return entries.slice(0, width);
  } catch (error) {
    throw new StorageCorrupt(`the entries of tile ${tile} of the log cannot be read from the ledger`, { cause: error });
  }
  throw new StorageCorrupt(`the ledger does not have the first ${width} entries of tile ${tile} of the log`);
}
