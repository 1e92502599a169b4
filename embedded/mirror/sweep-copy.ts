/**
 * Removes pages that the copy does not reach any more, once no reader can hold a cursor of them: a page is kept for the
 * cursor lifetime after the first sweep that did not reach it. To be called between two rounds. A page that a killed
 * round left behind is found in the same way.
 */
import { parseTilePath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import type { PublicObjectName } from '../../contract/public-object-names.ts';
import { LOG_ROOT, PUBLIC_PREFIX, parsePublicKey, publicKey, publicPath } from '../../contract/public-objects.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/sweep/collect-garbage.ts';
import type { MirrorCopy } from './copy.ts';

/** When a sweep first did not reach a key, in milliseconds since the epoch. */
export type Unreached = Readonly<Record<string, number>>;

export interface SweepReport {
  readonly unreached: Unreached;
  readonly removed: number;
  /** Markets of the copy with a gap in their history, and whether the list has one. To be taken over again. */
  readonly broken: readonly string[];
}

/**
 * Walks all objects; counts `copy.usedBytes` again. Reads heads of files only.
 *
 * @param lost markets that the service does not have any more
 * @param logSizes the sizes of the log whose partial tiles are in use
 */
export async function sweepCopy(
  copy: MirrorCopy,
  before: Unreached,
  lost: ReadonlySet<string>,
  logSizes: readonly number[],
  nowMs: number,
): Promise<SweepReport> {
  const unreached: Record<string, number> = {};
  const broken: string[] = [];
  let [usedBytes, removed] = [0, 0];
  /** Pages come slug by slug, so that the pages of one market are in memory. */
  let chain: { readonly owner: string; readonly cursors: ReadonlySet<string> } | null = null;
  const isReached = async (name: PublicObjectName): Promise<boolean> => {
    if ('tile' in name) return isTileReached(name, logSizes);
    if (!('cursor' in name)) return !('slug' in name && lost.has(name.slug));
    const owner = name.kind === 'history-page' ? name.slug : '';
    if (chain?.owner !== owner) chain = { owner, cursors: (await chainOf(copy, owner)).cursors };
    return chain.cursors.has(name.cursor);
  };
  for (let after: string | null = ''; after !== null; ) {
    const page = await copy.objects.list(`${PUBLIC_PREFIX}/`, { after });
    for (const key of page.keys) {
      const name = parsePublicKey(key);
      const head = await copy.objects.stat(key);
      if (name === null || head === null) continue;
      if (name.kind === 'history' && !(await chainOf(copy, name.slug)).isWhole) broken.push(name.slug);
      const sinceMs = before[key] ?? nowMs;
      const isKept = await isReached(name);
      if (!isKept && nowMs - sinceMs >= PAGE_RETENTION_SECONDS * 1000) {
        await copy.remove(key);
        removed++;
        continue;
      }
      if (!isKept) unreached[key] = sinceMs;
      usedBytes += head.sizeBytes;
    }
    after = page.next;
  }
  copy.usedBytes = usedBytes;
  return { unreached, removed, broken };
}

function isTileReached(name: Extract<PublicObjectName, { readonly tile: string }>, sizes: readonly number[]): boolean {
  const tile = parseTilePath(publicPath(name).slice(LOG_ROOT.length + 1));
  if (tile === null) return false;
  const level = typeof tile.level === 'number' ? tile.level : 0;
  return tile.width === TILE_WIDTH || sizes.some((size) => widthOfTile(level, tile.n, size) === tile.width);
}

/** The pages after a head, by the metadata of their files. `owner` is a slug, or empty for the list. */
async function chainOf(
  copy: MirrorCopy,
  owner: string,
): Promise<{ readonly cursors: ReadonlySet<string>; readonly isWhole: boolean }> {
  const cursors = new Set<string>();
  const first = await copy.head(owner === '' ? { kind: 'market-list' } : { kind: 'history', slug: owner });
  for (let cursor = first?.metadata.nextCursor ?? null; cursor !== null && !cursors.has(cursor); ) {
    cursors.add(cursor);
    const name: PublicObjectName =
      owner === '' ? { kind: 'market-list-page', cursor } : { kind: 'history-page', slug: owner, cursor };
    const next = await copy.objects.stat(publicKey(name));
    if (next === null) return { cursors, isWhole: false };
    cursor = next.metadata.nextCursor;
  }
  return { cursors, isWhole: true };
}
