/**
 * The redo bundle of a generation: everything that applying it will write, as immutable objects with one JSON value a
 * line.
 *
 * A small generation is one object. A large one has several parts. HEAD names the last object, whose first line lists
 * the earlier parts. So at most one part is in memory.
 */
import type { Json } from '../../contract/values/canonical-json.ts';
import type { ItemKey } from '../../storage/ports/ledger.ts';
import { MAX_ITEM_BYTES } from '../../storage/ports/ledger-rules.ts';
import { MAX_OBJECT_BYTES } from '../../storage/ports/object-rules.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import { keyOfToday } from '../../storage/records/format-3.ts';
import type { ObjectRef } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { BundleLost, FileTooLarge, HOW_TO_REBUILD } from '../errors.ts';
import { putPacked, readPacked } from './files/packed-object.ts';

export type OwnHeaders = Pick<ObjectMetadata, 'contentType' | 'cacheControl' | 'cacheTag'>;

/** A head body to put, fenced by its generation. */
export interface HeadPut {
  readonly kind: 'put';
  readonly key: string;
  readonly body: string;
  readonly nextCursor: string | null;
  /** The body is the problem document of a removed market, or of a file that is too long. */
  readonly isGone?: boolean;
  /** The headers of a file that is not in the table of public objects, set by its projection. */
  readonly own?: OwnHeaders;
  /**
   * The ETag of the body that it replaces, from the ledger's records; null: the market has no published body. Absent:
   * unknown.
   */
  readonly replaces?: string | null;
}

/**
 * A tile of the log. It changes only when an entry is taken down. Its key is its place in the log, so two generations can
 * have different tiles with the same key: only a committed generation may put one.
 */
export interface TilePut {
  readonly kind: 'tile';
  readonly key: string;
  /** Its bytes, in base64. */
  readonly body: string;
  /** The body is the problem document that replaces a bundle of entries because one of them was taken down. */
  readonly isGone?: true;
  /** Replaces the stored tile, because one of its entries was taken down. */
  readonly isTakenDown?: true;
}

/** One step of applying a generation. */
export type BundleLine =
  | HeadPut
  | TilePut
  /** The ledger's record of the published state; null removes the item. */
  | { readonly kind: 'record'; readonly key: ItemKey; readonly value: Json };

interface BundleHeader {
  readonly generation: number;
  /** Earlier parts, in the order in which they are applied. */
  readonly parts: readonly ObjectRef[];
}

export const REDO_PREFIX = 'redo/';

/** A part is stored at this size, before compression: few requests for a large generation, and little memory. */
export const BUNDLE_PART_BYTES = 4 * 1024 * 1024;

/** Collects the lines of one generation. */
export class BundleWriter {
  readonly #storage: Pick<PublisherStorage, 'objects' | 'maxObjectBytes'>;
  readonly #generation: number;
  readonly #parts: ObjectRef[] = [];
  #lines: string[] = [];
  #bytes = 0;
  #isEmpty = true;

  constructor(storage: Pick<PublisherStorage, 'objects' | 'maxObjectBytes'>, generation: number) {
    this.#storage = storage;
    this.#generation = generation;
  }

