/** The pages that need no JavaScript: each operation and each problem has its place, and no link is lost. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { exampleSlug } from '../../../clients/web/browser/docs/example-market.ts';
import { DocsSearch } from '../../../clients/web/browser/docs/search.ts';
import { curlOf } from '../../../clients/web/docs/example-shell.ts';
import { markdown } from '../../../clients/web/docs/markdown.ts';
import { OPERATION_VIEWS, type Schema } from '../../../clients/web/docs/openapi-view.ts';
import { schemaText } from '../../../clients/web/docs/schema-text.ts';
import { searchEntries, searchIndex } from '../../../clients/web/docs/search-index.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { ALL_OPERATIONS } from '../../../contract/operations/all-operations.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES, PROBLEMS } from '../../../contract/problems/problems.ts';
import { siteObject } from '../../../publisher/site.ts';
import { routeRead } from '../../../server/edge/route.ts';
import { SITE_FOLDER, siteFiles } from '../../../tools/build/build-site.ts';
import { faultsOfHtml } from './html-faults.ts';

const FILES = new Map(siteFiles().map((path) => [path, readFileSync(join(SITE_FOLDER, path), 'utf8')]));
const PAGES = [...FILES].filter(([path]) => path.endsWith('.html'));
const IDS = new Map(
  PAGES.map(([path, text]) => [path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
);

/** The URLs of the API, as patterns. */
const ROUTES = Object.values(ALL_OPERATIONS).map(
  ({ path }) => new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
);

/** Links lead to files, relative to the file that has them. */
function isLost(from: string, given: string): boolean {
  // Only this page stands at any depth.
  if (given.startsWith('/') !== (from === '404.html' && !given.startsWith('#'))) return true;
  const href = given.replace(/^\//, '');
  const [path = '', id] = href.split('#');
  const file = path === '' ? from : posix.join(posix.dirname(from), path);
  if (ROUTES.some((route) => route.test(`/${file.replace(/\.json$/, '')}`) || route.test(`/${file}`)))
    return id !== undefined;
  return !FILES.has(file) || (id !== undefined && !IDS.get(file)?.has(id));
}

it('each operation has its place in the reference, with its method and path', () => {
  const operations = new Map(
    PAGES.filter(([path]) => path.startsWith('docs/reference/')).flatMap(([, text]) =>
      [...text.matchAll(/<h2 id="(\w+)">[^\n]*<\/h2>\n<p><code>([A-Z]+ .*?)<\/code><\/p>/g)].map(
        ([, id, request]) => [id, request] as const,
      ),
    ),
  );
  const expected = Object.entries(ALL_OPERATIONS).map(([id, { method, path }]) => [id, `${method} ${path}`]);
  expect([...operations].sort()).toEqual(expected.sort());
});

it.each(PROBLEM_CODES)('%s has a page at its type, with its title, meaning, remedy and an example', (code) => {
  const text = FILES.get(`${problemType(code).slice(1)}.html`) ?? '';
  expect(text).toContain(`<h1>${PROBLEMS[code].title}</h1>`);
  expect(text).toContain(`<code>${code}</code>`);
  const titles = [...text.matchAll(/<h2 id="\w+">(.*?)<\/h2>/g)].map(([, title]) => title);
  expect(titles).toEqual(['Meaning', 'Remedy', 'Example', 'Operations']);
  expect(text).toContain(`"type": "${problemType(code)}"`);
});

it('each link leads to a file of the site, a section that is there, or a route of the API', () => {
  const links = PAGES.flatMap(([path, text]) =>
    [...text.matchAll(/ href="([^"]+)"/g)].map(([, href]) => ({ path, href: href as string })),
  );
  expect(links.length).toBeGreaterThan(1000);
  expect(links.filter(({ path, href }) => isLost(path, href))).toEqual([]);
  expect(isLost('docs/index.html', 'no-such-page.html')).toBe(true);
  expect(isLost('docs/index.html', '#no-such-section')).toBe(true);
});

it('each link of llms.txt leads somewhere, and it begins with a title and a summary', () => {
  const text = FILES.get('llms.txt') ?? '';
  expect(text).toMatch(/^# Tidemark\n\n> .+\n\n/);
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, href]) => href as string);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((href) => isLost('llms.txt', href))).toEqual([]);
  // A service may not have this market.
  expect(text).not.toContain('gold');
});

