import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURSOR_PATTERN, SLUG_PATTERN } from '../../contract/files/limits.ts';
import { FEED_NAMES, type Retention } from '../../contract/files/public-object-names.ts';
import {
  PUBLIC_OBJECTS,
  PUBLIC_PREFIX,
  type PublicObjectKind,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
  publicPath,
} from '../../contract/files/public-objects.ts';
import { ndjsonPath } from '../../contract/log/tiles.ts';
import { publicMetadata } from '../../publisher/kernel/files/fenced-put.ts';
import { checkObjectKey } from '../../storage/ports/object-rules.ts';

const kinds = Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[];

/** Also such slugs and cursors as are spelled like a part of another key. */
const slug = fc.oneof(
  fc.stringMatching(new RegExp(`^${SLUG_PATTERN}$`)),
  fc.constantFrom('markets', 'json', 'snapshot', 'history', 'pages', '404', 'a', 'a-b'),
);
const cursor = fc.oneof(
  fc.stringMatching(new RegExp(`^${CURSOR_PATTERN}$`)),
  fc.constantFrom(`1-${'0'.repeat(32)}`, `999999999999999-${'f'.repeat(32)}`),
);

/** Of a tile of any width, with up to nine digits. */
const tileIndex = fc
  .tuple(fc.nat({ max: 999_999_999 }), fc.integer({ min: 1, max: 256 }))
  .map(([n, width]) => ndjsonPath(n, width).slice('ndjson/'.length, -'.gz'.length));

const date = fc.date({ noInvalidDate: true, min: new Date(0) }).map((day) => day.toISOString().slice(-24, -14));
const exportFile = fc
  .tuple(fc.constantFrom('observations', 'markets'), fc.nat({ max: 999_999 }), fc.stringMatching(/^[0-9a-f]{32}$/))
  .map(([table, part, digest]) => `${table}-${String(part).padStart(6, '0')}-${digest}`);

/** Of the pages for people: a path in the built site. */
const siteFile = (extension: string) =>
  fc
    .array(fc.stringMatching(/^[a-z0-9-]{1,20}$/), { minLength: 1, maxLength: 3 })
    .map((names) => `${names.join('/')}.${extension}`);

const CURSOR = '7-0123456789abcdef0123456789abcdef';
const CACHED = 'public, max-age=15, stale-if-error=300';
const FOREVER = 'public, max-age=31536000, immutable';

/** Its name, its key below `public/`, its tag in caches, and its retention: `head` where none is said. */
type Row = readonly [name: PublicObjectName, key: string, cacheTag: string | null, retention?: Retention];

const DIGEST = '0123456789abcdef'.repeat(2);
const EXPORT_FILE = `observations-000003-${DIGEST}`;

/** By the extension of the key; of two kinds by the kind. */
const TYPES: { readonly [of: string]: string } = {
  ...{ json: 'application/json', ndjson: 'application/x-ndjson', gz: 'application/gzip', png: 'image/png' },
  ...{ csv: 'text/csv; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' },
  ...{ html: 'text/html; charset=utf-8', svg: 'image/svg+xml', atom: 'application/atom+xml' },
  ...{ ics: 'text/calendar; charset=utf-8', parquet: 'application/vnd.apache.parquet' },
  ...{ 'log-tile': 'application/octet-stream', 'not-found': 'application/problem+json' },
};
const PLAIN = 'text/plain; charset=utf-8';

