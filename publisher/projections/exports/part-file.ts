/**
 * The rows of one part in every format. All formats are written in one pass over the rows, so that only a group of
 * rows is in memory.
 */
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type {
  ColumnType,
  ExportCell,
  ExportColumn,
  ExportExtension,
  ExportRow,
  ExportTable,
} from '../../../contract/bodies/export-tables.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { ExportPartValue } from '../../../storage/records/exports.ts';
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

/** Writing a group blocks the process for some 50 ms. Readers can skip groups by market and time. */
const ROWS_IN_A_GROUP = 4_096;

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const TYPES: { readonly [Type in ColumnType]: Omit<SchemaElement, 'name'> } = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

/**
 * A Parquet file to which rows are added. Of written rows, only the compressed pages are kept. The same rows give the same
 * bytes with the same version of Node, which compresses the pages.
 */
class ParquetFile {
  readonly #columns: readonly ExportColumn[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  /** The cells of less than one group: as rows they would take several times the memory. */
  #cells: unknown[][];
  #count = 0;

  constructor({ columns }: ExportTable) {
    this.#columns = columns;
    this.#cells = columns.map(() => []);
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)],
      codec: 'ZSTD',
      compressors: { ZSTD: (page) => zstdCompressSync(page) },
      createdBy: 'tidemark',
    });
  }

  add(rows: readonly ExportRow[]): void {
    for (const row of rows) {
      for (const [column, { name, type }] of this.#columns.entries())
        this.#cells[column]?.push(stored(row[name], type));
      this.#count++;
      if (this.#count === ROWS_IN_A_GROUP) this.#writeGroup();
    }
  }

  end(): Buffer {
    if (this.#count > 0) this.#writeGroup();
    this.#writer.finish();
    return Buffer.from(this.#bytes.getBytes());
  }

  #writeGroup(): void {
    const columnData = this.#columns.map(({ name }, column) => ({ name, data: this.#cells[column] ?? [] }));
    this.#writer.write({ columnData, rowGroupSize: ROWS_IN_A_GROUP });
    this.#cells = this.#columns.map(() => []);
    this.#count = 0;
  }
}

function elementOf({ name, type, isNullable }: ExportColumn): SchemaElement {
  return { name, repetition_type: isNullable ? 'OPTIONAL' : 'REQUIRED', ...TYPES[type] };
}

function stored(cell: ExportCell | undefined, type: ColumnType): ExportCell | bigint | Date {
  if (cell === undefined || cell === null) return null;
  if (type === 'integer') return BigInt(cell as number);
  return type === 'instant' ? new Date(cell as string) : cell;
}
