/** A stored object as the edge sends it: its bytes in each content coding, with the header fields of each. */

import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { historyUrl, MARKETS_URL } from '../../contract/files/routes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import type { StoredObject } from '../../storage/ports/object-store.ts';
import { type Coding, compress, isTextType } from './encoding.ts';

/** Header fields as `writeHead` takes them: names and values in turn. */
export type FieldList = readonly string[];

/** The same on every answer. `Retry-After` is exposed for pages that wait after a failure. */
export const CORS_FIELDS: FieldList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range',
];
/** On every answer with an object, and on 416. */
export const ACCEPT_RANGES: FieldList = ['Accept-Ranges', 'bytes'];
export const NO_SNIFFING: FieldList = ['X-Content-Type-Options', 'nosniff'];

/** The estimated memory of an object without its bytes. */
const OVERHEAD_BYTES = 1_000;

export class Representation {
  readonly #type: FieldList;
  /** The fields of a 304, without the ETag. */
  readonly #fields: FieldList;
  readonly #compressed = new Map<Coding, Promise<Buffer>>();
  readonly body: Buffer;
  readonly etag: string;
  /** The status of an answer with the object. 410: the object says that its market is removed. */
  readonly status: 200 | 410;
  /** Whether compression is worthwhile. */
  readonly isText: boolean;

  constructor(key: string, { body, etag, metadata }: StoredObject) {
    const { contentType, cacheControl, nextCursor } = metadata;
    this.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.etag = etag;
    this.status = statusOfObject(contentType);
    this.isText = isTextType(contentType);
    this.#type = ['Content-Type', contentType];
    const link = nextPageLink(key, nextCursor);
    // A 304 repeats these headers for a page: a new release may change them without changing the page.
    const isPage = contentType === PAGE_CONTENT_TYPE;
    this.#fields = [
      ...['Cache-Control', cacheControl, 'Vary', 'Accept-Encoding', ...CORS_FIELDS],
      ...(link === null ? [] : ['Link', link]),
      ...(isPage ? Object.entries(pageHeaders(key.slice(PUBLIC_PREFIX.length))).flat() : []),
    ];
  }

  /** The upper bound of its memory. Published texts shrink to less than half in each coding. */
  get memoryBytes(): number {
    return OVERHEAD_BYTES + this.body.length * (this.isText ? 2 : 1);
  }

  /** The bytes in this coding. They are compressed once for all waiting readers. */
  bytes(coding: Coding): Buffer | Promise<Buffer> {
    if (coding === 'identity') return this.body;
    const known = this.#compressed.get(coding);
    if (known !== undefined) return known;
    const made = compress(this.body, coding);
    this.#compressed.set(coding, made);
    // Only texts are kept in each coding, because `memoryBytes` counts only those. A failure is not kept, because it may pass.
    const forget = () => void this.#compressed.delete(coding);
    made.then(this.isText ? null : forget, forget);
    return made;
  }

  /** The fields of a 304 (RFC 9110, section 15.4.5). */
  validators(coding: Coding): FieldList {
    // Weak for compressed bytes: the ETag names the plain bytes, and other bytes are sent (section 8.8.3.3).
    return ['ETag', coding === 'identity' ? this.etag : `W/${this.etag}`, ...this.#fields];
  }

  /** The fields of an answer with these bytes: all bytes, or a range of the plain ones. */
  fields(coding: Coding, sizeBytes: number): FieldList {
    const content = [...this.#type, 'Content-Length', String(sizeBytes)];
    if (coding !== 'identity') content.push('Content-Encoding', coding);
    // Ranges are served only of objects with status 200 (section 14.2).
    return [...content, ...(this.status === 410 ? [] : ACCEPT_RANGES), ...NO_SNIFFING, ...this.validators(coding)];
  }
}

/** `Link` to the next page (RFC 8288), by the URL of the contract. */
function nextPageLink(key: string, nextCursor: string | null): string | null {
  const name = nextCursor === null ? null : parsePublicKey(key);
  if (name === null) return null;
  const url = 'slug' in name ? historyUrl(name.slug) : MARKETS_URL;
  return `<${url}?cursor=${nextCursor}>; rel="next"`;
}
