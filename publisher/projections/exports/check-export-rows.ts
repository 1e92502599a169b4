/**
 * Proves the newest export by the log: every row must follow from the entries up to the size that the manifest names, and
 * no row may be missing. The rows of a part are compared by their digest.
 */
import { createHash, type Hash } from 'node:crypto';
import type * as z from 'zod';
import type { exportManifestSchema } from '../../../contract/bodies/export-manifest.ts';
import { type ExportTable, OBSERVATIONS_TABLE } from '../../../contract/bodies/export-tables.ts';
import { EXPORT_ROOT, EXPORTS_URL } from '../../../contract/files/routes.ts';
import type { ObservationEntry } from '../../../contract/log/entries.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { LogFold } from '../../core/log/fold.ts';
import { DAILY_MS, PastMarket } from '../../verify/log/past-market.ts';
import type { CheckContext, LogOfCheck } from '../../verify/projection-check.ts';
import { BadRows, linesIn } from './export-lines.ts';
import { marketRows } from './market-rows.ts';
import { inExportOrder, type ObservationRow, observationRow, type SupersededAt } from './observation-rows.ts';
import { csvTexts, ndjsonLine } from './write-texts.ts';

export type ReadManifest = z.infer<typeof exportManifestSchema>;
type Resource = ReadManifest['resources'][number];

/** In NDJSON and CSV, a row begins with its market. */
const marketOf = (line: string): string => /^(?:\{"market":")?([a-z0-9-]+)/.exec(line)?.[1] ?? '';

/** Whether an observation from this index of the log on was recorded too long ago to be missing. */
export function isLateFrom({ walk: { fold, size }, nowMs }: LogOfCheck, index: number): boolean {
  const lateness = { nowMs, mostMs: DAILY_MS };
  return fold.pastSlugs().some((slug) => new PastMarket(fold, slug, size).isLateFrom(index, lateness));
}

export async function checkExportRows(context: CheckContext, log: LogOfCheck, manifest: ReadManifest): Promise<void> {
  const { size, root } = manifest.log;
  const { walk } = log;
  const found = size > walk.size ? null : (await walk.rootAt(size)).toString('base64');
  const { findings } = context;
  if (found !== root)
    return findings.add(EXPORTS_URL, 'not-in-log', `names a log of ${size} entries that is not this one`);
  if (size < walk.size && isLateFrom(log, size))
    findings.add(EXPORTS_URL, 'time', `shows only ${size} entries of the log`);
  const check = new RowsCheck(context, log, manifest);
  await check.observations();
  await check.markets();
}

class RowsCheck {
  readonly #context: CheckContext;
  readonly #log: LogOfCheck;
  readonly #manifest: ReadManifest;

  constructor(context: CheckContext, log: LogOfCheck, manifest: ReadManifest) {
    this.#context = context;
    this.#log = log;
    this.#manifest = manifest;
  }

  async observations(): Promise<void> {
    const { walk, partEntries } = this.#log;
    const expected = expectedParts(walk.fold, this.#manifest.log.size, partEntries, this.#isLoose);
    const files = this.#filesOf('observations');
    for (const number of new Set([...expected.keys(), ...files.keys()])) {
      const [rows, ...others] = files.get(number) ?? [];
      if (rows?.format !== 'ndjson') this.#add(EXPORTS_URL, `names no rows of part ${number}`);
      else await this.#checkPart(expected.get(number) ?? new ExpectedPart(), rows, others);
    }
  }

  /** Rows of entries that were taken down can be neither proven nor disproven. */
  async #checkPart({ ndjson, csv, loose }: ExpectedPart, rows: Resource, others: readonly Resource[]): Promise<void> {
    const { fold } = this.#log.walk;
    let areRight = true;
    const count = await this.#compare(rows, ndjson.digest('hex'), (line) => {
      const row = JSON.parse(line) as ObservationRow;
      areRight &&= fold.isTakenDown(row.logIndex) || loose.delete(provenText(row));
    });
    if (!areRight || loose.size > 0) this.#add(EXPORT_ROOT + rows.path, 'has other rows of removed markets');
    const text = others.find(({ format }) => format === 'csv');
    if (text !== undefined) await this.#compare(text, csv.digest('hex'), () => {});
    for (const each of [rows, ...others]) this.#checkCount(each, count);
  }

  /**
   * Returns the number of lines; null: the file cannot be read. @param take receives the lines of markets with possible
   * takedowns
   */
  async #compare({ path }: Resource, digest: string, take: (line: string) => void): Promise<number | null> {
    const found = createHash('sha256');
    let lines = 0;
    const isRead = await this.#read(path, (line) => {
      lines++;
      if (this.#isLoose(marketOf(line))) take(line);
      else found.update(line);
    });
    if (!isRead) return null;
    if (found.digest('hex') !== digest) this.#add(EXPORT_ROOT + path, 'has other rows than the log gives');
    return lines;
  }

  /** A tombstone has only a hash, so it may be an entry of any removed market. */
  readonly #isLoose = (slug: string): boolean => {
    const { fold } = this.#log.walk;
    return fold.takenDown > 0 && fold.isRemoved(slug);
  };

  async markets(): Promise<void> {
    const { walk, nowMs } = this.#log;
    const { log, generation, logGeneration } = this.#manifest;
    // The table of markets follows the list, whose cadence differs from the log's.
    const isBehind = generation !== logGeneration;
    const pastOf = (slug: string) => new PastMarket(walk.fold, slug, log.size);
    const textAt = (slug: string, revision: number) =>
      marketRows(pastOf(slug).upTo(revision)?.market ?? NO_MARKET)
        .map(ndjsonLine)
        .join('');
    const left = new Set(walk.fold.pastSlugs());
    for (const [rows, ...others] of this.#filesOf('markets').values()) {
      if (rows === undefined) continue;
      const url = EXPORT_ROOT + rows.path;
      let [count, market, text] = [0, '', ''];
      const flush = () => {
        if (text === '') return;
        if (!left.delete(market)) this.#add(url, `has ${market}, which is not in the log, or twice`);
        else if (!this.#isLoose(market)) {
          const revision = Number(/"revision":(\d+)/.exec(text)?.[1]);
          if (textAt(market, isBehind ? revision : Number.POSITIVE_INFINITY) !== text)
            this.#add(url, `has other rows of ${market} than the log gives`);
        }
        text = '';
      };
      const isRead = await this.#read(rows.path, (line) => {
        if (marketOf(line) !== market) flush();
        market = marketOf(line);
        text += line;
        count++;
      });
      if (!isRead) continue;
      flush();
      for (const each of [rows, ...others]) this.#checkCount(each, count);
    }
    for (const slug of left) {
      if (isBehind && !pastOf(slug).isLateIfMissing({ nowMs, mostMs: DAILY_MS })) continue;
      if (!this.#isLoose(slug) && textAt(slug, Number.POSITIVE_INFINITY) !== '')
        this.#add(EXPORTS_URL, `has no row of ${slug} in the table of markets`);
    }
  }

  #checkCount({ path, rows }: Resource, count: number | null): void {
    if (count !== null && rows !== count)
      this.#add(EXPORT_ROOT + path, `has ${rows} rows by the manifest, not ${count}`);
  }

  /** Files by the number of their part, in order; NDJSON first. */
  #filesOf(table: ExportTable['name']): ReadonlyMap<number, readonly Resource[]> {
    const named = this.#manifest.resources.flatMap((resource) => {
      const number = new RegExp(`^parts/${table}-(\\d+)-`).exec(resource.path)?.[1];
      return number === undefined ? [] : [{ number: Number(number), resource }];
    });
    named.sort((one, other) => Number(other.resource.format === 'ndjson') - Number(one.resource.format === 'ndjson'));
    const parts = Map.groupBy(named, ({ number }) => number);
    return new Map([...parts].map(([number, some]) => [number, some.map(({ resource }) => resource)]));
  }

  /** False, with a finding: the file cannot be read. */
  async #read(path: string, take: (line: string) => void): Promise<boolean> {
    const url = EXPORT_ROOT + path;
    const { status, body } = await this.#context.reader(url);
    if (status !== 200) {
      this.#context.findings.add(url, 'status', `answered ${status}, expected 200`);
      return false;
    }
    try {
      for await (const lines of linesIn(body)) for (const line of lines) take(line);
      return true;
    } catch (error) {
      if (!(error instanceof BadRows || error instanceof SyntaxError)) throw error;
      this.#add(url, error instanceof BadRows ? error.message : 'has a line that is not a row');
      return false;
    }
  }

  #add(url: string, detail: string): void {
    this.#context.findings.add(url, 'not-in-log', detail);
  }
}

