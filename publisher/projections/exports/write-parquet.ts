/** Writes Parquet. The same rows give the same bytes with the same version of Node, which compresses the pages. */
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type {
  ColumnType,
  ExportCell,
  ExportColumn,
  ExportRow,
  ExportTable,
} from '../../../contract/bodies/export-tables.ts';

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

/** A Parquet file to which rows are added. Of written rows, only the compressed pages are kept. */
export class ParquetFile {
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
