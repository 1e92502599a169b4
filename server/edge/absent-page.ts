/**
 * Pages of markets that have no page: the projection is off, or has not rendered the page yet. A browser gets a general page
 * instead
 * of a problem document, with the same status.
 */
import Negotiator from 'negotiator';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { ANY_MARKET_PAGE, NOT_FOUND_PAGE } from '../../contract/files/object-paths.ts';
import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { CacheAnswer, ObjectCache } from './cache.ts';
import { CORS_FIELDS, NO_SNIFFING, type Representation } from './representation.ts';
import type { EdgeReply, ObjectRequest } from './respond.ts';

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

/** The answer to a path for people, with 404 or 410: a page if the browser asks for one and the site has it, or else `reply`. */
export async function forBrowsers(cache: Cache, { headers }: ObjectRequest, reply: EdgeReply): Promise<EdgeReply> {
  const { status } = reply;
  if (status !== 404 && status !== 410) return reply;
  const page = prefersPages(headers.accept) ? await cache.read(KEYS[status]) : null;
  if (page?.kind !== 'found') return { ...reply, fields: [...reply.fields, ...VARIES] };
  const { body } = page.view;
  const fields = [
    ...['Content-Type', PAGE_CONTENT_TYPE, 'Content-Length', String(body.length)],
    ...['Cache-Control', `public, max-age=${FRESH_SECONDS}`, ...VARIES, ...CORS_FIELDS, ...NO_SNIFFING],
    ...Object.entries(pageHeaders(NOT_FOUND_PAGE)).flat(),
  ];
  return { status, fields, body };
}
