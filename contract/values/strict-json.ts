/**
 * JSON that has one meaning for every reader. RFC 8259 leaves open the meaning of a repeated name (section 4), the size and
 * precision of numbers (section 6) and lone surrogates (section 8.2). So a check and the code after it, or the service and
 * a client, could see different documents. I-JSON (RFC 7493) closes these gaps, and this file refuses everything that
 * I-JSON forbids.
 *
 * The engine parses: it knows the grammar, does not recurse, and refuses comments, byte order marks and text after the
 * value. Before that, a first scan bounds the text's nesting, values and names, so that no text keeps the engine or the
 * second scan busy for more than some milliseconds. The second scan may rely on the grammar, and finds the faults that the
 * engine accepts. Together they take three times as long as the engine alone. jsonc-parser's `visit` takes four to five
 * times as long before any of these rules is checked, and overflows the stack on deep nesting.
 */
import type { ProblemError } from '../problems/problems.ts';
import { pointerOf } from './zod-pointers.ts';

/** The deepest nesting of objects and arrays. */
export const MAX_JSON_DEPTH = 32;

/** The most members and elements of one body, counted by brackets and commas. Records of 1 MiB have some 40,000. */
export const MAX_JSON_VALUES = 64_000;

/** The most names of one object. No schema has as many, and sets of many names are slow. */
export const MAX_JSON_NAMES = 1_000;

/** Together with the depth, this bounds the pointers in an answer. */
const MAX_NAME_CHARACTERS = 256;

/** No double needs more than 25 characters. */
const MAX_NUMBER_CHARACTERS = 32;

/** The limit of numbers with more than 15 characters or an exponent in one body: checking them is slow. A record has few. */
const MAX_LONG_NUMBERS = 3_000;

/** The most faults that are reported: more would not help the sender. */
const MAX_FAULTS = 20;

/** Names that some readers treat as the prototype of the object instead of a member. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonResult = { readonly value: unknown } | { readonly faults: readonly ProblemError[] };

/** A fault of one line, counted from 1. Its pointer is into the value of that line. */
export interface LineFault extends ProblemError {
  readonly line: number;
}

export type NdjsonResult = { readonly records: readonly unknown[] } | { readonly faults: readonly LineFault[] };

/**
 * Reads one JSON text. Values are those of `JSON.parse`. Codes of faults: `json.malformed`, `json.lone-surrogate`,
 * `json.duplicate-name`, `json.forbidden-name`, `json.name-too-long`, `json.number-out-of-range`,
 * `json.number-inexact`, `json.too-many-long-numbers`, `json.too-deep`, `json.too-many-values`, `json.too-many-names`. Details
 * never repeat values. Never throws.
 */
export function parseJson(text: string): JsonResult {
  return parseWithin(text, { values: 0, longNumbers: 0 });
}

/** The number of values of one body so far: the limits apply to the whole body, even if it has many lines. */
interface Counted {
  values: number;
  longNumbers: number;
}

function parseWithin(text: string, counted: Counted): JsonResult {
  // Before the engine runs: a text of brackets or of names takes it many times as long as a text of data.
  const excess = excessOf(text, counted);
  if (excess !== null) return { faults: [{ pointer: '', ...excess }] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (text.startsWith('\ufeff')) return { faults: [{ pointer: '', ...BYTE_ORDER_MARK }] };
    // The engine's message may repeat the text, so only its position is used. Some messages have no position.
    const place = /\(line \d+ column \d+\)$/.exec((error as SyntaxError).message)?.[0] ?? '';
    const detail = `is not one JSON value, without comments or trailing commas (RFC 8259) ${place}`.trimEnd();
    return { faults: [{ pointer: '', code: 'json.malformed', detail }] };
  }
  const faults = scan(text, counted);
  return faults.length === 0 ? { value } : { faults };
}

/**
 * Reads newline-delimited JSON: one value on each line, lines ended by LF or CRLF, blank lines only at the end. So the
 * record at index i is on line i + 1. Has one more code than {@link parseJson}: `json.too-many-records`.
 */