/** Golden: stored keys and headers, as a CDN and its purges see them. */
const TABLE: readonly Row[] = [
  [{ kind: 'market-list' }, 'api/v1/markets.json', 'markets'],
  [{ kind: 'market-list-page', cursor: CURSOR }, `api/v1/markets/pages/${CURSOR}.json`, 'markets', 'page'],
  [{ kind: 'market', slug: 'gold-usd' }, 'api/v1/markets/gold-usd.json', 'gold-usd'],
  [{ kind: 'history', slug: 'gold-usd' }, 'api/v1/markets/gold-usd/history.json', 'gold-usd'],
  [
    { kind: 'history-page', slug: 'gold-usd', cursor: CURSOR },
    `api/v1/markets/gold-usd/history/pages/${CURSOR}.json`,
    'gold-usd',
    'page',
  ],
  [{ kind: 'history-csv', slug: 'gold-usd' }, 'api/v1/markets/gold-usd/history.csv', 'gold-usd'],
  [{ kind: 'history-ndjson', slug: 'gold-usd' }, 'api/v1/markets/gold-usd/history.ndjson', 'gold-usd'],
  [
    { kind: 'history-year-csv', slug: 'gold-usd', year: '2024' },
    'api/v1/markets/gold-usd/history/2024.csv',
    'gold-usd',
  ],
  [
    { kind: 'history-year-ndjson', slug: 'gold-usd', year: '2024' },
    'api/v1/markets/gold-usd/history/2024.ndjson',
    'gold-usd',
  ],
  [{ kind: 'history-index', slug: 'gold-usd' }, 'api/v1/markets/gold-usd/history/index.json', 'gold-usd'],
  [{ kind: 'latest' }, 'api/v1/latest.json', 'markets'],
  [{ kind: 'latest-csv', part: 'all' }, 'api/v1/latest/all.csv', 'markets'],
  [{ kind: 'latest-ndjson', part: '3f' }, 'api/v1/latest/3f.ndjson', 'markets'],
  [{ kind: 'recent' }, 'api/v1/recent.json', 'markets'],
  [{ kind: 'modified' }, 'api/v1/modified.csv', 'markets'],
  [{ kind: 'feed', file: 'changes' }, 'feeds/changes.atom', 'feeds'],
  [{ kind: 'market-feed', slug: 'gold-usd' }, 'feeds/markets/gold-usd.atom', 'gold-usd'],
  [{ kind: 'releases' }, 'feeds/releases.ics', 'feeds'],
  [{ kind: 'sources' }, 'api/v1/sources.json', 'markets'],
  [{ kind: 'incidents' }, 'api/v1/incidents.json', 'feeds'],
  [{ kind: 'incidents-feed' }, 'feeds/incidents.atom', 'feeds'],
  [{ kind: 'market-page', slug: 'gold-usd' }, 'markets/gold-usd.html', 'gold-usd'],
  [{ kind: 'badge', slug: 'gold-usd' }, 'badges/gold-usd.svg', 'gold-usd'],
  [{ kind: 'badge-json', slug: 'gold-usd' }, 'badges/gold-usd.json', 'gold-usd'],
  [{ kind: 'embed', slug: 'gold-usd' }, 'embed/gold-usd.html', 'gold-usd'],
  [{ kind: 'embed-json', slug: 'gold-usd' }, 'embed/gold-usd.json', 'gold-usd'],
  [{ kind: 'snapshot' }, 'api/v1/snapshot.json', 'snapshot'],
  [{ kind: 'log-checkpoint' }, 'api/v1/log/checkpoint', 'log'],
  [{ kind: 'log-vkey' }, 'api/v1/log/vkey', 'log'],
  [{ kind: 'log-tile', tile: 'entries/x001/234.p/5' }, 'api/v1/log/tile/entries/x001/234.p/5', 'log', 'log'],
  [{ kind: 'log-ndjson', tile: 'x001/234' }, 'api/v1/log/ndjson/x001/234.gz', 'log', 'log'],
  [{ kind: 'export-package', date: '2026-11-22' }, 'api/v1/exports/2026-11-22/datapackage.json', 'exports', 'export'],
  [{ kind: 'export-latest' }, 'api/v1/exports/latest.json', 'exports'],
  [{ kind: 'export-parquet', file: EXPORT_FILE }, `api/v1/exports/parts/${EXPORT_FILE}.parquet`, 'exports', 'export'],
  [{ kind: 'export-ndjson', file: EXPORT_FILE }, `api/v1/exports/parts/${EXPORT_FILE}.ndjson.gz`, 'exports', 'export'],
  [{ kind: 'export-csv', file: EXPORT_FILE }, `api/v1/exports/parts/${EXPORT_FILE}.csv.gz`, 'exports', 'export'],
  [
    { kind: 'export-schema', file: `markets-schema-${DIGEST}` },
    `api/v1/exports/parts/markets-schema-${DIGEST}.json`,
    ...(['exports', 'export'] as const),
  ],
  [
    { kind: 'compat-json', file: 'currency-api/2026-11-22/v1/currencies/eur.json' },
    'api/v1/compat/currency-api/2026-11-22/v1/currencies/eur.json',
    'compat',
    'compat',
  ],
  [{ kind: 'compat-text', file: 'beancount/86.beancount' }, 'api/v1/compat/beancount/86.beancount', 'compat', 'compat'],
  [{ kind: 'not-found' }, 'errors/404.json', null],
  [{ kind: 'problems' }, 'problems.json', 'problems'],
  [{ kind: 'waitlist' }, 'api/v1/waitlist.json', 'waitlist'],
  [{ kind: 'openapi' }, 'api/v1/openapi.json', 'openapi'],
  [{ kind: 'site-picture', file: 'assets/card.png' }, 'assets/card.png', 'site', 'site'],
  [{ kind: 'site-image', file: 'assets/icon.svg' }, 'assets/icon.svg', 'site', 'site'],
  [{ kind: 'site-style', file: 'assets/site.css' }, 'assets/site.css', 'site', 'site'],
  [{ kind: 'site-script', file: 'assets/a.js' }, 'assets/a.js', 'site', 'site'],
  [{ kind: 'site-text', file: 'llms.txt' }, 'llms.txt', 'site', 'site'],
  [{ kind: 'site-page', file: 'docs/guides/a.html' }, 'docs/guides/a.html', 'site', 'site'],
];

