/**
 * Reads the elements of an XML document. Document types are ignored, so no entity is defined and none can expand. Names are
 * without their prefix.
 */
import sax from 'sax';
import { CELL_CHARACTERS, type CsvInput, isEncoding, textOf } from './csv-input.ts';

export interface XmlElement {
  readonly name: string;
  /** The path, such as `/Envelope/Cube`. */
  readonly path: string;
  /** The line, from 1 on. */
  readonly line: number;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: XmlElement | null;
  /** The text of the element itself, without its children. */
  text: string;
  /**
   * The texts and attributes of its finished children, by path: `price`, `price/@currency`. The second child with a name is
   * `price[2]`.
   */
  readonly cells: Map<string, string>;
  /** The number of finished children, by name. */
  readonly counts: Map<string, number>;
  /** Whether one of its children is a row. */
  hasRows: boolean;
}

/**
 * Called at the end of each element. Returns the number of cells if the element is a row. Returns null otherwise: then the
 * element becomes cells of its parent.
 */
export type OnEnd = (element: XmlElement) => number | null;

const DOCUMENT_CHARACTERS = 16 * 1024 * 1024;
const DEPTH_MAX = 32;
const CELLS_MAX = 1_000_000;

class Refused extends Error {}

/**
 * @param isCut whether the document may be truncated
 * @returns the fault that ended the reading; null: the document was read to its end
 */
export async function readXml(input: CsvInput, onEnd: OnEnd, isCut: boolean) {
  const open: XmlElement[] = [];
  const options = { position: true, strictEntities: true };
  const parser = sax.parser(true, options);
  let cells = 0;
  let hasRoot = false;
  const refuse = (detail: string): never => {
    throw new Refused(detail);
  };
  const count = (more: number) => {
    cells += more;
    if (cells > CELLS_MAX) refuse(`the document has more than ${CELLS_MAX} values`);
  };
  parser.onerror = ({ message }) => refuse(`the document is not XML: ${message.split('\n')[0]}`);
  parser.ondoctype = (type) =>
    refuse(
      /^\s*html\b/i.test(type)
        ? 'the source sent HTML, not XML'
        : 'the document has a document type (DOCTYPE), which is not read: entities could hide in it',
    );
  parser.onsgmldeclaration = () => refuse('the document has a declaration (<!…) that is not read');
  parser.onopentag = ({ name, attributes }) => {
    if (open.length === DEPTH_MAX) refuse(`the document is nested deeper than ${DEPTH_MAX} levels`);
    const parent = open.at(-1) ?? null;
    if (parent === null && hasRoot) refuse('the document is not XML: it has two outermost elements');
    hasRoot = true;
    const own = Object.entries(attributes).filter(([attribute]) => !/^xmlns(:|$)/.test(attribute));
    count(own.length);
    for (const [, value] of own) if (String(value).length > CELL_CHARACTERS) refuse(TOO_LONG);
    open.push({
      name: localName(name),
      path: `${parent?.path ?? ''}/${localName(name)}`,
      line: parser.line + 1,
      attributes: new Map(own.map(([attribute, value]) => [localName(attribute), String(value).trim()])),
      parent,
      ...{ text: '', cells: new Map(), counts: new Map(), hasRows: false },
    });
  };
  parser.ontext = (text) => {
    const element = open.at(-1);
    if (element === undefined) return;
    element.text += text;
    if (element.text.length > CELL_CHARACTERS) {
      if (element.text.trim() !== '') refuse(TOO_LONG);
      element.text = '';
    }
  };
  parser.oncdata = (text) => parser.ontext(text);
  parser.onclosetag = () => {
    const element = open.pop() as XmlElement;
    const { parent } = element;
    const row = onEnd(element);
    count(row ?? 0);
    if (parent === null) return;
    // An element with rows inside is their place, and not a value.
    if (row !== null || element.hasRows) parent.hasRows = true;
    else count(addTo(parent, element));
  };
  try {
    let characters = 0;
    for await (const piece of await decoded(input)) {
      characters += piece.length;
      if (characters > DOCUMENT_CHARACTERS) refuse(`the document has more than ${DOCUMENT_CHARACTERS} characters`);
      if (piece.includes('\uFFFD')) refuse('the document holds bytes that are not of its encoding, or U+FFFD');
      parser.write(piece);
    }
    if (!isCut) parser.close();
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { line: parser.line + 1, detail: error.message };
  }
}

const TOO_LONG = `a text or an attribute has more than ${CELL_CHARACTERS} characters`;

/** The cells of an element itself: `.` is its text. */
export function ownCells({ text, attributes, cells }: XmlElement): [column: string, cell: string][] {
  const own: [string, string][] = [...attributes].map(([name, value]) => [`@${name}`, value]);
  if (text.trim() !== '') own.push(['.', text.trim()]);
  return [...own, ...cells];
}

function addTo({ cells, counts }: XmlElement, { name, text, attributes, cells: below }: XmlElement): number {
  const place = (counts.get(name) ?? 0) + 1;
  counts.set(name, place);
  const key = place === 1 ? name : `${name}[${place}]`;
  if (text.trim() !== '' || (attributes.size === 0 && below.size === 0)) cells.set(key, text.trim());
  for (const [attribute, value] of attributes) cells.set(`${key}/@${attribute}`, value);
  for (const [path, value] of below) cells.set(`${key}/${path}`, value);
  return 1 + attributes.size + below.size;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Decodes the document in the encoding that it declares. */
async function decoded(input: CsvInput): Promise<AsyncIterable<string>> {
  if (typeof input === 'string') return textOf(input, 'utf-8', 0);
  const iterator = Symbol.asyncIterator in input ? input[Symbol.asyncIterator]() : input[Symbol.iterator]();
  const first: (string | Uint8Array)[] = [];
  let head = '';
  while (head.length < DECLARATION_CHARACTERS) {
    const next = await iterator.next();
    if (next.done) break;
    first.push(next.value);
    head += typeof next.value === 'string' ? next.value : Buffer.from(next.value).toString('latin1');
  }
  const [, label = 'utf-8'] =
    /^(?:\u00EF\u00BB\u00BF|\uFEFF)?<\?xml[^>]{0,150}?encoding\s*=\s*["']([\w.-]+)["']/.exec(head) ?? [];
  async function* all(): AsyncGenerator<string | Uint8Array> {
    yield* first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return textOf(all(), isEncoding(label) ? label : 'utf-8', 0);
}

const DECLARATION_CHARACTERS = 200;