it('each page is well formed, with one heading of level 1, no id twice, no inline script or style, and no other host', () => {
  for (const [path, text] of PAGES) {
    expect(faultsOfHtml(text), path).toEqual([]);
    expect(text, path).not.toMatch(/<script(?![^>]* src="(?:\.\.\/)*assets\/)|<style|<[^>]+ (?:style|on[a-z]+)=/);
    expect(text, path).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!(?:\/|(?:\.\.\/)*)[a-z]+[/.])/);
    expect(text.match(/<h1/g)?.length, path).toBe(1);
    expect(text.match(/ id="/g)?.length, path).toBe(IDS.get(path)?.size);
  }
});

const choice: Schema = { oneOf: [{ type: 'object', properties: { x: { type: 'string' } } }, { type: 'boolean' }] };
it.each<[string, Schema, string]>([
  [
    'null as a choice',
    { anyOf: [{ type: 'integer', minimum: 1, maximum: 2 }, { type: 'null' }] },
    '*integer or null, 1 to 2*',
  ],
  [
    'a map',
    { additionalProperties: { $ref: '#/components/schemas/Slug' } },
    '*map of [Slug](/docs/reference/schemas#Slug)*',
  ],
  [
    'an object',
    { properties: { a: { type: 'string', description: 'A.' }, b: { type: 'string', default: '' } }, required: ['a'] },
    '*object*\n\n- `a` *string*  \n  A.\n- `b` *string, default `""`, optional*',
  ],
  ['choices', choice, '*one of*\n\n- *object*\n  - `x` *string, optional*\n- *boolean*'],
])('a schema in words: %s', (_, schema, words) => {
  expect(schemaText(schema).trim()).toBe(words);
});

const listOf = (slugs: readonly string[], next: string | null = null) => ({
  data: slugs.map((slug) => ({ slug })),
  page: { next },
});
it.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['the first one otherwise', { '/api/v1/markets.json': listOf(['rice-usd', 'tea-usd']) }, 'rice-usd'],
  [
    'the documented one of a later page',
    { '/api/v1/markets.json': listOf(['aave'], 'pages/2.json'), '/api/v1/markets/gold-usd.json': {} },
    'gold-usd',
  ],
  ['the documented one without any market', { '/api/v1/markets.json': listOf([]) }, 'gold-usd'],
])('the market of the examples is %s', async (_, files, slug) => {
  expect(await exampleSlug(async (path) => files[path] ?? null)).toBe(slug);
});

it('the example of each operation is a command that a shell can read, with the key and the conditions that it needs', () => {
  const commands = new Map(OPERATION_VIEWS.map((operation) => [operation.operationId, curlOf(operation)]));
  expect(spawnSync('bash', ['-n'], { input: [...commands.values()].join('\n'), encoding: 'utf8' }).stderr).toBe('');
  expect(commands.get('getMarket')).toBe("curl -sS 'https://data.example/api/v1/markets/gold-usd'");
  expect(commands.get('deleteWatchlist')?.split(' \\\n  ')).toEqual([
    'curl -sS -X DELETE "https://write.data.example/api/v1/watchlists/$WATCHLIST"',
    '-H "Authorization: Bearer $TIDEMARK_API_KEY"',
    '-H "Idempotency-Key: docs-$(date +%s)-$RANDOM"',
    `-H 'If-Match: "1"'`,
  ]);
});

const SEARCH = new DocsSearch(searchEntries());

it.each([
  ['watchlist', 'listWatchlists|createWatchlist|getWatchlist'],
  ['getMarketHistory', 'getMarketHistory$'],
  ['If-None-Match', 'guides/caching'],
  ['correct a price', 'guides/corrections'],
  ['zzzz caching', 'guides/caching'],
  ['  ', '^$'],
])('the search for %j finds %s first', (query, expected) => {
  expect(SEARCH.find(query)[0]?.entry.href ?? '').toMatch(new RegExp(expected));
});

it('the search finds each operation by its name, and each problem by its code and its status', () => {
  for (const { operationId } of OPERATION_VIEWS) {
    expect(SEARCH.find(operationId)[0]?.entry.href).toMatch(new RegExp(`#${operationId}$`));
  }
  for (const code of PROBLEM_CODES) expect(SEARCH.find(code)[0]?.entry.title).toBe(code);
});

it('each result of the search is a section of a page, and the index is small', () => {
  const pages = new Map(PAGES);
  for (const { href } of searchEntries()) {
    const [file = '', id] = href.split('#');
    expect(pages.has(file) && (id === undefined || IDS.get(file)?.has(id)), href).toBe(true);
  }
  expect(gzipSync(searchIndex()).length).toBeLessThan(45_000);
});

it('each script has less than 65 KB, and the documentation less than a megabyte', () => {
  const scripts = [...FILES].filter(([path]) => path.endsWith('.js'));
  for (const [path, text] of scripts) expect(brotliCompressSync(text).length, path).toBeLessThan(65_000);
  const documents = PAGES.filter(([path]) => /^(docs|problems)\//.test(path));
  expect(documents.reduce((sum, [, text]) => sum + text.length, 0)).toBeLessThan(1_000_000);
});

it('the router has a URL for each file', () => {
  const urlOf = (file: string) => `/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`;
  const byTheirFiles = ['market/index.html', '404.html'];
  const files = [...FILES.keys()];
  const routed = files.map((file) => routeRead('GET', byTheirFiles.includes(file) ? `/${file}` : urlOf(file)));
  expect(routed.map((found) => 'key' in found && found.key)).toEqual(files.map((file) => publicKey(siteObject(file))));
});

it('HTML in a text is shown, not obeyed', () => {
  expect(markdown('a <script>alert(1)</script> `<b>`').text).toBe(
    '<p>a &lt;script&gt;alert(1)&lt;/script&gt; <code>&lt;b&gt;</code></p>\n',
  );
  expect(markdown('<img src=x onerror=alert(1)>\n').text).toBe('&lt;img src=x onerror=alert(1)&gt;\n');
});
