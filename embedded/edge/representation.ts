/** A stored object as the edge sends it: its bytes in each content coding, with the header fields of each. */
import { parsePublicKey } from '../../contract/public-objects.ts';
import { historyUrl, MARKETS_URL } from '../../contract/routes.ts';
import type { StoredObject } from '../../storage/object-store.ts';
import { type Coding, type CompressedCoding, compress } from './encoding.ts';
import {
  ACCEPT_RANGES,
  type AnswerKind,
  type AnswerStatus,
  answerKindOf,
  type FieldList,
  NO_SNIFFING,
} from './object-heads.ts';

/**
 * Up to this size a body is kept as a Latin-1 string, one character a byte. node:http then joins it to the header and
 * writes both at once: a third more answers a second at 2 KB. Larger buffers are better not copied.
 */
const MAX_TEXT_BYTES = 16_384;

/** The memory of an object beside its plain bytes: measured, rounded up. */
const OBJECT_OVERHEAD_BYTES = 140;
/** The same of each other variant, with what finds it. */
const VARIANT_OVERHEAD_BYTES = 500;

/** The places of the first and the last byte, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** One coding of one object. */
export class Variant {
  /** The bytes, or a string to be written as Latin-1. */
  readonly body: Buffer | string;
  /** Weak for compressed bytes: the ETag names the plain bytes, and other bytes are sent (RFC 9110, section 8.8.3.3). */
  readonly etag: string;
  /** The value of `Link`. */
  readonly link: string | null;
  readonly kind: AnswerKind;
  /** The number of the end (head-ends.ts) with which it was sent last. */
  askedWith = 0;
  readonly #coding: Coding;

  constructor(body: Buffer, coding: Coding, { etag, kind, link }: Pick<Variant, 'etag' | 'kind' | 'link'>) {
    this.body = body.length <= MAX_TEXT_BYTES ? body.toString('latin1') : body;
    this.etag = coding === 'identity' ? etag : `W/${etag}`;
    this.link = link;
    this.#coding = coding;
    this.kind = kind;
  }

  /** Of the body. */
  get sizeBytes(): number {
    return this.body.length;
  }

  get bytes(): Buffer {
    return typeof this.body === 'string' ? Buffer.from(this.body, 'latin1') : this.body;
  }

  /** The fields of an answer with the object or with 304. */
  fields(status: AnswerStatus, ageSeconds: number, cacheStatus: string): FieldList {
    return [...this.kind.fields(status, this.#coding, this), 'Age', String(ageSeconds), 'Cache-Status', cacheStatus];
  }

  /** Of an answer with a part of the body: only for plain bytes. */
  rangeFields({ first, last }: ByteRange, ageSeconds: number, cacheStatus: string): FieldList {
    return [
      ...['Content-Type', this.kind.contentType, 'Content-Length', String(last - first + 1)],
      ...['Content-Range', `bytes ${first}-${last}/${this.sizeBytes}`, ...ACCEPT_RANGES, ...NO_SNIFFING],
      ...this.fields(304, ageSeconds, cacheStatus),
    ];
  }

  /** The head of an answer as it is sent, with the fields of {@link Variant.fields} that do not change with time. */
  hitHead(status: 200 | 304): string {
    return this.kind.head(status, this.#coding, this);
  }
}

/**
 * An object: its plain bytes, with the other variants. Those are made on first use, and kept. It is its own plain variant,
 * because most objects are too small to have another one, and there are many of them in memory.
 */
export class Representation extends Variant {
  #compressed: Map<CompressedCoding, Variant> | null = null;
  #underWay: Map<CompressedCoding, Promise<Variant>> | null = null;

  constructor(key: string, { body, etag, metadata }: StoredObject) {
    const kind = answerKindOf(metadata);
    const link = nextPageLink(key, metadata.nextCursor);
    super(Buffer.from(body.buffer, body.byteOffset, body.byteLength), 'identity', { etag, kind, link });
  }

  get identity(): Variant {
    return this;
  }

  /** Of an answer with the object. */
  get status(): Exclude<AnswerStatus, 304> {
    return this.kind.status;
  }

  /** Whether it is worth compressing. */
  get isText(): boolean {
    return this.kind.isText;
  }

  /** The memory that it takes, in bytes. */
  get memoryBytes(): number {
    let memoryBytes = this.sizeBytes + OBJECT_OVERHEAD_BYTES;
    for (const variant of this.#compressed?.values() ?? []) memoryBytes += variant.sizeBytes + VARIANT_OVERHEAD_BYTES;
    return memoryBytes;
  }

  /** The variant, if it is already made. */
  ready(coding: Coding): Variant | undefined {
    return coding === 'identity' ? this : this.#compressed?.get(coding);
  }

  /** The variant. It is made once for any number of waiting readers. `made` is called when memory has grown. */
  variant(coding: Coding, made: () => void): Promise<Variant> {
    const ready = this.ready(coding);
    if (ready !== undefined || coding === 'identity') return Promise.resolve(ready ?? this);
    const underWay = this.#underWay?.get(coding);
    if (underWay !== undefined) return underWay;
    const making = this.#compress(coding, made).finally(() => this.#underWay?.delete(coding));
    this.#underWay = (this.#underWay ?? new Map<CompressedCoding, Promise<Variant>>()).set(coding, making);
    return making;
  }

  async #compress(coding: CompressedCoding, made: () => void): Promise<Variant> {
    const body = await compress(this.bytes, coding);
    const variant = new Variant(body, coding, this);
    this.#compressed = (this.#compressed ?? new Map<CompressedCoding, Variant>()).set(coding, variant);
    made();
    return variant;
  }
}

/** `Link` to the next page (RFC 8288). The key is enough to know the URL, because a page is reached by one URL only. */
function nextPageLink(key: string, nextCursor: string | null): string | null {
  if (nextCursor === null) return null;
  const name = parsePublicKey(key);
  if (name === null) return null;
  const url = 'slug' in name ? historyUrl(name.slug) : MARKETS_URL;
  return `<${url}?cursor=${nextCursor}>; rel="next"`;
}
