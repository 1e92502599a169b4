/**
 * Removes files that no walk reaches any more, when no reader can hold a link to them. An object stays for the cursor lifetime
 * after the first sweep that did not reach it; a daily file, for as long as the service keeps it. Call it between two rounds.
 * It also finds objects that a killed round left.
 */
import { EXPORT_KEPT_DAYS } from '../../contract/bodies/export-tables.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { LOG_ROOT, PUBLIC_OBJECTS, parsePublicKey, publicPath } from '../../contract/files/public-objects.ts';
import { parseTilePath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { MirrorCopy } from './copy.ts';
import { isDaily } from './stage.ts';

/** Files that only an earlier version published. */
const FORMER: ReadonlySet<string> = new Set(PROJECTORS.flatMap(({ keys = [] }) => keys));

/** For each key, the time of the first sweep that did not reach it, in milliseconds since the epoch. */
export type Unreached = Readonly<Record<string, number>>;

export interface SweepOptions {
  /** The keys that the walk has read. */
  readonly reached: ReadonlySet<string>;
  /** The sizes of the log whose partial tiles are in use. */
  readonly logSizes: readonly number[];
  /** The files of the built site, by path. */
  readonly siteFiles: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** Walks all objects, and counts `copy.usedBytes` again. */
export async function sweepCopy(copy: MirrorCopy, before: Unreached, options: SweepOptions): Promise<Unreached> {
  const unreached: Record<string, number> = {};
  let usedBytes = 0;
  for await (const key of copy.keys('/')) {
    const name = parsePublicKey(key);
    const head = await copy.objects.stat(key);
    if (name === null && FORMER.has(key)) await copy.remove(key);
    if (head === null || name === null) continue;
    const isKept = isReached(key, name, options);
    const sinceMs = before[key] ?? options.nowMs;
    if (!isKept && options.nowMs - sinceMs >= retentionMs(name)) {
      await copy.remove(key);
      continue;
    }
    if (!isKept) unreached[key] = sinceMs;
    usedBytes += head.sizeBytes;
  }
  copy.usedBytes = usedBytes;
  return unreached;
}

/** Counts the bodies that an earlier process has stored. */
export async function countBytes(copy: MirrorCopy): Promise<void> {
  let bytes = 0;
  for await (const key of copy.keys('/')) bytes += (await copy.objects.stat(key))?.sizeBytes ?? 0;
  copy.usedBytes = bytes;
}

function isReached(key: string, name: PublicObjectName, { reached, logSizes, siteFiles }: SweepOptions): boolean {
  if ('tile' in name) return isTileReached(name, logSizes);
  if (PUBLIC_OBJECTS[name.kind].retention === 'site') return 'file' in name && Object.hasOwn(siteFiles, name.file);
  return reached.has(key);
}

function retentionMs(name: PublicObjectName): number {
  const seconds = isDaily(name) ? EXPORT_KEPT_DAYS * 24 * 3600 : PAGE_RETENTION_SECONDS;
  return seconds * 1000;
}

function isTileReached(name: Extract<PublicObjectName, { readonly tile: string }>, sizes: readonly number[]): boolean {
  const tile = parseTilePath(publicPath(name).slice(LOG_ROOT.length + 1));
  if (tile === null) return false;
  const level = typeof tile.level === 'number' ? tile.level : 0;
  return tile.width === TILE_WIDTH || sizes.some((size) => widthOfTile(level, tile.n, size) === tile.width);
}
