/** The verified copy: an object folder with the keys of the service, which the embedded edge can serve. */

import {
  LOG_ROOT,
  PUBLIC_PREFIX,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
  publicPath,
} from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { parseTilePath } from '../../contract/log/tiles.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import { snapshotSchema } from '../../contract/values/market.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { metadataOfBody } from '../../storage/directory/open-index.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { bodyDigest, etagOfDigest } from '../../storage/ports/object-rules.ts';
import type { GetResult, ObjectStore } from '../../storage/ports/object-store.ts';
import { ifStill, keyPages } from '../../storage/ports/objects.ts';
import { routeRead } from '../edge/route.ts';

/** The copy has reached its limit. Nothing more is copied until it has space. */
export class MirrorFull extends Error {
  override readonly name = 'MirrorFull';
}

const NO_BODY = new Uint8Array();

/** The name of the object at this URL. Null: no object has this URL. */
export function nameOfUrl(url: string): PublicObjectName | null {
  const routed = routeRead('GET', url);
  return routed.kind === 'object' ? parsePublicKey(routed.key) : null;
}

/** The place of a tile in the log. Null: the file is no tile. */
export function tileOf(name: PublicObjectName) {
  return 'tile' in name ? parseTilePath(publicPath(name).slice(LOG_ROOT.length + 1)) : null;
}

export class MirrorCopy {
  readonly objects: ObjectStore;
  /** The limit of all bodies together, in bytes. */
  readonly maxBytes: number;
  /** The bytes of the stored bodies. Puts and removals keep the number up to date. */
  usedBytes = 0;

  constructor(objects: ObjectStore, maxBytes: number) {
    this.objects = objects;
    this.maxBytes = maxBytes;
  }

  /** Reads the copy as a reader of the mirror does, without a cache. 404 for an object that the copy lacks. */
  readonly reader: PublicReader = async (url) => {
    const name = nameOfUrl(url);
    const found = name === null ? null : await this.#get(publicKey(name));
    if (found?.kind !== 'found') return { status: 404, headers: new Map(), body: NO_BODY };
    const { contentType, cacheControl } = found.metadata;
    const fields = { 'content-type': contentType, 'cache-control': cacheControl, etag: found.etag as string };
    return { status: statusOfObject(contentType), headers: new Map(Object.entries(fields)), body: found.body };
  };

  /** Null: the copy lacks it. */
  async textAt(url: string): Promise<string | null> {
    const { status, body } = await this.reader(url);
    return status === 200 ? Buffer.from(body).toString('utf8') : null;
  }

  /** The generation of the snapshot. Null: no round has ended yet. */
  async generation(): Promise<number | null> {
    const text = await this.textAt(SNAPSHOT_URL);
    return text === null ? null : snapshotSchema.parse(JSON.parse(text)).generation;
  }

  /** All keys below a path, in order. */
  async *keys(path: string): AsyncGenerator<string> {
    for await (const keys of keyPages(this.objects, PUBLIC_PREFIX + path)) yield* keys;
  }

  /** Counts the stored bodies again. */
  async count(): Promise<void> {
    let bytes = 0;
    for await (const key of this.keys('/')) bytes += (await this.objects.stat(key))?.sizeBytes ?? 0;
    this.usedBytes = bytes;
  }

  /**
   * Stores a body under its name, and replaces an older one. Equal bytes are not written again.
   *
   * @param isGone whether the service answers 410 with this body
   * @throws MirrorFull if the body does not fit
   */
  async put(name: PublicObjectName, body: Uint8Array | string, isGone = false): Promise<void> {
    const key = publicKey(name);
    const bytes = Buffer.from(body as Uint8Array);
    // No generation is compared: one process writes to the copy.
    const metadata = metadataOfBody(name, bytes, 0, isGone);
    const present = await this.objects.stat(key);
    const isThere = present?.etag === etagOfDigest(bodyDigest(bytes));
    if (isThere && present?.metadata.contentType === metadata.contentType) return;
    const grown = bytes.byteLength - (present?.sizeBytes ?? 0);
    this.assertSpace(grown);
    const result = await this.objects.put(key, bytes, metadata, ifStill(present?.etag ?? null));
    // One process owns the folder, and one round runs at a time.
    if (result.kind === 'refused') throw new Error(`another process writes to the copy: ${key} has changed`);
    this.usedBytes += grown;
  }

  /** @throws MirrorFull if so many more bytes do not fit */
  assertSpace(bytes: number): void {
    if (this.usedBytes + bytes > this.maxBytes)
      throw new MirrorFull(`the copy would be larger than ${this.maxBytes} bytes: give it more with --max-bytes`);
  }

  /** A damaged body is removed, so that the next round copies it again. */
  async #get(key: string): Promise<GetResult> {
    try {
      return await this.objects.get(key);
    } catch (error) {
      if (!(error instanceof StorageCorrupt)) throw error;
      await this.remove(key);
      return { kind: 'absent' };
    }
  }

  async remove(key: string): Promise<void> {
    const present = await this.objects.stat(key);
    if (present === null || (await this.objects.delete(key, present.etag)) !== 'deleted') return;
    this.usedBytes -= present.sizeBytes;
  }
}
