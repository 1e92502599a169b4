/**
 * Removes files that no walk reaches any more, when no reader can hold a link to them. An object stays for the cursor lifetime
 * after the first sweep that did not reach it; a daily file, for as long as the service keeps it. Call it between two rounds.
 * It also finds objects that a killed round left.
 */
import { EXPORT_KEPT_DAYS } from '../../contract/bodies/export-tables.ts';
import { PUBLIC_OBJECTS, type PublicObjectName, parsePublicKey } from '../../contract/files/public-objects.ts';
import { TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import { type MirrorCopy, tileOf } from './copy.ts';
import { DAILY } from './round.ts';

/** Marks the name of a daily file that no newer file replaces: it holds a day, or a digest of its bytes. */
const DAY_OR_DIGEST = /\/\d{4}-\d\d-\d\d\/|-[0-9a-f]{32}\./;

/** Files that only an earlier version published. */
const FORMER: ReadonlySet<string> = new Set(PROJECTORS.flatMap(({ keys = [] }) => keys));

/** For each key, the time of the first sweep that did not reach it, in milliseconds since the epoch. */
export type Unreached = Readonly<Record<string, number>>;

export interface SweepOptions {
  /** The keys that the walk has read. */
  readonly reached: ReadonlySet<string>;
  /** Whether the walk has read all daily files. If not, only those that an earlier sweep did not reach may be removed. */
  readonly isDailyRead: boolean;
  /** The size of the log: the partial tiles of this size are in use. */
  readonly logSize: number;
  /** The files of the built site, by path. */
  readonly siteFiles: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
}

/** Walks all objects, after a round that has read everything else and put the list. */
export async function sweepCopy(copy: MirrorCopy, before: Unreached, options: SweepOptions): Promise<Unreached> {
  const unreached: Record<string, number> = {};
  const kinds = new Set(Array.from(options.reached, (key) => parsePublicKey(key)?.kind));
  for await (const key of copy.keys('/')) {
    const name = parsePublicKey(key);
    if (name === null && FORMER.has(key)) await copy.remove(key);
    if (name === null || isReached(key, name, options)) continue;
    const sinceMs = before[key] ?? (options.isDailyRead || dailyOf(name) === undefined ? options.nowMs : null);
    if (sinceMs === null) continue;
    if (options.nowMs - sinceMs >= retentionMs(key, name, kinds)) await copy.remove(key);
    else unreached[key] = sinceMs;
  }
  await copy.count();
  return unreached;
}

function isReached(key: string, name: PublicObjectName, { reached, logSize, siteFiles }: SweepOptions): boolean {
  const tile = tileOf(name);
  if (tile !== null) {
    const level = typeof tile.level === 'number' ? tile.level : 0;
    return tile.width === TILE_WIDTH || widthOfTile(level, tile.n, logSize) === tile.width;
  }
  if (PUBLIC_OBJECTS[name.kind].retention === 'site') return 'file' in name && Object.hasOwn(siteFiles, name.file);
  return reached.has(key);
}

const dailyOf = ({ kind }: PublicObjectName) => DAILY.find((each) => each.kinds.includes(kind));

function retentionMs(key: string, name: PublicObjectName, kinds: ReadonlySet<string | undefined>): number {
  const projector = dailyOf(name);
  if (projector === undefined) return PAGE_RETENTION_SECONDS * 1000;
  // Other files that the newest day does not link to would show old data, perhaps of a removed market.
  const isReplaced = !DAY_OR_DIGEST.test(key) && projector.kinds.some((each) => kinds.has(each));
  return isReplaced ? 0 : EXPORT_KEPT_DAYS * 24 * 3600 * 1000;
}
