/** Reads the rows of an XML document, as `csv-rows.ts` reads those of a CSV file. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import type { CsvInput } from './csv-input.ts';
import { type CsvFault, type CsvRow, fatalFault } from './csv-rows.ts';
import { ownCells, readXml, type XmlElement } from './xml-elements.ts';

/** The limit of columns. Every row has all columns, so rows with names of their own would need quadratic memory. */
const COLUMNS_MAX = 1_000;

/** Yields the header, then the rows in the order of the document. All rows are in memory. */
export async function* readXmlRows(
  input: CsvInput,
  { rows: place }: NonNullable<CsvMapping['xml']>,
  isCut = false,
): AsyncGenerator<CsvRow | CsvFault> {
  const rows: { readonly line: number; readonly cells: ReadonlyMap<string, string> }[] = [];
  const header = new Set<string>();
  const found = await readXml(
    input,
    (element) => {
      if (element.path !== place) return null;
      const cells = new Map(cellsOfRow(element));
      if (header.size <= COLUMNS_MAX) for (const column of cells.keys()) header.add(column);
      rows.push({ line: element.line, cells });
      return cells.size;
    },
    isCut,
  );
  if (found !== null) return yield fatalFault(found.line, found.detail);
  if (rows.length === 0) return yield fatalFault(1, `there is no element ${place}, where xml.rows expects the rows`);
  if (header.size > COLUMNS_MAX) return yield fatalFault(1, `the rows have more than ${COLUMNS_MAX} columns`);
  yield { kind: 'header', line: rows[0]?.line ?? 1, fields: [...header] };
  for (const { line, cells } of rows) {
    yield { kind: 'row', line, fields: [...header].map((column) => cells.get(column) ?? '') };
  }
}

/** The row's own cells, and those of enclosing elements that come before it: `../@time`. */
function* cellsOfRow(row: XmlElement): Generator<[column: string, cell: string]> {
  yield* ownCells(row);
  let prefix = '../';
  for (let around = row.parent; around !== null; around = around.parent) {
    for (const [column, cell] of ownCells(around)) if (column !== '.') yield [prefix + column, cell];
    prefix += '../';
  }
}
