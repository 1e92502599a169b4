/** Finds the rows of a JSON document, and writes them as the CSV that the guesses are made from. */

import type { CsvMapping } from '../declared/csv-mapping.ts';
import type { CsvFault, CsvRow } from '../input/csv-rows.ts';
import { type JsonNode, pointerPart, readJsonDocument } from '../input/json-document.ts';
import { readJsonRows } from '../input/json-rows.ts';
import { closedJson } from './file-head.ts';

type JsonOptions = NonNullable<CsvMapping['json']>;

/** The rows of a document: where they are, and they themselves as CSV in UTF-8. */
export interface JsonTable {
  readonly options: JsonOptions;
  readonly csv: Uint8Array;
}

const COLUMN_CHARACTERS = 200;

/** @param isCut whether the document goes on: then its rows are those that are whole */
export async function readJsonTable(
  bytes: Uint8Array,
  isCut: boolean,
): Promise<JsonTable | { readonly fault: string }> {
  const whole = new TextDecoder().decode(bytes);
  const text = isCut ? closedJson(whole) : whole;
  const root = readJsonDocument(text);
  if ('detail' in root) return { fault: `line ${root.line}: ${root.detail}` };
  const options = guessOptions(root);
  return await csvOf(readJsonRows(text, options), options);
}

export async function csvOf<Options>(
  rows: AsyncIterable<CsvRow | CsvFault>,
  options: Options,
): Promise<{ readonly options: Options; readonly csv: Uint8Array } | { readonly fault: string }> {
  const lines: string[] = [];
  for await (const row of rows) {
    if (row.kind === 'fault') return { fault: `line ${row.line}: ${row.detail}` };
    lines.push(`${row.fields.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`);
  }
  if (lines.length < 2) return { fault: 'the document has no rows' };
  return { options, csv: new TextEncoder().encode(lines.join('')) };
}

/** The form that a file's first character shows. */
export async function formOf(file: AsyncIterable<Uint8Array>): Promise<'json' | 'xml' | 'csv'> {
  const decoder = new TextDecoder();
  for await (const piece of file) {
    const [first] = decoder.decode(piece, { stream: true }).trimStart();
    if (first !== undefined) return first === '{' || first === '[' ? 'json' : first === '<' ? 'xml' : 'csv';
  }
  return 'csv';
}

/** The place with most rows, and the dates at the top of the document, which may be those of all rows. */
function guessOptions(root: JsonNode): JsonOptions {
  const [place] = [...placesOf(root, '')].sort((one, other) => other.count - one.count);
  const { options, members } = place ?? { options: { rows: '' }, members: new Set(root.members?.keys()) };
  const dates = [...(root.members?.keys() ?? [])].filter((name) => {
    const text = root.members?.get(name)?.text ?? '';
    return name.trim() !== '' && name.length <= COLUMN_CHARACTERS && !members.has(name) && LIKE_DATE.test(text);
  });
  const taken = new Set([...members, ...dates]);
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name);
  return {
    rows: options.rows,
    ...(options.name !== undefined && { name: free(options.name) }),
    ...(options.value !== undefined && { value: free(options.value) }),
    ...(options.parallel && { parallel: options.parallel }),
    columns: Object.fromEntries(dates.map((name) => [name, `/${pointerPart(name)}`])),
  };
}

/** Digits, and something beside them. */
export const LIKE_DATE = /^\d+[^\d.eE]/;

interface Place {
  readonly options: Omit<JsonOptions, 'columns'>;
  readonly count: number;
  /** The names of its rows' members. */
  readonly members: ReadonlySet<string>;
}

/** Every place at which there are rows. Those further up come first. */
function* placesOf(node: JsonNode, rows: string): Generator<Place> {
  const { members, isArray } = node;
  const children = [...(members?.values() ?? [])];
  const count = children.length;
  const arrays = parallelArrays(node);
  const length = arrays[0]?.[1].members?.size ?? 0;
  const names = new Set(arrays.map(([name]) => name));
  if (length > 1) yield { options: { rows, parallel: true }, count: length, members: names };
  const below = new Set(children.flatMap((child) => [...(child.members?.keys() ?? [])]));
  const numbers = children.filter(({ text }) => text !== null && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)).length;
  if (count > 0 && children.every((child) => child.members !== null)) {
    if (isArray) yield { options: { rows }, count, members: below };
    else if (count > 1 && areAlike(children)) yield { options: { rows, name: 'name' }, count, members: below };
  } else if (!isArray && count > 1 && 3 * numbers >= 2 * count && children.every(({ text }) => text !== null)) {
    yield { options: { rows, name: 'name', value: 'value' }, count, members: new Set() };
  }
  if (isArray) return;
  for (const [name, child] of members ?? []) yield* placesOf(child, `${rows}/${pointerPart(name)}`);
}

/** Parts of one document, such as its head and its data, have no name in common. Of rows, most have one, but perhaps not all. */
function areAlike(children: readonly JsonNode[]): boolean {
  const counts = new Map<string, number>();
  for (const { members } of children) {
    for (const name of members?.keys() ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts.values()].some((count) => 2 * count > children.length);
}

/** Arrays of single values, all of one length, such as `{"unix_seconds": [1, 2], "price": [10, 11]}`. */
function parallelArrays({ members, isArray }: JsonNode): readonly [name: string, array: JsonNode][] {
  const arrays = isArray ? [] : [...(members ?? [])].filter(([, node]) => node.isArray);
  const lengths = new Set(arrays.map(([, { members: values }]) => values?.size));
  const areSingle = arrays.every(([, array]) => [...(array.members ?? [])].every(([, { text }]) => text !== null));
  return arrays.length > 1 && lengths.size === 1 && areSingle ? arrays : [];
}
