/** Reads the rows of a JSON document, as `csv-rows.ts` reads those of a CSV file. */

import { quotedText } from '../../contract/problems/row-refusal-text.ts';
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { type CsvInput, wholeText } from './csv-input.ts';
import { type CsvFault, type CsvRow, fatalFault } from './csv-rows.ts';
import { JSON_DOCUMENT_CHARACTERS, type JsonNode, nodeAt, pointerPart, readJsonDocument } from './json-document.ts';

type JsonOptions = NonNullable<CsvMapping['json']>;

/** The limit of columns. Every row has all columns, so rows with names of their own would need quadratic memory. */
const COLUMNS_MAX = 1_000;

/** A row by column, while the set of columns is incomplete. */
interface Row {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
}

/** Yields the header, then rows and faults in the order of the document. The whole document is in memory. */
export async function* readJsonRows(input: CsvInput, options: JsonOptions): AsyncGenerator<CsvRow | CsvFault> {
  const text = await wholeText(input, JSON_DOCUMENT_CHARACTERS);
  if (text === null) return yield fatalFault(1, `the document has more than ${JSON_DOCUMENT_CHARACTERS} characters`);
  if (text.includes('\uFFFD'))
    return yield fatalFault(lineOf(text, '\uFFFD'), 'holds bytes that are not UTF-8, or U+FFFD');
  const root = readJsonDocument(text);
  if ('detail' in root) return yield fatalFault(root.line, root.detail);
  const constants = new Map<string, string>();
  for (const [column, pointer] of Object.entries(options.columns)) {
    const node = nodeAt(root, pointer);
    if (node?.text == null) {
      const why = node === undefined ? 'there is no' : 'there is an object or array, but no single';
      return yield fatalFault(node?.line ?? 1, `${why} value at ${pointer}, from which column "${column}" is taken`);
    }
    constants.set(column, node.text.trim());
  }
  const found = rowNodes(root, options);
  if ('detail' in found) return yield fatalFault(found.line, found.detail);
  const rows: (Row | CsvFault)[] = [];
  const around = [...(found.groups[0]?.around.keys() ?? [])];
  const added = [...constants.keys(), ...around, options.name, options.value];
  const header = new Set(added.filter((name) => name !== undefined));
  for (const [name, node, own] of rowsIn(found.groups)) {
    const cells = new Map([...constants, ...own]);
    if (options.name !== undefined) cells.set(options.name, name.trim());
    if (node.text !== null) {
      if (options.value === undefined) {
        rows.push({ ...fatalFault(node.line, 'is a single value: name a column for it as json.value'), fatal: false });
        continue;
      }
      cells.set(options.value, node.text.trim());
    }
    for (const [column, cell] of cellsOf(node, '')) {
      if (cells.has(column) || column === options.value) {
        return yield fatalFault(node.line, `there are two columns "${column}": rename the one that the mapping adds`);
      }
      cells.set(column, cell);
      header.add(column);
    }
    if (header.size > COLUMNS_MAX) return yield fatalFault(node.line, `the rows have more than ${COLUMNS_MAX} columns`);
    rows.push({ line: node.line, cells });
  }
  yield { kind: 'header', line: found.line, fields: [...header] };
  for (const row of rows) {
    if ('kind' in row) yield row;
    else yield { kind: 'row', line: row.line, fields: [...header].map((column) => row.cells.get(column) ?? '') };
  }
}

interface Rows {
  readonly line: number;
  /** Rows by name or index. */
  readonly rows: Iterable<readonly [string, JsonNode]>;
}

/** The rows of one place, and the names of the members on the path to it, by column. */
interface Group extends Rows {
  readonly around: ReadonlyMap<string, string>;
}

type Fault = { readonly line: number; readonly detail: string };

function* rowsIn(groups: readonly Group[]): Generator<readonly [string, JsonNode, Group['around']]> {
  for (const { rows, around } of groups) for (const [name, node] of rows) yield [name, node, around];
}

/** The rows of each place that a pointer with braces stands for. A member without the rest of the path has no rows. */
function rowNodes(root: JsonNode, options: JsonOptions): { line: number; groups: readonly Group[] } | Fault {
  const [, before, column, after] = /^(.*?)\/\{([^{}/]+)\}(.*)$/.exec(options.rows) ?? [];
  if (before === undefined || column === undefined || after === undefined) {
    const found = rowsAt(root, options);
    return 'detail' in found ? found : { line: found.line, groups: [{ ...found, around: new Map() }] };
  }
  const place = nodeAt(root, before);
  if (place?.members == null)
    return { line: place?.line ?? 1, detail: `there is no object or array at ${before || 'the top'}` };
  const groups: Group[] = [];
  for (const [name, member] of place.members) {
    if (nodeAt(member, after.replace(/\/\{.*$/, '')) === undefined) continue;
    const found = rowNodes(member, { ...options, rows: after });
    if ('detail' in found) return found;
    groups.push(
      ...found.groups.map((group) => ({ ...group, around: new Map([[column, name.trim()], ...group.around]) })),
    );
  }
  if (groups.length > 0) return { line: place.line, groups };
  return { line: place.line, detail: `no member of ${before || 'the document'} has anything at ${after}` };
}

function rowsAt(root: JsonNode, { rows, name, parallel }: JsonOptions): Rows | Fault {
  const node = nodeAt(root, rows);
  if (node === undefined) return { line: 1, detail: `there is nothing at ${rows}, where json.rows expects the rows` };
  const { line, members, isArray } = node;
  if (members === null) return { line, detail: `${rows || 'the document'} is a single value, but no rows` };
  if (isArray && name !== undefined) {
    return { line, detail: `${rows || 'the document'} is an array: its rows have no names, so leave out json.name` };
  }
  if (parallel === true) return parallelRows(node, rows);
  return { line, rows: isArray || name !== undefined ? members : [['', node]] };
}

/** The rows of an object whose members are columns. The line of a row is that of its first value. */
function parallelRows({ line, members }: JsonNode, place: string): Rows | { line: number; detail: string } {
  const arrays = [...(members ?? [])].filter(([, { isArray }]) => isArray);
  const [first, ...others] = arrays;
  if (first === undefined)
    return { line, detail: `${place || 'the document'} has no arrays, which "parallel" expects` };
  const lengthOf = ([, node]: (typeof arrays)[number]) => node.members?.size ?? 0;
  const longer = others.find((each) => lengthOf(each) !== lengthOf(first));
  if (longer !== undefined) {
    const lengths = `${lengthOf(first)} values of ${quotedText(first[0])}, and ${lengthOf(longer)} of ${quotedText(longer[0])}`;
    return { line: longer[1].line, detail: `the arrays have ${lengths}: parallel ones have the same number` };
  }
  const rows: [string, JsonNode][] = [...(first[1].members ?? [])].map(([index, node]) => {
    const cells = arrays.map(([name, array]) => [name, array.members?.get(index) as JsonNode] as const);
    return [index, { line: node.line, text: null, members: new Map(cells), isArray: false }];
  });
  return { line, rows };
}

/** The values of a row, by pointer without the first slash: `price/usd`; or `0` in an array. */
function* cellsOf({ members }: JsonNode, prefix: string): Generator<[column: string, cell: string]> {
  for (const [name, node] of members ?? []) {
    const column = prefix + pointerPart(name);
    if (node.text !== null) yield [column, node.text.trim()];
    else yield* cellsOf(node, `${column}/`);
  }
}

function lineOf(text: string, searched: string): number {
  return text.slice(0, text.indexOf(searched)).split('\n').length;
}
