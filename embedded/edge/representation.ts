/** A stored object as the edge sends it: its bytes in each content coding, with the header fields of each. */
import { STATUS_CODES } from 'node:http';
import { statusOfObject } from '../../contract/edge-problems.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../contract/page-headers.ts';
import { parsePublicKey } from '../../contract/public-objects.ts';
import { historyUrl, MARKETS_URL } from '../../contract/routes.ts';
import type { ObjectHead, StoredObject } from '../../storage/object-store.ts';
import { type Coding, type CompressedCoding, compress, isTextType } from './encoding.ts';

/** Header fields as `writeHead` takes them: names and values in turn. */
export type FieldList = readonly string[];

/** The same on every answer: a page that waits out a failure reads `Retry-After`. */
export const CORS_FIELDS: FieldList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range',
];

/**
 * Up to this size a body is kept as a Latin-1 string, one character a byte. node:http then joins it to the header and
 * writes both at once: a third more answers a second at 2 KB. Larger buffers are better not copied.
 */
const MAX_TEXT_BYTES = 16_384;

/** The memory of a variant beside its body, mostly texts of its heads: measured, rounded up. */
const VARIANT_OVERHEAD_BYTES = 1_000;

/** 410: the object says that its market is removed. */
export type AnswerStatus = ReturnType<typeof statusOfObject> | 304;

/** On every answer with an object, and on 416. */
export const ACCEPT_RANGES: FieldList = ['Accept-Ranges', 'bytes'];

const PAGE_FIELDS: FieldList = Object.entries(PAGE_HEADERS).flat();

const NO_SNIFFING: FieldList = ['X-Content-Type-Options', 'nosniff'];

/** The places of the first and the last byte, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** One coding of one object. */
export class Variant {
  /** The bytes, or a string to be written as Latin-1. */
  readonly body: Buffer | string;
  /** Of the body. */
  readonly sizeBytes: number;
  /** Weak for compressed bytes: the ETag names the plain bytes, and other bytes are sent (RFC 9110, section 8.8.3.3). */
  readonly etag: string;
  readonly #coding: Coding;
  readonly #object: ObjectHead;
  readonly #link: string | null;
  /** See {@link Variant.hitHead}. */
  #okHead: string | null = null;
  #notModifiedHead: string | null = null;

  constructor(body: Buffer, coding: Coding, object: ObjectHead, link: string | null) {
    this.body = body.length <= MAX_TEXT_BYTES ? body.toString('latin1') : body;
    this.sizeBytes = body.length;
    this.etag = coding === 'identity' ? object.etag : `W/${object.etag}`;
    this.#coding = coding;
    this.#object = object;
    this.#link = link;
  }

  get bytes(): Buffer {
    return typeof this.body === 'string' ? Buffer.from(this.body, 'latin1') : this.body;
  }