export function parseNdjson(text: string, { maxRecords }: { readonly maxRecords: number }): NdjsonResult {
  const lines = text.split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  if (lines.length > maxRecords) {
    const detail = `there are ${lines.length} lines, and at most ${maxRecords} are taken: send several batches`;
    return { faults: [{ line: maxRecords + 1, pointer: '', code: 'json.too-many-records', detail }] };
  }
  const records: unknown[] = [];
  const faults: LineFault[] = [];
  const counted = { values: 0, longNumbers: 0 };
  for (const [index, line] of lines.entries()) {
    // A carriage return is white space in JSON, but some readers treat it as the end of a line.
    const result: JsonResult = line.includes('\r') ? CARRIAGE_RETURN : parseWithin(line, counted);
    if ('value' in result) records.push(result.value);
    else faults.push(...result.faults.map((fault) => inLine(index + 1, fault)));
    if (faults.length >= MAX_FAULTS) break;
  }
  return faults.length === 0 ? { records } : { faults: faults.slice(0, MAX_FAULTS) };
}

/** The position of a syntax error is relative to its line, because each line is parsed alone. */
function inLine(line: number, fault: ProblemError): LineFault {
  return { line, ...fault, detail: fault.detail.replace('(line 1 column ', '(column ') };
}

const CARRIAGE_RETURN: JsonResult = {
  faults: [
    { pointer: '', code: 'json.malformed', detail: 'holds a carriage return that does not end a line: remove it' },
  ],
};

/** An object or array that is open at the current position. */
interface Container {
  /** The names so far; null for an array. */
  readonly names: Set<string> | null;
  /** The current name or index. */
  part: string | number;
}

/** The limit that a text exceeds, whether it is well-formed or not; null if it exceeds none. */
function excessOf(text: string, counted: Counted): Fault | null {
  const isObject: boolean[] = [];
  const commas: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === COMMA) {
      counted.values++;
      commas[depth] = (commas[depth] ?? 0) + 1;
      if (isObject[depth] && (commas[depth] ?? 0) >= MAX_JSON_NAMES) return TOO_MANY_NAMES;
    } else if (character === BRACE_OPEN || character === BRACKET_OPEN) {
      counted.values++;
      if (depth === MAX_JSON_DEPTH) return TOO_DEEP;
      depth++;
      isObject[depth] = character === BRACE_OPEN;
      commas[depth] = 0;
    } else if (character === BRACE_CLOSE || character === BRACKET_CLOSE) depth = Math.max(0, depth - 1);
    if (counted.values > MAX_JSON_VALUES) return TOO_MANY_VALUES;
  }
  return null;
}

/** The position of the quote that ends the string which begins at `at`, or the end of the text. */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  for (; end < text.length; end++) {
    const character = text.charCodeAt(end);
    if (character === QUOTE) break;
    if (character === BACKSLASH) end++;
  }
  return end;
}

/** The faults of a text that `JSON.parse` accepts. */
function scan(text: string, counted: Counted): ProblemError[] {
  // This checks the raw text: a pair of one character and one escape is not allowed either.
  if (!text.isWellFormed()) return [{ pointer: '', ...LONE_SURROGATE }];
  const faults: ProblemError[] = [];
  const open: Container[] = [];
  let container: Container = { names: null, part: '' };
  let isName = false;
  let nextEscape = -1;

  const report = (fault: Fault | null): void => {
    if (fault !== null) faults.push({ pointer: pointerOf(open.map(({ part }) => part)), ...fault });
  };

  for (let at = 0; at < text.length && faults.length < MAX_FAULTS; at++) {
    const character = text.charCodeAt(at);
    if (character <= SPACE) continue;
    if (character === QUOTE) {
      if (nextEscape < at) nextEscape = indexOrEnd(text, '\\', at);
      const nextQuote = text.indexOf('"', at + 1);
      const hasEscape = nextEscape < nextQuote;
      const end = hasEscape ? endOfString(text, at) : nextQuote;
      // Only an escape of a code unit can be half of a pair.
      if (isName || (hasEscape && text.slice(at, end).includes('\\u'))) {
        const content: string = hasEscape ? JSON.parse(text.slice(at, end + 1)) : text.slice(at + 1, end);
        if (isName) {
          container.part = content.slice(0, MAX_NAME_CHARACTERS);
          report(faultOfName(content, container.names));
          container.names?.add(content);
          isName = false;
        }
        if (hasEscape && !content.isWellFormed()) report(LONE_SURROGATE);
      }
      at = end;
    } else if (character === COMMA) {
      isName = container.names !== null;
      if (!isName) (container.part as number)++;
    } else if (character === MINUS || (character >= ZERO && character <= NINE)) {
      let end = at + 1;
      while (isInNumber(text.charCodeAt(end))) end++;
      const token = text.slice(at, end);
      if (needsCloserLook(token)) {
        if (++counted.longNumbers > MAX_LONG_NUMBERS) {
          report(TOO_MANY_LONG_NUMBERS);
          break;
        }
        report(faultOfNumber(token));
      }
      at = end - 1;
    } else if (character === BRACE_OPEN || character === BRACKET_OPEN) {
      isName = character === BRACE_OPEN;
      container = { names: isName ? new Set() : null, part: 0 };
      open.push(container);
    } else if (character === BRACE_CLOSE || character === BRACKET_CLOSE) {
      open.pop();
      container = open.at(-1) ?? container;
      isName = false;
    }
  }
  return faults;
}

