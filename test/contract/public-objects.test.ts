import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURSOR_PATTERN, SLUG_PATTERN } from '../../contract/limits.ts';
import {
  PUBLIC_OBJECTS,
  PUBLIC_PREFIX,
  type PublicObjectKind,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
  publicPath,
  type Retention,
} from '../../contract/public-objects.ts';
import { publicMetadata } from '../../publisher/commit/put-immutable.ts';
import { checkObjectKey } from '../../storage/object-rules.ts';

const kinds = Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[];

/** Also such slugs and cursors as are spelled like a part of another key. */
const slug = fc.oneof(
  fc.stringMatching(new RegExp(`^${SLUG_PATTERN}$`)),
  fc.constantFrom('markets', 'json', 'snapshot', 'history', 'market-pages', '404', 'a', 'a-b'),
);
const cursor = fc.oneof(
  fc.stringMatching(new RegExp(`^${CURSOR_PATTERN}$`)),
  fc.constantFrom(`1-${'0'.repeat(32)}`, `999999999999999-${'f'.repeat(32)}`),
);

const namesByKind: { readonly [Kind in PublicObjectKind]: fc.Arbitrary<Extract<PublicObjectName, { kind: Kind }>> } = {
  'market-list': fc.constant({ kind: 'market-list' }),
  'market-list-page': fc.record({ kind: fc.constant('market-list-page'), cursor }),
  market: fc.record({ kind: fc.constant('market'), slug }),
  history: fc.record({ kind: fc.constant('history'), slug }),
  'history-page': fc.record({ kind: fc.constant('history-page'), slug, cursor }),
  'history-csv': fc.record({ kind: fc.constant('history-csv'), slug }),
  'history-ndjson': fc.record({ kind: fc.constant('history-ndjson'), slug }),
  'history-year-csv': fc.record({ kind: fc.constant('history-year-csv'), slug, year: fc.stringMatching(/^[0-9]{4}$/) }),
  'history-year-ndjson': fc.record({
    kind: fc.constant('history-year-ndjson'),
    slug,
    year: fc.stringMatching(/^[0-9]{4}$/),
  }),
  'history-index': fc.record({ kind: fc.constant('history-index'), slug }),
  snapshot: fc.constant({ kind: 'snapshot' }),
  edition: fc.record({ kind: fc.constant('edition'), edition: slug }),
  'edition-list': fc.record({ kind: fc.constant('edition-list'), edition: slug }),
  'edition-market': fc.record({ kind: fc.constant('edition-market'), edition: slug, slug }),
  'edition-history': fc.record({ kind: fc.constant('edition-history'), edition: slug, slug }),
  'not-found': fc.constant({ kind: 'not-found' }),
  problems: fc.constant({ kind: 'problems' }),
  waitlist: fc.constant({ kind: 'waitlist' }),
  openapi: fc.constant({ kind: 'openapi' }),
};
const anyName: fc.Arbitrary<PublicObjectName> = fc.oneof(...kinds.map((kind) => namesByKind[kind]));