  /** The fields of an answer with the object or with 304 (RFC 9110, section 15.4.5: a 304 repeats the validators). */
  fields(status: AnswerStatus, ageSeconds: number, cacheStatus: string): FieldList {
    return [...this.#fixedFields(status), 'Age', String(ageSeconds), 'Cache-Status', cacheStatus];
  }

  /** Of an answer with a part of the body: only for plain bytes. */
  rangeFields({ first, last }: ByteRange, ageSeconds: number, cacheStatus: string): FieldList {
    const { contentType } = this.#object.metadata;
    return [
      ...['Content-Type', contentType, 'Content-Length', String(last - first + 1)],
      ...['Content-Range', `bytes ${first}-${last}/${this.sizeBytes}`, ...ACCEPT_RANGES, ...NO_SNIFFING],
      ...this.fields(304, ageSeconds, cacheStatus),
    ];
  }

  /**
   * The head of an answer as it is sent, with the fields of {@link Variant.fields} that do not change with time. Made
   * once: it is most of what the fast lane writes.
   */
  hitHead(status: 200 | 304): string {
    if (status === 304) {
      this.#notModifiedHead ??= headText(304, this.#fixedFields(304));
      return this.#notModifiedHead;
    }
    this.#okHead ??= headText(200, this.#fixedFields(200));
    return this.#okHead;
  }

  #fixedFields(status: AnswerStatus): FieldList {
    const { contentType, cacheControl } = this.#object.metadata;
    const validators = ['ETag', this.etag, 'Cache-Control', cacheControl, 'Vary', 'Accept-Encoding', ...CORS_FIELDS];
    if (this.#link !== null) validators.push('Link', this.#link);
    // A 304 has them too: a new release may change them, and not the page.
    if (contentType === PAGE_CONTENT_TYPE) validators.push(...PAGE_FIELDS);
    if (status === 304) return validators;
    const content = ['Content-Type', contentType, 'Content-Length', String(this.sizeBytes)];
    if (this.#coding !== 'identity') content.push('Content-Encoding', this.#coding);
    // Of nothing else are parts given (RFC 9110, section 14.2).
    const ranges = status === 200 ? ACCEPT_RANGES : [];
    return [...content, ...ranges, ...NO_SNIFFING, ...validators];
  }
}

/** A status line and header fields as they are sent, without the empty line at the end. */
export function headText(status: number, fields: FieldList): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}`];
  for (let index = 0; index < fields.length; index += 2) lines.push(`${fields[index]}: ${fields[index + 1]}`);
  return `${lines.join('\r\n')}\r\n`;
}

/** An object with its variants. Compressed variants are made on first use, and kept. */
export class Representation {
  readonly etag: string;
  /** Of an answer with the object. */
  readonly status: Exclude<AnswerStatus, 304>;
  readonly identity: Variant;
  /** Whether it is worth compressing. */
  readonly isText: boolean;
  readonly #head: ObjectHead;
  readonly #link: string | null;
  /** Most objects are too small to have any: then there is no map either. */
  #compressed: Map<CompressedCoding, Variant> | null = null;
  #underWay: Map<CompressedCoding, Promise<Variant>> | null = null;

  constructor(key: string, object: StoredObject) {
    this.etag = object.etag;
    this.status = statusOfObject(object.metadata.contentType);
    this.isText = isTextType(object.metadata.contentType);
    // Without the body, so that the body is in memory only once.
    this.#head = { etag: object.etag, sizeBytes: object.sizeBytes, metadata: object.metadata };
    this.#link = nextPageLink(key, object.metadata.nextCursor);
    const body = Buffer.from(object.body.buffer, object.body.byteOffset, object.body.byteLength);
    this.identity = new Variant(body, 'identity', this.#head, this.#link);
  }

  /** The memory that it takes, in bytes. */
  get memoryBytes(): number {
    let memoryBytes = this.identity.sizeBytes + VARIANT_OVERHEAD_BYTES;
    for (const variant of this.#compressed?.values() ?? []) memoryBytes += variant.sizeBytes + VARIANT_OVERHEAD_BYTES;
    return memoryBytes;
  }

  /** The variant, if it is already made. */
  ready(coding: Coding): Variant | undefined {
    return coding === 'identity' ? this.identity : this.#compressed?.get(coding);
  }

  /** The variant. It is made once for any number of waiting readers. `made` is called when memory has grown. */
  variant(coding: Coding, made: () => void): Promise<Variant> {
    const ready = this.ready(coding);
    if (ready !== undefined || coding === 'identity') return Promise.resolve(ready ?? this.identity);
    const underWay = this.#underWay?.get(coding);
    if (underWay !== undefined) return underWay;
    const making = this.#compress(coding, made).finally(() => this.#underWay?.delete(coding));
    this.#underWay = (this.#underWay ?? new Map<CompressedCoding, Promise<Variant>>()).set(coding, making);
    return making;
  }

  async #compress(coding: CompressedCoding, made: () => void): Promise<Variant> {
    const body = await compress(this.identity.bytes, coding);
    const variant = new Variant(body, coding, this.#head, this.#link);
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
