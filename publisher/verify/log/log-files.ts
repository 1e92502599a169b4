/** Reads the files of the log, by GET alone. */
import { gunzipSync } from 'node:zlib';
import {
  cacheControlOf,
  LOG_ROOT,
  PUBLIC_CACHE_CONTROL,
  PUBLIC_PREFIX,
  parsePublicKey,
} from '../../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint, parseCheckpoint } from '../../../contract/log/checkpoint.ts';
import { decodeEntryBundle, ENTRY_BYTES_MAX, takenDownHash } from '../../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { parseNote, type VerifierKey, verifierKey } from '../../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, tilePath } from '../../../contract/log/tiles.ts';
import type { PublicReader } from '../reading/reader.ts';
import type { VerifyRule } from '../report.ts';

/** Each path of the log is also its URL. */
export const CHECKPOINT_URL = `${LOG_ROOT}/checkpoint`;
export const VKEY_URL = `${LOG_ROOT}/vkey`;

/** The most bytes of the lines of a full bundle. A line is an entry, or the hash of one that was taken down, and a newline. */
const LINES_BYTES_MAX = TILE_WIDTH * (ENTRY_BYTES_MAX + 1);

/** The file of the log at this URL is missing or wrong. */
export class LogFileError extends Error {
  override readonly name = 'LogFileError';
  readonly url: string;
  readonly rule: VerifyRule;

  constructor(url: string, rule: VerifyRule, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.url = url;
    this.rule = rule;
  }
}

/** An entry of the log. Its text is null if it was taken down. */
export interface ReadEntry {
  readonly text: string | null;
  readonly leaf: Buffer;
}

/** Files below the root of a log. All methods reject with a {@link LogFileError}, or with the reader's error. */
export class LogFiles {
  readonly #reader: PublicReader;

  constructor(reader: PublicReader) {
    this.#reader = reader;
  }

  /** The signed note, byte for byte. */
  async checkpointNote(): Promise<string> {
    return utf8Of(CHECKPOINT_URL, await this.#read(CHECKPOINT_URL, 'text/plain; charset=utf-8'));
  }

  /** The keys that sign the log now, as the host states them. Trust them only on first use, when no key is known. */
  async vkeys(): Promise<readonly string[]> {
    const text = utf8Of(VKEY_URL, await this.#read(VKEY_URL, 'text/plain; charset=utf-8'));
    const lines = text.split('\n');
    if (lines.length < 2 || lines.pop() !== '') {
      throw new LogFileError(VKEY_URL, 'signature', 'must have one verifier key on each line');
    }
    return lines;
  }

  async hashes(level: number, n: number, width: number): Promise<Buffer> {
    return this.#read(`${LOG_ROOT}/${tilePath(level, n, width)}`, 'application/octet-stream');
  }

  /** The entries of one bundle. Both of its files must have the same entries. */
  async entries(n: number, width: number): Promise<readonly ReadEntry[]> {
    const [bundle, lines] = [await this.#bundle(n, width), await this.#lines(n, width)];
    if (lines.length !== width) throw this.#fault(n, width, `has ${lines.length} lines, expected ${width}`);
    if (bundle !== null && bundle.length !== width) {
      const detail = `has ${bundle.length} entries, expected ${width}`;
      throw new LogFileError(`${LOG_ROOT}/${tilePath('entries', n, width)}`, 'log', detail);
    }
    return lines.map((line, index) => {
      const text = bundle?.[index]?.toString('utf8') ?? null;
      const hidden = takenDownHash(line);
      if (hidden !== null) return { text: null, leaf: hidden };
      if (text !== null && text !== line) throw this.#fault(n, width, `line ${index} differs from its entry`);
      return { text: line, leaf: leafHash(line) };
    });
  }

  /** Null: an entry of the bundle was taken down. */
  async #bundle(n: number, width: number): Promise<readonly Buffer[] | null> {
    const url = `${LOG_ROOT}/${tilePath('entries', n, width)}`;
    const bytes = await this.#read(url, 'application/octet-stream', 410);
    return bytes === null ? null : faultAt(url, 'log', () => decodeEntryBundle(bytes));
  }

  async #lines(n: number, width: number): Promise<readonly string[]> {
    const url = `${LOG_ROOT}/${ndjsonPath(n, width)}`;
    const packed = await this.#read(url, 'application/gzip');
    const bytes = faultAt(url, 'log', () => gunzipSync(packed, { maxOutputLength: LINES_BYTES_MAX }));
    const lines = utf8Of(url, bytes).split('\n');
    if (lines.pop() !== '') throw this.#fault(n, width, 'does not end with a newline');
    return lines;
  }

  #fault(n: number, width: number, detail: string): LogFileError {
    return new LogFileError(`${LOG_ROOT}/${ndjsonPath(n, width)}`, 'log', detail);
  }

  async #read(url: string, contentType: string): Promise<Buffer>;
  async #read(url: string, contentType: string, gone: 410): Promise<Buffer | null>;
  async #read(url: string, contentType: string, gone?: 410): Promise<Buffer | null> {
    const { status, headers, body } = await this.#reader(url);
    if (status === gone) return null;
    if (status !== 200) throw new LogFileError(url, 'status', `answered ${status}, expected 200`);
    const found = headers.get('content-type');
    if (found !== contentType) {
      throw new LogFileError(url, 'headers', `content-type is ${found ?? 'missing'}, expected ${contentType}`);
    }
    checkCaching(url, headers.get('cache-control'));
    return Buffer.from(body);
  }
}

/** Files whose entries may be taken down must not stay in caches for longer than this version allows. A shorter time is right. */
function checkCaching(url: string, found: string | undefined): void {
  const name = parsePublicKey(PUBLIC_PREFIX + url);
  const longest = name === null ? PUBLIC_CACHE_CONTROL : cacheControlOf(name);
  if (found === PUBLIC_CACHE_CONTROL || found === longest) return;
  throw new LogFileError(url, 'headers', `cache-control is ${found ?? 'missing'}, expected ${longest}`);
}

/** Opens a checkpoint. @throws LogFileError if its text, its signature or a key is wrong */
export function openSigned(note: string, keys: readonly VerifierKey[]): LogCheckpoint {
  return faultAt(CHECKPOINT_URL, 'signature', () => openCheckpoint(note, keys));
}

/** Reads a checkpoint that this user has stored after its signature was verified. Its key may have been replaced since. */
export function seenCheckpoint(note: string): LogCheckpoint {
  return faultAt(CHECKPOINT_URL, 'fork', () => parseCheckpoint(parseNote(note).text));
}

/** @param source the URL or the option from which the keys come, for the error */
export function keysOf(vkeys: readonly string[], source: string): readonly VerifierKey[] {
  return faultAt(source, 'signature', () => vkeys.map(verifierKey));
}

function faultAt<Value>(url: string, rule: VerifyRule, read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    const { code } = cause as { readonly code?: string };
    // The second code: the file unpacks to more bytes than a bundle can have.
    const isPacking = code?.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE';
    const isExpected = cause instanceof LogFaultError || isPacking;
    if (!isExpected) throw cause;
    throw new LogFileError(url, rule, (cause as Error).message, { cause });
  }
}

function utf8Of(url: string, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new LogFileError(url, 'log', 'is not UTF-8');
  return text;
}
