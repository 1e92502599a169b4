/**
 * Exports that have expired: manifests that are more than {@link EXPORT_KEPT_DAYS} days old, and files that no later
 * manifest names. Their records name all of them. If no export was made in all that time, the deployment makes no exports
 * any more, and the newest one is removed too. Exports that an operator keeps stay, with their files. (If the next export
 * begins at that moment, it may name a file that is removed; the one after it notices and puts the file back.)
 */
import { EXPORT_KEPT_DAYS } from '../../../contract/bodies/export-tables.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { readAll, readEach } from '../../../storage/ports/paging.ts';
import {
  dateOfExportDay,
  EXPORT_DAYS,
  EXPORT_FILES,
  type ExportDayValue,
  exportDayKey,
  exportFileKey,
} from '../../../storage/records/exports.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { ExpiredRecord, OwnedObject, Reachability } from '../../kernel/projection.ts';
import { objectsOfFile } from './export-files.ts';
import { filesOfDay } from './keep-export.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Manifests come first, so that no manifest leads readers to a removed file. */
async function expired(storage: PublisherStorage): Promise<readonly ExpiredRecord[]> {
  const { ledger, nowMs } = storage;
  const cutoff = firstKeptDay(nowMs());
  const days = await readAll(ledger, EXPORT_DAYS);
  const newest = days.at(-1);
  if (newest === undefined) return [];
  const isOver = dateOfExportDay(newest) < cutoff;
  const latest = isOver ? [publicKey({ kind: 'export-latest' })] : [];
  const ofDays = days
    .filter((day) => dateOfExportDay(day) < cutoff && !day.value.kept)
    .map((record) => ({
      record,
      keys: [...(record === newest ? latest : []), manifestKey(dateOfExportDay(record))],
    }));
  const kept = await filesOfKept(storage, days);
  // If a kept manifest is lost, its files are unknown until it is made again, so no file is removed.
  if (kept === null) return ofDays;
  const files = await readAll(ledger, EXPORT_FILES);
  const ofFiles = files
    .filter(({ value: { unusedFrom } }) => isOver || (unusedFrom !== null && unusedFrom <= cutoff))
    .map((record) => ({ record, keys: objectsOfFile(record.sort).map(([, name]) => publicKey(name)) }))
    .filter(({ keys }) => !keys.some((key) => kept.has(key)));
  return [...ofDays, ...ofFiles];
}

async function filesOfKept(
  storage: PublisherStorage,
  days: readonly Item<ExportDayValue>[],
): Promise<ReadonlySet<string> | null> {
  const keys = new Set<string>();
  for (const day of days.filter(({ value }) => value.kept)) {
    const files = await filesOfDay(storage, dateOfExportDay(day));
    if (files === null) return null;
    for (const key of files) keys.add(key);
  }
  return keys;
}

function firstKeptDay(nowMs: number): string {
  return new Date(nowMs - EXPORT_KEPT_DAYS * DAY_MS).toISOString().slice(0, 10);
}

function manifestKey(date: string): string {
  return publicKey({ kind: 'export-package', date });
}

/**
 * Listed objects that no record names: leftovers of a sweep that died, and of exports that a restored ledger does not know.
 * A file's record is written before its objects, so none of these objects is about to be used.
 */
async function unreachable(
  { ledger, nowMs }: PublisherStorage,
  objects: readonly OwnedObject[],
): Promise<readonly string[]> {
  const cutoff = firstKeptDay(nowMs());
  const dated = objects.flatMap(({ key, name }) =>
    name !== null && 'date' in name && name.date < cutoff ? [{ key, date: name.date }] : [],
  );
  const days = await readEach(ledger, dated, ({ date }) => exportDayKey(date));
  const old = days.flatMap(([{ key }, day]) => (day?.value.kept ? [] : [key]));
  const files = objects.flatMap(({ key, name }) =>
    name !== null && 'file' in name && name.kind !== 'export-schema' ? [{ key, file: name.file }] : [],
  );
  const records = await readEach(ledger, files, ({ file }) => exportFileKey(file));
  return [...old, ...records.flatMap(([{ key }, record]) => (record === null ? [key] : []))];
}

export const reachableExports: Reachability = { unreachable, expired };
