/**
 * Verifies entries of a signed log (docs/log.md) in browsers and in Node, from any host, with WebCrypto only. Every result is
 * signed by a key that the reader knows.
 */
import { findEntry } from '../../contract/log/find-entry.ts';
import { HASH_LENGTH } from '../../contract/log/ranges.ts';
import { ndjsonPath, TILE_WIDTH, tilePath, widthOfTile } from '../../contract/log/tiles.ts';
import {
  type Bytes,
  encodedText,
  fromBase64,
  hexOf,
  isSameHash,
  joinedBytes,
  leafHashOf,
  perfectRootOf,
  sha256Of,
} from './hashes.ts';
import { inclusionPath, rootOf } from './inclusion.ts';

/** The host's files differ from what the key has signed, or none of the known keys has signed them. */
export class LogVerificationError extends Error {
  override readonly name = 'LogVerificationError';
}

/** A public key of a log. */
export interface VerifyingKey {
  /** Its text, from the operator of the log. */
  readonly vkey: string;
  /** The origin of the log that it signs. */
  readonly name: string;
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

/** The signed size and root of a log. */
export interface SignedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Bytes;
  /** The known key whose signature was verified. */
  readonly vkey: string;
}

export interface ProvenEntry {
  /** The content, as docs/log.md describes it. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The place of the entry in the log, from 0. */
  readonly index: number;
  /** The signed bytes, as text. */
  readonly text: string;
}

/** GETs a file below the root of the log, e.g. `checkpoint`. Rejects if it does not exist. */
export type LogFileReader = (path: string) => Promise<Bytes>;

