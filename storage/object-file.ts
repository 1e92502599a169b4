/**
 * The file of one object: a line of JSON (the header), then the body, or a zstd frame that holds it. Pages of history
 * repeat their labels and links in each observation, so their files are a tenth as large.
 */
import { closeSync, constants, fstat, open, read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { StorageCorrupt } from './errors.ts';
import { bodyDigest, etagOfDigest } from './object-rules.ts';
import type { ETag, GetResult, ObjectHead, ObjectMetadata } from './object-store.ts';

/** 1: the body as it is. 2: a zstd frame. */
const FORMAT_VERSIONS = [1, 2] as const;

/** One block of most file systems. A smaller file takes no less room. */
const COMPRESSED_ABOVE_BYTES = 4096;

/** No header is longer, because keys, cursors and header values are bounded. */
const MAX_HEADER_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

interface Header {
  readonly version: (typeof FORMAT_VERSIONS)[number];
  readonly key: string;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly cacheTag: string | null;
  readonly generation: number;
  readonly nextCursor: string | null;
  /** Of the body. */
  readonly sizeBytes: number;
  /** Of the zstd frame, in version 2. */
  readonly frameBytes?: number;
  /** SHA-256 of the body, in hex. The ETag is the beginning of it. */
  readonly sha256: string;
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isTextOrNull: Check = (value) => value === null || typeof value === 'string';
const isSize: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

/** Without zod: each thread and process that reads objects loads this file, and would spend most of its start on it. */
const CHECKS: { readonly [Name in keyof Required<Header>]: Check } = {
  version: (value) => FORMAT_VERSIONS.some((version) => version === value),
  key: isText,
  contentType: isText,
  cacheControl: isText,
  cacheTag: isTextOrNull,
  generation: Number.isSafeInteger,
  nextCursor: isTextOrNull,
  sizeBytes: isSize,
  frameBytes: (value) => value === undefined || isSize(value),
  sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
};

const CHECK_LIST = Object.entries(CHECKS);

function isHeader(parsed: unknown): parsed is Header {
  if (typeof parsed !== 'object' || parsed === null) return false;
  const fields = parsed as Readonly<Record<string, unknown>>;
  return (
    Object.keys(fields).every((name) => Object.hasOwn(CHECKS, name)) &&
    CHECK_LIST.every(([name, check]) => check(fields[name]))
  );
}

/** A file's bytes, and the ETag of its object. */
export interface ObjectFile {
  readonly bytes: Uint8Array;
  readonly etag: ETag;
}

export function encodeObjectFile(key: string, body: Uint8Array, metadata: ObjectMetadata): ObjectFile {
  const { contentType, cacheControl, cacheTag, generation, nextCursor } = metadata;
  const sha256 = bodyDigest(body);
  const frame = body.byteLength > COMPRESSED_ABOVE_BYTES ? zstdCompressSync(body) : null;
  const isSmaller = frame !== null && frame.byteLength < body.byteLength;
  const header: Header = {
    version: isSmaller ? 2 : 1,
    key,
    contentType,
    cacheControl,
    cacheTag,
    generation,
    nextCursor,
    sizeBytes: body.byteLength,
    ...(isSmaller && { frameBytes: frame.byteLength }),
    sha256,
  };
  const content = isSmaller ? frame : body;
  return { bytes: Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), content]), etag: etagOfDigest(sha256) };
}

/** The first bytes of a file, with its parsed header. */
export interface Opening {
  readonly header: Header;
  readonly bytes: Buffer;
  readonly bodyStart: number;
}

/** Null if the file does not begin with a header. */
export async function readHeader(handle: FileHandle): Promise<Opening | null> {
  const bytes = Buffer.allocUnsafe(MAX_HEADER_BYTES);
  const filled = bytes.subarray(0, await readUpTo(handle, bytes, 0, 0));
  const end = filled.indexOf(NEWLINE);
  if (end < 0) return null;
  const header = parseHeader(filled.toString('utf8', 0, end));
  return header && { header, bytes: filled, bodyStart: end + 1 };
}

function parseHeader(line: string): Header | null {
  try {
    const header: unknown = JSON.parse(line);
    return isHeader(header) ? header : null;
  } catch {
    return null;
  }
}

/**
 * {@link readHeader} for the file of this key, with all checks that need no reading of the body.
 *
 * @throws StorageCorrupt if a check fails
 */
export async function readChecked(handle: FileHandle, key: string, path: string): Promise<Opening> {
  const opening = await readHeader(handle);
  if (opening === null) throw corrupt(path, 'it does not begin with a header');
  if (opening.header.key !== key) throw corrupt(path, `it is a copy of the object ${opening.header.key}`);
  const { size } = await handle.stat();
  const expected = opening.bodyStart + contentBytes(opening.header);
  if (size !== expected) throw corrupt(path, `it has ${size} bytes where its header promises ${expected}`);
  return opening;
}

/** The body of an opened file. @throws StorageCorrupt if its bytes do not match their digest */
export async function readObjectBody(handle: FileHandle, opening: Opening, path: string): Promise<Uint8Array> {
  const { header, bytes, bodyStart } = opening;
  const content = Buffer.allocUnsafeSlow(contentBytes(header));
  const already = bytes.copy(content, 0, bodyStart);
  await readUpTo(handle, content, already, bodyStart + already);
  return bodyIn(content, header, path);
}

