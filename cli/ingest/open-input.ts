/** Reads a file or standard input, and decompresses it by its content, whatever its name is. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { CommandError } from '../program/exit-codes.ts';

export interface Input {
  /** The name for messages. */
  readonly name: string;
  /** Null: unknown, as for a pipe. */
  readonly sizeBytes: number | null;
  /** The number of bytes of the file that have been read, before decompression. */
  readonly position: () => number;
  /** The content, which can be read once. A fault of the file is thrown as a CommandError. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The beginnings of formats (RFC 1952, section 2.3.1; RFC 8878, section 3.1.1). */
const COMPRESSED: readonly { readonly magic: string; readonly decompress: () => Transform }[] = [
  { magic: '1f8b', decompress: createGunzip },
  { magic: '28b52ffd', decompress: createZstdDecompress },
];
const NOT_READ: Readonly<Record<string, string>> = {
  '504b0304': 'a ZIP archive, perhaps a spreadsheet: unpack it, or save it as CSV',
  fd377a58: 'compressed by xz: decompress it first',
  '425a68': 'compressed by bzip2: decompress it first',
};
const MAGIC_BYTES = 4;

/** @param path `-` is standard input */
export async function openInput(path: string): Promise<Input> {
  const name = path === '-' ? 'stdin' : path;
  const sizeBytes = path === '-' ? null : await sizeOf(path);
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      read += (chunk as Uint8Array).length;
      yield chunk as Uint8Array;
    }
  }
  return { name, sizeBytes, position: () => read, bytes: decompressed(name, counted()) };
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new CommandError('usage', `${path} is a folder: name its files.`);
    return stats.isFile() ? stats.size : null;
  } catch (cause) {
    throw faultOf(path, cause);
  }
}

async function* decompressed(name: string, raw: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    const first: Uint8Array[] = [];
    for (let length = 0; length < MAGIC_BYTES; ) {
      const { value, done } = await raw.next();
      if (done) break;
      first.push(value);
      length += value.length;
    }
    const head = Buffer.concat(first);
    const magic = head.subarray(0, MAGIC_BYTES).toString('hex');
    const [, reason] = Object.entries(NOT_READ).find(([start]) => magic.startsWith(start)) ?? [];
    if (reason !== undefined) throw new CommandError('usage', `${name} is ${reason}.`);
    const format = COMPRESSED.find(({ magic: start }) => magic.startsWith(start));
    const whole = chained(head, raw);
    if (format === undefined) return yield* whole;
    // An error of either stream is thrown where the last one is read.
    yield* pipeline(Readable.from(whole), format.decompress(), () => {}) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw faultOf(name, cause);
  }
}

async function* chained(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* rest;
}

function faultOf(name: string, cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof CommandError || code === undefined) return cause;
  if (code === 'ENOENT') return new CommandError('usage', `There is no file ${name}.`, null, { cause });
  const isDamaged = code.startsWith('Z_') || code.startsWith('ZSTD_') || code.startsWith('ERR_');
  const why = isDamaged ? `is damaged: ${message}` : `cannot be read: ${message}`;
  return new CommandError('usage', `${name} ${why}.`, isDamaged ? 'Get it again.' : null, { cause });
}
