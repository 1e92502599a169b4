/**
 * Makes the ledger, the store and the log agree again, after a restore of an older ledger, a lost bundle, or a loss of
 * objects. A log never shrinks: every checkpoint that was ever public stays a prefix of the log. So if the store has a
 * longer log than the ledger, the ledger takes over its entries; then all markets are stated again. If the store has a
 * shorter log, its missing tiles are put again. All these entries belong to committed generations, so this happens before
 * the swap, and may be repeated.
 */
import { gunzipSync } from 'node:zlib';
import pMap from 'p-map';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint } from '../../../contract/log/checkpoint.ts';
import { leafOf, takenDownHash } from '../../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { verifierKey } from '../../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, tilesOfGrowth } from '../../../contract/log/tiles.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import type { LedgerReader } from '../../../storage/ports/ledger.ts';
import { listKeys } from '../../../storage/ports/objects.ts';
import { type HeadValue, type LogState, refreshMark } from '../../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherDependencies } from '../../dependencies.ts';
import { LogForked } from '../../errors.ts';
import { writeRecords } from '../../kernel/apply.ts';
import type { BundleLine } from '../../kernel/bundle.ts';
import { changeMany } from '../../kernel/change-many.ts';
import { putTile } from '../../kernel/files/put-tile.ts';
import { chunkRecords, readEntries } from './log-chunks.ts';
import { hashRecords, type LogEdge, ledgerTiles, NO_LOG, readEdge } from './log-edge.ts';
import { entryTiles, hashTile, logKeyOf } from './log-tiles.ts';

/**
 * The state of the log from which the generation continues.
 *
 * @throws LogForked if the ledger's log and the store's log contradict each other
 */
export async function reconcileLog(dependencies: PublisherDependencies, head: HeadValue): Promise<LogState> {
  const { isDoubtful, ...known } = head.log ?? NO_LOG;
  const shown = await readShown(dependencies, known.vkeys);
  let settled: LogState = known;
  let edge = await readEdge(dependencies.ledger, known).catch((error: unknown) => {
    if (!(error instanceof StorageCorrupt) || shown === null) throw error;
    return null;
  });
  if (edge === null || (shown !== null && shown.size > known.size)) {
    edge ??= await readEdge(dependencies.ledger, NO_LOG);
    settled = await adopt(dependencies, head, edge, shown as LogCheckpoint);
  } else if (shown !== null) await checkPrefix(dependencies, shown);
  await putMissing(dependencies, head.generation, settled);
  return settled;
}

/** The checkpoint in the store. It must be signed by a key of this deployment or by a key that the log has named. */
async function readShown(
  { objects, log }: PublisherDependencies,
  keys: readonly string[],
): Promise<LogCheckpoint | null> {
  const found = await objects.get(publicKey({ kind: 'log-checkpoint' }));
  if (found.kind !== 'found') return null;
  const vkeys = new Set([...(log?.signers ?? []).map(({ vkey }) => vkey), ...keys]);
  try {
    return openCheckpoint(Buffer.from(found.body).toString('utf8'), [...vkeys].map(verifierKey));
  } catch (error) {
    throw forked('the checkpoint in the store is not of this log', error);
  }
}

/** @throws LogForked unless the ledger's log had this root at this size */
async function checkPrefix({ ledger }: PublisherDependencies, { size, root }: LogCheckpoint): Promise<void> {
  const tree = await LogTree.at(size, ledgerTiles(ledger));
  if (!tree.root().equals(root)) throw forked(`the store shows another log of ${size} entries than the ledger`);
}

/** Copies the store's entries after the ledger's end into the ledger. The markets in them get refresh marks. */
async function adopt(
  dependencies: PublisherDependencies,
  head: HeadValue,
  { tree, open }: LogEdge,
  { size, root }: LogCheckpoint,
): Promise<LogState> {
  const from = tree.size;
  const slugs = new Set<string>();
  const lines: BundleLine[] = [];
  let kept = [...open];
  for (let n = Math.floor(from / TILE_WIDTH); n * TILE_WIDTH < size; n++) {
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH);
    const entries = await readShownEntries(dependencies, n, width);
    if (kept.some((text, index) => !leafOf(text).equals(leafOf(entries[index] ?? ''))))
      throw forked(`tile ${n} has other entries in the ledger`);
    for (const text of entries.slice(kept.length)) {
      const { market } = JSON.parse(text) as { readonly market?: string };
      if (market !== undefined) slugs.add(market);
      lines.push(...hashRecords(tree.append(leafOf(text))));
    }
    lines.push(...chunkRecords(n, entries, kept.length, kept));
    kept = [];
    await writeRecords(dependencies, head.generation, lines.splice(0));
  }
  if (!tree.root().equals(root)) throw forked(`the tiles in the store do not give the root of its checkpoint`);
  await writeRecords(dependencies, head.generation, hashRecords(tree.partialTiles(from)));
  await changeMany(dependencies, [...slugs].map(refreshMark));
  const { vkeys = [] } = head.log ?? {};
  return { size, root: root.toString('base64'), vkeys, resetBefore: head.generation + 1 };
}

/** @throws LogForked if the store lacks them */
export async function readShownEntries(
  { objects }: Pick<PublisherDependencies, 'objects'>,
  n: number,
  width: number,
): Promise<readonly string[]> {
  // Read from the NDJSON file, because it holds tombstones too.
  const path = ndjsonPath(n, width);
  const found = await objects.get(logKeyOf(path));
  if (found.kind !== 'found') throw forked(`the store has a longer log than the ledger, and ${path} of it is missing`);
  try {
    return gunzipSync(found.body).toString('utf8').split('\n').slice(0, -1);
  } catch (error) {
    throw forked(`${path} is damaged`, error);
  }
}

/**
 * Puts the tiles of the log that the store does not list, and those with entries that were taken down: an older copy of the
 * store may still have their texts.
 */
async function putMissing(
  { ledger, objects }: PublisherDependencies,
  generation: number,
  { size, takenDown = 0 }: LogState,
): Promise<void> {
  const present = new Set(await listKeys(objects, logKeyOf('')));
  const readTile = ledgerTiles(ledger);
  await pMap(
    tilesOfGrowth(0, size),
    async ({ level, n, width }) => {
      const tiles = [hashTile(level, n, width, () => readTile(level, n, width))];
      if (level === 0) tiles.push(...entryTiles(n, width, () => readEntries(ledger, n, width)));
      const isTakenDown = takenDown > 0 && level === 0 && (await hasTakenDown(ledger, n, width));
      for (const { key, make } of tiles) {
        if (isTakenDown || !present.has(key))
          await putTile(objects, generation, { key, isTakenDown, ...(await make()) }, isTakenDown);
      }
    },
    { concurrency: OBJECT_CONCURRENCY },
  );
}

async function hasTakenDown(ledger: LedgerReader, n: number, width: number): Promise<boolean> {
  return (await readEntries(ledger, n, width)).some((text) => takenDownHash(text) !== null);
}

function forked(what: string, cause?: unknown): LogForked {
  const reason = cause instanceof LogFaultError ? ` (${cause.message})` : '';
  return new LogForked(
    `${what}${reason}. Nothing was published, because the log would have two versions. ` +
      'docs/operations.md, "The log after a restore", says how to go on.',
    { cause },
  );
}
