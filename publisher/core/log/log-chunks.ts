/** The ledger's records of log entries: chunks of a tile. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { LedgerReader } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { CHUNK_ENTRIES, type LogChunkValue, logChunkKey, logChunksOf } from '../../../storage/records/log.ts';
import type { BundleLine } from '../../kernel/bundle.ts';

/** The records of a tile's entries, starting with the chunk that holds entry `from` of the tile. */
export function chunkRecords(tile: number, entries: readonly string[], from: number): readonly BundleLine[] {
  const lines: BundleLine[] = [];
  for (let chunk = Math.floor(from / CHUNK_ENTRIES); chunk * CHUNK_ENTRIES < entries.length; chunk++) {
    const some = entries.slice(chunk * CHUNK_ENTRIES, (chunk + 1) * CHUNK_ENTRIES);
    const value: LogChunkValue = { entries: zstdCompressSync(some.join('\n')).toString('base64') };
    lines.push({ kind: 'record', key: logChunkKey(tile, chunk), value });
  }
  return lines;
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
