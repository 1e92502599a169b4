/** Cuts a stream of NDJSON into parts that fit a batch, with at most one part in memory. Pure. */
import { isUtf8 } from 'node:buffer';
import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX, LINE_BYTES_MAX } from '../../contract/ingest/ingest-records.ts';
import { parseJson } from '../../contract/values/strict-json.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';

export interface UploadPart {
  /**
   * Without their line ends. Blank lines are not records. A line that cannot be read is replaced by {@link UNREADABLE}.
   */
  readonly lines: readonly string[];
  /** Where the next part begins: bytes from the beginning of the file. */
  readonly end: number;
}

export interface PartLimits {
  readonly maxLines: number;
  /** The limit of the stored lines, including their line ends. */
  readonly maxBytes: number;
  readonly maxLineBytes: number;
}

export const PART_LIMITS: PartLimits = {
  maxLines: BATCH_RECORDS_MAX,
  maxBytes: BATCH_BYTES_MAX,
  maxLineBytes: LINE_BYTES_MAX,
};

/**
 * The replacement of a line that is too long, not UTF-8, or not I-JSON (RFC 7493). It is refused later, because it is not a
 * record.
 */
export const UNREADABLE = 'null';

/**
 * Puts as many lines into each part as fit. The end of a part depends only on the bytes from its beginning on. So reading again
 * from the end of any part gives the same parts as before.
 *
 * @param chunks the bytes of the file from `from` on, divided anywhere
 */
export async function* cutParts(
  chunks: AsyncIterable<Uint8Array>,
  from: number,
  limits: PartLimits,
): AsyncGenerator<UploadPart> {
  let lines: string[] = [];
  let keptBytes = 0;
  let end = from;
  let pieces: Uint8Array[] = [];
  let lineBytes = 0;

  function* endLine(lineEndBytes: number): Generator<UploadPart> {
    const line = lineBytes > limits.maxLineBytes ? UNREADABLE : readLine(pieces);
    const bytes = Buffer.byteLength(line) + 1;
    if (lines.length === limits.maxLines || (lines.length > 0 && keptBytes + bytes > limits.maxBytes)) {
      yield { lines, end };
      lines = [];
      keptBytes = 0;
    }
    lines.push(line);
    keptBytes += bytes;
    end += lineBytes + lineEndBytes;
    pieces = [];
    lineBytes = 0;
  }

  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, at));
      yield* endLine(1);
      start = at + 1;
    }
    keep(chunk.subarray(start));
  }
  if (lineBytes > 0) yield* endLine(0);
  if (lines.length > 0) yield { lines, end };

  function keep(piece: Uint8Array): void {
    lineBytes += piece.length;
    // The content of a line that is too long is not needed, only its length.
    if (lineBytes > limits.maxLineBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  }
}

/**
 * Passes the chunks on, and checks their number of bytes. Without the check, a truncated file would look like a complete one.
 *
 * @throws StorageCorrupt for fewer or more bytes, before the stream ends
 */
export async function* exactly(bytes: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0)
    throw new StorageCorrupt(`the content of an upload has ${left > 0 ? 'fewer' : 'more'} bytes than it had`);
}

const LINE_FEED = 0x0a;

function readLine(pieces: readonly Uint8Array[]): string {
  const bytes = Buffer.concat(pieces);
  if (!isUtf8(bytes)) return UNREADABLE;
  const text = bytes.toString('utf8');
  const line = text.endsWith('\r') ? text.slice(0, -1) : text;
  if (/^[ \t]*$/.test(line)) return '';
  // In JSON this is white space, but some readers treat it as the end of a line.
  if (line.includes('\r')) return UNREADABLE;
  return 'value' in parseJson(line) ? line : UNREADABLE;
}
