/**
 * Pages of markets that have no page: the projection is off, or has not rendered the page yet. A browser gets a general page
 * instead of a problem document, with the same status. While nothing can be read, that page loads itself again.
 */
import Negotiator from 'negotiator';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { ANY_MARKET_PAGE, NOT_FOUND_PAGE } from '../../contract/files/object-paths.ts';
import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { CacheAnswer, ObjectCache } from './cache.ts';
import { CORS_FIELDS, type FieldList, type Representation } from './representation.ts';
import { bodyReply, type EdgeReply, NO_STORE, type ObjectRequest } from './respond.ts';

const KEYS = { 404: PUBLIC_PREFIX + NOT_FOUND_PAGE, 410: PUBLIC_PREFIX + ANY_MARKET_PAGE } as const;
/** Caches must keep the page and the document as two variants. */
const VARIES = ['Vary', 'Accept'];

type Cache = Pick<ObjectCache<Representation>, 'read'>;

interface ReadObject {
  readonly key: string;
  readonly found: CacheAnswer<Representation>;
}

/** Reads an object. Instead of a market's missing page: the page for any market, or the document of the market's removal. */
export async function readWithFallback(cache: Cache, key: string, isNewest: boolean): Promise<ReadObject> {
  const found = await cache.read(key, isNewest);
  const name = found.kind === 'absent' ? parsePublicKey(key) : null;
  if (name?.kind !== 'market-page') return { key, found };
  const marketKey = publicKey({ kind: 'market', slug: name.slug });
  const market = await cache.read(marketKey);
  if (market.kind === 'absent') return { key, found };
  if (market.kind !== 'found' || market.view.status === 410) return { key: marketKey, found: market };
  return { key: KEYS[410], found: await cache.read(KEYS[410]) };
}

/** @param target path and query */
export function isForPeople(target: string): boolean {
  return !target.startsWith('/api/');
}

/** Whether the client prefers HTML (RFC 9110, section 12.5.1). Programs that accept anything get the document. */
function prefersPages(accept = '*/*'): boolean {
  const negotiator = new Negotiator({ headers: { accept: accept.toLowerCase() } });
  return negotiator.mediaType([PROBLEM_CONTENT_TYPE, 'text/html']) === 'text/html';
}

/** The answer to a path for people, with 404, 410 or 503: a page if the browser asks for one and there is one, or else `reply`. */
export async function forBrowsers(cache: Cache, { headers }: ObjectRequest, reply: EdgeReply): Promise<EdgeReply> {
  const { status } = reply;
  if (status !== 404 && status !== 410 && status !== 503) return reply;
  const varied = { ...reply, fields: [...reply.fields, ...VARIES] };
  if (!prefersPages(headers.accept)) return varied;
  if (status === 503) return asPage(status, waitingPage(reply), [...NO_STORE, ...againIn(reply)]);
  const page = await cache.read(KEYS[status]);
  if (page.kind !== 'found') return varied;
  return asPage(status, page.view.body, ['Cache-Control', `public, max-age=${FRESH_SECONDS}`]);
}

function asPage(status: number, body: Buffer | string, caching: FieldList): EdgeReply {
  const fields = [...caching, ...VARIES, ...CORS_FIELDS, ...Object.entries(pageHeaders(NOT_FOUND_PAGE)).flat()];
  return bodyReply(status, PAGE_CONTENT_TYPE, body, fields);
}

/** Nothing is escaped: the text is a constant of this service. */
function waitingPage({ body }: EdgeReply): string {
  const { detail } = JSON.parse(body.toString()) as { readonly detail: string };
  const text = `<p>${detail.replace(/:.*/, '.')} This page loads itself again in a few seconds.</p>`;
  return `<!doctype html><html lang="en"><title>Please wait</title><h1>Please wait</h1>${text}`;
}

function againIn({ fields }: EdgeReply): FieldList {
  const seconds = fields[fields.indexOf('Retry-After') + 1] as string;
  return ['Retry-After', seconds, 'Refresh', seconds];
}
