/** Writes Parquet. The same rows give the same bytes with the same version of Node, which compresses the pages. */
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ColumnType, ExportCell, ExportColumn, ExportRow, ExportTable } from '../../contract/export-tables.ts';

/** Writing a group takes some 50 ms, in which the process does nothing else. Readers skip groups by market and time. */
const ROWS_IN_A_GROUP = 8_192;

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

export async function parquetOf(
  { columns }: ExportTable,
  rows: readonly ExportRow[],
  breathe: () => Promise<void>,
): Promise<Buffer> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)],
    codec: 'ZSTD',
    compressors: { ZSTD: (page) => zstdCompressSync(page) },
    createdBy: 'tidemark',
  });
  for (let start = 0; start < rows.length; start += ROWS_IN_A_GROUP) {
    const group = rows.slice(start, start + ROWS_IN_A_GROUP);
    const columnData = columns.map(({ name, type }) => ({ name, data: group.map((row) => stored(row[name], type)) }));
    await breathe();
    file.write({ columnData, rowGroupSize: ROWS_IN_A_GROUP });
    await breathe();
  }
  file.finish();
  return Buffer.from(writer.getBuffer());
}

function elementOf({ name, type, isNullable }: ExportColumn): SchemaElement {
  return { name, repetition_type: isNullable ? 'OPTIONAL' : 'REQUIRED', ...TYPES[type] };
}

function stored(cell: ExportCell | undefined, type: ColumnType): ExportCell | bigint | Date {
  if (cell === undefined || cell === null) return null;
  if (type === 'integer') return BigInt(cell as number);
  return type === 'instant' ? new Date(cell as string) : cell;
}
