/** The file: whole, or in pieces of any size, e.g. a read stream. Bytes are decoded; text is used unchanged. */
export type CsvInput = string | AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Larger pieces are divided, so that few rows are in memory at once. */
const PIECE_CHARACTERS = 8_192;

/** The longest cell that a mapping reads, of any kind of file. Some searches take a time that grows with its square. */
export const CELL_CHARACTERS = 10_000;

/** Whether the encoding is one of the WHATWG Encoding Standard, by any of its labels. */
export function isEncoding(label: string): boolean {
  try {
    new TextDecoder(label);
    return true;
  } catch {
    return false;
  }
}

/**
 * The file's text in pieces, without its first lines. These are not parsed as CSV, so they may contain quotes. Bytes that are
 * invalid in the encoding become U+FFFD.
 */
export async function* textOf(csv: CsvInput, encoding: string, skippedLines: number): AsyncGenerator<string> {
  let lines = skippedLines;
  let held = '';
  for await (const piece of decode(csv, encoding)) {
    if (lines === 0) {
      yield held + piece;
      held = '';
      continue;
    }
    held += piece;
    // A CR at the end may be the first half of a CRLF.
    for (let end = /\r\n|\n|\r(?!$)/.exec(held); end !== null && lines > 0; end = /\r\n|\n|\r(?!$)/.exec(held)) {
      held = held.slice(end.index + end[0].length);
      lines -= 1;
    }
  }
  if (lines === 0) yield held;
}

/** The whole text in UTF-8; null if it has more than `most` characters. */
export async function wholeText(input: CsvInput, most: number): Promise<string | null> {
  const pieces: string[] = [];
  let characters = 0;
  for await (const piece of decode(input, 'utf-8')) {
    characters += piece.length;
    if (characters > most) return null;
    pieces.push(piece);
  }
  return pieces.join('').replace(/^\uFEFF/, '');
}

async function* decode(csv: CsvInput, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const piece of typeof csv === 'string' ? [csv] : csv) {
    yield* piecesOf(typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }));
  }
  yield decoder.decode();
}

function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) yield text.slice(start, start + PIECE_CHARACTERS);
}
