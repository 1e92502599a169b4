/** Reads documents that people write: JSON with comments and trailing commas. Each fault has a line. */
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { pointerOf } from '../../contract/values/zod-pointers.ts';
import type { MappingFault } from './csv-mapping.ts';

export type MappingFaults = readonly [MappingFault, ...MappingFault[]];

/** A text that begins like this marks a place where a person must decide. `begin-mapping.ts` writes it. */
export const FILL_IN = 'FILL IN';

/** No mapping needs more levels. The parser is recursive, and some thousand levels overflow its stack. */
const DEPTH_MAX = 32;

/**
 * @param read checks the document, and returns its faults without lines
 * @returns the faults of the text, or the result of `read` with lines
 */
export function readJsonc<Good extends object>(
  text: string,
  read: (document: unknown) => Good | { readonly faults: MappingFaults },
): Good | { readonly faults: MappingFaults } {
  const tooDeep = tooDeepAt(text);
  if (tooDeep !== null) {
    const detail = `is nested too deeply: at most ${DEPTH_MAX} levels`;
    return { faults: [{ pointer: '', detail, line: lineAt(text, tooDeep) }] };
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined)
    return { faults: [{ pointer: '', detail: syntaxFault(text, error), line: lineAt(text, error.offset) }] };
  if (tree === undefined) return { faults: [{ pointer: '', detail: 'is empty', line: 1 }] };
  const result = read(getNodeValue(tree));
  if (!('faults' in result)) return result;
  const [first, ...others] = result.faults;
  const placed = (fault: MappingFault) => ({
    ...fault,
    line: lineAt(text, nearestNode(tree, fault.pointer).offset),
  });
  return { faults: [placed(first), ...others.map(placed)] };
}

/** The first fault in words, with the text where the parser noticed it. Later ones mostly follow from it. */
export function syntaxFault(text: string, { error, offset }: ParseError): string {
  const words = printParseErrorCode(error)
    .replaceAll(/\B[A-Z]/g, ' $&')
    .toLowerCase();
  const [rest] = text.slice(offset).match(/.{0,40}/) as RegExpMatchArray;
  return `is not JSON (${words} at ${rest.trim() || 'the end of the line'})`;
}

/** The places where a person must decide, and the faults of all other places. */
export function withUnfilled(document: unknown, faults: readonly MappingFault[]): readonly MappingFault[] {
  const toFill = [...unfilled(document)];
  const places = new Set(toFill.map(({ pointer }) => pointer));
  return [...toFill, ...faults.filter(({ pointer }) => !places.has(pointer))];
}

export function isFaulty(faults: readonly MappingFault[]): faults is MappingFaults {
  return faults.length > 0;
}

function* unfilled(value: unknown, path: readonly PropertyKey[] = []): Generator<MappingFault> {
  if (typeof value === 'string' && value.startsWith(FILL_IN)) {
    yield { pointer: pointerOf(path), detail: value };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* unfilled(inner, [...path, key]);
  }
}

/** The position of the first bracket that is too deep; null: none. */
export function tooDeepAt(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const offset = scanner.getTokenOffset();
    const token = text.slice(offset, offset + scanner.getTokenLength());
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth > DEPTH_MAX) return offset;
  }
  return null;
}

/** The node at a pointer, or the deepest existing node above it. */
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

/** The line of a position in the text, from 1 on. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
