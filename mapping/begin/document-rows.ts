/** Finds the rows of a JSON or XML document. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import type { CsvFault, CsvRow } from '../input/csv-rows.ts';
import { type JsonNode, pointerPart, readJsonDocument } from '../input/json-document.ts';
import { readJsonRows } from '../input/json-rows.ts';
import { readXml } from '../input/xml-elements.ts';
import { readXmlRows } from '../input/xml-rows.ts';
import { closedJson } from './file-head.ts';

/** The member of the mapping that states where the rows are. */
export type FilePlace = Partial<Pick<CsvMapping, 'csv' | 'json' | 'xml'>>;

/** The rows of a document, and the place where they were found. */
export interface FoundRows {
  readonly place: FilePlace;
  readonly rows: AsyncIterable<CsvRow | CsvFault>;
}

/** Why a file has no rows, and the remedy. */
export interface NoRows {
  readonly fault: string;
}

type JsonOptions = NonNullable<CsvMapping['json']>;

const COLUMN_CHARACTERS = 200;

/** @param isCut whether the document continues after these bytes. Then only complete rows count */
export async function jsonRows(bytes: Uint8Array, isCut: boolean): Promise<FoundRows | NoRows> {
  const whole = new TextDecoder().decode(bytes);
  const text = isCut ? closedJson(whole) : whole;
  const root = readJsonDocument(text);
  if ('detail' in root) return { fault: `line ${root.line}: ${root.detail}` };
  const json = guessOptions(root);
  return { place: { json }, rows: readJsonRows(text, json) };
}

/** The path with most elements that have values of their own. Of two such paths, the outer one. */
export async function xmlRows(bytes: Uint8Array, isCut: boolean): Promise<FoundRows | NoRows> {
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
  const xml = { rows: best[0] };
  return { place: { xml }, rows: readXmlRows([bytes], xml, isCut) };
}

/** The place with most rows, and the dates at the top of the document, which may apply to all rows. */
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

/** Digits followed by another character, as in most dates. */
export const LIKE_DATE = /^\d+[^\d.eE]/;

interface Place {
  readonly options: Omit<JsonOptions, 'columns'>;
  readonly count: number;
  readonly members: ReadonlySet<string>;
}

/** Every place with rows, from the top of the document down. */
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
  // A long list may have a few members that are no rows, such as a null.
  const objects = children.filter((child) => child.members !== null);
  if (3 * objects.length > 2 * count) {
    const found = { count: objects.length, members: below };
    if (isArray) yield { options: { rows }, ...found };
    else if (count > 1 && areAlike(objects)) yield { options: { rows, name: 'name' }, ...found };
  } else if (!isArray && count > 1 && 3 * numbers >= 2 * count && children.every(({ text }) => text !== null)) {
    yield { options: { rows, name: 'name', value: 'value' }, count, members: new Set() };
  }
  if (isArray) return;
  for (const [name, child] of members ?? []) yield* placesOf(child, `${rows}/${pointerPart(name)}`);
}

/**
 * Whether members have the form of rows. Rows usually share a name, although some may lack it. Parts of a document, such as
 * head and data, share none.
 */
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
