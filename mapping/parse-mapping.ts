/** Validates a mapping document. */
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { flattenIssues, pointerOf } from '../contract/zod-pointers.ts';
import { plainWords } from '../contract/zod-words.ts';
import { type CsvMapping, csvMappingSchema, type MappingFault } from './csv-mapping.ts';
import { findReferenceFaults } from './mapping-references.ts';

type Faults = readonly [MappingFault, ...MappingFault[]];

export type MappingResult = { readonly mapping: CsvMapping } | { readonly faults: Faults };

/** A text with this beginning stands where a person must decide. `begin-mapping.ts` writes it. */
export const FILL_IN = 'FILL IN';

/** Checks the shape, and that every placeholder names an available column. Reports all faults at once. */
export function parseMapping(input: unknown): MappingResult {
  const toFill = [...unfilled(input)];
  const parsed = csvMappingSchema.safeParse(input, { error: plainWords });
  const faults = parsed.success
    ? findReferenceFaults(parsed.data)
    : flattenIssues(parsed.error.issues).map((issue) => ({ pointer: pointerOf(issue.path), detail: issue.message }));
  const places = new Set(toFill.map(({ pointer }) => pointer));
  const all = [...toFill, ...faults.filter(({ pointer }) => !places.has(pointer))];
  return isFaulty(all) ? { faults: all } : { mapping: parsed.data as CsvMapping };
}

/** As `parseMapping`, from JSON with comments and trailing commas. Faults name the line of the text, too. */
export function parseMappingText(text: string): MappingResult {
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
  const faults = errors.map(({ error, offset }): MappingFault => {
    const detail = `is not JSON: ${printParseErrorCode(error)}`;
    return { pointer: '', detail, line: lineAt(text, offset) };
  });
  if (isFaulty(faults)) return { faults };
  if (tree === undefined) return { faults: [{ pointer: '', detail: 'is empty', line: 1 }] };
  const result = parseMapping(getNodeValue(tree));
  if ('mapping' in result) return result;
  const placed = result.faults.map((fault) => ({
    ...fault,
    line: lineAt(text, nearestNode(tree, fault.pointer).offset),
  }));
  return isFaulty(placed) ? { faults: placed } : result;
}

function* unfilled(value: unknown, path: readonly PropertyKey[] = []): Generator<MappingFault> {
  if (typeof value === 'string' && value.startsWith(FILL_IN)) {
    yield { pointer: pointerOf(path), detail: value };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* unfilled(inner, [...path, key]);
  }
}

/** The node at a pointer, or the last one on the way to it. */
function nearestNode(tree: Node, pointer: string): Node {
  let node = tree;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const next = findNodeAtLocation(node, [node.type === 'array' ? Number(key) : key]);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** The line of a place in the text, from 1 on. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function isFaulty(faults: readonly MappingFault[]): faults is Faults {
  return faults.length > 0;
}
