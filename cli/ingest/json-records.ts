/** The records of a JSON document, cut out one by one, so that the document may be larger than memory. */
import type { TextLine } from './lines.ts';

/** A longer record means that a quote or a brace was never closed. */
const RECORD_CHARACTERS_MAX = 1_000_000;

/**
 * Takes an array of records, or an object with such an array as `records`. Each record is checked by its reader, as a line
 * is. A document of another form is one fault, and ends the reading.
 */
export async function* readJsonRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine> {
  const cutter = new RecordCutter();
  const decoder = new TextDecoder('utf-8');
  for await (const chunk of bytes) {
    yield* cutter.take(decoder.decode(chunk, { stream: true }));
    if (cutter.hasFailed) return;
  }
  yield* cutter.take(decoder.decode());
  if (!cutter.hasFailed) yield* cutter.end();
}

class RecordCutter {
  hasFailed = false;
  #line = 1;
  #depth = 0;
  /** The depth inside the array of records; null until it begins. */
  #within: number | null = null;
  #isDone = false;
  #inString = false;
  #isEscaped = false;
  /** The last whole string at the top: the name of a member. */
  #name = '';
  #text = '';
  #startLine = 1;

  *take(piece: string): Generator<TextLine> {
    for (const character of piece) {
      if (character === '\n') this.#line += 1;
      if (this.#inString) this.#inText(character);
      else if (character === '"') this.#beginText();
      else if (character === '[' || character === '{') yield* this.#open(character);
      else if (character === ']' || character === '}') yield* this.#close(character);
      else if (this.#isInRecord()) this.#text += character;
      else if (this.#depth === this.#within && /[^\s,]/.test(character))
        yield this.#fail('is no record: write objects');
      else if (this.#depth === 0 && /[^\s\uFEFF]/.test(character)) yield this.#fail('is no JSON array of records');
      if (this.#text.length > RECORD_CHARACTERS_MAX) yield this.#fail('begins a record that does not end');
      if (this.hasFailed) return;
    }
  }

  *end(): Generator<TextLine> {
    if (this.#depth > 0 || this.#inString) yield this.#fail('ends in the middle: is the file complete?');
    else if (!this.#isDone) yield this.#fail('has no records: write an array, or an object with "records"');
  }

  #isInRecord(): boolean {
    return this.#within !== null && this.#depth > this.#within;
  }

  #beginText(): void {
    this.#inString = true;
    if (this.#isInRecord()) this.#text += '"';
    else this.#name = '';
  }

  #inText(character: string): void {
    if (this.#isInRecord()) this.#text += character === '\n' ? ' ' : character;
    else if (character !== '"' && this.#name.length < 100) this.#name += character;
    if (!this.#isEscaped && character === '"') this.#inString = false;
    this.#isEscaped = !this.#isEscaped && character === '\\';
  }

  *#open(character: '[' | '{'): Generator<TextLine> {
    if (this.#within === null && !this.#isDone && character === '[' && this.#beginsRecords()) {
      this.#depth += 1;
      this.#within = this.#depth;
      return;
    }
    if (this.#depth === 0 && this.#isDone) return yield this.#fail('goes on after its end');
    if (this.#depth === this.#within) {
      if (character === '[') return yield this.#fail('is no record: write objects');
      this.#startLine = this.#line;
      this.#text = '';
    }
    this.#depth += 1;
    if (this.#isInRecord()) this.#text += character;
  }

  #beginsRecords(): boolean {
    return this.#depth === 0 || (this.#depth === 1 && this.#name === 'records');
  }

  *#close(character: ']' | '}'): Generator<TextLine> {
    if (this.#depth === 0) return yield this.#fail('closes more than it opens');
    const wasInRecord = this.#isInRecord();
    if (wasInRecord) this.#text += character;
    this.#depth -= 1;
    if (this.#within === null) return;
    if (wasInRecord && this.#depth === this.#within) {
      yield { line: this.#startLine, text: this.#text.replaceAll(/[\r\n]/g, ' ') };
      this.#text = '';
    } else if (this.#depth < this.#within) {
      this.#within = null;
      this.#isDone = true;
    }
  }

  #fail(fault: string): TextLine {
    this.hasFailed = true;
    return { line: this.#line, text: '', fault: `${fault}; nothing after this line was read` };
  }
}
