/**
 * Pages that are not there. A market may have no page of its own: the projection is switched off, or has not come to it. A browser
 * gets a page in the place of a problem document, with the same status.
 */
import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { ANY_MARKET_PAGE, NOT_FOUND_PAGE } from '../../contract/files/object-paths.ts';
import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import type { RemovedMarket } from '../../contract/files/removed-market.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { escapedHtml } from '../../contract/values/html-text.ts';
import type { CacheAnswer, ObjectCache, Wanted } from './cache.ts';
import { CORS_FIELDS, type FieldList, NO_SNIFFING, type Representation } from './representation.ts';
import type { EdgeReply } from './respond.ts';

const KEYS = { 404: PUBLIC_PREFIX + NOT_FOUND_PAGE, 410: PUBLIC_PREFIX + ANY_MARKET_PAGE } as const;
/** Caches keep both forms apart. */
const VARIES: FieldList = ['Vary', 'Accept'];

type Cache = Pick<ObjectCache<Representation>, 'read'>;

interface ReadObject {
  readonly key: string;
  readonly found: CacheAnswer<Representation>;
}

/** Reads an object, or what takes the place of a market's page: the page of any market, or the document of the removal. */
export async function readWithFallback(cache: Cache, key: string, wanted: Wanted): Promise<ReadObject> {
  const found = await cache.read(key, wanted);
  const name = found.kind === 'absent' ? parsePublicKey(key) : null;
  if (name?.kind !== 'market-page') return { key, found };
  const marketKey = publicKey({ kind: 'market', slug: name.slug });
  const market = await cache.read(marketKey);
  if (market.kind === 'absent') return { key, found };
  if (market.kind !== 'found' || market.entry.view.status === 410) return { key: marketKey, found: market };
  return { key: KEYS[410], found: await cache.read(KEYS[410]) };
}

/** @param target path and query */
export function isForPeople(target: string): boolean {
  return !target.startsWith('/api/');
}

/** RFC 9110, section 12.5.1. Programs that take anything get the document. */
function prefersPages(accept: string | undefined): boolean {
  const negotiator = new Negotiator({ headers: accept === undefined ? {} : { accept: accept.toLowerCase() } });
  return negotiator.mediaType([PROBLEM_CONTENT_TYPE, 'text/html']) === 'text/html';
}

/**
 * Of an answer with 404 or 410 to a path for people: as a page if a browser asks for one, and if the site has it.
 *
 * @param removal the document of a removed market
 */
export async function forBrowsers(
  cache: Cache,
  { headers }: Pick<IncomingMessage, 'headers'>,
  reply: EdgeReply,
  removal: Uint8Array | null,
): Promise<EdgeReply> {
  const { status } = reply;
  if (status !== 404 && status !== 410) return reply;
  const page = prefersPages(headers.accept) ? await cache.read(KEYS[status]) : null;
  if (page?.kind !== 'found') return { ...reply, fields: [...reply.fields, ...VARIES] };
  const { body: built } = page.entry.view.identity;
  const body = removal === null ? built : withRemoval(built, removal);
  const fields = [
    ...['Content-Type', PAGE_CONTENT_TYPE, 'Content-Length', String(body.length)],
    ...['Cache-Control', `public, max-age=${FRESH_SECONDS}`, ...VARIES, ...CORS_FIELDS, ...NO_SNIFFING],
    ...Object.entries(pageHeaders(NOT_FOUND_PAGE)).flat(),
  ];
  return { status, fields, body };
}

/** The page of any market, with what its script would say of the removal: not every reader has one. */
function withRemoval(page: Uint8Array, document: Uint8Array): Buffer {
  const { title, reason, removedAt, replacedBy } = JSON.parse(
    Buffer.from(document).toString(),
  ) as Partial<RemovedMarket>;
  const lines = [
    `<h1>${escapedHtml(title ?? '')}</h1>`,
    removedAt === undefined
      ? ''
      : `<p>Removed on ${removedAt.slice(0, 'YYYY-MM-DD'.length)}. ${escapedHtml(reason ?? '')}</p>`,
    replacedBy == null ? '' : `<p>It is replaced by <a href="${replacedBy}.html">${replacedBy}</a>.</p>`,
    '<p><a href="../index.html">All markets</a></p>',
  ];
  const named = `<title>${escapedHtml(title ?? '')} · Tidemark</title>`;
  const html = Buffer.from(page)
    .toString()
    .replace(/<title>.*?<\/title>/s, () => named);
  return Buffer.from(html.replace(/<noscript>.*?<\/noscript>/s, '').replace('<h1>Market</h1>', () => lines.join('\n')));
}
