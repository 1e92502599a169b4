/** A stored object as the edge sends it: its bytes in each content coding, with the header fields of each. */

import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { historyUrl, MARKETS_URL } from '../../contract/files/routes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import type { ObjectMetadata, StoredObject } from '../../storage/ports/object-store.ts';
import { type Coding, compress, isTextType } from './encoding.ts';

/** Header fields as `writeHead` takes them: names and values in turn. */
export type FieldList = readonly string[];

/** The same on every answer: a page that waits out a failure reads `Retry-After`. */
export const CORS_FIELDS: FieldList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range',
];
/** On every answer with an object, and on 416. */
export const ACCEPT_RANGES: FieldList = ['Accept-Ranges', 'bytes'];
export const NO_SNIFFING: FieldList = ['X-Content-Type-Options', 'nosniff'];

/** 410: the object says that its market is removed. */
export type AnswerStatus = ReturnType<typeof statusOfObject> | 304;

/** The memory of an object or of another variant beside its bytes. */
const OVERHEAD_BYTES = 500;

/** One coding of one object. */
export interface Variant {
  readonly coding: Coding;
  readonly body: Buffer;
  /** Weak for compressed bytes: the ETag names the plain bytes, and other bytes are sent (RFC 9110, section 8.8.3.3). */
  readonly etag: string;
}

export class Representation {
  readonly #metadata: ObjectMetadata;
  readonly #pageFields: FieldList;
  /** The value of `Link`. */
  readonly #link: string | null;
  readonly identity: Variant;
  /** Of an answer with the object. */
  readonly status: Exclude<AnswerStatus, 304>;
  /** Whether it is worth compressing. */
  readonly isText: boolean;
  /** The memory that it takes. */
  memoryBytes: number;
  readonly #ready = new Map<Coding, Variant>();
  readonly #underWay = new Map<Coding, Promise<Variant>>();

  constructor(key: string, { body, etag, metadata }: StoredObject) {
    this.#metadata = metadata;
    const isPage = metadata.contentType === PAGE_CONTENT_TYPE;
    this.#pageFields = isPage ? Object.entries(pageHeaders(key.slice(PUBLIC_PREFIX.length))).flat() : [];
    this.#link = nextPageLink(key, metadata.nextCursor);
    this.identity = { coding: 'identity', body: Buffer.from(body.buffer, body.byteOffset, body.byteLength), etag };
    this.#ready.set('identity', this.identity);
    this.status = statusOfObject(metadata.contentType);
    this.isText = isTextType(metadata.contentType);
    this.memoryBytes = body.byteLength + OVERHEAD_BYTES;
  }

  /** The variant, if it is already made. */
  ready(coding: Coding): Variant | undefined {
    return this.#ready.get(coding);
  }

  /** The variant. It is made once for any number of waiting readers. `made` is called when memory has grown. */
  async variant(coding: Coding, made: () => void): Promise<Variant> {
    const known = this.#ready.get(coding) ?? this.#underWay.get(coding);
    if (known !== undefined || coding === 'identity') return known ?? this.identity;
    const making = compress(this.identity.body, coding).then((body) => {
      const variant = { coding, body, etag: `W/${this.identity.etag}` };
      this.#ready.set(coding, variant);
      this.memoryBytes += body.byteLength + OVERHEAD_BYTES;
      made();
      return variant;
    });
    this.#underWay.set(coding, making);
    return making.finally(() => this.#underWay.delete(coding));
  }

  /** The fields of an answer with the object, or with a part of it (`contentRange`), or with 304. */
  fields(status: AnswerStatus | 206, { coding, etag, body }: Variant, sizeBytes = body.length): FieldList {
    const { contentType, cacheControl } = this.#metadata;
    // A 304 repeats the validators (RFC 9110, section 15.4.5).
    const validators = ['ETag', etag, 'Cache-Control', cacheControl, 'Vary', 'Accept-Encoding', ...CORS_FIELDS];
    if (this.#link !== null) validators.push('Link', this.#link);
    // A 304 has them too: a new release may change them, and not the page.
    validators.push(...this.#pageFields);
    if (status === 304) return validators;
    const content = ['Content-Type', contentType, 'Content-Length', String(sizeBytes)];
    if (coding !== 'identity') content.push('Content-Encoding', coding);
    // Of nothing else are parts given (RFC 9110, section 14.2).
    return [...content, ...(status === 410 ? [] : ACCEPT_RANGES), ...NO_SNIFFING, ...validators];
  }
}

/** `Link` to the next page (RFC 8288), by the URL of the contract. */
function nextPageLink(key: string, nextCursor: string | null): string | null {
  if (nextCursor === null) return null;
  const name = parsePublicKey(key);
  if (name === null) return null;
  const url = 'slug' in name ? historyUrl(name.slug) : MARKETS_URL;
  return `<${url}?cursor=${nextCursor}>; rel="next"`;
}