/** Of each field of a name; of `file` by kind. */
const FIELDS: { readonly [field: string]: fc.Arbitrary<string> } = {
  ...{ slug, cursor, year: fc.stringMatching(/^[0-9]{4}$/), date },
  part: fc.oneof(fc.constant('all'), fc.stringMatching(/^[0-9a-f]{1,3}$/)),
  ...{ 'feed file': fc.constantFrom(...FEED_NAMES), 'log-ndjson tile': tileIndex },
  'log-tile tile': fc
    .tuple(fc.oneof(fc.constant('entries'), fc.nat({ max: 63 }).map(String)), tileIndex)
    .map(([level, index]) => `${level}/${index}`),
  'export-schema file': exportFile.map((file) => file.replace(/-\d+-/, '-schema-')),
  ...{ 'export-parquet file': exportFile, 'export-ndjson file': exportFile, 'export-csv file': exportFile },
  'compat-json file': fc.oneof(
    fc.stringMatching(/^currency-api\/latest\/v1\/currencies(\/[a-z]{3})?\.json$/),
    fc.stringMatching(/^quotes\/[0-9a-f]{2}\.json$/),
    date.map((day) => `currency-api/${day}/v1/currencies.json`),
    fc.constant('parts.json'),
  ),
  'compat-text file': fc.stringMatching(
    /^(beancount\/(prices|[0-9a-f]{2})\.beancount|hledger\/(prices|[0-9a-f]{2})\.journal)$/,
  ),
  ...{ 'site-picture file': siteFile('png'), 'site-image file': siteFile('svg'), 'site-style file': siteFile('css') },
  ...{ 'site-script file': siteFile('js'), 'site-text file': siteFile('txt'), 'site-page file': siteFile('html') },
};

/** Names with the fields of this one. */
function namesLike({ kind, ...fields }: PublicObjectName): fc.Arbitrary<PublicObjectName> {
  const any = Object.keys(fields).map((field) => [field, FIELDS[field] ?? FIELDS[`${kind} ${field}`]]);
  return fc.record({ kind: fc.constant(kind), ...Object.fromEntries(any) }) as fc.Arbitrary<PublicObjectName>;
}

const anyName = fc.oneof(...TABLE.map(([name]) => namesLike(name)));

