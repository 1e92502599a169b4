/** The verified copy: an object folder with the keys of the service, which the embedded edge can serve. */

import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey, storedHeaders } from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { bodyDigest, etagOfDigest } from '../../storage/ports/object-rules.ts';
import type { GetResult, ObjectHead, ObjectStore } from '../../storage/ports/object-store.ts';
import { routeRead } from '../edge/route.ts';

/** The copy has reached its limit. Nothing more is copied until it has space. */
export class MirrorFull extends Error {
  override readonly name = 'MirrorFull';
}

export interface CopiedBody {
  readonly body: Uint8Array | string;
  /** The generation of the snapshot that was read before this body. For operators only; nothing compares it. */
  readonly generation: number;
  readonly nextCursor?: string | null;
  /** Whether the service answers 410 with this body. */
  readonly isGone?: boolean;
}

const NO_BODY = new Uint8Array();

/** The name of the object at this URL. Null: no object has this URL. */
export function nameOfUrl(url: string): PublicObjectName | null {
  const routed = routeRead('GET', url);
  return routed.kind === 'object' ? parsePublicKey(routed.key) : null;
}

export class MirrorCopy {
  readonly objects: ObjectStore;
  /** The limit of all bodies together, in bytes. */
  readonly maxBytes: number;
  /** The bytes of the stored bodies. The sweep counts them; puts and removals keep the number up to date. */
  usedBytes = 0;

  constructor(objects: ObjectStore, maxBytes: number) {
    this.objects = objects;
    this.maxBytes = maxBytes;
  }

  /** Null: the copy does not have the object. */
  async head(name: PublicObjectName): Promise<ObjectHead | null> {
    return await this.objects.stat(publicKey(name));
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

  /** Null: no round has ended yet. */
  async snapshot(): Promise<{ readonly value: Snapshot; readonly text: string } | null> {
    const { status, body } = await this.reader(SNAPSHOT_URL);
    const text = Buffer.from(body).toString('utf8');
    return status === 200 ? { value: snapshotSchema.parse(JSON.parse(text)), text } : null;
  }

  /** All keys below a path, in order. */
  async *keys(path: string): AsyncGenerator<string> {
    for (let after: string | null = ''; after !== null; ) {
      const page: Awaited<ReturnType<ObjectStore['list']>> = await this.objects.list(PUBLIC_PREFIX + path, { after });
      yield* page.keys;
      after = page.next;
    }
  }

  /**
   * Stores a body under its name, and replaces an older one. Equal bytes are not written again.
   *
   * @throws MirrorFull if the body does not fit
   */
  async put(
    name: PublicObjectName,
    { body, generation, nextCursor = null, isGone = false }: CopiedBody,
  ): Promise<void> {
    const key = publicKey(name);
    const bytes = Buffer.from(body as Uint8Array);
    const metadata = { ...storedHeaders(name, isGone), generation, nextCursor };
    const present = await this.objects.stat(key);
    const isThere = present?.etag === etagOfDigest(bodyDigest(bytes));
    if (isThere && present?.metadata.contentType === metadata.contentType) return;
    const grown = bytes.byteLength - (present?.sizeBytes ?? 0);
    if (this.usedBytes + grown > this.maxBytes) {
      throw new MirrorFull(`the copy would be larger than ${this.maxBytes} bytes: give it more with --max-bytes`);
    }
    const condition =
      present === null ? ({ kind: 'absent' } as const) : ({ kind: 'matches', etag: present.etag } as const);
    const result = await this.objects.put(key, bytes, metadata, condition);
    // One process owns the folder, and one round runs at a time.
    if (result.kind === 'refused') throw new Error(`another process writes to the copy: ${key} has changed`);
    this.usedBytes += grown;
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
