/**
 * Makes kept exports again from the log: an export that the store has lost, byte for byte; and after a takedown all of
 * them, without the rows of the removed entries, and without their market in the table of markets.
 *
 * The log up to a size gives every row, as `verify --log` proves. Parts are recorded like those of the newest export, but
 * under other keys, so a run continues where the previous one stopped. The name of a file depends on its rows: where they
 * are the same, nothing is put. Compressed bytes are the same with the same version of Node.
 */
import pMap from 'p-map';
import type { Market } from '../../../contract/values/market.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { dateOfExportDay, EXPORT_DAYS, type ExportDayValue } from '../../../storage/records/exports.ts';
import { HEAD_KEY, type HeadValue } from '../../../storage/records/publication.ts';
import { marketBody } from '../../core/bodies/render.ts';
import { type LogEntries, marketsTakenDown, publicTexts } from '../../core/log/entry-texts.ts';
import { LogFold } from '../../core/log/fold.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { ExportWriter } from './export-files.ts';
import { changeDay, filesOfDay, putLatest } from './keep-export.ts';
import { type ExportOptions, type ExportRun, optionsOf } from './make-export.ts';
import { updateMarkets } from './market-parts.ts';
import { updateParts } from './observation-parts.ts';

type Day = Item<ExportDayValue>;

/**
 * Checks each kept export once a day, and after each takedown. Call it after {@link makeExport}.
 *
 * @returns the dates of the exports that were made again
 * @throws Superseded if another process does the same work: try again
 */
export async function remakeKept(options: ExportOptions): Promise<readonly string[]> {
  const run = optionsOf(options);
  const { storage, hasTime } = run;
  const { ledger, nowMs } = storage;
  const made = await readAll(ledger, EXPORT_DAYS);
  const days = made.filter(({ value }) => value.kept && value.source);
  const head = days.length === 0 ? null : ((await ledger.get(HEAD_KEY))?.value ?? null);
  const log = head?.log;
  if (head === null || log === undefined || log.isDoubtful === true) return [];
  const { takenDown = 0 } = log;
  const today = new Date(nowMs()).toISOString().slice(0, 10);
  const remade: string[] = [];
  for (const day of days) {
    const { kept, source } = day.value;
    if (!kept || source === undefined) continue;
    const isRight = source.takenDown === takenDown;
    if (isRight && kept.checkedOn === today) continue;
    const isLeft = isRight && (await isWhole(storage, dateOfExportDay(day)));
    if (!isLeft) {
      if (!hasTime() || !(await remake(run, day, today, head, day === made.at(-1)))) return remade;
      remade.push(dateOfExportDay(day));
    }
    // The operator may have stopped keeping it in the meantime.
    await changeDay(storage, dateOfExportDay(day), (now) =>
      now?.kept ? { ...now, kept: { ...now.kept, checkedOn: today }, source: { ...source, takenDown } } : null,
    );
  }
  return remade;
}

async function isWhole(storage: PublisherStorage, date: string): Promise<boolean> {
  const files = await filesOfDay(storage, date);
  if (files === null) return false;
  const found = await pMap(files, (key) => storage.objects.stat(key), { concurrency: OBJECT_CONCURRENCY });
  return !found.includes(null);
}

/** False: the time was over. @param isNewest whether no later export exists: then `latest` is its manifest */
async function remake(run: ExportRun, day: Day, today: string, head: HeadValue, isNewest: boolean): Promise<boolean> {
  const { source, generation, logSize: size, logRoot: root } = day.value;
  if (source === undefined) return true;
  const { takenDown = 0 } = head.log ?? {};
  const date = dateOfExportDay(day);
  const writer = new ExportWriter(run.storage, today, head.generation, date);
  if (!(await updateParts({ ...run, writer, takenDown }, size))) return false;
  const gone = takenDown === 0 ? new Set<string>() : await marketsTakenDown(run, head.log?.size ?? 0);
  const list = marketsOfLog(run, source.listLogSize, gone);
  const sources = await updateMarkets(list, writer, { ...run, partRows: run.partEntries });
  const text = await writer.putManifests({
    ...{ date, sources, generation: source.listGeneration, publishedAt: source.publishedAt },
    logGeneration: generation,
    log: { size, root },
  });
  if (isNewest) await putLatest(run.storage, writer, text);
  for (const table of ['markets', 'observations'] as const) {
    for (const part of (await writer.readParts(table)).reverse()) await writer.forgetPart(part);
  }
  return true;
}

/** The markets of the list that follows from this many first entries of the log. */
async function* marketsOfLog(
  entries: LogEntries,
  size: number,
  gone: ReadonlySet<string>,
): AsyncGenerator<readonly Market[]> {
  const fold = new LogFold();
  for await (const text of publicTexts(entries, size)) {
    if (gone.size === 0 || !gone.has(JSON.parse(text).market)) fold.add(text);
  }
  for (const slug of fold.slugs()) {
    const folded = fold.market(slug);
    // Tables never show the name of a representative.
    if (folded?.kind === 'shown') yield [JSON.parse(marketBody(slug, folded.revision, folded.record(null))) as Market];
    await entries.yieldToEventLoop();
  }
}
