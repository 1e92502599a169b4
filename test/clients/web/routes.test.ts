/** The router leads every link of the built pages to a file of the site, or to an object of the API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES } from '../../../contract/problems/problems.ts';
import { siteObject } from '../../../publisher/site.ts';
import { routeRead } from '../../../server/edge/route.ts';
import { SITE_FOLDER, siteFiles } from '../../../tools/build/build-site.ts';

const FILES = siteFiles();
const KEYS = new Set(FILES.map((file) => publicKey(siteObject(file))));

function keyOf(url: string): string | null {
  const routed = routeRead('GET', url);
  return routed.kind === 'object' ? routed.key : null;
}

const isThere = (url: string) => {
  const key = keyOf(url);
  return key !== null && (!parsePublicKey(key)?.kind.startsWith('site-') || KEYS.has(key));
};

test('each file has a URL, and each problem its page', () => {
  const urlOf = (file: string) => `/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`;
  const byTheirFiles = ['market/index.html', '404.html'];
  const urls = FILES.map((file) => (byTheirFiles.includes(file) ? `/${file}` : urlOf(file)));
  expect(urls.map(keyOf).sort()).toEqual([...KEYS].sort());
  expect(PROBLEM_CODES.filter((code) => !isThere(problemType(code)))).toEqual([]);
});

test('no link and no asset of a page leads to nothing', () => {
  const lost = FILES.filter((file) => file.endsWith('.html')).flatMap((file) => {
    const text = readFileSync(join(SITE_FOLDER, file), 'utf8');
    const links = [...text.matchAll(/ (?:href|src)="([^"#]+)/g)].map(([, link]) => link as string);
    const urls = links.map((link) => new URL(link, `http://host/${file}`)).map(({ pathname }) => pathname);
    return urls.filter((url) => !isThere(url)).map((url) => `${file}: ${url}`);
  });
  expect(lost).toEqual([]);
});
