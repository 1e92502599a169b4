/** `tidemark ingest`: ingests files, one after the other. */

import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import { DRY_RUN_RECORDS_MAX } from '../../contract/ingest/ingest-uploads.ts';
import type { ShownBeside } from '../../contract/ingest/row-counts.ts';
import type { FaultGroup } from '../../mapping/check/fault-groups.ts';
import { FirstValue } from '../../mapping/check/first-value.ts';
import type { WrittenPast } from '../../server/git/write-past.ts';
import { garbageCollector } from '../../storage/concurrency/garbage-collector.ts';
import type { Client } from '../http/client.ts';
import { CommandError, endWith } from '../program/exit-codes.ts';
import { note, printFields, printJson, progressOf } from '../program/output.ts';
import { Contradictions, MarketNames } from './contradictions.ts';
import { FaultLog, faultLines, firstFault, ReportFile } from './fault-log.ts';
import type { FileContents } from './file-contents.ts';
import {
  type IngestOptions,
  type IngestRun,
  type IngestTotals,
  newTotals,
  newValuesOf,
  withheldNote,
} from './ingest-run.ts';
import { type MissingRows, withdrawMissing } from './missing-rows.ts';
import { openInput } from './open-input.ts';
import { cutIntoParts } from './parts.ts';
import { sendBatches } from './send-batches.ts';
import { sendUpload } from './send-upload.ts';
import { readSource, type SourceFault, type SourceForm, type SourceRecord } from './source-records.ts';
import { isUnpublished, unpublishedNotes } from './unpublished.ts';

/** A file with more parts is sent as an upload, if refused records may be set aside: one request instead of hundreds. */
const BATCHES_MOST = 10;
/** A dry run first reads this much into memory, to decide whether the service can examine the file as a whole. */
const HELD_CHARACTERS_MAX = 50_000_000;

export interface FileSummary extends IngestTotals, Partial<MissingRows> {
  readonly file: string;
  readonly past?: NamedFile['past'];
  readonly dryRun: boolean;
  readonly newValues: number;
  /** In a dry run and in `tidemark run`, the first value in words (see `FirstValue`). Left out if the file does not define its market. */
  readonly first?: string;
  readonly faults: readonly (Omit<FaultGroup, 'first'> & { readonly first: string })[];
}

export interface NamedFile {
  readonly path: string;
  /** The name for messages. Default: the path. */
  readonly name?: string;
  readonly source: SourceForm;
  /** The past versions that the records come from. Without it, the file was written by a person. */
  readonly past?: WrittenPast['past'];
}

