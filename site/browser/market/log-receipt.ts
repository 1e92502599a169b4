/** Finds an observation in the signed log, checks it in this browser, and makes its receipt (C2SP tlog-proof@v1). */
import { importLogKey, LogVerificationError, SignedLog, type VerifyingKey } from '../../../client/signed-log.ts';
import { canonicalJson, type Json } from '../../../contract/canonical-json.ts';
import { TILE_WIDTH, tilePath, widthOfTile } from '../../../contract/log/tiles.ts';
import type { PublicObservation } from '../../../contract/metric.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** GETs a file below the root of the log. Rejects if it is not there. */
export type LogBytesReader = (path: string) => Promise<Bytes>;

export interface CheckedEntry {
  /** Its place in the log, from 0. */
  readonly index: number;
  /** The number of entries of the log. */
  readonly size: number;
  readonly origin: string;
  /** The key that has signed, as the host names it. Only the operator can say that it is his. */
  readonly vkey: string;
  /** The text of a `.tlog-proof` file. It can be verified without this service. */
  readonly receipt: string;
}

/** The observation is not in the log, or is not yet: its entry follows some seconds after its publication. */
export class NotInLogError extends Error {
  override readonly name = 'NotInLogError';
}

const HASH_BYTES = 32;
const FILES_KEPT = 300;

/** Members of an entry that a row of a history does not have. */
const ENTRY_ALONE: ReadonlySet<string> = new Set(['format', 'type', 'market', 'revision']);

export class LogChecker {
  readonly #read: LogBytesReader;
  #opened: Promise<OpenLog> | null = null;

  constructor(read: LogBytesReader) {
    this.#read = read;
  }

