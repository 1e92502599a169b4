/**
 * Follows the log of the service. A tile is stored once its hashes are known to be those of the signed tree, so the copy
 * has nothing that the service has not signed.
 *
 * The signed tree must begin with the one that was signed before. If it does not, the service has signed two pasts: that
 * is proven by the two checkpoints and the tiles, and nothing of it is taken over.
 */

import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint } from '../../contract/log/checkpoint.ts';
import { encodeEntryBundle, leafOf, takenDownHash } from '../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { consistencyProof, type TileReader, verifyConsistency } from '../../contract/log/proofs.ts';
import { ndjsonPath, TILE_WIDTH, tilePath, tilesOfGrowth } from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { entryBundle } from '../../publisher/core/log/log-tiles.ts';
import { UpstreamInvalid } from '../../publisher/verify/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { MirrorCopy } from './copy.ts';
import { linesOf, putLogFile, readLogFile, tilesOfCopy } from './log-copy.ts';
import { verifiedTiles } from './verified-tiles.ts';

/** What a mirror keeps of a log. */
export interface FollowedLog {
  /** The keys that may sign it, oldest first: the first one was given or trusted, the others came by its entries. */
  readonly vkeys: readonly string[];
  /** The newest checkpoint whose tree was verified, as it was signed. Null: none yet. */
  readonly checkpoint: string | null;
}

/** Two checkpoints that one key has signed, and that cannot both be true. */
export class UpstreamForked extends Error {
  override readonly name = 'UpstreamForked';
  readonly earlier: string;
  readonly later: string;

  constructor(message: string, earlier: string, later: string) {
    super(message);
    this.earlier = earlier;
    this.later = later;
  }
}

export interface FollowOptions {
  readonly upstream: PublicReader;
  readonly copy: MirrorCopy;
  readonly generation: number;
  /** Receives the number of new entries before the first one. */
  readonly onGrowth: (entries: number) => void;
  /** Receives each new entry, in order: its line, which may say that it was taken down. */
  readonly onEntry: (line: string) => void | Promise<void>;
  /** Whether the entries so far say that this one may be taken down. */
  readonly isAnnounced: (index: number) => boolean;
}

/**
 * Takes over all entries up to the newest checkpoint, which it returns; not the checkpoint itself. The same `known` if
 * there is nothing new.
 *
 * @throws UpstreamForked if the log contradicts `known`; UpstreamInvalid for everything else that cannot be verified
 */
export async function followLog(known: FollowedLog, options: FollowOptions): Promise<FollowedLog> {
  try {
    return await follow(known, options);
  } catch (error) {
    if (!(error instanceof LogFaultError)) throw error;
    throw new UpstreamInvalid(error.message, { cause: error });
  }
}

async function follow(known: FollowedLog, options: FollowOptions): Promise<FollowedLog> {
  const { upstream, copy } = options;
  const note = (await readLogFile(upstream, 'checkpoint')).toString('utf8');
  if (note === known.checkpoint) return known;
  const keys = known.vkeys.map(verifierKey);
  const [before, now] = [known.checkpoint && openCheckpoint(known.checkpoint, keys), openCheckpoint(note, keys)];
  if (before) {
    if (now.size <= before.size) {
      await checkEarlier(copy, before, now, (why) => new UpstreamForked(why, known.checkpoint ?? '', note));
      return known;
    }
  }
  const read: TileReader = (level, n, width) => readLogFile(upstream, tilePath(level, n, width));
  const tiles = await verifiedTiles(now, read);
  if (before) {
    const proof = await consistencyProof(before.size, now.size, tiles.read);
    const consistency = { oldSize: before.size, oldRoot: before.root, newSize: now.size, newRoot: now.root, proof };
    if (!verifyConsistency(consistency)) {
      const why = `the log of ${now.size} entries does not begin with the one of ${before.size}`;
      throw new UpstreamForked(why, known.checkpoint ?? '', note);
    }
  }
  options.onGrowth(now.size - (before ? before.size : 0));
  const vkeys = await copyGrowth(before ? before.size : 0, now.size, tiles.read, known.vkeys, options);
  return { vkeys, checkpoint: note };
}

/** A cache may have an earlier checkpoint. It must be of the same log all the same. */
async function checkEarlier(
  copy: MirrorCopy,
  before: LogCheckpoint,
  now: LogCheckpoint,
  forked: (why: string) => UpstreamForked,
): Promise<void> {
  const root =
    now.size === before.size ? before.root : (await LogTree.at(now.size, tilesOfCopy(copy, before.size))).root();
  if (!root.equals(now.root)) throw forked(`two logs of ${now.size} entries have different roots`);
}

/** Returns the keys that may sign from now on. */
async function copyGrowth(
  oldSize: number,
  newSize: number,
  read: TileReader,
  known: readonly string[],
  { upstream, copy, generation, onEntry, isAnnounced }: FollowOptions,
): Promise<readonly string[]> {
  const vkeys = [...known];
  const withTombstones: Tile[] = [];
  for (const { level, n, width } of tilesOfGrowth(oldSize, newSize)) {
    const hashes = await read(level, n, width);
    if (level === 0) {
      const { path, gzipped, lines } = await readLines(upstream, { n, width, hashes });
      if (lines.every((line) => takenDownHash(line) === null)) {
        await putLogFile(copy, path, gzipped, generation);
        await putLogFile(copy, tilePath('entries', n, width), encodeEntryBundle(lines), generation);
      } else withTombstones.push({ n, width, hashes });
      for (const line of lines.slice(Math.max(0, oldSize - n * TILE_WIDTH))) {
        const vkey = announcedKey(line);
        if (vkey !== null && !vkeys.includes(vkey)) vkeys.push(vkey);
        await onEntry(line);
      }
    }
    await putLogFile(copy, tilePath(level, n, width), hashes, generation);
  }
  // Their takedowns are later entries. They are read again: the tombstones that were seen are not kept in memory.
  for (const tile of withTombstones) {
    const { path, gzipped, lines } = await readLines(upstream, tile);
    const place = lines.findIndex((line, at) => takenDownHash(line) !== null && !isAnnounced(tile.n * TILE_WIDTH + at));
    if (place >= 0) {
      throw new LogFaultError(
        `${LOG_ROOT}/${path} hides entry ${tile.n * TILE_WIDTH + place}, and no takedown in the log names it`,
      );
    }
    await putLogFile(copy, path, gzipped, generation);
    const { body } = entryBundle(lines, path);
    await putLogFile(copy, tilePath('entries', tile.n, tile.width), body, generation, PROBLEM_CONTENT_TYPE);
  }
  return vkeys;
}

interface Tile {
  readonly n: number;
  readonly width: number;
  /** Verified. */
  readonly hashes: Buffer;
}

/** The entries of a tile. @throws LogFaultError for other ones than its hashes say */
async function readLines(upstream: PublicReader, { n, width, hashes }: Tile) {
  const path = ndjsonPath(n, width);
  const gzipped = await readLogFile(upstream, path);
  const lines = linesOf(gzipped, n, width);
  if (Buffer.concat(lines.map(leafOf)).equals(hashes)) return { path, gzipped, lines };
  throw new LogFaultError(`${LOG_ROOT}/${path} has other entries than the signed tree`);
}

function announcedKey(line: string): string | null {
  // Every other entry names a market.
  if (!line.includes('"type":"key"')) return null;
  const { type, vkey } = JSON.parse(line) as { readonly type?: unknown; readonly vkey?: unknown };
  return type === 'key' && typeof vkey === 'string' ? vkey : null;
}
