/** The beginning of a file, cut after a complete row. So any file is examined in the same time. */

/** The size of the beginning, after decompression. */
export const HEAD_BYTES = 1024 * 1024;

export async function beginningOf(file: AsyncIterable<Uint8Array>, most = HEAD_BYTES) {
  const pieces: Uint8Array[] = [];
  let count = 0;
  for await (const piece of file) {
    pieces.push(piece);
    count += piece.length;
    if (count > most) break;
  }
  return { bytes: Buffer.concat(pieces).subarray(0, most), isCut: count > most };
}

const [LINE_FEED, QUOTE] = [0x0a, 0x22];

/**
 * The complete rows of a CSV file. A line break in quotes does not end a row. UTF-16, in which each letter has a NUL, is not
 * cut at a row.
 */
export function wholeRows(bytes: Uint8Array): Uint8Array {
  if (bytes.subarray(0, 4).includes(0)) return bytes.subarray(0, bytes.length - (bytes.length % 2));
  let [end, isQuoted] = [0, false];
  for (const [at, byte] of bytes.entries()) {
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === LINE_FEED && !isQuoted) end = at + 1;
  }
  return end === 0 ? bytes : bytes.subarray(0, end);
}

/**
 * Closes a truncated JSON document after the last complete row. Rows are separated by the outermost commas near the end of the
 * text: the commas of a head are near its beginning.
 */
export function closedJson(text: string): string {
  const open: string[] = [];
  /** By depth: the position of the last comma, and the brackets to close there. */
  const commas: { readonly at: number; readonly closing: string }[] = [];
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === '{') open.push('}');
    else if (sign === '[') open.push(']');
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',') commas[open.length] = { at, closing: open.toReversed().join('') };
  }
  const cut = commas.find((comma) => comma !== undefined && 2 * comma.at > text.length);
  return cut === undefined ? text : text.slice(0, cut.at) + cut.closing;
}
