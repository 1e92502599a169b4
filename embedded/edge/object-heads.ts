/**
 * The header fields that answers with objects have in common. Thousands of objects differ in their size, ETag and link
 * alone, so the rest is kept once for each kind of answer, as fields and as the text that is sent.
 */
import { STATUS_CODES } from 'node:http';
import { statusOfObject } from '../../contract/edge-problems.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../contract/page-headers.ts';
import type { ObjectMetadata } from '../../storage/object-store.ts';
import { type Coding, isTextType } from './encoding.ts';

/** Header fields as `writeHead` takes them: names and values in turn. */
export type FieldList = readonly string[];

/** The same on every answer: a page that waits out a failure reads `Retry-After`. */
export const CORS_FIELDS: FieldList = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range',
];

/** 410: the object says that its market is removed. */
export type AnswerStatus = ReturnType<typeof statusOfObject> | 304;

/** On every answer with an object, and on 416. */
export const ACCEPT_RANGES: FieldList = ['Accept-Ranges', 'bytes'];

const PAGE_FIELDS: FieldList = Object.entries(PAGE_HEADERS).flat();

export const NO_SNIFFING: FieldList = ['X-Content-Type-Options', 'nosniff'];

/** The fields in which objects of one kind differ. */
export interface OwnFields {
  readonly sizeBytes: number | string;
  readonly etag: string;
  /** The value of `Link`. */
  readonly link: string | null;
}

/** No field has this character. */
const GAP = '\0';

/** What objects of one content type and cache rule have in common. */
export class AnswerKind {
  readonly contentType: string;
  readonly cacheControl: string;
  /** Of an answer with the object. */
  readonly status: Exclude<AnswerStatus, 304>;
  /** Whether it is worth compressing. */
  readonly isText: boolean;
  /** Texts of heads, with gaps for the fields of the object, by coding, status and whether there is a link. */
  readonly #texts = new Map<string, readonly string[]>();

  constructor({ contentType, cacheControl }: Pick<ObjectMetadata, 'contentType' | 'cacheControl'>) {
    this.contentType = contentType;
    this.cacheControl = cacheControl;
    this.status = statusOfObject(contentType);
    this.isText = isTextType(contentType);
  }

  /** The fields that do not change with time (RFC 9110, section 15.4.5: a 304 repeats the validators). */
  fields(status: AnswerStatus, coding: Coding, { sizeBytes, etag, link }: OwnFields): FieldList {
    const validators = ['ETag', etag, 'Cache-Control', this.cacheControl, 'Vary', 'Accept-Encoding', ...CORS_FIELDS];
    if (link !== null) validators.push('Link', link);
    // A 304 has them too: a new release may change them, and not the page.
    if (this.contentType === PAGE_CONTENT_TYPE) validators.push(...PAGE_FIELDS);
    if (status === 304) return validators;
    const content = ['Content-Type', this.contentType, 'Content-Length', String(sizeBytes)];
    if (coding !== 'identity') content.push('Content-Encoding', coding);
    // Of nothing else are parts given (RFC 9110, section 14.2).
    const ranges = status === 200 ? ACCEPT_RANGES : [];
    return [...content, ...ranges, ...NO_SNIFFING, ...validators];
  }

  /** {@link headText} of {@link AnswerKind.fields}. */
  head(status: 200 | 304, coding: Coding, { sizeBytes, etag, link }: OwnFields): string {
    const name = `${status}${coding}${link === null ? '' : '+'}`;
    let texts = this.#texts.get(name);
    if (texts === undefined) {
      const gaps = { sizeBytes: GAP, etag: GAP, link: link === null ? null : GAP };
      texts = headText(status, this.fields(status, coding, gaps)).split(GAP);
      this.#texts.set(name, texts);
    }
    const own = status === 304 ? [etag, link] : [sizeBytes, etag, link];
    let head = texts[0] as string;
    for (let index = 1; index < texts.length; index++) head += `${own[index - 1]}${texts[index]}`;
    return head;
  }
}

const kinds = new Map<string, AnswerKind>();
/** Of our own objects there are about ten. */
const MAX_KINDS = 100;

/** The kind of an object; the same for all objects of one kind. */
export function answerKindOf(metadata: Pick<ObjectMetadata, 'contentType' | 'cacheControl'>): AnswerKind {
  const name = `${metadata.contentType}\n${metadata.cacheControl}`;
  const known = kinds.get(name);
  if (known !== undefined) return known;
  const kind = new AnswerKind(metadata);
  if (kinds.size < MAX_KINDS) kinds.set(name, kind);
  return kind;
}

/** A status line and header fields as they are sent, without the empty line at the end. */
export function headText(status: number, fields: FieldList): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}`];
  for (let index = 0; index < fields.length; index += 2) lines.push(`${fields[index]}: ${fields[index + 1]}`);
  return `${lines.join('\r\n')}\r\n`;
}