type Fault = Omit<ProblemError, 'pointer'>;

const BYTE_ORDER_MARK: Fault = {
  code: 'json.malformed',
  detail: 'begins with a byte order mark (U+FEFF), which JSON does not have: save it as UTF-8 without BOM',
};
const LONE_SURROGATE: Fault = {
  code: 'json.lone-surrogate',
  detail: 'holds half of a surrogate pair, which is not a character: write both halves, or remove it',
};
const TOO_DEEP: Fault = { code: 'json.too-deep', detail: `is nested deeper than ${MAX_JSON_DEPTH} levels` };
const TOO_MANY_NAMES: Fault = {
  code: 'json.too-many-names',
  detail: `is in an object of more than ${MAX_JSON_NAMES} members`,
};
const TOO_MANY_LONG_NUMBERS: Fault = {
  code: 'json.too-many-long-numbers',
  detail: `the body holds more than ${MAX_LONG_NUMBERS} numbers of more than 15 characters or with an exponent`,
};
const TOO_MANY_VALUES: Fault = {
  code: 'json.too-many-values',
  detail: `the body holds more than ${MAX_JSON_VALUES} values: send less at once`,
};

function faultOfName(name: string, names: ReadonlySet<string> | null): Fault | null {
  if (name.length > MAX_NAME_CHARACTERS) {
    return { code: 'json.name-too-long', detail: `has a name of more than ${MAX_NAME_CHARACTERS} characters` };
  }
  if (names?.has(name)) return { code: 'json.duplicate-name', detail: 'occurs twice in its object: keep one of them' };
  if (FORBIDDEN_NAMES.has(name)) return { code: 'json.forbidden-name', detail: 'has a name that is not allowed' };
  return null;
}

/** Every double keeps fifteen digits, so only longer numbers and those with an exponent must be checked. */
function needsCloserLook(token: string): boolean {
  return token.length > 15 || token.includes('e') || token.includes('E');
}

function faultOfNumber(token: string): Fault | null {
  const value = Number(token);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return {
      code: 'json.number-out-of-range',
      detail: `is beyond ±${Number.MAX_SAFE_INTEGER}, where readers can no longer tell integers apart`,
    };
  }
  const isRounded =
    token.length > MAX_NUMBER_CHARACTERS || (Number.isInteger(value) && decimalOf(token) !== decimalOf(String(value)));
  return isRounded
    ? { code: 'json.number-inexact', detail: 'has more digits than a number can keep: write fewer' }
    : null;
}

/** Significant digits and power of ten, without the sign: the same for every spelling of a number. */
function decimalOf(token: string): string {
  const [significand = '', exponent = '0'] = token.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = significand.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return significant === ''
    ? '0'
    : `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const SMALL_E = 0x65;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/**
 * Whether a character of a valid text continues a number. The range from minus to nine includes the point and the
 * digits.
 */
function isInNumber(character: number): boolean {
  return (character >= MINUS && character <= NINE) || character === PLUS || (character | 0x20) === SMALL_E;
}

function indexOrEnd(text: string, searched: string, from: number): number {
  const index = text.indexOf(searched, from);
  return index === -1 ? text.length : index;
}
