/**
 * Proves the newest export by the log: every row is what the entries say up to the size that the manifest names, and no
 * row is missing. Texts are compared by the digest of a part; only a part that differs is read row by row.
 */

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { exportManifestSchema } from '../../../contract/bodies/export-manifest.ts';
import type { ExportRow, ExportTable } from '../../../contract/bodies/export-tables.ts';
import { EXPORT_ROOT, EXPORTS_URL } from '../../../contract/files/routes.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { checkAnswer, type Findings } from '../../verify/check-body.ts';
import type { ReadLog } from '../../verify/log-walk.ts';
import { DAILY_MS, type Lateness, PastMarket } from '../../verify/past-market.ts';
import type { PublicReader } from '../../verify/reader.ts';
import type { ReadManifest } from './check-exports.ts';
import { type ExpectedPart, expectedMarketRows, expectedObservations, expectedParts } from './expected-rows.ts';
import { ndjsonLine } from './write-texts.ts';

type Resource = ReadManifest['resources'][number];
type Row = ExportRow & { readonly market: string };

/** A row has some hundred bytes. What is longer is not read. */
const ROW_LENGTH_MAX = 1024 * 1024;

/**
 * Of a removed market of which entries were taken down, these columns are not proven: the definition of the market, or
 * the entry that names another one, may be among those entries.
 */
const DERIVED = { decimalPerUnit: null, approximateValue: null, supersededAt: null, supersededBy: null };

/** A deployment without exports answers 404, which is no finding. */
export async function checkExportRows(
  reader: PublicReader,
  findings: Findings,
  walk: ReadLog,
  { partEntries, nowMs }: { readonly partEntries: number; readonly nowMs: number | null },
): Promise<void> {
  const response = await reader(EXPORTS_URL);
  const { fold } = walk;
  const isLateFrom = (index: number) =>
    fold.pastSlugs().some((slug) => new PastMarket(fold, slug, walk.size).isLateFrom(index, lateness));
  const lateness = { nowMs, mostMs: DAILY_MS };
  if (response.status === 404) {
    if (fold.service?.projections.includes('exports') && isLateFrom(0))
      findings.add(EXPORTS_URL, 'not-in-log', 'is missing, and the log says that exports are published');
    return;
  }
  const manifest = checkAnswer(findings, EXPORTS_URL, response, exportManifestSchema)?.value;
  if (manifest === undefined) return;
  const { size, root } = manifest.log;
  const found = size > walk.size ? null : (await walk.rootAt(size)).toString('base64');
  if (found !== root)
    return findings.add(EXPORTS_URL, 'not-in-log', `names a log of ${size} entries that is not this one`);
  if (size < walk.size && isLateFrom(size)) findings.add(EXPORTS_URL, 'time', `shows only ${size} entries of the log`);
  const check = new RowsCheck(reader, findings, walk, partEntries, manifest, lateness);
  await check.observations();
  await check.markets();
}

class RowsCheck {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #walk: ReadLog;
  readonly #partEntries: number;
  readonly #manifest: ReadManifest;
  readonly #size: number;
  readonly #lateness: Lateness;

  constructor(
    reader: PublicReader,
    findings: Findings,
    walk: ReadLog,
    partEntries: number,
    manifest: ReadManifest,
    lateness: Lateness,
  ) {
    this.#lateness = lateness;
    this.#reader = reader;
    this.#findings = findings;
    this.#walk = walk;
    this.#partEntries = partEntries;
    this.#manifest = manifest;
    this.#size = manifest.log.size;
  }

  async observations(): Promise<void> {
    const expected = expectedParts(this.#walk.fold, this.#size, this.#partEntries);
    const files = this.#filesOf('observations');
    for (const [number, part] of expected) {
      const resources = files.get(number) ?? [];
      files.delete(number);
      await this.#checkPart(number, part, resources);
    }
    for (const [{ path }] of files.values() as Iterable<[Resource]>) this.#add(path, 'belongs to a part without rows');
  }

  async #checkPart(number: number, part: ExpectedPart, resources: readonly Resource[]): Promise<void> {
    const formats = new Map(resources.map((resource) => [resource.format, resource]));
    const { ndjson, csv } = part.digests();
    const rows = formats.get('ndjson');
    if (rows === undefined) return this.#findings.add(EXPORTS_URL, 'not-in-log', `names no rows of part ${number}`);
    const body = await this.#read(rows.path);
    if (body === null) return;
    if ((await digestOf(body)) !== ndjson) {
      await this.#guarded(rows.path, () => this.#explain(rows.path, body, number, part));
      return;
    }
    for (const { rows: count, path } of resources) {
      if (count !== part.rows) this.#add(path, `has ${count} rows by the manifest, ${part.rows} by the log`);
    }
    const text = formats.get('csv');
    const packed = text === undefined ? null : await this.#read(text.path);
    if (text && packed && (await digestOf(packed)) !== csv) this.#add(text.path, 'has other rows than the log gives');
  }

