/** `tidemark undo`: finds the values that were recorded by mistake, and sends records that restore the earlier values. */
import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SNAPSHOT_URL, SOURCES_URL } from '../../contract/files/routes.ts';
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import type { SourceRun, SourceState } from '../../contract/operations/sources.ts';
import type { Market, Snapshot } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { counted } from '../../server/terminal/words.ts';
import type { Client } from '../http/client.ts';
import { poll } from '../http/poll.ts';
import { isAnswered, toCommandError } from '../http/refusals.ts';
import { ingestFiles } from '../ingest/ingest-files.ts';
import { inTemporaryFolder } from '../ingest/temporary-folder.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note, progressOf } from '../program/output.ts';
import { readMarket } from '../reads/markets.ts';
import { valueInWords } from '../reads/table-value.ts';
import { allMarkets, allVersions, hasHistory, walkList } from '../reads/walk.ts';
import { sourcePath } from '../sources/api.ts';
import { type EarlierValue, earlierValues } from './earlier-values.ts';

/** A period in which values were recorded. */
export interface RecordedWithin {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface UndoOptions {
  readonly records?: string;
  readonly apply?: boolean;
  /** The public reason of every record. */
  readonly publicReason?: string;
  readonly report?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** Seconds to wait for two generations: the one with the wrong values, and the one with the restored values. */
  readonly wait: number;
}

interface Selection extends RecordedWithin {
  /** Null: all markets that have changed since then. */
  readonly markets: readonly string[] | null;
  /** The generation that shows the wrong values; 0: they are public already. */
  readonly generation: number;
  /** The number of stored records. Other values may have been recorded at the same time. */
  readonly stored: number;
}

/**
 * @param wrong ids of batches, uploads or runs; or a period
 * @param source the `sourceLabel` of the wrong values. Null: any
 * @throws CommandError `refused` if more values were recorded in that period than the undone work has stored
 */
export async function undo(
  client: Client,
  wrong: readonly string[] | RecordedWithin,
  source: string | null,
  options: UndoOptions,
): Promise<void> {
  const selections: Selection[] = [];
  if ('sinceMs' in wrong) selections.push({ ...wrong, markets: null, generation: 0, stored: Number.POSITIVE_INFINITY });
  else for (const id of wrong) selections.push(await selectionOf(client, id));
  await waitUntilRead(client, selections, options.wait);
  const reason = `Undone: ${'sinceMs' in wrong ? `values of ${source}` : wrong.join(', ').slice(0, 200)}.`;
  await inTemporaryFolder(async (folder) => {
    const path = options.records ?? join(folder, 'undo.ndjson');
    const { count, selected } = await writeRecords(client, path, selections, source, reason, options);
    if (count === 0) return note(`Nothing to undo: ${selected === 0 ? noneOf(wrong, source) : NONE_STANDS}`);
    if (options.records !== undefined)
      return note(
        `Wrote ${counted(count, 'record')} to ${path}. Send them: tidemark ingest ${path} --mode correct; without a server: tidemark run ${path} --mode correct`,
      );
    const asked = { mode: 'correct', partial: true, dryRun: !options.apply, asserted: [], wait: options.wait } as const;
    const run = { ...asked, runId: randomBytes(6).toString('hex') };
    await ingestFiles(client, [{ path, name: 'undo', source: { form: 'ndjson' } }], run, options);
    if (!options.apply) note('Nothing is changed yet. To send the records, repeat the command with --apply.');
  });
}

const NONE_STANDS = 'none of these values stands as it was stored.';

/** States that no value was selected, and by what. */
function noneOf(wrong: readonly string[] | RecordedWithin, source: string | null): string {
  const when =
    'sinceMs' in wrong
      ? `since ${new Date(wrong.sinceMs).toISOString()}, up to ${new Date(wrong.untilMs).toISOString()}`
      : `by ${wrong.join(', ')}`;
  if (source === null) return `no value was recorded ${when}.`;
  return `no value of the source '${source}' was recorded ${when}. Labels are case-sensitive.`;
}

async function selectionOf(client: Client, id: string): Promise<Selection> {
  if (id.startsWith('bat_')) {
    const { receivedAt, ...report } = await client.resource<BatchReport>({ path: `/api/v1/ingest/batches/${id}` });
    return { ...windowOf(id, receivedAt, report), markets: report.markets };
  }
  const upload = id.startsWith('run_') ? await uploadOfRun(client, id) : id;
  if (!upload.startsWith('upl_')) {
    throw new CommandError(
      'usage',
      `${id} is not an id of a batch, an upload or a run.`,
      'They begin with bat_, upl_, run_.',
    );
  }
  const { createdAt, ...report } = await client.resource<Upload>({ path: `/api/v1/ingest/uploads/${upload}` });
  return { ...windowOf(id, createdAt, report), markets: null };
}

/** Several workers may apply a batch, and the clock of the worker that ends it may be behind. */
const CLOCKS_DIFFER_MS = 50;

function windowOf(
  id: string,
  from: string,
  report: Pick<BatchReport | Upload, 'counts' | 'dryRun' | 'finishedAt' | 'generation'>,
): Omit<Selection, 'markets'> {
  const { counts, dryRun, finishedAt, generation } = report;
  if (dryRun) throw new CommandError('usage', `${id} was a dry run: it has changed nothing.`);
  if (finishedAt === null || (generation === null && counts.accepted > 0)) {
    throw new CommandError('unfinished', `${id} is not finished and published.`, 'Repeat the command later.');
  }
  return {
    sinceMs: Date.parse(from),
    untilMs: Date.parse(finishedAt) + CLOCKS_DIFFER_MS,
    generation: generation ?? 0,
    stored: counts.accepted,
  };
}

/** The path of a run contains its source, but the id of a run does not, so all sources are asked. */
async function uploadOfRun(client: Client, id: string): Promise<string> {
  for await (const { name } of walkList<SourceState>(client, SOURCES_URL)) {
    const run = await client.resource<SourceRun>({ path: sourcePath(name, `/runs/${id}`) }).catch((error: unknown) => {
      if (!isAnswered(error, 404)) throw error;
      return null;
    });
    if (run === null) continue;
    if (run.upload !== null) return run.upload;
    throw new CommandError('refused', `The run ${id} of ${name} has sent no records.`);
  }
  throw new CommandError('refused', `No source has a run ${id}.`, 'See: tidemark sources runs NAME');
}

/** One second longer than caches may keep an answer. */
const CACHED_MS = 16_000;

/**
 * Waits until readers see the wrong values: their generation is published, also in the list, and older cached answers have
 * expired.
 */
async function waitUntilRead(client: Client, selections: readonly Selection[], wait: number): Promise<void> {
  const read = async () => (await client.files.resource(SNAPSHOT_URL).catch(toCommandError)) as Snapshot;
  const needed = Math.max((await read()).generation, ...selections.map(({ generation }) => generation));
  const isListed = selections.some(({ markets }) => markets === null);
  const isShown = (shown: Snapshot) => (isListed ? shown.listGeneration : shown.generation) >= needed;
  const shown = await poll(read, isShown, wait);
  if (!isShown(shown)) {
    throw new CommandError('unfinished', `Generation ${needed} is not published yet.`, 'Repeat the command later.');
  }
  await sleep(Math.min(CACHED_MS, Math.max(0, Date.parse(shown.publishedAt) + CACHED_MS - Date.now())));
}

/** The number of values of each kind that are named. The file of records has all. */
const NAMED = 10;

/** Writes a record for each restored value. @returns their number, and that of the selected versions */
async function writeRecords(
  client: Client,
  path: string,
  selections: readonly Selection[],
  source: string | null,
  reason: string,
  options: UndoOptions,
): Promise<{ readonly count: number; readonly selected: number }> {
  const progress = progressOf(options);
  const said = { reason, publicReason: options.publicReason };
  const isSelected = ({ recordedAt, sourceLabel }: PublicObservation): boolean => {
    const recordedMs = Date.parse(recordedAt);
    if (!selections.some(({ sinceMs, untilMs }) => sinceMs <= recordedMs && recordedMs <= untilMs)) return false;
    return source === null || sourceLabel === source;
  };
  const stored = selections.reduce((sum, each) => sum + each.stored, 0);
  let [count, left, read, selected] = [0, 0, 0, 0];
  const file = await open(path, 'wx').catch((cause: Error) => {
    throw new CommandError('usage', `${path} cannot be written: ${cause.message}.`, 'Name a new file.', { cause });
  });
  try {
    for await (const market of marketsOf(client, selections)) {
      progress.at('Reading histories', { share: null, count: ++read, unit: 'market' });
      const versions: PublicObservation[] = [];
      for await (const version of allVersions(client, market)) versions.push(version);
      const { unit } = await readMarket(client, market);
      const { values, replacedSince } = earlierValues({ slug: market, ...unit }, versions, isSelected, said);
      selected += versions.filter(isSelected).length;
      for (const { record } of values) await file.write(`${JSON.stringify(record)}\n`);
      for (const value of values.slice(0, Math.max(0, NAMED - count))) note(shownChange(market, unit, value));
      count += values.length;
      for (const { metric, observedAt } of replacedSince) {
        if (left++ < NAMED) note(`${market} ${metric} ${observedAt}: was changed again later, and stays`);
      }
    }
  } finally {
    await file.close();
    progress.clear();
  }
  if (selected > stored) {
    await rm(path);
    const others = 'Others wrote into these markets at the same time.';
    throw new CommandError(
      'refused',
      `${selected} values were recorded then, but only ${stored} records were stored. ${others}`,
      'Nothing is changed. Name the other batches too if they are wrong, or select by --source, --since and --until (recordedAt).',
    );
  }
  if (count > NAMED) note(`  and ${count - NAMED} more values`);
  if (left > NAMED) note(`  and ${left - NAMED} more that stay`);
  return { count, selected };
}

async function* marketsOf(client: Client, selections: readonly Selection[]): AsyncGenerator<string> {
  if (selections.some(({ markets }) => markets === null)) {
    const sinceMs = Math.min(...selections.map((each) => each.sinceMs));
    for await (const { slug, updatedAt } of allMarkets(client)) {
      if (updatedAt !== null && Date.parse(updatedAt) >= sinceMs) yield slug;
    }
    return;
  }
  for (const slug of new Set(selections.flatMap(({ markets }) => markets ?? []))) {
    // A market that was removed meanwhile has no history.
    if (await hasHistory(client, slug)) yield slug;
  }
}

/** @param unit the unit of the market */
function shownChange(market: string, unit: Market['unit'], { wrong, before }: EarlierValue): string {
  const shown = (version: PublicObservation) => valueInWords(version, unit);
  const after = before === null ? 'retracted as a mistake' : shown(before);
  return `${market} ${wrong.metric} ${wrong.observedAt}: ${shown(wrong)} → ${after}`;
}
