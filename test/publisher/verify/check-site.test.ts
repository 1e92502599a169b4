/** The first page and what it loads: what `verify` finds, and what it lets be. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { allPages } from '../../../clients/web/pages/all-pages.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../../contract/files/page-headers.ts';
import { PUBLIC_CACHE_CONTROL } from '../../../contract/files/public-objects.ts';
import { checkSite } from '../../../publisher/projections/pages/check-site.ts';
import { Findings } from '../../../publisher/verify/check-body.ts';
import type { PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import { bodyDigest, etagOfDigest } from '../../../storage/ports/object-rules.ts';

function answer(text: string, contentType: string, more: Readonly<Record<string, string>> = {}): PublicResponse {
  const body = Buffer.from(text);
  const etag = etagOfDigest(bodyDigest(body));
  const fields = { 'content-type': contentType, 'cache-control': PUBLIC_CACHE_CONTROL, etag, ...more };
  return { status: 200, headers: new Map(Object.entries(fields)), body };
}

const PAGE = '<link href="/assets/site.css"><script src="/assets/explorer.js"></script><a href="/docs/">';
const page = (text: string, more: Readonly<Record<string, string>> = {}) =>
  answer(text, PAGE_CONTENT_TYPE, { ...PAGE_HEADERS, ...more });
const css = answer('body{}', 'text/css; charset=utf-8');
const js = answer('start();', 'text/javascript; charset=utf-8');
const NOTHING: PublicResponse = { status: 404, headers: new Map(), body: new Uint8Array() };

async function found(changes: Readonly<Record<string, PublicResponse>>): Promise<readonly string[]> {
  const answers: Readonly<Record<string, PublicResponse>> = {
    '/': page(PAGE),
    '/assets/site.css': css,
    '/assets/explorer.js': js,
    ...changes,
  };
  const findings = new Findings();
  await checkSite(async (url) => answers[url] ?? NOTHING, findings, { head: null, entries: [] });
  return findings.all.map(({ url, rule }) => `${rule} ${url}`);
}

test.each<[string, Readonly<Record<string, PublicResponse>>]>([
  ['the pages as they are', {}],
  ['no pages: another version', { '/': NOTHING }],
  ['other words and another policy', { '/': page('<p>New', { 'content-security-policy': "default-src 'none'" }) }],
  ['bytes that a cache has compressed', { '/assets/site.css': { ...css, headers: weak(css) } }],
  ['entity tags of another host', { '/assets/site.css': answer('b{}', 'text/css; charset=utf-8', { etag: '"x-1"' }) }],
  [
    'entity tags of S3',
    { '/assets/site.css': answer('body{}', 'text/css; charset=utf-8', { etag: md5Tag('body{}') }) },
  ],
])('no finding: %s', async (_, changes) => {
  expect(await found(changes)).toEqual([]);
});

test.each<[string, string, Readonly<Record<string, PublicResponse>>]>([
  ['a page that fails', 'status /', { '/': { ...NOTHING, status: 500 } }],
  ['a page that is no HTML', 'headers /', { '/': answer(PAGE, 'application/json', PAGE_HEADERS) }],
  ['a page without a policy', 'headers /', { '/': answer(PAGE, PAGE_CONTENT_TYPE) }],
  [
    'a policy that lets scripts of the page run',
    'headers /',
    { '/': page(PAGE, { 'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'" }) },
  ],
  ['a script that is missing', 'status /assets/explorer.js', { '/assets/explorer.js': NOTHING }],
  ['a script of another type', 'headers /assets/explorer.js', { '/assets/explorer.js': css }],
  ['a file of no known kind', 'link /', { '/': page('<img src="/assets/x.gif">') }],
  [
    'other bytes than the entity tag names',
    'digest /assets/site.css',
    { '/assets/site.css': { ...css, body: Buffer.from('b{}') } },
  ],
  [
    'other bytes than the entity tag of S3 names',
    'digest /assets/site.css',
    { '/assets/site.css': answer('b{}', 'text/css; charset=utf-8', { etag: md5Tag('body{}') }) },
  ],
])('a finding: %s', async (_, finding, changes) => {
  expect(await found(changes)).toEqual([finding]);
});

test('every asset of the first page is looked for, as the page is built', async () => {
  const built = allPages().get('index.html') as string;
  const none = { '/assets/site.css': NOTHING, '/assets/explorer.js': NOTHING };
  expect((await found({ '/': page(built), ...none })).toSorted()).toEqual([
    'status /assets/explorer.css',
    'status /assets/explorer.js',
    'status /assets/icon.svg',
    'status /assets/site.css',
  ]);
});

/** The entity tag that S3 gives. */
function md5Tag(text: string): string {
  return `"${hash('md5', text, 'hex')}"`;
}

function weak({ headers }: PublicResponse): ReadonlyMap<string, string> {
  return new Map([...headers, ['etag', `W/${headers.get('etag')}`]]);
}
