/**
 * Keeps the parts of the observations up to date with the log. Part k has the observations of entries 65,536·k to
 * 65,536·(k+1)−1, so appended entries change only the last part. A correction, or a market that is stated again, changes
 * rows of earlier parts: these parts are read and written again.
 *
 * Earlier parts are changed before the part whose entries change them is recorded. So after a crash the same changes are
 * found and made again, and making them twice has no effect. If the objects of a part are lost, its record and those of all
 * later parts are removed; then these parts are made again from the log.
 */
import { OBSERVATIONS_TABLE } from '../../../contract/bodies/export-tables.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { TILE_WIDTH } from '../../../contract/log/tiles.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { readEach } from '../../../storage/ports/paging.ts';
import type { ExportPartValue } from '../../../storage/records/exports.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { ExportWriter } from './export-files.ts';
import { objectsOfFile } from './export-files.ts';
import { linesIn } from './export-lines.ts';
import { changedRow, type EarlierChanges, type ObservationRow, PartRows } from './observation-rows.ts';
import { PartFile } from './part-file.ts';

/** The first entries of a tile of the log, as texts. */
export type EntryReader = (tile: number, width: number) => Promise<readonly string[]>;

export interface PartsOptions {
  readonly storage: PublisherStorage;
  readonly readEntries: EntryReader;
  readonly writer: ExportWriter;
  /** Lets other tasks run. It is called every one or two milliseconds. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Asked before each part, which takes some seconds. */
  readonly hasTime: () => boolean;
  /** The number of entries of the log that were taken down. */
  readonly takenDown: number;
  /** Entries of the log in a part: a multiple of the width of a tile. */
  readonly partEntries: number;
}

type Part = Item<ExportPartValue>;

/** Brings all parts up to a log of this size. False: there was too little time. */
export async function updateParts(options: PartsOptions, logSize: number): Promise<boolean> {
  const { writer, hasTime, partEntries, takenDown } = options;
  await forgetFromFirstLost(options, await writer.readParts('observations'));
  await forgetBefore(options, takenDown, await writer.readParts('observations'));
  for (;;) {
    const parts = await writer.readParts('observations');
    const last = parts.at(-1);
    const covered = last === undefined ? 0 : (parts.length - 1) * partEntries + last.value.entries;
    if (covered === logSize) return true;
    // A new log has begun.
    if (covered > logSize) {
      await forget(options, parts);
      continue;
    }
    if (!hasTime()) return false;
    const isLastFull = last === undefined || last.value.entries === partEntries;
    await updatePart(options, isLastFull ? parts : parts.slice(0, -1), isLastFull ? null : last, covered, logSize);
  }
}

/** @param covered the index of the first entry that no part covers yet */
async function updatePart(
  { storage, readEntries, writer, yieldToEventLoop, partEntries, takenDown }: PartsOptions,
  earlier: readonly Part[],
  before: Part | null,
  covered: number,
  logSize: number,
): Promise<void> {
  const start = earlier.length * partEntries;
  const end = Math.min(logSize, start + partEntries);
  const read = new PartRows();
  for (let first = start; first < end; first += TILE_WIDTH) {
    read.addTile(first, await readEntries(first / TILE_WIDTH, Math.min(TILE_WIDTH, end - first)));
    await yieldToEventLoop();
  }
  await changeEarlierParts({ storage, writer, yieldToEventLoop }, earlier, read.earlierChanges(covered));
  const file = new PartFile(OBSERVATIONS_TABLE, yieldToEventLoop);
  const quantities = await quantitiesOf(storage, read.undefinedMarkets);
  for await (const rows of read.rows(quantities, yieldToEventLoop)) await file.add(rows);
  await writer.writePart(OBSERVATIONS_TABLE, earlier.length, before, {
    entries: end - start,
    ...(takenDown === 0 ? {} : { takenDown }),
    file,
  });
}