describe('keys of public objects', () => {
  test.for(TABLE)('of %j can be parsed back to its name', ([like]) => {
    fc.assert(
      fc.property(namesLike(like), (name) => {
        const key = publicKey(name);
        expect(parsePublicKey(key)).toEqual(name);
        expect(key).toBe(`${PUBLIC_PREFIX}${publicPath(name)}`);
        expect(() => checkObjectKey(key)).not.toThrow();
      }),
    );
  });

  test('each key is of one kind only', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const path = publicPath(name);
        expect(kinds.filter((kind) => PUBLIC_OBJECTS[kind].pattern.test(path))).toEqual([name.kind]);
      }),
    );
  });

  test('each parsed name gives the same key again', () => {
    const edit = fc.record({
      at: fc.nat({ max: 120 }),
      removed: fc.nat({ max: 3 }),
      added: fc.stringMatching(/^[a-z0-9./\-A\n]{0,3}$/),
    });
    fc.assert(
      fc.property(anyName, edit, (name, { at, removed, added }) => {
        const key = publicKey(name);
        const edited = key.slice(0, at) + added + key.slice(at + removed);
        const parsed = parsePublicKey(edited);
        if (parsed !== null) expect(publicKey(parsed)).toBe(edited);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ...['', 'public', 'public/', 'api/v1/markets.json', '/public/api/v1/markets.json', 'publicly/api/v1/markets.json'],
    ...['public/api/v1/markets.json\n', 'public/api/v1/marketsXjson', 'public/site/index.html', 'redo/1.ndjson'],
    ...['.json', 'Gold.json', 'a--b.json', '-a.json', 'a-.json', 'a/b.json', '../snapshot.json', 'a', 'a/history'].map(
      (name) => `public/api/v1/markets/${name}`,
    ),
    ...['a/history/202.csv', 'a/historyXcsv', `history/pages/${CURSOR}.json`, `a/b/history/pages/${CURSOR}.json`].map(
      (name) => `public/api/v1/markets/${name}`,
    ),
    ...[`0-${DIGEST}`, `01-${DIGEST}`, `1000000000000000-${DIGEST}`, `1-${DIGEST}0`, `1-${DIGEST.toUpperCase()}`].map(
      (cursor) => `public/api/v1/markets/pages/${cursor}.json`,
    ),
    ...['', '/tile/0/1', '/tile/64/001', '/tile/0/001.p/0', '/tile/data/001', '/ndjson/001'].map(
      (name) => `public/api/v1/log${name}`,
    ),
  ])('%j names no public object', (key) => {
    expect(parsePublicKey(key)).toBeNull();
  });
});

test('the compiler knows the fields of each name from its path', () => {
  // @ts-expect-error: it has a slug.
  publicKey({ kind: 'market' });
  // @ts-expect-error: it has a slug, too.
  publicKey({ kind: 'history-year-csv', year: '2026' });
  // @ts-expect-error: the snapshot has no slug.
  publicKey({ kind: 'snapshot', slug: 'gold-usd' });
  // @ts-expect-error: there is no such kind.
  expect(() => publicKey({ kind: 'other' })).toThrow(TypeError);
});

describe('the table of public objects', () => {
  test('has a row here for each kind', () => {
    expect(TABLE.map(([{ kind }]) => kind)).toEqual(kinds);
  });

  test.for(TABLE)('%j', ([name, key, cacheTag, retention = 'head']) => {
    expect(publicKey(name)).toBe(`public/${key}`);
    expect(PUBLIC_OBJECTS[name.kind].retention).toBe(retention);
    expect(publicMetadata(name, 7, CURSOR)).toEqual({
      contentType: TYPES[name.kind] ?? TYPES[key.split('.').at(-1) ?? ''] ?? PLAIN,
      cacheControl: name.kind === 'export-schema' ? FOREVER : CACHED,
      cacheTag,
      generation: 7,
      nextCursor: CURSOR,
    });
  });

  test.each([
    ['0/000', FOREVER],
    ['2/x001/234', FOREVER],
    ['0/000.p/5', CACHED],
    ['entries/000', CACHED],
    ['entries/000.p/5', CACHED],
  ])('the tile %s: %s', (tile, cacheControl) => {
    expect(publicMetadata({ kind: 'log-tile', tile }, 7)).toMatchObject({ cacheControl });
  });
});
