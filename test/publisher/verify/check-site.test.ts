/** The first page for people and what it loads: what `verify` finds, and what it lets be. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { allPages } from '../../../clients/web/pages/all-pages.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../../contract/files/page-headers.ts';
import { PUBLIC_CACHE_CONTROL } from '../../../contract/files/public-objects.ts';
import type { PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { bodyDigest, etagOfDigest } from '../../../storage/ports/object-rules.ts';
import { SMALL_PAGES } from '../world.ts';
import { reader } from './verified-world.ts';

type Fields = Readonly<Record<string, string>>;

function answer(text: string, contentType: string, more: Fields = {}): PublicResponse {
  const body = Buffer.from(text);
  const etag = etagOfDigest(bodyDigest(body));
  const fields = { 'content-type': contentType, 'cache-control': PUBLIC_CACHE_CONTROL, etag, ...more };
  return { status: 200, headers: new Map(Object.entries(fields)), body };
}

const CSS = '/assets/site.css';
const JS = '/assets/explorer.js';
const PAGE = `<link href="${CSS}"><script src="${JS}"></script><a href="/docs/">`;
const NOTHING: PublicResponse = { status: 404, headers: new Map(), body: new Uint8Array() };
const page = (text: string, more: Fields = {}) => answer(text, PAGE_CONTENT_TYPE, { ...PAGE_HEADERS, ...more });
const css = (text: string, more: Fields = {}) => answer(text, 'text/css; charset=utf-8', more);
const js = answer('start();', 'text/javascript; charset=utf-8');
/** The entity tag that S3 gives. */
const md5 = { etag: `"${hash('md5', 'body{}', 'hex')}"` };
const compressed = { etag: `W/${css('body{}').headers.get('etag')}` };

async function found(changes: Readonly<Record<string, PublicResponse>>): Promise<readonly string[]> {
  const site: Readonly<Record<string, PublicResponse>> = {
    '/': page(PAGE),
    [CSS]: css('body{}'),
    [JS]: js,
    ...changes,
  };
  const { findings } = await verify(async (url, headers) => site[url] ?? (await reader(url, headers)), {
    pageSizes: SMALL_PAGES,
  });
  return findings.map(({ url, rule }) => `${rule} ${url}`);
}

test.each<[string, Readonly<Record<string, PublicResponse>>, ...string[]]>([
  ['the pages as they are', {}],
  ['no pages: another version', { '/': NOTHING }],
  ['other words and another policy', { '/': page('<p>New', { 'content-security-policy': "default-src 'none'" }) }],
  ['bytes that a cache has compressed', { [CSS]: css('body{}', compressed) }],
  ['entity tags of another host', { [CSS]: css('b{}', { etag: '"x-1"' }) }],
  ['entity tags of S3', { [CSS]: css('body{}', md5) }],
  ['a page that fails', { '/': { ...NOTHING, status: 500 } }, 'status /'],
  ['a page that is no HTML', { '/': answer(PAGE, 'application/json', PAGE_HEADERS) }, 'headers /'],
  ['a page without a policy', { '/': answer(PAGE, PAGE_CONTENT_TYPE) }, 'headers /'],
  [
    'a policy that lets scripts of the page run',
    { '/': page(PAGE, { 'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'" }) },
    'headers /',
  ],
  ['a script that is missing', { [JS]: NOTHING }, `status ${JS}`],
  ['a script of another type', { [JS]: css('body{}') }, `headers ${JS}`],
  ['a file of no known kind', { '/': page('<img src="/assets/x.gif">') }, 'link /'],
  ['other bytes than the entity tag names', { [CSS]: css('b{}', compressed) }, `digest ${CSS}`],
  ['other bytes than the entity tag of S3 names', { [CSS]: css('b{}', md5) }, `digest ${CSS}`],
])('%s', async (_, changes, ...findings) => {
  expect(await found(changes)).toEqual(findings);
});

test('every asset of the first page is looked for, as the page is built', async () => {
  const built = allPages().get('index.html') as string;
  const assets = [CSS, JS, '/assets/explorer.css', '/assets/icon.svg'];
  expect((await found({ '/': page(built), [CSS]: NOTHING, [JS]: NOTHING })).toSorted()).toEqual(
    assets.map((url) => `status ${url}`).toSorted(),
  );
});
