/**
 * The redo bundle of a generation: everything that applying it will write, as immutable NDJSON objects.
 *
 * A small generation is one object. A large one spills into parts, which the last object, the one that HEAD names,
 * lists in its first line; so no more than one part is ever in memory. A part may be a bundle itself, with parts of its
 * own: where many prepare a generation together, each seals what it has rendered.
 */
import type { Json } from '../contract/canonical-json.ts';
import type { ItemKey } from '../storage/ledger.ts';
import type { ObjectMetadata, ObjectStore } from '../storage/object-store.ts';
import { sha256Hex } from '../storage/sha256.ts';
import { BundleLost } from './errors.ts';
import { putImmutable } from './put-immutable.ts';

/** One step of applying a generation. */
export type BundleLine =
  /** A head body to put, fenced by its generation. */
  | { readonly kind: 'put'; readonly key: string; readonly body: string; readonly nextCursor: string | null }
  /** What the ledger shall know of it once it is done; null removes the item. */
  | { readonly kind: 'record'; readonly key: ItemKey; readonly value: Json };

export interface BundleRef {
  readonly key: string;
  /** SHA-256 of the object's bytes, in hex. */
  readonly digest: string;
}

interface BundleHeader {
  readonly generation: number;
  /** Earlier parts, in the order in which they are applied. */
  readonly parts: readonly BundleRef[];
}

export const REDO_PREFIX = 'redo/';

/** A part is put away once it holds this much: few requests for a large generation, little memory. */
export const BUNDLE_PART_BYTES = 4 * 1024 * 1024;

const REDO_PATTERN = /^redo\/([1-9][0-9]{0,14})-[0-9a-f]{32}\.ndjson$/;

/** The generation that a bundle key was written for, or null when it is not the key of a bundle. */
export function bundleGeneration(key: string): number | null {
  const match = REDO_PATTERN.exec(key);
  return match ? Number(match[1]) : null;
}

/** Collects the lines of one generation. */
export class BundleWriter {
  readonly #objects: ObjectStore;
  readonly #generation: number;
  readonly #parts: BundleRef[] = [];
  #lines: string[] = [];
  #bytes = 0;
  #puts = 0;

  constructor(objects: ObjectStore, generation: number) {
    this.#objects = objects;
    this.#generation = generation;
  }

  /** Whether nothing that a reader could see would change. */
  get isEmpty(): boolean {
    return this.#puts === 0;
  }

  /** Takes in a bundle of the same generation that somebody else has sealed; it is applied before what is added later. */
  async adopt(part: BundleRef, { isEmpty }: Pick<BundleWriter, 'isEmpty'>): Promise<void> {
    if (this.#lines.length > 0) this.#parts.push(await this.#flush([]));
    this.#parts.push(part);
    if (!isEmpty) this.#puts++;
  }

  async add(line: BundleLine): Promise<void> {
    const text = JSON.stringify(line);
    this.#lines.push(text);
    this.#bytes += text.length;
    if (line.kind === 'put') this.#puts++;
    if (this.#bytes >= BUNDLE_PART_BYTES) this.#parts.push(await this.#flush([]));
  }

  /** Puts the last object and names it. */
  async seal(): Promise<BundleRef> {
    return await this.#flush(this.#parts);
  }

  async #flush(parts: readonly BundleRef[]): Promise<BundleRef> {
    const header: BundleHeader = { generation: this.#generation, parts };
    const lines = [JSON.stringify(header), ...this.#lines];
    this.#lines = [];
    this.#bytes = 0;
    return await putLines(this.#objects, this.#generation, lines);
  }
}

/** Puts lines that belong to a generation under a name made from their bytes; they are swept once it is applied. */
export async function putLines(objects: ObjectStore, generation: number, lines: readonly string[]): Promise<BundleRef> {
  const body = Buffer.from(`${lines.join('\n')}\n`);
  const digest = sha256Hex(body);
  const key = `${REDO_PREFIX}${generation}-${digest.slice(0, 32)}.ndjson`;
  await putImmutable(objects, key, body, bundleMetadata(generation));
  return { key, digest };
}

/** Reads back what {@link putLines} has put. Throws {@link BundleLost} when it is gone or damaged. */
export async function readLines(objects: ObjectStore, ref: BundleRef): Promise<readonly string[]> {
  const found = await objects.get(ref.key);
  if (found.kind !== 'found') throw new BundleLost(`the redo bundle ${ref.key} is gone: run a rebuild`);
  if (sha256Hex(found.body) !== ref.digest)
    throw new BundleLost(`the redo bundle ${ref.key} is damaged: run a rebuild`);
  return Buffer.from(found.body).toString('utf8').trimEnd().split('\n');
}

/** Reads a generation back, one part at a time, in the order of application. */
export async function* readBundle(objects: ObjectStore, last: BundleRef): AsyncGenerator<readonly BundleLine[]> {
  const { header, lines } = await readPart(objects, last);
  for (const part of header.parts) yield* readBundle(objects, part);
  yield lines;
}

/** Only what a bundle holds beside its parts. */
export async function* readOwnLines(objects: ObjectStore, bundle: BundleRef): AsyncGenerator<readonly BundleLine[]> {
  yield (await readPart(objects, bundle)).lines;
}

async function readPart(objects: ObjectStore, ref: BundleRef): Promise<{ header: BundleHeader; lines: BundleLine[] }> {
  const [header, ...lines] = await readLines(objects, ref);
  return {
    header: JSON.parse(header ?? '') as BundleHeader,
    lines: lines.map((line) => JSON.parse(line) as BundleLine),
  };
}

function bundleMetadata(generation: number): ObjectMetadata {
  return {
    contentType: 'application/x-ndjson',
    cacheControl: 'no-store',
    cacheTag: null,
    generation,
    nextCursor: null,
  };
}
