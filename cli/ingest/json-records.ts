/** The records of a JSON document, each as its original text. */
import { findNodeAtLocation, type ParseError, parseTree } from 'jsonc-parser';
import { syntaxFault, tooDeepAt } from '../../mapping/declared/parse-jsonc.ts';
import { wholeText } from '../../mapping/input/csv-input.ts';
import { JSON_DOCUMENT_CHARACTERS } from '../../mapping/input/json-document.ts';
import type { TextLine } from './lines.ts';

/**
 * Accepts an array of records, or an object with such an array as `records`. Each record is checked like a line of NDJSON. A
 * document of another form is one fault. The whole document is in memory.
 */
export async function* readJsonRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine> {
  const text = await wholeText(bytes, JSON_DOCUMENT_CHARACTERS);
  if (text === null) {
    const fault = `has more than ${JSON_DOCUMENT_CHARACTERS} characters: write NDJSON, a record on each line`;
    return yield { line: 1, text: '', fault };
  }
  let [line, counted] = [1, 0];
  const lineAt = (offset: number): number => {
    line += text.slice(counted, offset).split('\n').length - 1;
    counted = offset;
    return line;
  };
  const tooDeep = tooDeepAt(text);
  if (tooDeep !== null) return yield faultAt(lineAt(tooDeep), 'is nested too deeply');
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first !== undefined) {
    return yield faultAt(lineAt(first.offset), `${syntaxFault(text, first)}: is the file complete?`);
  }
  const records = tree?.type === 'object' ? findNodeAtLocation(tree, ['records']) : tree;
  if (records?.type !== 'array') return yield faultAt(1, 'has no records: write an array, or an object with "records"');
  for (const { type, offset, length } of records.children ?? []) {
    if (type !== 'object') return yield faultAt(lineAt(offset), 'is not a record: write objects');
    yield { line: lineAt(offset), text: text.slice(offset, offset + length).replaceAll(/[\r\n]/g, ' ') };
  }
}

function faultAt(line: number, fault: string): TextLine {
  return { line, text: '', fault: `${fault}; nothing after this line was read` };
}
