/** Unpacks the file of an answer. The same bytes always give the same file. */
import { pipeline, Readable } from 'node:stream';
import { crc32, createGunzip, inflateRawSync } from 'node:zlib';
import type { Recipe } from './recipe.ts';

/** The answer does not have the packing of the recipe, or its file is too large. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError';
}

/** @throws UnpackError, possibly after a part of the file */
export function unpacked(
  { unpack, limits: { maxBytes } }: Pick<Recipe, 'unpack'> & { readonly limits: Pick<Recipe['limits'], 'maxBytes'> },
  bytes: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  switch (unpack) {
    case 'gzip':
      return gunzipped(bytes, maxBytes);
    case 'zip':
      return unzipped(bytes, maxBytes);
    case undefined:
      return bytes;
  }
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let count = 0;
  try {
    for await (const chunk of pipeline(Readable.from(bytes), createGunzip(), () => {}) as AsyncIterable<Uint8Array>) {
      count += chunk.length;
      if (count > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } catch (cause) {
    if (!isOfZlib(cause)) throw cause;
    throw new UnpackError(`the answer is not gzip, or damaged (${cause.code})`, { cause });
  }
}

async function* unzipped(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  yield onlyFileOf(Buffer.concat(chunks), maxBytes);
}

/** Signatures and lengths of the three needed records (APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */
const LOCAL = { signature: 0x04034b50, bytes: 30 };
const CENTRAL = { signature: 0x02014b50, bytes: 46 };
const END = { signature: 0x06054b50, bytes: 22 };

const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;

/**
 * The file of an archive with exactly one file. Its place and size come from the central directory, which is read from the end.
 * So the archive cannot be interpreted in two ways. Archives in several parts, encrypted ones, and the 64-bit form (for more
 * than 4 GB) are refused. The name of the file is ignored.
 */
function onlyFileOf(archive: Buffer, maxBytes: number): Uint8Array {
  const end = endOf(archive);
  const count = archive.readUInt16LE(end + 10);
  if (archive.readUInt32LE(end + 4) !== 0 || archive.readUInt16LE(end + 8) !== count) throw damaged('it has parts');
  if (count !== 1) throw new UnpackError(`the ZIP archive holds ${count} files, and must hold exactly one`);

  const central = archive.readUInt32LE(end + 16);
  if (central + CENTRAL.bytes > end || archive.readUInt32LE(central) !== CENTRAL.signature)
    throw damaged('no directory');
  const flags = archive.readUInt16LE(central + 8);
  const method = archive.readUInt16LE(central + 10);
  const crc = archive.readUInt32LE(central + 16);
  const packedBytes = archive.readUInt32LE(central + 20);
  const fileBytes = archive.readUInt32LE(central + 24);
  const local = archive.readUInt32LE(central + 42);
  if ((flags & ENCRYPTED) !== 0) throw new UnpackError('the file of the ZIP archive is encrypted');
  if (fileBytes > maxBytes) throw tooLarge(maxBytes);

  if (local + LOCAL.bytes > central || archive.readUInt32LE(local) !== LOCAL.signature) throw damaged('no file');
  const start = local + LOCAL.bytes + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  if (start + packedBytes > central) throw damaged('the file overlaps the directory');
  const file = inflated(archive.subarray(start, start + packedBytes), method, fileBytes);
  if (file.length !== fileBytes || crc32(file) !== crc) throw damaged('the checksum differs');
  return file;
}

/** The archive may end with a comment, whose length is the last field of the end record. */
function endOf(archive: Buffer): number {
  for (let at = archive.length - END.bytes; at >= 0 && at >= archive.length - END.bytes - 0xffff; at--) {
    if (archive.readUInt32LE(at) !== END.signature) continue;
    if (at + END.bytes + archive.readUInt16LE(at + 20) === archive.length) return at;
  }
  throw new UnpackError('the answer is not a ZIP archive');
}

/** The announced size is the limit, so a file with a wrong size uses no more memory. */
function inflated(packed: Buffer, method: number, fileBytes: number): Buffer {
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new UnpackError(`the ZIP archive uses compression method ${method}, not deflate`);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, fileBytes) });
  } catch (cause) {
    throw new UnpackError('the ZIP archive is damaged: its file cannot be inflated', { cause });
  }
}

function damaged(why: string): UnpackError {
  return new UnpackError(`the ZIP archive is damaged: ${why}`);
}

function tooLarge(maxBytes: number): UnpackError {
  return new UnpackError(`the unpacked file has more than ${maxBytes} bytes, the limits.maxBytes of the recipe`);
}

function isOfZlib(error: unknown): error is { readonly code: string } {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && code.startsWith('Z_');
}
