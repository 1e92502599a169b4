/** Tiles of a tree whose root is known: each is checked against the tile above it before it is used. */
import { LRUCache } from 'lru-cache';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { HASH_BYTES, perfectRoot } from '../../contract/log/merkle.ts';
import type { TileReader } from '../../contract/log/proofs.ts';
import { TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';

/** One level-1 tile is above 65,536 entries, so few are in use at once. */
const KEPT_TILES = 64;

/**
 * A reader of tiles that proves them: the partial tiles of the tree give the root, and each full tile gives a hash of
 * the tile above it.
 *
 * @param read the tiles of somebody who is not trusted
 * @throws LogFaultError if the partial tiles do not give the root; its reader rejects with one for any other wrong tile
 */
export async function verifiedTiles(
  { size, root }: { readonly size: number; readonly root: Buffer },
  read: TileReader,
): Promise<{ readonly tree: LogTree; readonly read: TileReader }> {
  const known = new LRUCache<string, Buffer>({ max: KEPT_TILES });
  const edge = new Map<string, Buffer>();
  const readEdge: TileReader = async (level, n, width) => {
    const tile = await readWhole(read, level, n, width);
    edge.set(`${level}/${n}`, tile);
    return tile;
  };
  const tree = await LogTree.at(size, readEdge);
  if (!tree.root().equals(root)) throw new LogFaultError(`the tiles of the log do not give the root of size ${size}`);
  const readVerified: TileReader = async (level, n, width) => {
    const name = `${level}/${n}`;
    const there = edge.get(name) ?? known.get(name);
    if (there !== undefined) return there.subarray(0, width * HASH_BYTES);
    const whole = widthOfTile(level, n, size);
    const tile = await readWhole(read, level, n, whole);
    const above = await readVerified(level + 1, Math.floor(n / TILE_WIDTH), widthOfAbove(level, n, size));
    const at = (n % TILE_WIDTH) * HASH_BYTES;
    if (!perfectRoot(tile).equals(above.subarray(at, at + HASH_BYTES))) {
      throw new LogFaultError(`tile ${n} of level ${level} is not that of the signed tree`);
    }
    known.set(name, tile);
    return tile.subarray(0, width * HASH_BYTES);
  };
  return { tree, read: readVerified };
}

const widthOfAbove = (level: number, n: number, size: number) =>
  widthOfTile(level + 1, Math.floor(n / TILE_WIDTH), size);

async function readWhole(read: TileReader, level: number, n: number, width: number): Promise<Buffer> {
  const tile = await read(level, n, width);
  if (tile.length === width * HASH_BYTES) return tile;
  throw new LogFaultError(`tile ${n} of level ${level} has ${tile.length} bytes, expected ${width * HASH_BYTES}`);
}
