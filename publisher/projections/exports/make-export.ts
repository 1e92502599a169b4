/**
 * The daily export: every observation up to a size of the log, the newest values of all markets, and a manifest.
 *
 * 1. The parts of the observations are brought up to the log, one part after the other (observation-parts.ts).
 * 2. The table of markets is made from the published list (market-parts.ts).
 * 3. The manifests are put: of the day, then `latest`. Everything that they name is in place by then.
 * 4. The day is recorded, so that it is made once, unless it is asked for again.
 *
 * Every step may be repeated, by this process or another. Files are immutable and named by their contents, so an
 * interrupted export continues where it stopped, and an export without changes puts only the manifests.
 */
import { EXPORT_PART_ENTRIES } from '../../../contract/bodies/export-tables.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { EXPORT_DAYS, type ExportDayValue, exportDayKey } from '../../../storage/records/exports.ts';
import { generationKey, HEAD_KEY, type HeadValue } from '../../../storage/records/publication.ts';
import { publishedMarkets } from '../../core/lists/published-list.ts';
import { readEntries } from '../../core/log/log-chunks.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { DailyContext, DailyOutcome } from '../../kernel/projection.ts';
import { ExportWriter } from './export-files.ts';
import { changeDay, putLatest } from './keep-export.ts';
import { updateMarkets } from './market-parts.ts';
import { type EntryReader, updateParts } from './observation-parts.ts';

export interface ExportOptions extends Partial<Omit<DailyContext, 'storage'>> {
  readonly storage: PublisherStorage;
  /** Default: from the ledger. */
  readonly readEntries?: EntryReader;
  /** Default: {@link EXPORT_PART_ENTRIES}. */
  readonly partEntries?: number;
}

export type ExportRun = ReturnType<typeof optionsOf>;

/** The options of a run with defaults: no other tasks run, and the time is unlimited. */
export function optionsOf(options: ExportOptions) {
  const { ledger } = options.storage;
  return {
    readEntries: (tile: number, width: number) => readEntries(ledger, tile, width),
    yieldToEventLoop: async () => {},
    hasTime: () => true,
    partEntries: EXPORT_PART_ENTRIES,
    ...options,
  };
}

/**
 * Makes the export of today (UTC), unless it exists and is not to be made again.
 *
 * @throws Superseded if another process does the same work, or the list has just changed: try again
 */
export async function makeExport(options: ExportOptions): Promise<DailyOutcome> {
  const run = optionsOf(options);
  const { storage, again } = run;
  const { ledger, nowMs } = storage;
  const date = new Date(nowMs()).toISOString().slice(0, 10);
  const made = (await ledger.get(exportDayKey(date)))?.value ?? null;
  const head = (await ledger.get(HEAD_KEY))?.value ?? null;
  // Readers may cite a kept export, so it is not made again.
  if (made?.kept) return { kind: 'present', date };
  if (made !== null && again !== 'always' && !(await isDueAgain(storage, made, head, again?.afterQuietMs))) {
    return { kind: 'present', date };
  }
  if (head?.log === undefined || head.counts.markets === 0) return { kind: 'no-data', date };
  if (!head.applied || head.list.isDoubtful || head.log.isDoubtful === true) return { kind: 'busy', date };

  const writer = new ExportWriter(storage, date, head.generation);
  // The list is read before the parts, which may take minutes: a list that changes all the time could not be read
  // afterwards.
  const published = await publishedMarkets(storage, head.list);
  const { size, root, takenDown = 0 } = head.log;
  if (!(await updateParts({ ...run, writer, takenDown }, size))) return { kind: 'unfinished', date };
  const sources = await updateMarkets(published, writer, { ...run, partRows: run.partEntries });
  const text = await writer.putManifests({
    ...{ date, sources, generation: head.list.shows, publishedAt: head.publishedAt },
    logGeneration: head.generation,
    log: { size, root },
  });
  await putLatest(storage, writer, text);
  const listLogSize = await logSizeAt(storage, head);
  const list = { takenDown, listGeneration: head.list.shows, publishedAt: head.publishedAt };
  await changeDay(storage, date, (before) => ({
    ...{ generation: head.generation, logSize: size, logRoot: root },
    ...(listLogSize !== null && { source: { ...list, listLogSize } }),
    // An operator may have kept the export in the meantime.
    ...(before?.kept && { kept: before.kept }),
  }));
  return { kind: 'made', date };
}

async function isDueAgain(
  { ledger, nowMs }: PublisherStorage,
  made: ExportDayValue,
  head: HeadValue | null,
  afterQuietMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  if (head === null || head.generation === made.generation) return false;
  // Its files may have rows of entries that were taken down since.
  if (made.source !== undefined && made.source.takenDown !== (head.log?.takenDown ?? 0)) return true;
  if (nowMs() - Date.parse(head.publishedAt) < afterQuietMs) return false;
  return (await readAll(ledger, EXPORT_DAYS)).length === 1;
}

/** The size of the log in the generation that the published list shows. Null: its record is gone. */
async function logSizeAt({ ledger }: PublisherStorage, { list, generation, log }: HeadValue): Promise<number | null> {
  if (list.shows === generation) return log?.size ?? null;
  return (await ledger.get(generationKey(list.shows)))?.value.logSize ?? null;
}
