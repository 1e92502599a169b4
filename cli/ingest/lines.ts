/** The lines of a stream, as text. */

export interface TextLine {
  /** The number of the line, from 1 on. */
  readonly line: number;
  readonly text: string;
  /** Why the line cannot be used. Then its text is empty. */
  readonly fault?: string;
}

const LF = 10;
const CR = 13;

/** Blank lines are skipped. A line that is too long, or is not UTF-8, is a fault. Keeps one line in memory. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<TextLine> {
  let line = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const hold = (part: Uint8Array): void => {
    heldBytes += part.length;
    if (heldBytes <= mostBytes) held.push(part);
  };
  const take = (): TextLine | null => {
    const taken = { line, ...(heldBytes > mostBytes ? tooLong(mostBytes) : textOf(Buffer.concat(held), line === 1)) };
    line += 1;
    held = [];
    heldBytes = 0;
    return taken.fault === undefined && taken.text.trim() === '' ? null : taken;
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      hold(chunk.subarray(start, end));
      start = end + 1;
      const taken = take();
      if (taken !== null) yield taken;
    }
    if (start < chunk.length) hold(chunk.slice(start));
  }
  const last = take();
  if (last !== null) yield last;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array, isFirst: boolean): { readonly text: string; readonly fault?: string } {
  try {
    const text = decoder.decode(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
    return { text: isFirst ? text.replace(/^\uFEFF/, '') : text };
  } catch {
    return { text: '', fault: 'holds bytes that are not UTF-8: save the file as UTF-8' };
  }
}

function tooLong(mostBytes: number): { readonly text: string; readonly fault: string } {
  return { text: '', fault: `is longer than ${mostBytes} bytes: is each record on a separate line?` };
}
