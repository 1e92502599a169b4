/**
 * Continues in another region, with a replica of the ledger and a copy of the store. The items of a replica arrive in any
 * order, so the last transactions may be incomplete; the copy may be older or newer than the replica.
 *
 * Most of this is a restore in place. Two things differ, because readers may have seen more than replica and copy have. The
 * generation is raised above every one that the first region may have shown. And a checkpoint may have been public whose
 * entries have not arrived: if the log continued without them, it would contradict a signed checkpoint. So the log
 * continues only if all entries have arrived that are known to be signed. Otherwise an operator begins another log, under
 * another name, which states every market again.
 */
import pMap from 'p-map';
import { LOG_ROOT, PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { openCheckpoint } from '../../contract/log/checkpoint.ts';
import { leafOf } from '../../contract/log/entry-bundle.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { LogTree } from '../../contract/log/tree.ts';
import { dropped } from '../../storage/ports/changes.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { keyPages, removeObject } from '../../storage/ports/objects.ts';
import { type KeyRange, queryPages, readPage } from '../../storage/ports/paging.ts';
import { LOG_HASHES, logChunksIn } from '../../storage/records/log.ts';
import { GENERATIONS, HEAD_KEY, type LogState, refreshMark } from '../../storage/records/publication.ts';
import { readEntries } from '../core/log/log-chunks.ts';
import { ledgerTiles, NO_LOG, readEdge } from '../core/log/log-edge.ts';
import { namesOfLog } from '../core/log/log-plan.ts';
import { readShownEntries } from '../core/log/reconcile-log.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { changeMany } from '../kernel/change-many.ts';
import { publishedSize } from '../kernel/files/put-tile.ts';
import type { RepairOutcome } from './repair-market.ts';
import { restore } from './restore.ts';

/**
 * The first region can have shown at most this many generations that did not arrive: they are seconds apart, and a replica
 * is seconds behind.
 */
const GENERATIONS_UNSEEN = 1_000;

export interface PromoteOptions {
  /** Signed checkpoints that were seen anywhere. */
  readonly seen?: readonly string[];
  /** The name of a new log that replaces this one. The publisher must be configured with it. Default: this log continues. */
  readonly newLog?: string | null;
}

export interface Promotion {
  readonly repaired: ReadonlyMap<string, RepairOutcome>;
  /** The generation to which HEAD was raised. Null: nothing was ever published. */
  readonly generation: number | null;
  /** The number of entries that have arrived. It is the index of the next entry, unless another log begins. */
  readonly logSize: number;
  /** The number of further entries that are known to be signed. */
  readonly lostEntries: number;
}

/** Entries that are known to be signed have not arrived. Nothing was changed. */
export class LogEntriesLost extends Error {
  override readonly name = 'LogEntriesLost';
}

/**
 * No other process may write to the ledger or the store meanwhile. May be repeated. Publishing continues by itself
 * afterwards.
 *
 * @throws LogEntriesLost if the log cannot continue, and `newLog` is not given
 * @throws RangeError if `newLog` is the name of this log
 * @throws LogFaultError for a checkpoint that no key of this log has signed
 */
export async function promote(
  storage: PublisherStorage,
  { seen = [], newLog = null }: PromoteOptions = {},
): Promise<Promotion> {
  const head = await storage.ledger.get(HEAD_KEY);
  const [newest] = (await readPage(storage.ledger, GENERATIONS, { descending: true, limit: 1 })).items;
  const above = GENERATIONS_UNSEEN + Math.max(head?.revision ?? 0, newest?.value.generation ?? 0);
  const known = head?.value.log ?? NO_LOG;
  const arrived = await arrivedOf(storage, known);
  // An earlier call has begun the other log.
  const isBegun = newLog !== null && namesOfLog(known).includes(newLog) && known.isDoubtful === true;
  const signed = isBegun ? [] : seen.map((note) => openCheckpoint(note, known.vkeys.map(verifierKey)).size);
  const lostEntries = Math.max(known.size, newest?.value.logSize ?? 0, ...signed, arrived.size) - arrived.size;
  if (newLog === null && lostEntries > 0) {
    throw new LogEntriesLost(
      `${arrived.size} entries of the log have arrived, and ${lostEntries} more were signed. If it went on, it would contradict a checkpoint that ` +
        'readers may have. Nothing was changed. docs/operations.md, "A region is lost", says how to go on.',
    );
  }
  if (newLog !== null && !isBegun) {
    if (namesOfLog(known).includes(newLog)) throw new RangeError(`${newLog} is the name of the log that is there`);
    await forgetLog(storage);
  } else if (newLog === null) await markLogged(storage, arrived);
  const log = newLog === null ? arrived.log : { ...NO_LOG, name: newLog };
  const { repaired, generation } = await restore(storage, { above, ...(known === NO_LOG ? {} : { log }) });
  return { repaired, generation, logSize: arrived.size, lostEntries };
}

interface Arrived {
  /** The part of the log of which the ledger has everything. */
  readonly log: LogState;
  /** False: no part of the log is complete in the ledger. */
  readonly isWhole: boolean;
  /** The size of the log, including entries that only the store has. */
  readonly size: number;
}

async function arrivedOf(storage: PublisherStorage, known: LogState): Promise<Arrived> {
  const shown = await publishedSize(storage.objects);
  for (const log of [known, { ...known, ...(known.was ?? NO_LOG) }]) {
    if (await isWhole(storage, log, shown)) return { log, isWhole: true, size: Math.max(log.size, shown) };
  }
  // The next generation copies the whole log from the store.
  return { log: known, isWhole: false, size: shown };
}

/** Whether the ledger can append to the log, and can make every tile that the store lacks. */
async function isWhole({ ledger }: PublisherStorage, log: LogState, shown: number): Promise<boolean> {
  try {
    await readEdge(ledger, log);
    const first = Math.floor(Math.min(shown, log.size) / TILE_WIDTH);
    const tree = await LogTree.at(first * TILE_WIDTH, ledgerTiles(ledger));
    for (let n = first; n * TILE_WIDTH < log.size; n++) {
      const width = Math.min(TILE_WIDTH, log.size - n * TILE_WIDTH);
      for (const text of await readEntries(ledger, n, width)) tree.append(leafOf(text));
    }
    return tree.root().toString('base64') === log.root;
  } catch (error) {
    if (error instanceof StorageCorrupt) return false;
    throw error;
  }
}

/**
 * The log may state a market whose other items have arrived in part or not at all. A refresh mark makes the repair examine
 * it, and the next generations restore lost items.
 */
async function markLogged(storage: PublisherStorage, { log, isWhole, size }: Arrived): Promise<void> {
  const slugs = new Set<string>();
  const add = (texts: readonly string[]) => {
    for (const text of texts) {
      const { market } = JSON.parse(text) as { readonly market?: string };
      if (market !== undefined) slugs.add(market);
    }
  };
  const ofLedger = isWhole ? log.size : 0;
  for (let n = 0; n * TILE_WIDTH < ofLedger; n++)
    add(await readEntries(storage.ledger, n, widthOfTile(0, n, ofLedger)));
  // The next generation reads the entries that the ledger lacks from the store.
  for (let n = Math.floor(ofLedger / TILE_WIDTH); ofLedger < size && n * TILE_WIDTH < size; n++) {
    add(await readShownEntries(storage, n, widthOfTile(0, n, size)));
  }
  await changeMany(storage, [...slugs].map(refreshMark));
}

/** Removes the log from the ledger and from the store, because the tiles of the next log have the same names. */
async function forgetLog(storage: PublisherStorage): Promise<void> {
  const { ledger, objects } = storage;
  for (const range of [LOG_HASHES, ...(await chunkRanges(storage))] as KeyRange<unknown>[]) {
    for await (const items of queryPages(ledger, range)) await changeMany(storage, items.map(dropped));
  }
  for await (const keys of keyPages(objects, `${PUBLIC_PREFIX}${LOG_ROOT}/`))
    await pMap(keys, (key) => removeObject(objects, key), { concurrency: OBJECT_CONCURRENCY });
}

async function chunkRanges({ ledger }: PublisherStorage) {
  const ranges: ReturnType<typeof logChunksIn>[] = [];
  for (;;) {
    const range = logChunksIn(ranges.length);
    if ((await readPage(ledger, range, { limit: 1 })).items.length === 0) return ranges;
    ranges.push(range);
  }
}