  /** Finds the first row that differs. Rows of entries that were taken down can be neither proven nor refuted. */
  async #explain(path: string, body: Uint8Array, number: number, { rows }: ExpectedPart): Promise<void> {
    let market = '';
    let expected = new Map<unknown, ExportRow>();
    let matched = 0;
    let unproven = 0;
    for await (const { line, row } of rowsIn(body)) {
      if (row.market < market) return this.#add(path, `has ${row.market} after ${market}`);
      if (row.market !== market) {
        market = row.market;
        expected = new Map(this.#expectedIn(number, market).map((each) => [each.logIndex, each]));
      }
      const { logIndex } = row;
      const right = expected.get(logIndex);
      const isLoose = this.#isTakenDown(market);
      if (right !== undefined && (line === ndjsonLine(right) || (isLoose && isSameButDerived(row, right)))) {
        expected.delete(logIndex);
        matched++;
        if (line !== ndjsonLine(right)) unproven++;
      } else if (isLoose && this.#walk.fold.isTakenDown(logIndex as number)) unproven++;
      else return this.#add(path, `has a row of ${market} with logIndex ${logIndex} that this entry does not give`);
    }
    if (matched < rows) this.#add(path, `lacks ${rows - matched} of ${rows} rows that the log gives`);
    else if (unproven === 0) this.#add(path, 'has its rows in another order or form');
  }

  #expectedIn(number: number, slug: string): readonly ExportRow[] {
    const all = expectedObservations(this.#walk.fold, slug, this.#size);
    return all.filter(({ logIndex }) => Math.floor(logIndex / this.#partEntries) === number);
  }

  /** Nobody can tell which of its entries: a hash does not say. */
  #isTakenDown(slug: string): boolean {
    return this.#walk.fold.takenDown > 0 && this.#walk.fold.isRemoved(slug);
  }

  async markets(): Promise<void> {
    // The table shows the list, which has a cadence of its own.
    const isBehind = this.#manifest.generation !== this.#manifest.logGeneration;
    const { fold } = this.#walk;
    const left = new Set(fold.pastSlugs());
    let path = '';
    let group: { readonly line: string; readonly row: Row }[] = [];
    const flush = () => {
      const [first] = group;
      if (first === undefined) return;
      const { market, revision } = first.row;
      if (!left.delete(market)) this.#add(path, `has ${market}, which is not in the log, or twice`);
      else if (!this.#isTakenDown(market)) {
        const upTo = isBehind ? (revision as number) : Number.POSITIVE_INFINITY;
        const lines = expectedMarketRows(fold, market, this.#size, upTo).map(ndjsonLine);
        if (lines.join('') !== group.map(({ line }) => line).join('')) {
          this.#add(path, `has other rows of ${market} than the log gives`);
        }
      }
      group = [];
    };
    for (const resources of this.#filesOf('markets').values()) {
      const file = resources.find(({ format }) => format === 'ndjson');
      const body = file && (await this.#read(file.path));
      if (!file || !body) continue;
      let rows = 0;
      await this.#guarded(file.path, async () => {
        for await (const each of rowsIn(body)) {
          if (group[0]?.row.market !== each.row.market) flush();
          path = file.path;
          group.push(each);
          rows++;
        }
        flush();
      });
      for (const { rows: count, path: named } of resources) {
        if (count !== rows) this.#add(named, `has ${count} rows by the manifest, and ${rows} in NDJSON`);
      }
    }
    for (const slug of left) {
      if (isBehind && !new PastMarket(fold, slug, this.#size).isLateIfMissing(this.#lateness)) continue;
      if (this.#isTakenDown(slug) || expectedMarketRows(fold, slug, this.#size).length === 0) continue;
      this.#findings.add(EXPORTS_URL, 'not-in-log', `has no row of ${slug} in the table of markets`);
    }
  }

  /** By the number of the part, in order. */
  #filesOf(table: ExportTable['name']): Map<number, Resource[]> {
    const files = new Map<number, Resource[]>();
    for (const resource of this.#manifest.resources) {
      const number = new RegExp(`^parts/${table}-(\\d+)-`).exec(resource.path)?.[1];
      if (number === undefined) continue;
      files.set(Number(number), [...(files.get(Number(number)) ?? []), resource]);
    }
    return files;
  }

  async #read(path: string): Promise<Uint8Array | null> {
    const { status, body } = await this.#reader(EXPORT_ROOT + path);
    if (status === 200) return body;
    this.#findings.add(EXPORT_ROOT + path, 'status', `answered ${status}, expected 200`);
    return null;
  }

  async #guarded(path: string, read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof LogFaultError || error instanceof BadRows)) throw error;
      this.#add(path, error.message);
    }
  }

  #add(path: string, detail: string): void {
    this.#findings.add(EXPORT_ROOT + path, 'not-in-log', detail);
  }
}

/** A file is no gzip, or holds something else than rows. */
class BadRows extends Error {
  override readonly name = 'BadRows';
}

function isSameButDerived(one: ExportRow, other: ExportRow): boolean {
  return ndjsonLine({ ...one, ...DERIVED }) === ndjsonLine({ ...other, ...DERIVED });
}

/** Of the text, in hex; null if it is no gzip. */
async function digestOf(packed: Uint8Array): Promise<string | null> {
  const digest = createHash('sha256');
  try {
    for await (const chunk of chunksOf(packed)) digest.update(chunk);
  } catch (error) {
    if (error instanceof BadRows) return null;
    throw error;
  }
  return digest.digest('hex');
}

async function* rowsIn(packed: Uint8Array): AsyncGenerator<{ readonly line: string; readonly row: Row }> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunksOf(packed)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > ROW_LENGTH_MAX) throw new BadRows('has a line that is no row');
    for (const line of lines) yield { line: `${line}\n`, row: rowOf(line) };
  }
  if (rest !== '') throw new BadRows('does not end with a newline');
}

async function* chunksOf(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    yield* Readable.from([packed]).pipe(createGunzip()) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (!(cause as { readonly code?: string }).code?.startsWith('Z_')) throw cause;
    throw new BadRows('is no gzip', { cause });
  }
}

function rowOf(line: string): Row {
  try {
    const row = JSON.parse(line) as Row | null;
    if (typeof row?.market === 'string') return row;
  } catch {
    // Reported below.
  }
  throw new BadRows('has a line that is no row');
}
