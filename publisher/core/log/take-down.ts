/**
 * Takes entries down, as a part of the next generation. In the ledger's chunks and in the public files, the line of each
 * entry becomes a tombstone with its hash. So the tree stays the same, and a rebuild puts the tombstones again.
 *
 * Safety: the bundle holds all of it, and it is applied after the swap like every other change of the log. So a crash at
 * any step is recovered by the same code. A publisher that has planned with the texts loses the swap. The market is removed
 * and published as removed, for ever: its problem document needs only the entry of the removal.
 *
 * A tombstone is not signed, so any host of the files could write one. Therefore the same generation appends `takedown`
 * entries that name exactly these indexes. Readers accept no other tombstone.
 */
import { entryText, LOG_FORMAT } from '../../../contract/log/entries.ts';
import { takenDownHash, takenDownLine } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { ndjsonPath, parseTilePath, TILE_WIDTH, tilePath } from '../../../contract/log/tiles.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import { dueTakedownKey, type TakedownValue, takedownKey } from '../../../storage/records/takedowns.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { BundleLine } from '../../kernel/bundle.ts';
import { chunkRecords, readEntries } from './log-chunks.ts';
import { entryTiles, logKeyOf } from './log-tiles.ts';

/** The most tiles that one generation reads: 8,192 entries. */
const TILES_AT_ONCE = 32;

export interface TakedownStep {
  readonly lines: readonly BundleLine[];
  /** The texts of the entries that announce the tombstones. */
  readonly announcements: readonly string[];
  /** The entries after the last full tile, if some of them were taken down, and the first of those. */
  readonly open: { readonly entries: readonly string[]; readonly from: number } | null;
  /** The number of entries that were taken down. */
  readonly count: number;
  readonly isMoreDue: boolean;
}

/**
 * The next step of a takedown, in a log of this size. Null while the removal is not published: the generation that
 * publishes it comes first.
 */
export async function nextTakedownStep(
  storage: PublisherStorage,
  id: string,
  generation: number,
  size: number,
): Promise<TakedownStep | null> {
  const item = await storage.ledger.get(takedownKey(id));
  if (item === null) return { lines: [forgotten(id)], announcements: [], open: null, count: 0, isMoreDue: false };
  const { value } = item;
  const published = await storage.ledger.get(publishedHeadsKey(value.market));
  if (!published?.value.isRemoved || published.value.logged === undefined) return null;
  const lines: BundleLine[] = [];
  let open: TakedownStep['open'] = null;
  const hidden: number[] = [];
  const end = Math.min(size, (value.last ?? size) + 1);
  const firstTile = Math.floor(value.next / TILE_WIDTH);
  const endTile = Math.min(Math.ceil(end / TILE_WIDTH), firstTile + TILES_AT_ONCE);
  for (let n = firstTile; n < endTile; n++) {
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH);
    const entries = await readEntries(storage.ledger, n, width);
    const isMeant = (index: number) => value.next <= n * TILE_WIDTH + index && n * TILE_WIDTH + index < end;
    const changed = entries.map((text, index) => (isMeant(index) && isOf(value.market, text) ? tombstone(text) : text));
    const places = [...changed.keys()].filter((index) => changed[index] !== entries[index]);
    const [from] = places;
    if (from === undefined) continue;
    hidden.push(...places.map((index) => n * TILE_WIDTH + index));
    if (width < TILE_WIDTH) open = { entries: changed, from };
    lines.push(...chunkRecords(n, changed, from, entries));
    lines.push(...(await publicTiles(storage, n, changed)));
  }
  const next = Math.max(value.next, Math.min(end, endTile * TILE_WIDTH));
  const isDone = next >= end;
  const count = hidden.length;
  lines.push(recorded(item, id, { next, count: value.entries + count, generation: isDone ? generation : null }));
  if (isDone) lines.push(forgotten(id));
  return { lines, announcements: announcementsOf(value.market, hidden), open, count, isMoreDue: !isDone };
}

/** One entry for each run of consecutive indexes: a wider range would let a host hide the entries in between. */
function announcementsOf(market: string, indexes: readonly number[]): readonly string[] {
  const runs: { first: number; last: number }[] = [];
  for (const index of indexes) {
    const run = runs.at(-1);
    if (run?.last === index - 1) run.last = index;
    else runs.push({ first: index, last: index });
  }
  return runs.map((run) => entryText({ format: LOG_FORMAT, type: 'takedown', market, ...run }));
}

/**
 * Whether the entry is taken down. Three types stay: the removal, from which the problem document follows; a reset, which
 * holds no facts; a takedown, which proves tombstones.
 */
function isOf(slug: string, text: string): boolean {
  if (takenDownHash(text) !== null) return false;
  const { market, type } = JSON.parse(text) as { readonly market?: string; readonly type: string };
  return market === slug && type !== 'removal' && type !== 'reset' && type !== 'takedown';
}

function tombstone(text: string): string {
  return takenDownLine(leafHash(text));
}

/** The public files with the entries of a tile: the full one, and partial ones that the sweep has not removed yet. */
async function publicTiles(
  { objects }: PublisherStorage,
  n: number,
  entries: readonly string[],
): Promise<readonly BundleLine[]> {
  const widths = new Set([entries.length]);
  for (const path of [tilePath('entries', n, 1), ndjsonPath(n, 1)]) {
    const { keys } = await objects.list(logKeyOf(path.slice(0, path.lastIndexOf('/') + 1)));
    for (const key of keys) widths.add(parseTilePath(key.slice(logKeyOf('').length))?.width ?? entries.length);
  }
  const lines: BundleLine[] = [];
  for (const width of widths) {
    // A longer file belongs to a generation that was given up: the sweep removes it.
    if (width > entries.length) continue;
    const some = entries.slice(0, width);
    if (some.every((text) => takenDownHash(text) === null)) continue;
    for (const { key, make } of entryTiles(n, width, async () => some)) {
      const { body, isGone } = await make();
      lines.push({
        kind: 'tile',
        key,
        body: body.toString('base64'),
        isTakenDown: true,
        ...(isGone ? { isGone } : {}),
      });
    }
  }
  return lines;
}

function recorded(
  { value }: Item<TakedownValue>,
  id: string,
  { next, count, generation }: { readonly next: number; readonly count: number; readonly generation: number | null },
): BundleLine {
  const state = generation === null ? 'waiting' : 'done';
  return { kind: 'record', key: takedownKey(id), value: { ...value, state, entries: count, generation, next } };
}

function forgotten(id: string): BundleLine {
  return { kind: 'record', key: dueTakedownKey(id), value: null };
}
