/**
 * A JSON document in which every number is still the text that the source wrote. `JSON.parse` would convert numbers to doubles:
 * `0.10` would lose a digit, and `12345678901234567890` its value.
 */
import { printParseErrorCode, visit } from 'jsonc-parser';

/** A value of the document. Exactly one of `text` and `members` is not null. */
export interface JsonNode {
  /** The line, from 1 on. */
  readonly line: number;
  /** The text of a string, a number as it is written, `true` or `false`; empty for null. */
  readonly text: string | null;
  /** The members of an object by name, or of an array by index. */
  readonly members: ReadonlyMap<string, JsonNode> | null;
  readonly isArray: boolean;
}

/** The fault that ended the reading. */
export interface JsonDocumentFault {
  readonly line: number;
  readonly detail: string;
}

/**
 * The limit of a document, which is completely in memory and read without a pause. A larger one is probably not an answer of an
 * API.
 */
export const JSON_DOCUMENT_CHARACTERS = 16 * 1024 * 1024;
const VALUES_MAX = 500_000;
const DEPTH_MAX = 32;

/** Ends the visit of the parser, which has no other way to stop. */
class Refused extends Error {
  readonly fault: JsonDocumentFault;

  constructor(line: number, detail: string) {
    super(detail);
    this.fault = { line, detail };
  }
}

interface Open {
  readonly node: JsonNode & { readonly members: Map<string, JsonNode> };
  /** The name of the next member; null in an array. */
  name: string | null;
}

/** Reads strict JSON (RFC 8259), in which no name occurs twice in an object. */
export function readJsonDocument(text: string): JsonNode | JsonDocumentFault {
  try {
    return nodesOf(text);
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
}

function nodesOf(text: string): JsonNode {
  const open: Open[] = [];
  let root: JsonNode | null = null;
  let values = 0;
  const add = (node: JsonNode): void => {
    if (++values > VALUES_MAX) throw new Refused(node.line, `the document has more than ${VALUES_MAX} values`);
    const parent = open.at(-1);
    if (parent === undefined) {
      root = node;
      return;
    }
    const { members } = parent.node;
    const name = parent.name ?? String(members.size);
    if (members.has(name)) {
      throw new Refused(node.line, `the name ${JSON.stringify(name)} occurs twice in its object: which value counts?`);
    }
    members.set(name, node);
  };
  const begin = (line: number, isArray: boolean): void => {
    if (open.length === DEPTH_MAX) throw new Refused(line, `the document is nested deeper than ${DEPTH_MAX} levels`);
    const node = { line, text: null, members: new Map<string, JsonNode>(), isArray };
    add(node);
    open.push({ node, name: null });
  };
  visit(
    text,
    {
      onObjectBegin: (_offset, _length, line) => begin(line + 1, false),
      onArrayBegin: (_offset, _length, line) => begin(line + 1, true),
      onObjectEnd: () => void open.pop(),
      onArrayEnd: () => void open.pop(),
      onObjectProperty: (name) => {
        const parent = open.at(-1);
        if (parent !== undefined) parent.name = name;
      },
      onLiteralValue: (value: unknown, offset, length, line) => {
        const written = typeof value === 'string' ? value : text.slice(offset, offset + length);
        add({ line: line + 1, text: value === null ? '' : written, members: null, isArray: false });
      },
      onError: (error, _offset, _length, line) => {
        if (/^\s*</.test(text)) throw new Refused(line + 1, 'the source sent HTML or XML, not JSON');
        throw new Refused(line + 1, `the document is not JSON (${printParseErrorCode(error)})`);
      },
    },
    { disallowComments: true },
  );
  if (root === null) throw new Refused(1, 'the document is empty');
  return root;
}

/** Escapes a name for a JSON Pointer. */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The value at a JSON Pointer (RFC 6901); undefined if it does not exist. */
export function nodeAt(root: JsonNode, pointer: string): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    node = node?.members?.get(part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return node;
}
