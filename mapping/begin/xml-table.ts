/** Finds the rows of an XML document, and writes them as the CSV that the guesses are made from. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import type { CsvFault, CsvRow } from '../input/csv-rows.ts';
import { readXml } from '../input/xml-elements.ts';
import { readXmlRows } from '../input/xml-rows.ts';
import { csvOf, LIKE_DATE } from './json-table.ts';

/** The rows of a document: where they are, and they themselves as CSV in UTF-8. */
export interface XmlTable {
  readonly options: NonNullable<CsvMapping['xml']>;
  readonly csv: Uint8Array;
}

/** The elements with most others of their path, and with values of their own. Of two such paths, the outer one. */
export async function readXmlTable(bytes: Uint8Array, isCut: boolean): Promise<XmlTable | { readonly fault: string }> {
  const counts = new Map<string, number>();
  const fault = await readXml(
    [bytes],
    ({ path, attributes, cells, parent }) => {
      if (parent !== null && attributes.size + cells.size > 0) counts.set(path, (counts.get(path) ?? 0) + 1);
      return null;
    },
    isCut,
  );
  if (fault !== null) return { fault: `line ${fault.line}: ${fault.detail}` };
  const depth = (path: string) => path.split('/').length;
  const [best] = [...counts].sort(([one, many], [other, more]) => more - many || depth(one) - depth(other));
  if (best === undefined)
    return { fault: 'no element of the document has attributes or children: where are its rows?' };
  const options = { rows: best[0] };
  return await csvOf(withoutHead(readXmlRows([bytes], options, isCut)), options);
}

/** Texts of the document's head are the same for each row. Only a date among them says something of the rows. */
async function* withoutHead(rows: AsyncIterable<CsvRow | CsvFault>): AsyncGenerator<CsvRow | CsvFault> {
  const all: (CsvRow | CsvFault)[] = [];
  for await (const row of rows) all.push(row);
  const [header, ...others] = all;
  if (header === undefined || header.kind === 'fault') return yield* all;
  const kept = header.fields.map((column, place) => {
    const cells = new Set(others.map((row) => (row.kind === 'fault' ? '' : (row.fields[place] as string))));
    return !column.startsWith('../') || cells.size > 1 || LIKE_DATE.test([...cells][0] ?? '');
  });
  for (const row of all) {
    yield row.kind === 'fault' ? row : { ...row, fields: row.fields.filter((_, place) => kept[place]) };
  }
}