function bodyIn(content: Buffer, header: Header, path: string): Uint8Array {
  const body = header.frameBytes === undefined ? content : unpacked(content, header, path);
  if (body.byteLength !== header.sizeBytes || bodyDigest(body) !== header.sha256)
    throw corrupt(path, 'its bytes do not match their digest');
  return body;
}

/**
 * Reads the object of this key whole, in two trips to a thread if it is small. A replacement in the meantime does not change the
 * open file.
 *
 * @param unless answers "not modified" if this is its version; the body is then not checked
 * @returns null if the file does not exist
 * @throws StorageCorrupt if it does not hold the object
 */
export async function readObjectFile(path: string, key: string, unless?: ETag): Promise<FoundOrKnown | null> {
  const bytes = scratches.pop() ?? Buffer.allocUnsafeSlow(MAX_HEADER_BYTES);
  try {
    const file = await openAndRead(path, bytes);
    if (file === null) return null;
    const { fd, filled } = file;
    try {
      const { header, start } = opened(bytes, filled, key, path);
      const expected = start + contentBytes(header);
      // A whole file that fits has been read to its end, so its size is known.
      const size = filled === expected && filled < bytes.length ? filled : (await fstatAsync(fd)).size;
      if (size !== expected) throw corrupt(path, `it has ${size} bytes where its header promises ${expected}`);
      const head = headOf(header);
      if (head.etag === unless) return { kind: 'not-modified' };
      const content = Buffer.allocUnsafe(contentBytes(header));
      let done = bytes.copy(content, 0, start, Math.min(filled, expected));
      while (done < content.length) {
        const { bytesRead } = await readAsync(fd, content, done, content.length - done, start + done);
        if (bytesRead === 0) throw corrupt(path, `it has ${start + done} bytes where its header promises ${expected}`);
        done += bytesRead;
      }
      return { kind: 'found', body: bodyIn(content, header, path), ...head };
    } finally {
      // At once: closing a file that was only read waits for no disk, and a trip to a thread takes longer.
      closeSync(fd);
    }
  } finally {
    if (scratches.length < MAX_SCRATCHES) scratches.push(bytes);
  }
}

/** The header of a file of which this is the beginning, and where its content starts. */
function opened(
  bytes: Buffer,
  filled: number,
  key: string,
  path: string,
): { readonly header: Header; readonly start: number } {
  const end = bytes.subarray(0, filled).indexOf(NEWLINE);
  const header = end < 0 ? null : parseHeader(bytes.toString('utf8', 0, end));
  if (header === null) throw corrupt(path, 'it does not begin with a header');
  if (header.key !== key) throw corrupt(path, `it is a copy of the object ${header.key}`);
  return { header, start: end + 1 };
}

/** As `get` of a store answers. */
type FoundOrKnown = Exclude<GetResult, { readonly kind: 'absent' }>;

/** Memory for the beginnings of files, used again. */
const scratches: Buffer[] = [];
const MAX_SCRATCHES = 32;

const fstatAsync = promisify(fstat);
const readAsync = promisify(read);

/** Opens a file and reads its beginning. Null if it does not exist. */
function openAndRead(path: string, bytes: Buffer): Promise<{ readonly fd: number; readonly filled: number } | null> {
  const { promise, resolve, reject } = Promise.withResolvers<{ fd: number; filled: number } | null>();
  open(path, constants.O_RDONLY, (fault, fd) => {
    if (fault !== null) {
      if (fault.code === 'ENOENT') resolve(null);
      else reject(fault);
      return;
    }
    read(fd, bytes, 0, bytes.length, 0, (error, filled) => {
      if (error === null) {
        resolve({ fd, filled });
        return;
      }
      closeSync(fd);
      reject(error);
    });
  });
  return promise;
}

/** The bytes after the header. */
function contentBytes({ frameBytes, sizeBytes }: Header): number {
  return frameBytes ?? sizeBytes;
}

function unpacked(frame: Buffer, { sizeBytes }: Header, path: string): Buffer {
  try {
    // The length bounds the memory. A shorter body fails the check of the digest.
    return zstdDecompressSync(frame, { maxOutputLength: sizeBytes });
  } catch (cause) {
    throw corrupt(path, `its zstd frame cannot be read (${(cause as Error).message})`);
  }
}

/**
 * Fills `buffer` from `offset` on with bytes of the file from `position` on, to the end of either. Returns the end of
 * the filled part.
 */
async function readUpTo(handle: FileHandle, buffer: Buffer, offset: number, position: number): Promise<number> {
  let filled = offset;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled - offset);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

export function headOf(header: Header): ObjectHead {
  const { sizeBytes, sha256, contentType, cacheControl, cacheTag, generation, nextCursor } = header;
  const [type, control] = [shared(contentType), shared(cacheControl)];
  const metadata = { contentType: type, cacheControl: control, cacheTag, generation, nextCursor };
  return { etag: etagOfDigest(sha256), sizeBytes, metadata };
}

/** One copy of a text that is in the headers of thousands of files: a cache keeps the heads. */
function shared(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined) return known;
  if (sharedTexts.size < MAX_SHARED_TEXTS) sharedTexts.set(text, text);
  return text;
}

const sharedTexts = new Map<string, string>();
const MAX_SHARED_TEXTS = 100;

function corrupt(path: string, what: string): StorageCorrupt {
  return new StorageCorrupt(`${path} is damaged: ${what}. A server that runs publishes it again from the ledger.`);
}
