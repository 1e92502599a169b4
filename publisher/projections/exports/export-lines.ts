/** Reads the lines of a compressed part, some at a time, because all of them take too much memory. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Some dozens of rows. V8 keeps each text above 128 KB apart until a full garbage collection: that took 60 MB. */
const TEXT_BYTES = 32 * 1024;
/** A row has some hundred bytes. A longer line is a fault. */
const LINE_LENGTH_MAX = 1024 * 1024;

/** A file is not gzip, or does not consist of lines. */
export class BadRows extends Error {
  override readonly name = 'BadRows';
}

/** Each line with its line break. @throws BadRows */
export async function* linesIn(packed: Uint8Array): AsyncGenerator<readonly string[]> {
  const texts = Readable.from([packed])
    .pipe(createGunzip({ chunkSize: TEXT_BYTES }))
    .setEncoding('utf8');
  let rest = '';
  try {
    for await (const text of texts as AsyncIterable<string>) {
      const lines = (rest + text).split(/(?<=\n)/);
      rest = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
      if (rest.length > LINE_LENGTH_MAX) throw new BadRows('has a line that is not a row');
      yield lines;
    }
  } catch (cause) {
    if (!(cause as { readonly code?: string }).code?.startsWith('Z_')) throw cause;
    throw new BadRows('is not gzip', { cause });
  }
  if (rest !== '') throw new BadRows('does not end with a newline');
}