export interface IngestOutput {
  readonly report?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Ends with `set-aside` if any row was refused, or else with `unfinished` if stored rows are not public after the wait. */
export async function ingestFiles(
  client: Client,
  files: readonly NamedFile[],
  asked: IngestOptions,
  output: IngestOutput,
): Promise<void> {
  const summaries = await sendFiles(client, files, asked, output, async (summary, { source }) => {
    if (!output.json) await printSummary(summary, source.form === 'csv', asked.partial);
    if (summary.refused > 0) endWith('set-aside');
  });
  if (output.json) await printJson(summaries);
  else if (summaries.some(({ generation }) => generation !== null)) note(CACHES);
  const unpublished = summaries.filter(isUnpublished);
  if (unpublished.length === 0 || asked.wait === 0) return;
  for (const line of await unpublishedNotes(client, unpublished, asked.wait)) note(line);
  // A refused row needs a person, and so its code comes first.
  if (!process.exitCode) endWith('unfinished');
}

/** After a refused file, the others are sent. @param ended called after each file */
export async function sendFiles(
  client: Client,
  files: readonly NamedFile[],
  asked: IngestOptions,
  { report: reportPath, json, quiet }: IngestOutput,
  ended: (summary: FileSummary, file: NamedFile) => Promise<void> = async () => {},
): Promise<readonly FileSummary[]> {
  const { runId } = asked;
  const report = new ReportFile(reportPath);
  const progress = progressOf({ ...(json && { json }), ...(quiet && { quiet }) });
  const summaries: FileSummary[] = [];
  const definitions = new Map<string, string>();
  const { complete: contents = null, names = new MarketNames() } = asked;
  try {
    for (const [index, file] of files.entries()) {
      const { path, name, source, past } = file;
      const opened = await openInput(path);
      const input = { ...opened, name: name ?? opened.name };
      const faults = new FaultLog(input.name, report);
      const totals = newTotals();
      const run = {
        ...asked,
        client,
        input,
        source,
        faults,
        progress,
        definitions,
        names,
        totals,
        first: new FirstValue(),
        runId: `${runId}-${index}`,
      };
      let missing: Partial<MissingRows> | null = null;
      try {
        await ingestFile(run, contents);
        const whole = { ...run, input: { ...input, name: asked.completeName ?? input.name } };
        if (contents !== null && index === files.length - 1)
          missing = await withdrawMissing(whole, contents, report, [...summaries, totals]).catch((error) => {
            // A run goes on, because it also repairs public files that cannot be read.
            if (!run.inBatches) throw error;
            note(`${whole.input.name} could not be compared with what is published: ${(error as Error).message}`);
            return { isHeldBack: true };
          });
      } finally {
        progress.clear();
        for (const line of faultLines(input.name, faults.groups())) note(line);
        if (faults.groups().some(({ code }) => code === 'outlier')) note(OUTLIERS);
      }
      if (totals.records + totals.withoutRecord === 0) note(emptyNote(input.name, source));
      const summary = {
        file: input.name,
        ...(past && { past }),
        dryRun: run.dryRun,
        ...totals,
        ...(run.first.text !== null && { first: run.first.text }),
        newValues: newValuesOf(totals),
        ...missing,
        faults: faults.groups().map((group) => ({ ...group, first: firstFault(input.name, group.first) })),
      };
      if (totals.firstBeside !== null) note(besideNote(input.name, run.dryRun, totals, totals.firstBeside));
      if (totals.firstWithheld !== null) note(withheldNote(input.name, totals.withheld, totals.firstWithheld));
      if (summary.retracted > 0 && !asked.asserted.includes('reinstated')) note(retractedNote(summary));
      if (asked.showsCorrections) for (const line of correctionLines(summary)) note(line);
      report.write({ summary: { ...summary, faults: undefined } });
      summaries.push(summary);
      await ended(summary, file);
    }
  } finally {
    report.close();
  }
  report.checkWhole();
  return summaries;
}

/** `sourceUrl` is a part of the identity of an observation, so another one makes a second series. */
function besideNote(file: string, dryRun: boolean, { besides, sentAs }: IngestTotals, first: ShownBeside): string {
  const { market, metric, observedAt, sourceLabel, sourceUrl, knownUrl } = first;
  const rows =
    besides === 1
      ? `1 row ${dryRun ? 'would stand' : 'stands'}`
      : `${besides} rows ${dryRun ? 'would stand' : 'stand'}`;
  const ids = sentAs.length > IDS_SHOWN ? `--source ${JSON.stringify(sourceLabel)} --since …` : sentAs.join(' ');
  const back = dryRun ? '' : `take these values back (tidemark undo ${ids} --apply), and `;
  return (
    `${file}: ${rows} beside the newest value of the same market, metric, moment and source label, and ${besides === 1 ? 'does' : 'do'} ` +
    `not correct it, because sourceUrl is another one. An example: ${market} ${metric} ${observedAt} of ${sourceLabel} ` +
    `is known from ${knownUrl}, and here from ${sourceUrl}. Older rows may be doubled, too, and readers may go on to see the ` +
    `former value. To correct values, ${back}use the former URL. To keep the new URL, take the former values back: ` +
    `tidemark undo --source ${JSON.stringify(sourceLabel)} --since … --until …, or with the ids of their batches.`
  );
}

function retractedNote({ file, retracted }: FileSummary): string {
  const rows =
    retracted === 1
      ? '1 row gives a value that was retracted, and stays'
      : `${retracted} rows give values that were retracted, and stay`;
  return (
    `${file}: ${rows} so, because a source may only repeat it. ` +
    'To reinstate such values, send only their rows, with --mode correct --reinstate.'
  );
}

/** In the form of `tidemark undo`. */
function* correctionLines({ corrections, corrected }: FileSummary): Generator<string> {
  for (const { market, metric, observedAt, from, to } of corrections) {
    yield `${market} ${metric} ${observedAt}: ${from} → ${to}`;
  }
  const others = corrected - corrections.length;
  if (corrections.length > 0 && others > 0) yield `  and ${others} more corrections`;
}

function emptyNote(file: string, { form }: SourceForm): string {
  if (form !== 'csv') return `${file} has no records, so there is nothing to send.`;
  return `${file} has no rows with values, so there is nothing to send. See what its mapping leaves out: tidemark mapping check`;
}

const CACHES = 'Readers behind caches may get earlier values for up to 15 seconds.';
const OUTLIERS =
  'If these outliers are correct, send only their rows, with --confirm-outliers. If values of the market often leap, give it its ' +
  'own rule: docs/mapping.md, "Values that leap".';

async function ingestFile(run: IngestRun, contents: FileContents | null): Promise<void> {
  const { input, source, partial, inBatches, dryRun, asserted, names } = run;
  const rows = readSource(input.bytes, source, asserted);
  // Records state their slugs themselves: another name is a new name.
  const read = source.form === 'csv' ? names.read(input.name, rows) : rows;
  const all = countingLosses(run, inBatches ? withoutEnding(read) : read);
  const records = contents === null ? all : contents.read(all);
  if (dryRun) return await examine(run, records);
  if (!partial) return await sendBatches(run, collecting(cutIntoParts(records, false)));
  const contradictions = new Contradictions();
  const parts = collecting(contradictions.removedFrom(cutIntoParts(records, false), BATCHES_MOST));
  if (inBatches) return await sendBatches(run, parts);
  const first = await beginningOf(parts, BATCHES_MOST);
  if (first.isAll) return await sendBatches(run, first.items);
  await sendUpload(run, chained(first.items, parts), contradictions);
}

/** A file that cannot be read to its end, such as a damaged archive, is refused like a faulty row: it must not end a run. */
async function* withoutEnding(
  records: AsyncGenerator<SourceRecord | SourceFault>,
): AsyncGenerator<SourceRecord | SourceFault> {
  let line = 0;
  try {
    for await (const record of records) {
      line = record.line;
      yield record;
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    yield { kind: 'fault', line: line + 1, column: null, code: 'file.unreadable', detail: error.message };
  }
}

async function* countingLosses(
  { totals, first, dryRun, inBatches }: IngestRun,
  records: AsyncGenerator<SourceRecord | SourceFault>,
): AsyncGenerator<SourceRecord | SourceFault> {
  const findsFirst = dryRun || inBatches === true;
  for await (const record of records) {
    if (record.kind === 'record' && record.defines !== null) totals.definitions += 1;
    if (record.kind === 'record' && record.isRounded) totals.rounded += 1;
    if (record.kind === 'record' && findsFirst && first.isOpen) first.add(JSON.parse(record.text), record.line);
    yield record;
  }
}

/** Examines the file as a whole if the service can: only then each rule sees all rows. */
async function examine(run: IngestRun, records: AsyncGenerator<SourceRecord | SourceFault>): Promise<void> {
  const { input, inBatches = false, definitions } = run;
  let characters = 0;
  const first = await beginningOf(records, inBatches ? BATCH_RECORDS_MAX : DRY_RUN_RECORDS_MAX, (record) => {
    characters += record.kind === 'record' ? record.text.length : 0;
    return characters <= HELD_CHARACTERS_MAX;
  });
  if (!first.isAll) {
    note(
      `${input.name} is too large to be examined as a whole, so it is examined in batches of ${BATCH_RECORDS_MAX} ` +
        'records: values are not compared with the rows of other batches.',
    );
  }
  const isCut = inBatches || !first.isAll;
  const contradictions = new Contradictions();
  const cut = cutIntoParts(chained(first.items, records), isCut, definitions);
  const parts = contradictions.removedFrom(cut, BATCHES_MOST);
  if (isCut) return await sendBatches(run, collecting(parts));
  const { items, isAll } = await beginningOf(parts, 1);
  if (isAll) await sendBatches(run, items);
  else await sendUpload(run, chained(items, parts), contradictions);
}

/** Takes items until there are more than `most`, or their total size is too large. */
async function beginningOf<Item>(
  items: AsyncGenerator<Item>,
  most: number,
  fits: (item: Item) => boolean = () => true,
): Promise<{ readonly items: Item[]; readonly isAll: boolean }> {
  const taken: Item[] = [];
  for (;;) {
    const { value, done } = await items.next();
    if (done) return { items: taken, isAll: true };
    taken.push(value);
    if (taken.length > most || !fits(value)) return { items: taken, isAll: false };
  }
}

async function* chained<Item>(first: Item[], rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  // Removed from the array one by one, so that sent items do not stay in memory.
  for (const [index, item] of first.entries()) {
    delete first[index];
    yield item;
  }
  yield* rest;
}

/** For a longer file, the note names the time, which `tidemark undo` accepts. */
const IDS_SHOWN = 10;

export function shownIds(ids: readonly string[]): string {
  return ids.length > IDS_SHOWN ? `${ids.length} batches` : ids.join(' ');
}

function versionFields({ versions, unchanged, passedOver }: NonNullable<FileSummary['past']>) {
  const counts = { versions, 'versions without news': unchanged, 'versions skipped': passedOver };
  return Object.entries(counts);
}

async function printSummary(summary: FileSummary, isMapped: boolean, partial: boolean): Promise<void> {
  const { file, dryRun, records, accepted, corrected, reinstated, unchanged, retracted } = summary;
  const {
    refused,
    withoutRecord,
    rounded,
    past,
    sentAs,
    generation,
    stoppedAtLine,
    missing,
    withdrawn = null,
    returned = 0,
  } = summary;
  const isWhole = !dryRun || partial || refused === 0;
  const others = notStored(summary);
  await printFields([
    ['file', file],
    ...(past === undefined ? [] : versionFields(past)),
    ['rows of the file refused, without a record', withoutRecord],
    ['records: market definitions, observations, retractions', records],
    ...(isMapped ? [['values that the mapping rounded', rounded] as const] : []),
    [dryRun ? (isWhole ? 'would be stored' : 'would be stored, with --partial') : 'stored', accepted],
    ...(corrected === 0 ? [] : [['of them corrections', corrected] as const]),
    ...(reinstated === 0 ? [] : [['corrections of retracted values', reinstated] as const]),
    ['known already', unchanged],
    ...(retracted === 0 ? [] : [['of them retracted earlier, and still retracted', retracted] as const]),
    ...(summary.first === undefined ? [] : [['first', summary.first] as const]),
    ['records refused', refused - withoutRecord],
    ...(others === 0 ? [] : [['not stored, because of a refused record', others] as const]),
    ...(missing === undefined ? [] : [['published, and missing in the file', missing] as const]),
    ...(withdrawn === null ? [] : [[dryRun ? 'would be withdrawn' : 'withdrawn', withdrawn] as const]),
    ...(returned === 0 ? [] : [['withdrawn, and in the file again', returned] as const]),
    ...(sentAs.length === 0 ? [] : [['sent as', shownIds(sentAs)] as const]),
    ...(dryRun ? [] : [['generation', generation ?? (accepted > 0 ? 'not yet' : '')] as const]),
  ]);
  if (!isWhole) {
    const one = records + withoutRecord <= BATCH_RECORDS_MAX;
    const stored = one ? 'nothing' : 'only the batches before the first one with a refused row';
    note(`${file}: without --partial, a batch with a refused row is refused as a whole: ${stored} would be stored.`);
  }
  if (stoppedAtLine === null) return;
  note(`${stopNote(summary)} See all faults first with --dry-run.`);
}

/** The number of valid new records in a batch that was refused because of other records. */
export function notStored({ records, accepted, unchanged, refused, withoutRecord }: IngestTotals): number {
  return records - accepted - unchanged - (refused - withoutRecord);
}

/** The note on a file of which only a first part was ingested. */
export function stopNote({ file, stoppedAtLine }: Pick<FileSummary, 'file' | 'stoppedAtLine'>): string {
  return (
    `${file}: nothing from line ${stoppedAtLine} on was stored, because a batch with a refused row is refused as a ` +
    'whole. Correct these rows, then run the command again. Records that are stored already are counted as known, ' +
    'and not stored twice. Or set refused rows aside with --partial.'
  );
}

/**
 * Limits the memory of a long run. On a machine with much memory, V8 collects garbage only after hundreds of megabytes. Then a
 * run of a million rows seems to hold the whole file in memory.
 */
const EVERY_PARTS = 4;

/** Passes every item on, and collects garbage at intervals. */
async function* collecting<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let count = 0;
  let collect: (() => void) | null = null;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count % EVERY_PARTS > 0) continue;
    collect ??= garbageCollector();
    collect();
  }
}
