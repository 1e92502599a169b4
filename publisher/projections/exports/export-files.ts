/**
 * The files of one export. A file's name is a digest of its rows, so the same rows are put only once, on whichever day.
 *
 * Safety: the sweep removes a file only if its record says that no kept manifest names it. So the record is written before
 * the objects, and says "unused from today on" until the transaction that makes the file part of the export. The sweep
 * removes leftovers of a process that died like files of an old export.
 */
import {
  EXPORT_FORMATS,
  EXPORT_TABLES,
  type ExportExtension,
  type ExportTable,
} from '../../../contract/bodies/export-tables.ts';
import type { ExportFileKind } from '../../../contract/files/public-object-names.ts';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { created, put } from '../../../storage/ports/changes.ts';
import type { Change, Item } from '../../../storage/ports/ledger.ts';
import { bodyDigest } from '../../../storage/ports/object-rules.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import {
  type ExportFiles,
  type ExportPartValue,
  exportFileKey,
  exportPartKey,
  exportPartsOf,
  partDigits,
} from '../../../storage/records/exports.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { Superseded } from '../../errors.ts';
import { commit } from '../../kernel/change-many.ts';
import { publicMetadata } from '../../kernel/files/fenced-put.ts';
import { putDailyFile } from '../../kernel/files/put-daily-file.ts';
import { dataPackage, type ExportManifest, schemaFile, tableSchema } from './manifest.ts';
import type { PartFile } from './part-file.ts';

const KINDS: { readonly [Extension in ExportExtension]: ExportFileKind } = {
  parquet: 'export-parquet',
  'ndjson.gz': 'export-ndjson',
  'csv.gz': 'export-csv',
};

/** The objects of a file, by extension. */
export function objectsOfFile(file: string): readonly (readonly [ExportExtension, PublicObjectName])[] {
  return (Object.keys(EXPORT_FORMATS) as ExportExtension[]).map((extension) => [
    extension,
    { kind: KINDS[extension], file },
  ]);
}

export class ExportWriter {
  readonly #storage: PublisherStorage;
  readonly #date: string;
  readonly #generation: number;
  readonly #again: string | null;

  /** @param again the date of a kept export that is made again. Default: this is the newest export */
  constructor(storage: PublisherStorage, date: string, generation: number, again: string | null = null) {
    this.#storage = storage;
    this.#date = date;
    this.#generation = generation;
    this.#again = again;
  }

  /** The recorded parts of a table, in order. */
  async readParts(table: ExportTable['name']): Promise<Item<ExportPartValue>[]> {
    return await readAll(this.#storage.ledger, exportPartsOf(table, this.#again));
  }

  async #filesOf(table: ExportTable['name']): Promise<readonly ExportFiles[]> {
    return (await this.readParts(table)).flatMap(({ value }) => value.files ?? []);
  }

  /**
   * Puts the rows of a part and records them, unless they are recorded already.
   *
   * @param before the record of the part; null for a new part
   * @throws Superseded if another export does the same work
   */
  async writePart(
    table: ExportTable,
    part: number,
    before: Item<ExportPartValue> | null,
    { file, ...covered }: Pick<ExportPartValue, 'entries' | 'takenDown'> & { readonly file: PartFile },
  ): Promise<void> {
    const files = file.rows === 0 ? null : await this.#putRows(table, part, before?.value.files ?? null, file);
    const value: ExportPartValue = { ...covered, files, ...file.observed };
    const key = exportPartKey(table.name, part, this.#again);
    const guard =
      before === null ? { kind: 'absent' as const } : { kind: 'written-by' as const, attemptId: before.attemptId };
    await this.#commit([
      { kind: 'put', key, revision: 0, value, if: guard },
      ...this.#fileChanges(before?.value.files ?? null, files),
    ]);
  }

  /** Removes the record of a part that must be made again, or that no longer exists. */
  async forgetPart(before: Item<ExportPartValue>): Promise<void> {
    const { partition, sort, attemptId, value } = before;
    const guard = { kind: 'written-by', attemptId } as const;
    await this.#commit([
      { kind: 'delete', key: { partition, sort }, if: guard },
      ...this.#fileChanges(value.files, null),
    ]);
  }

  async putHead(name: PublicObjectName, text: string): Promise<void> {
    await putDailyFile(this.#storage, { name, text }, this.#generation);
  }

  /** Puts the manifest of an export after all of its files. @returns the Data Package of the day */
  async putManifests(about: Omit<ExportManifest, 'files'>): Promise<string> {
    for (const table of EXPORT_TABLES)
      await this.#put({ kind: 'export-schema', file: schemaFile(table) }, Buffer.from(tableSchema(table).text));
    const files = { observations: await this.#filesOf('observations'), markets: await this.#filesOf('markets') };
    const text = dataPackage({ ...about, files });
    await this.putHead({ kind: 'export-package', date: about.date }, text);
    return text;
  }

  /**
   * Puts an immutable object, and returns the stored one's facts: compressed bytes may differ although the contents are the
   * same.
   */
  async #put(name: PublicObjectName, body: Buffer): Promise<{ bytes: number; digest: string }> {
    const { objects } = this.#storage;
    const key = publicKey(name);
    for (;;) {
      const result = await objects.put(key, body, publicMetadata(name, this.#generation), { kind: 'absent' });
      if (result.kind === 'stored') return { bytes: body.length, digest: bodyDigest(body) };
      const present = await objects.get(key);
      if (present.kind === 'found') return { bytes: present.body.length, digest: bodyDigest(present.body) };
    }
  }

  async #putRows(
    table: ExportTable,
    part: number,
    before: ExportFiles | null,
    written: PartFile,
  ): Promise<ExportFiles> {
    const { contentDigest, bodies } = await written.end();
    const file = `${table.name}-${partDigits(part)}-${contentDigest.slice(0, 32)}`;
    if (before?.file === file && (await this.#isComplete(file))) return before;
    // Refused if the file already has a record.
    await commit(this.#storage, [created(exportFileKey(file), { unusedFrom: this.#date })]);
    const formats: ExportFiles['formats'] = {};
    for (const [extension, name] of objectsOfFile(file)) {
      formats[extension] = await this.#put(name, bodies[extension]);
    }
    return { file, rows: written.rows, formats };
  }

  async #isComplete(file: string): Promise<boolean> {
    const present = objectsOfFile(file).map(([, name]) => this.#storage.objects.stat(publicKey(name)));
    return !(await Promise.all(present)).includes(null);
  }

  #fileChanges(before: ExportFiles | null, after: ExportFiles | null): Change[] {
    // Only its manifest names the files of a kept export: see reachable.ts.
    if (this.#again !== null || before?.file === after?.file) return [];
    return [
      ...(before === null ? [] : [put(exportFileKey(before.file), 0, { unusedFrom: this.#date })]),
      ...(after === null ? [] : [put(exportFileKey(after.file), 0, { unusedFrom: null })]),
    ];
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    if (!(await commit(this.#storage, changes))) throw new Superseded('another export changes the same part');
  }
}