/** A market that the ledger has lost is missing. A later reset in the log cancels its observations. */
async function quantitiesOf({ ledger }: PublisherStorage, slugs: readonly string[]): Promise<Map<string, number>> {
  const found = await readEach(ledger, slugs, marketKey);
  return new Map(found.flatMap(([slug, item]) => (item ? [[slug, item.value.unit.quantity]] : [])));
}

/** Changes the newest parts first, because most corrections are of young observations. */
async function changeEarlierParts(
  options: Pick<PartsOptions, 'storage' | 'writer' | 'yieldToEventLoop'>,
  earlier: readonly Part[],
  { superseded, reset }: EarlierChanges,
): Promise<void> {
  const left = new Map(superseded);
  for (const [index, part] of [...earlier.entries()].reverse()) {
    if (reset.size === 0 && left.size === 0) return;
    if (reset.size === 0 && ![...left.values()].some(({ observedAt }) => isWithin(part.value, observedAt))) continue;
    const packed = await readPacked(options.storage, part);
    const changes = { superseded: left, reset };
    const found: string[] = [];
    let isChanged = false;
    for await (const rows of rowsIn(packed, options.yieldToEventLoop)) {
      for (const row of rows) {
        if (left.has(row.id)) found.push(row.id);
        isChanged ||= changedRow(row, changes) !== row;
      }
    }
    if (isChanged) {
      const file = new PartFile(OBSERVATIONS_TABLE, options.yieldToEventLoop);
      for await (const rows of rowsIn(packed, options.yieldToEventLoop)) {
        await file.add(rows.map((row) => changedRow(row, changes)).filter((row) => row !== null));
      }
      const { entries, takenDown } = part.value;
      const covered = { entries, ...(takenDown === undefined ? {} : { takenDown }) };
      await options.writer.writePart(OBSERVATIONS_TABLE, index, part, { ...covered, file });
    }
    for (const id of found) left.delete(id);
  }
}

function isWithin({ firstObservedAt, lastObservedAt }: ExportPartValue, observedAt: string): boolean {
  if (firstObservedAt === null || lastObservedAt === null) return false;
  const atMs = Date.parse(observedAt);
  return Date.parse(firstObservedAt) <= atMs && atMs <= Date.parse(lastObservedAt);
}

/** The compressed NDJSON of a part. */
async function readPacked({ objects }: PublisherStorage, { value }: Part): Promise<Buffer | null> {
  if (value.files === null) return null;
  const found = await objects.get(publicKey({ kind: 'export-ndjson', file: value.files.file }));
  // The next run finds the loss and makes the part again.
  if (found.kind !== 'found') throw new Error(`${value.files.file} of the exports is lost`);
  return Buffer.from(found.body);
}

/** Reads some rows at a time, because all rows of a part take too much memory. */
async function* rowsIn(
  packed: Buffer | null,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<readonly ObservationRow[]> {
  for await (const lines of packed === null ? [] : linesIn(packed)) {
    yield lines.map((line) => JSON.parse(line) as ObservationRow);
    await yieldToEventLoop();
  }
}

async function forgetFromFirstLost({ storage, writer }: PartsOptions, parts: readonly Part[]): Promise<void> {
  const names = parts.map(({ value }) => (value.files === null ? [] : objectsOfFile(value.files.file)));
  let lost = 0;
  for (const objects of names) {
    const present = await Promise.all(objects.map(([, name]) => storage.objects.stat(publicKey(name))));
    if (present.includes(null)) break;
    lost++;
  }
  await forget({ writer }, parts.slice(lost));
}

/** If entries were taken down since, rows may hold their texts: all parts are made again. */
async function forgetBefore(options: PartsOptions, takenDown: number, parts: readonly Part[]): Promise<void> {
  if (parts.some(({ value }) => (value.takenDown ?? 0) !== takenDown)) await forget(options, parts);
}

/** The last part goes first: after a crash, no part is missing before another. */
async function forget({ writer }: Pick<PartsOptions, 'writer'>, parts: readonly Part[]): Promise<void> {
  for (const part of [...parts].reverse()) await writer.forgetPart(part);
}