  /**
   * @throws NotInLogError
   * @throws LogVerificationError if the log contradicts the row, or itself
   */
  async check(slug: string, row: PublicObservation): Promise<CheckedEntry> {
    this.#opened ??= openLog(this.#read);
    try {
      return await checkIn(await this.#opened, slug, row);
    } catch (error) {
      // The log has grown, or its last files have gone: the newest checkpoint decides.
      this.#opened = null;
      if (error instanceof LogVerificationError) throw error;
      this.#opened = openLog(this.#read);
      return await checkIn(await this.#opened, slug, row);
    }
  }
}

interface OpenLog {
  readonly log: SignedLog;
  readonly note: string;
  readonly vkey: string;
  readonly read: LogBytesReader;
}

async function openLog(readFile: LogBytesReader): Promise<OpenLog> {
  const read = remembered(readFile);
  const vkeys = textOf(await read('vkey'))
    .split('\n')
    .filter(Boolean);
  const keys = new Map<VerifyingKey, string>();
  for (const vkey of vkeys) keys.set(await importLogKey(vkey), vkey);
  const log = await SignedLog.open(read, [...keys.keys()]);
  const note = textOf(await read('checkpoint'));
  const [, vkey = ''] = [...keys].find(([{ name }]) => name === log.checkpoint.origin) ?? [];
  return { log, note, vkey, read };
}

async function checkIn(
  { log, note, vkey, read }: OpenLog,
  slug: string,
  row: PublicObservation,
): Promise<CheckedEntry> {
  const proven = await log.prove(row);
  if (proven === null) throw new NotInLogError(`${row.id} is not in the log`);
  const { entry, index } = proven;
  const fault = faultOfRow(slug, row, entry);
  if (fault !== null) throw new LogVerificationError(`${fault} of this row differs from entry ${index} of the log`);
  const { size, root, origin } = log.checkpoint;
  const text = new TextEncoder().encode(canonicalJson(entry as Json));
  const way = await wayToRoot(index, size, await sha256(new Uint8Array([0]), text), read);
  if (base64Of(way.root) !== base64Of(root)) {
    throw new LogVerificationError(`entry ${index} does not lead to the root that is signed`);
  }
  const lines = ['c2sp.org/tlog-proof@v1', `extra ${base64Of(text)}`, `index ${index}`, ...way.hashes.map(base64Of)];
  return { index, size, origin, vkey, receipt: `${lines.join('\n')}\n\n${note}` };
}

/** The member of the row that says something else than the signed entry. Null: they agree. */
export function faultOfRow(
  slug: string,
  row: PublicObservation,
  entry: Readonly<Record<string, unknown>>,
): string | null {
  const shown = row as unknown as Readonly<Record<string, unknown>>;
  if (entry.market !== slug) return 'market';
  const differing = Object.keys(entry).find((name) => !ENTRY_ALONE.has(name) && shown[name] !== entry[name]);
  if (differing !== undefined) return differing;
  return row.kind !== 'money' || isExactDecimal(row.decimal, row.amountMinor, row.minorDigits) ? null : 'decimal';
}

function isExactDecimal(decimal: string | null, amountMinor: number | null, minorDigits: number): boolean {
  if (decimal === null || amountMinor === null) return decimal === null && amountMinor === null;
  const [whole = '', decimals = ''] = decimal.split('.');
  return decimals.length === minorDigits && Number(whole + decimals) === amountMinor;
}

/** The hashes from the leaf's neighbour up, and the root to which they lead (RFC 6962, section 2.1.1). */
async function wayToRoot(index: number, size: number, leaf: Bytes, read: LogBytesReader) {
  const hashes: Bytes[] = [];
  let root = leaf;
  for (let width = 1; width < size; width *= 2) {
    const node = Math.floor(index / width);
    const start = (node % 2 === 1 ? node - 1 : node + 1) * width;
    // The last node of a level has no neighbour: it goes up as it is.
    if (start >= size) continue;
    const neighbour = await rootOfRange(start, Math.min(start + width, size), size, read);
    hashes.push(neighbour);
    root = await (node % 2 === 1 ? hashOfNode(neighbour, root) : hashOfNode(root, neighbour));
  }
  return { hashes, root };
}

/** Of a subtree that ends at the end of the tree, or is perfect: its perfect parts, from the smallest on the right. */
async function rootOfRange(start: number, end: number, size: number, read: LogBytesReader): Promise<Bytes> {
  let root: Bytes | null = null;
  let last = end;
  for (let width = 1; width <= end - start; width *= 2) {
    if (Math.floor((end - start) / width) % 2 === 0) continue;
    last -= width;
    const part = await rootOfPart(last, width, size, read);
    root = root === null ? part : await hashOfNode(part, root);
  }
  return root as Bytes;
}

/** Of `width` entries, a power of two: a part of one tile. */
async function rootOfPart(start: number, width: number, size: number, read: LogBytesReader): Promise<Bytes> {
  let [level, first, count] = [0, start, width];
  for (; count >= TILE_WIDTH; level++) [first, count] = [first / TILE_WIDTH, count / TILE_WIDTH];
  const n = Math.floor(first / TILE_WIDTH);
  const tile = await read(tilePath(level, n, widthOfTile(level, n, size)));
  let hashes: Bytes[] = [];
  for (let at = first % TILE_WIDTH; hashes.length < count; at++) {
    hashes.push(tile.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES));
  }
  while (hashes.length > 1) {
    const pairs = hashes.flatMap((left, at) => (at % 2 === 0 ? [[left, hashes[at + 1] as Bytes] as const] : []));
    hashes = await Promise.all(pairs.map(([left, right]) => hashOfNode(left, right)));
  }
  return hashes[0] as Bytes;
}

async function sha256(...parts: readonly Bytes[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob([...parts]).arrayBuffer()));
}

async function hashOfNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return await sha256(new Uint8Array([1]), left, right);
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function textOf(bytes: Bytes): string {
  return new TextDecoder().decode(bytes);
}

/** Each file is read once for one checkpoint, so all parts of a proof are of the same bytes. */
function remembered(read: LogBytesReader): LogBytesReader {
  const files = new Map<string, Promise<Bytes>>();
  return (path) => {
    const known = files.get(path) ?? read(path);
    if (files.size < FILES_KEPT) files.set(path, known);
    return known;
  };
}