const NO_MARKET = { metrics: {} } as Parameters<typeof marketRows>[0];

/**
 * Columns that cannot be proven for a removed market with a takedown: they depend on its definition or on a superseding
 * observation, and those entries may have been taken down.
 */
const DERIVED = { decimalPerUnit: null, approximateValue: null, supersededAt: null, supersededBy: null };
const CSV = csvTexts(OBSERVATIONS_TABLE);

/** The rows of a market in the table of observations, by a log of this size; those of one part are in its order. */
function expectedObservations(fold: LogFold, slug: string, size: number): readonly ObservationRow[] {
  const stated = new Map<string, { readonly index: number; readonly entry: ObservationEntry }>();
  const superseded = new Map<string, Pick<SupersededAt, 'by' | 'at'>>();
  let quantity: number | null = null;
  for (const { index, entry } of fold.entriesOf(slug, size)) {
    if (entry.type === 'market') quantity = entry.unit.quantity;
    if (entry.type !== 'observation' || entry.announced) continue;
    if (!stated.has(entry.id)) stated.set(entry.id, { index, entry });
    if (entry.supersedes !== null) superseded.set(entry.supersedes, { by: entry.id, at: entry.recordedAt });
  }
  return [...stated.values()]
    .map((each) => ({ ...each.entry, ...each, observedAt: millisecondInstant(each.entry.observedAt) }))
    .sort(inExportOrder)
    .map(({ index, entry }) => observationRow(index, entry, quantity, superseded.get(entry.id) ?? null));
}

/** The provable part of a row whose market has a takedown. */
function provenText(row: ObservationRow): string {
  return ndjsonLine({ ...row, ...DERIVED });
}

/** The rows of one part. */
class ExpectedPart {
  readonly ndjson: Hash = createHash('sha256');
  readonly csv: Hash = createHash('sha256').update(CSV.header);
  /** Rows of markets with a takedown, as far as they can be proven. The part may have more rows of these markets. */
  readonly loose = new Set<string>();

  add(row: ObservationRow, isLoose: boolean): void {
    if (isLoose) this.loose.add(provenText(row));
    else {
      this.ndjson.update(ndjsonLine(row));
      this.csv.update(CSV.line(row));
    }
  }
}

/** By the number of the part. Parts without rows are left out. */
function expectedParts(
  fold: LogFold,
  size: number,
  partEntries: number,
  isLoose: (slug: string) => boolean,
): Map<number, ExpectedPart> {
  const parts = new Map<number, ExpectedPart>();
  for (const slug of fold.pastSlugs()) {
    for (const row of expectedObservations(fold, slug, size)) {
      const number = Math.floor(row.logIndex / partEntries);
      const part = parts.get(number) ?? new ExpectedPart();
      parts.set(number, part);
      part.add(row, isLoose(slug));
    }
  }
  return parts;
}