describe('keys of public objects', () => {
  test.each(kinds)('of %s can be parsed back to its name', (kind) => {
    fc.assert(
      fc.property(namesByKind[kind] as fc.Arbitrary<PublicObjectName>, (name) => {
        const key = publicKey(name);
        expect(parsePublicKey(key)).toEqual(name);
        expect(key).toBe(`${PUBLIC_PREFIX}${publicPath(name)}`);
        expect(() => checkObjectKey(key)).not.toThrow();
      }),
    );
  });

  test('of different names never collide', () => {
    fc.assert(
      fc.property(anyName, anyName, (one, other) => {
        const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
        expect(publicKey(one) === publicKey(other)).toBe(same);
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

  const digest = '0123456789abcdef0123456789abcdef';
  test.each([
    '',
    'public',
    'public/',
    'api/v1/markets.json',
    '/public/api/v1/markets.json',
    'publicly/api/v1/markets.json',
    'redo/1-0123456789abcdef0123456789abcdef.ndjson',
    'public/api/v1/markets.json\n',
    'public/api/v1/marketsXjson',
    'public/api/v2/markets.json',
    'public/api/v1/markets/.json',
    'public/api/v1/markets/Gold.json',
    'public/api/v1/markets/a--b.json',
    'public/api/v1/markets/-a.json',
    'public/api/v1/markets/a-.json',
    'public/api/v1/markets/a/b.json',
    'public/api/v1/markets/../snapshot.json',
    'public/api/v1/markets/gold-usd',
    'public/api/v1/markets/gold-usd/history',
    'public/api/v1/markets/gold-usd/history/202.csv',
    'public/api/v1/markets/gold-usd/historyXcsv',
    'public/api/v1/waitlist',
    'public/api/v1/openapiXjson',
    `public/api/v1/market-pages/0-${digest}.json`,
    `public/api/v1/market-pages/01-${digest}.json`,
    `public/api/v1/market-pages/1000000000000000-${digest}.json`,
    `public/api/v1/market-pages/1-${digest.toUpperCase()}.json`,
    `public/api/v1/market-pages/1-${digest}0.json`,
    `public/api/v1/market-pages/1-${digest.slice(1)}.json`,
    `public/api/v1/history-pages/1-${digest}.json`,
    `public/api/v1/history-pages/gold/usd/1-${digest}.json`,
  ])('%j names no public object', (key) => {
    expect(parsePublicKey(key)).toBeNull();
  });
});

function sorted(name: PublicObjectName): unknown {
  return Object.entries(name).sort(([left], [right]) => (left < right ? -1 : 1));
}

const CURSOR = '7-0123456789abcdef0123456789abcdef';
const CACHED = 'public, max-age=15, stale-if-error=300';

interface Row {
  readonly name: PublicObjectName;
  readonly key: string;
  readonly contentType: string;
  readonly cacheTag: string | null;
  readonly retention: Retention;
}

/** Golden: stored keys and headers, as a CDN and its purges see them. */
const TABLE: readonly Row[] = [
  {
    name: { kind: 'market-list' },
    key: 'public/api/v1/markets.json',
    contentType: 'application/json',
    cacheTag: 'markets',
    retention: 'head',
  },
  {
    name: { kind: 'market-list-page', cursor: CURSOR },
    key: `public/api/v1/market-pages/${CURSOR}.json`,
    contentType: 'application/json',
    cacheTag: 'markets',
    retention: 'page',
  },
  {
    name: { kind: 'market', slug: 'gold-usd' },
    key: 'public/api/v1/markets/gold-usd.json',
    contentType: 'application/json',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history', slug: 'gold-usd' },
    key: 'public/api/v1/histories/gold-usd.json',
    contentType: 'application/json',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history-page', slug: 'gold-usd', cursor: CURSOR },
    key: `public/api/v1/history-pages/gold-usd/${CURSOR}.json`,
    contentType: 'application/json',
    cacheTag: 'gold-usd',
    retention: 'page',
  },
  {
    name: { kind: 'history-csv', slug: 'gold-usd' },
    key: 'public/api/v1/markets/gold-usd/history.csv',
    contentType: 'text/csv; charset=utf-8',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history-ndjson', slug: 'gold-usd' },
    key: 'public/api/v1/markets/gold-usd/history.ndjson',
    contentType: 'application/x-ndjson',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history-year-csv', slug: 'gold-usd', year: '2024' },
    key: 'public/api/v1/markets/gold-usd/history/2024.csv',
    contentType: 'text/csv; charset=utf-8',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history-year-ndjson', slug: 'gold-usd', year: '2024' },
    key: 'public/api/v1/markets/gold-usd/history/2024.ndjson',
    contentType: 'application/x-ndjson',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'history-index', slug: 'gold-usd' },
    key: 'public/api/v1/markets/gold-usd/history/index',
    contentType: 'application/json',
    cacheTag: 'gold-usd',
    retention: 'head',
  },
  {
    name: { kind: 'snapshot' },
    key: 'public/api/v1/snapshot.json',
    contentType: 'application/json',
    cacheTag: 'snapshot',
    retention: 'head',
  },
  {
    name: { kind: 'edition', edition: 'q3' },
    key: 'public/api/v1/editions/q3',
    contentType: 'application/json',
    cacheTag: 'edition-q3',
    retention: 'edition',
  },
  {
    name: { kind: 'edition-list', edition: 'q3' },
    key: 'public/api/v1/editions/q3/markets',
    contentType: 'application/json',
    cacheTag: 'edition-q3',
    retention: 'edition',
  },
  {
    name: { kind: 'edition-market', edition: 'q3', slug: 'gold-usd' },
    key: 'public/api/v1/editions/q3/markets/gold-usd',
    contentType: 'application/json',
    cacheTag: 'edition-q3',
    retention: 'edition',
  },
  {
    name: { kind: 'edition-history', edition: 'q3', slug: 'gold-usd' },
    key: 'public/api/v1/editions/q3/markets/gold-usd/history',
    contentType: 'application/json',
    cacheTag: 'edition-q3',
    retention: 'edition',
  },
  {
    name: { kind: 'not-found' },
    key: 'public/errors/404.json',
    contentType: 'application/problem+json',
    cacheTag: null,
    retention: 'head',
  },
  {
    name: { kind: 'problems' },
    key: 'public/problems.json',
    contentType: 'application/json',
    cacheTag: 'problems',
    retention: 'head',
  },
  {
    name: { kind: 'waitlist' },
    key: 'public/api/v1/waitlist.json',
    contentType: 'application/json',
    cacheTag: 'waitlist',
    retention: 'head',
  },
  {
    name: { kind: 'openapi' },
    key: 'public/api/v1/openapi.json',
    contentType: 'application/json',
    cacheTag: 'openapi',
    retention: 'head',
  },
];

describe('the table of public objects', () => {
  test('has a row here for each kind', () => {
    expect(TABLE.map(({ name }) => name.kind)).toEqual(kinds);
  });

  test.each(TABLE)('$name.kind: $key', ({ name, key, contentType, cacheTag, retention }) => {
    expect(publicKey(name)).toBe(key);
    expect(PUBLIC_OBJECTS[name.kind].retention).toBe(retention);
    expect(publicMetadata(name, 7, CURSOR)).toEqual({
      contentType,
      cacheControl: CACHED,
      cacheTag,
      generation: 7,
      nextCursor: CURSOR,
    });
  });
});
