/** The right edge of the log, read from the ledger: appending needs nothing else, however large the log is. */
import { leafOf } from '../../../contract/log/entry-bundle.ts';
import { EMPTY_ROOT, HASH_BYTES } from '../../../contract/log/merkle.ts';
import type { TileReader } from '../../../contract/log/proofs.ts';
import { TILE_WIDTH } from '../../../contract/log/tiles.ts';
import { type HashTile, LogTree } from '../../../contract/log/tree.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { Ledger, LedgerReader } from '../../../storage/ports/ledger.ts';
import { logHashesKey } from '../../../storage/records/log.ts';
import type { LogState } from '../../../storage/records/publication.ts';
import type { BundleLine } from '../../kernel/bundle.ts';
import { readEntries } from './log-chunks.ts';

/** The state before the first entry. */
export const NO_LOG: LogState = { size: 0, root: EMPTY_ROOT.toString('base64'), vkeys: [], service: '' };

/** The ledger's records of hash tiles. Hashes of entries have no record, because they follow from the entries. */
export function hashRecords(tiles: readonly HashTile[]): readonly BundleLine[] {
  return tiles
    .filter(({ level }) => level > 0)
    .map(({ level, n, hashes }) => {
      return { kind: 'record', key: logHashesKey(level, n), value: { hashes: hashes.toString('base64') } };
    });
}

export interface LogEdge {
  readonly tree: LogTree;
  /** The entries after the last full tile. */
  readonly open: string[];
}

/** @throws StorageCorrupt if the records do not give the root of this state */
export async function readEdge(ledger: Ledger, { size, root }: Pick<LogState, 'size' | 'root'>): Promise<LogEdge> {
  const width = size % TILE_WIDTH;
  const open = width === 0 ? [] : await readEntries(ledger, Math.floor(size / TILE_WIDTH), width);
  const tree = await LogTree.at(size, async (level, n, tileWidth) =>
    level === 0 ? Buffer.concat(open.map(leafOf)) : await readHashes(ledger, level, n, tileWidth),
  );
  if (tree.root().toString('base64') !== root) {
    throw new StorageCorrupt(`the ledger's records of the log do not give its root at size ${size}`);
  }
  return { tree, open };
}

/** Reads tiles of every level from the ledger's records. */
export function ledgerTiles(ledger: LedgerReader): TileReader {
  return async (level, n, width) =>
    level === 0
      ? Buffer.concat((await readEntries(ledger, n, width)).map(leafOf))
      : await readHashes(ledger, level, n, width);
}

async function readHashes(ledger: LedgerReader, level: number, n: number, width: number): Promise<Buffer> {
  const item = await ledger.get(logHashesKey(level, n));
  const hashes = Buffer.from(item?.value.hashes ?? '', 'base64');
  if (hashes.length >= width * HASH_BYTES) return hashes.subarray(0, width * HASH_BYTES);
  throw new StorageCorrupt(
    `the ledger does not have the first ${width} hashes of tile ${n} on level ${level} of the log`,
  );
}
