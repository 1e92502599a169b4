/**
 * The rows of one part in every format. All formats are written in one pass over the rows, so that only a group of
 * rows is in memory.
 */
import type { ExportExtension, ExportRow, ExportTable } from '../../../contract/bodies/export-tables.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { ExportPartValue } from '../../../storage/records/exports.ts';
import { ParquetFile } from './write-parquet.ts';
import { csvTexts, growingText, ndjsonLine } from './write-texts.ts';

export interface WrittenPart {
  /** The digest of the rows, in hex. */
  readonly contentDigest: string;
  readonly bodies: { readonly [Extension in ExportExtension]: Buffer };
}

export class PartFile {
  readonly #yieldToEventLoop: () => Promise<void>;
  readonly #ndjson = growingText(ndjsonLine);
  readonly #csv;
  readonly #parquet;
  #rows = 0;
  #first: string | null = null;
  #last: string | null = null;

  /** @param yieldToEventLoop lets other tasks run */
  constructor(table: ExportTable, yieldToEventLoop: () => Promise<void>) {
    this.#yieldToEventLoop = yieldToEventLoop;
    const { header, line } = csvTexts(table);
    this.#csv = growingText(line, header);
    this.#parquet = new ParquetFile(table);
  }

  get rows(): number {
    return this.#rows;
  }

  /** The earliest and the latest moment of the rows. */
  get observed(): Pick<ExportPartValue, 'firstObservedAt' | 'lastObservedAt'> {
    return { firstObservedAt: this.#first, lastObservedAt: this.#last };
  }

  /** Pass some hundred rows at most, because nothing else runs meanwhile. */
  async add(rows: readonly ExportRow[]): Promise<void> {
    if (rows.length === 0) return;
    this.#rows += rows.length;
    for (const { observedAt } of rows)
      if (typeof observedAt === 'string') this.#observe(millisecondInstant(observedAt));
    // Other threads compress these.
    await Promise.all([this.#ndjson.add(rows), this.#csv.add(rows)]);
    await this.#yieldToEventLoop();
    this.#parquet.add(rows);
    await this.#yieldToEventLoop();
  }

  async end(): Promise<WrittenPart> {
    const [ndjson, csv] = [await this.#ndjson.end(), await this.#csv.end()];
    await this.#yieldToEventLoop();
    const bodies = { parquet: this.#parquet.end(), 'ndjson.gz': ndjson.bytes, 'csv.gz': csv.bytes };
    return { contentDigest: ndjson.contentDigest, bodies };
  }

  #observe(instant: string): void {
    if (this.#first === null || instant < this.#first) this.#first = instant;
    if (this.#last === null || instant > this.#last) this.#last = instant;
  }
}