  /** Whether there is nothing to put and nothing to record. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Puts lines as a separate part, which joins the bundle later. The sweep removes a part that never joins. */
  async putPart(lines: readonly BundleLine[]): Promise<ObjectRef> {
    return await this.#put(
      [],
      lines.map((line) => JSON.stringify(line)),
    );
  }

  /** The part is applied after the parts so far, and before the lines that are still in memory. */
  addPart(part: ObjectRef): void {
    this.#parts.push(part);
    this.#isEmpty = false;
  }

  /** The files are applied after all lines so far. */
  async addFiles({ parts, lines }: PlannedFiles): Promise<void> {
    if (parts.length > 0 && this.#lines.length > 0) this.#parts.push(await this.#flush([]));
    for (const part of parts) this.addPart(part);
    for (const line of lines) await this.add(line);
  }

  /** @throws FileTooLarge */
  async add(line: BundleLine): Promise<void> {
    assertFits(this.#storage, line);
    const text = JSON.stringify(line);
    this.#lines.push(text);
    this.#bytes += text.length;
    this.#isEmpty = false;
    if (this.#bytes >= BUNDLE_PART_BYTES) this.#parts.push(await this.#flush([]));
  }

  /** Puts the last object and returns its name. */
  async seal(): Promise<ObjectRef> {
    return await this.#flush(this.#parts);
  }

  async #flush(parts: readonly ObjectRef[]): Promise<ObjectRef> {
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return await this.#put(parts, lines);
  }

  async #put(parts: readonly ObjectRef[], lines: readonly string[]): Promise<ObjectRef> {
    const header: BundleHeader = { generation: this.#generation, parts };
    const text = [JSON.stringify(header), ...lines].join('\n');
    return await putPacked(this.#storage.objects, REDO_PREFIX, this.#generation, text);
  }
}

/** A part of a bundle: an object, and the lines in it. */
export interface BundlePart {
  readonly ref: ObjectRef;
  readonly lines: readonly BundleLine[];
}

/**
 * Reads a bundle, one part at a time, in the order of application.
 *
 * @throws BundleLost if a part is missing, or does not match its name
 */
export async function* readBundle(objects: ObjectStore, last: ObjectRef): AsyncGenerator<BundlePart> {
  const { header, part } = await readPart(objects, last);
  for (const ref of header.parts) yield (await readPart(objects, ref)).part;
  yield part;
}

async function readPart(objects: ObjectStore, ref: ObjectRef): Promise<{ header: BundleHeader; part: BundlePart }> {
  const text = await readPacked(objects, ref);
  if (text === null) throw new BundleLost(`the redo bundle ${ref.key} is gone or damaged. ${HOW_TO_REBUILD}`);
  const [header = '', ...lines] = text.split('\n');
  return {
    header: JSON.parse(header) as BundleHeader,
    part: { ref, lines: lines.map((line) => withKeyOfToday(JSON.parse(line) as BundleLine)) },
  };
}

/** A bundle that an earlier version has committed may use earlier keys. */
function withKeyOfToday(line: BundleLine): BundleLine {
  return line.kind === 'record' ? { ...line, key: keyOfToday(line.key) } : line;
}

/** Room for an item's key and revision beside its value. */
const KEY_BYTES = 4 * 1024;

/**
 * Sizes are checked before the commit: every committed generation can be applied.
 *
 * @throws FileTooLarge for a line that is too large for the store or the ledger
 */
export function assertFits(
  { maxObjectBytes = MAX_OBJECT_BYTES }: Pick<PublisherStorage, 'maxObjectBytes'>,
  line: BundleLine,
) {
  const [what, bytes, most] =
    line.kind === 'record'
      ? [
          `${line.key.partition}/${line.key.sort}`,
          Buffer.byteLength(JSON.stringify(line.value)),
          MAX_ITEM_BYTES - KEY_BYTES,
        ]
      : [line.key, Buffer.byteLength(line.body), maxObjectBytes];
  if (bytes > most) throw new FileTooLarge(`${what} has ${bytes} bytes, and at most ${most} can be stored`);
}

/**
 * The files of one projection, in one generation or of one market. They join the bundle only when their plan is complete, so
 * a plan that throws adds nothing to the bundle. At most one part is in memory; the sweep removes parts of a failed plan.
 *
 * Sizes are checked when a file is added: a file that is too large makes this plan fail, not the generation.
 */
export class PlannedFiles {
  readonly #storage: PublisherStorage;
  readonly #bundle: Pick<BundleWriter, 'putPart'>;
  /** Parts that are stored already, to be applied before the lines. */
  readonly parts: ObjectRef[] = [];
  lines: BundleLine[] = [];
  #characters = 0;

  constructor(storage: PublisherStorage, bundle: Pick<BundleWriter, 'putPart'>) {
    this.#storage = storage;
    this.#bundle = bundle;
  }

  /** @throws FileTooLarge */
  async add(line: BundleLine): Promise<void> {
    assertFits(this.#storage, line);
    this.lines.push(line);
    this.#characters += line.kind === 'record' ? JSON.stringify(line).length : line.body.length;
    if (this.#characters < BUNDLE_PART_BYTES) return;
    this.parts.push(await this.#bundle.putPart(this.lines));
    this.lines = [];
    this.#characters = 0;
  }
}