const ED25519 = 1;
/** The size of 256 entries of 64 KB, with their line breaks. */
const LINES_BYTES_MAX = TILE_WIDTH * 0x10000;

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/** @throws LogVerificationError unless the text is an Ed25519 verifier key (`<name>+<id>+<base64>`) */
export async function importLogKey(vkey: string): Promise<VerifyingKey> {
  const [, name = '', id = '', material = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? [];
  const bytes = fromBase64(material);
  if (bytes?.[0] !== ED25519 || bytes.length !== 1 + HASH_LENGTH) {
    throw new LogVerificationError(`not a verifier key of Ed25519: ${vkey}`);
  }
  const found = hexOf((await sha256Of(encodedText(`${name}\n`), bytes)).subarray(0, 4));
  if (found !== id) throw new LogVerificationError(`the id of the verifier key is ${id}, and its key has ${found}`);
  return { vkey, name, id, key: await crypto.subtle.importKey('raw', bytes.slice(1), 'Ed25519', false, ['verify']) };
}

/** The keys that a host names for its log. Trusting them means trusting the host. */
export async function namedKeys(read: LogFileReader): Promise<readonly string[]> {
  return new TextDecoder()
    .decode(await read('vkey'))
    .split('\n')
    .filter((line) => line !== '');
}

/** Reads a checkpoint. @throws LogVerificationError unless one of the keys has signed it */
export async function readSignedCheckpoint(note: string, keys: readonly VerifyingKey[]): Promise<SignedCheckpoint> {
  const split = note.lastIndexOf('\n\n');
  const [text, lines] = [note.slice(0, split + 1), note.slice(split + 2).split('\n')];
  const [origin = '', size = '', encoded = ''] = text.split('\n');
  const root = fromBase64(encoded);
  if (split < 0 || !/^(0|[1-9]\d{0,14})$/.test(size) || root?.length !== HASH_LENGTH) {
    throw new LogVerificationError('not a signed checkpoint');
  }
  for (const { vkey, name, id, key } of keys) {
    for (const line of lines) {
      const [, signer, signature = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
      const bytes = fromBase64(signature);
      if (signer !== name || name !== origin || bytes === null || hexOf(bytes.subarray(0, 4)) !== id) continue;
      if (await crypto.subtle.verify('Ed25519', key, bytes.slice(4), encodedText(text))) {
        return { origin, size: Number(size), root, vkey };
      }
    }
  }
  throw new LogVerificationError(`no known key has signed the checkpoint of ${origin}`);
}

/** The entries under one checkpoint. */
export class SignedLog {
  readonly checkpoint: SignedCheckpoint;
  /** The signed note. */
  readonly note: string;
  readonly #read: LogFileReader;
  /** The partial tiles, by level. The root is computed from them. */
  readonly #edge: ReadonlyMap<number, Bytes>;

  private constructor(
    note: string,
    checkpoint: SignedCheckpoint,
    read: LogFileReader,
    edge: ReadonlyMap<number, Bytes>,
  ) {
    this.note = note;
    this.checkpoint = checkpoint;
    this.#read = read;
    this.#edge = edge;
  }

  /** Reads and checks the checkpoint, and the tiles from which its root is computed. */
  static async open(read: LogFileReader, keys: readonly VerifyingKey[]): Promise<SignedLog> {
    // Bytes that are not UTF-8 decode to another text, whose signature is wrong.
    const note = new TextDecoder().decode(await read('checkpoint'));
    const checkpoint = await readSignedCheckpoint(note, keys);
    const edge = new Map<number, Bytes>();
    const root = await rootOf(checkpoint.size, async (level, n, width) => {
      const tile = edge.get(level) ?? (await readTile(read, level, n, width));
      edge.set(level, tile);
      return tile;
    });
    if (!isSameHash(root, checkpoint.root)) {
      throw new LogVerificationError('the tiles do not give the root that is signed');
    }
    return new SignedLog(note, checkpoint, read, edge);
  }

  /**
   * Finds the entry of an observation, and proves that it is in the log. Null: the log has no entry with this id.
   *
   * @param sought a row of a history
   */
  async prove(sought: { readonly id: string; readonly recordedAt: string }): Promise<ProvenEntry | null> {
    const { size } = this.checkpoint;
    if (size === 0) return null;
    const files = { entries: async (n: number, width: number) => await this.#lines(n, width) };
    const found = await findEntry(files, size, sought).catch((cause: unknown) => {
      // The errors of entries that are not JSON, or have no time.
      if (cause instanceof SyntaxError || cause instanceof TypeError || cause instanceof RangeError) {
        throw new LogVerificationError('the entries cannot be read', { cause });
      }
      throw cause;
    });
    if (found === null) return null;
    return await this.#proven(found.index, found.text);
  }

  /** Reads and proves one entry. Null: its text was taken down. @param index below the size */
  async entryAt(index: number): Promise<ProvenEntry | null> {
    const n = Math.floor(index / TILE_WIDTH);
    const lines = await this.#lines(n, widthOfTile(0, n, this.checkpoint.size));
    const { text } = lines[index % TILE_WIDTH] as (typeof lines)[number];
    return text === null ? null : await this.#proven(index, text);
  }

  async #proven(index: number, text: string): Promise<ProvenEntry> {
    const tile = await this.#tile(0, Math.floor(index / TILE_WIDTH));
    const at = (index % TILE_WIDTH) * HASH_LENGTH;
    if (!isSameHash(await leafHashOf(encodedText(text)), tile.subarray(at, at + HASH_LENGTH))) {
      throw new LogVerificationError(`entry ${index} is not the one that is signed`);
    }
    return { entry: JSON.parse(text) as ProvenEntry['entry'], index, text };
  }

  /** @param note a checkpoint that was verified before. @throws LogVerificationError unless this log begins with that one */
  async continues(note: string): Promise<void> {
    const [origin, size, root = ''] = note.split('\n');
    const [end, seen] = [Number(size), fromBase64(root)];
    const isLonger = origin === this.checkpoint.origin && end <= this.checkpoint.size && seen !== null;
    const tile = (level: number, n: number) => this.#tile(level, n);
    if (isLonger && isSameHash(await rootOf(this.checkpoint.size, tile, end), seen)) return;
    throw new LogVerificationError(
      `its ${this.checkpoint.size} entries do not begin with the ${size} that were checked before`,
    );
  }

  /** The hashes from an entry to the root, starting with its neighbour (RFC 6962, section 2.1.1). */
  async pathOf(index: number): Promise<readonly Bytes[]> {
    const tiles = new Map<string, Promise<Bytes>>();
    // Each tile is read once, because a proof needs several of its hashes.
    return await inclusionPath(this.checkpoint.size, index, (level, n) => {
      const name = `${level}/${n}`;
      const tile = tiles.get(name) ?? this.#tile(level, n);
      tiles.set(name, tile);
      return tile;
    });
  }

  /** The hashes of a tile, after they were compared with the root. */
  async #tile(level: number, n: number): Promise<Bytes> {
    const width = widthOfTile(level, n, this.checkpoint.size);
    const edge = width < TILE_WIDTH ? this.#edge.get(level) : undefined;
    if (edge !== undefined) return edge;
    const tile = await readTile(this.#read, level, n, width);
    const parent = await this.#tile(level + 1, Math.floor(n / TILE_WIDTH));
    const at = (n % TILE_WIDTH) * HASH_LENGTH;
    if (isSameHash(await perfectRootOf(tile), parent.subarray(at, at + HASH_LENGTH))) return tile;
    throw new LogVerificationError(`tile ${n} of level ${level} is not the one that is signed`);
  }

  async #lines(n: number, width: number): Promise<readonly { readonly text: string | null }[]> {
    const lines = (await unzipped(await this.#read(ndjsonPath(n, width)))).split('\n').slice(0, -1);
    if (lines.length !== width) throw new LogVerificationError(`file ${n} of entries has ${lines.length} lines`);
    return lines.map((line) => ({ text: line.startsWith('{"takenDown":') ? null : line }));
  }
}

async function readTile(read: LogFileReader, level: number, n: number, width: number): Promise<Bytes> {
  const tile = await read(tilePath(level, n, width));
  if (tile.length === width * HASH_LENGTH) return tile;
  throw new LogVerificationError(`tile ${n} of level ${level} has ${tile.length} bytes`);
}

/** @throws LogVerificationError for bytes that are not gzipped UTF-8, or are too many */
export async function unzipped(gzipped: Bytes): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    const stream = new Blob([gzipped]).stream().pipeThrough(new DecompressionStream('gzip'));
    // A reader is used, because Safari's streams cannot be iterated.
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.length;
      if (bytes > LINES_BYTES_MAX) throw new RangeError('too large');
      chunks.push(part.value);
    }
    return decode(joinedBytes(chunks));
  } catch (cause) {
    throw new LogVerificationError('a file of entries cannot be read', { cause });
  }
}
