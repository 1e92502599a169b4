/** `verify` is specific: each kind of damage breaks exactly these rules. */
import { describe, expect, test } from 'vitest';
import { OPENAPI_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { SMALL_PAGES, WAITLIST_EMAIL } from '../world.ts';
import {
  damagedReader,
  type Edit,
  type Loose,
  withBody,
  withBytes,
  withField,
  withHeader,
  withStatus,
  withText,
} from './damaged-reader.ts';
import {
  CLOSED_PAGE,
  cursorOf,
  historyOf,
  LAST_LIST_PAGE,
  MARKETS,
  marketOf,
  OLDEST_PAGE,
  reader,
  rulesFound,
  SECOND_LIST_PAGE,
  SNAPSHOT,
} from './verified-world.ts';

/** Answers as another URL does. */
const answerOf =
  (url: string): Edit =>
  () =>
    reader(url);

/** Arrays nested too deeply for a recursive parser. */
const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);
const NOWHERE = `1-${'0'.repeat(32)}`;
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl';

let requests = 0;

/** A market's body that differs from its list item breaks these two. */
const NOT_ITS_ITEM = 'digest unsettled';

/** The source of `b`, whose newest value is of 10 January. */
const DAILY = {
  label: 'a test',
  url: 'https://example.com/b',
  publisher: null,
  licence: null,
  attribution: null,
  cadence: {
    period: 'day',
    weekdays: ['sun', 'mon'],
    holidays: [],
    releaseAfterDays: 0,
    releaseTime: '00:00',
    graceSeconds: 0,
  },
  verification: null,
};

/** The name of the damage, where it is, and all broken rules in order. */
type Damage = readonly [damage: string, url: string, edit: Edit, rules: string];

const DAMAGES: { readonly [group: string]: readonly Damage[] } = {
  'an object is missing': [
    ['a page of the list', SECOND_LIST_PAGE, withStatus(404), 'count status'],
    ['a market', marketOf('a'), withStatus(404), 'status'],
    ['a market, behind a 304', marketOf('a'), withStatus(304), 'conditional status'],
    ['a history', historyOf('a'), withStatus(404), 'status'],
    ['a page of a history', OLDEST_PAGE, withStatus(404), 'count older-than-its-link status unsettled'],
    ['the snapshot', SNAPSHOT, withStatus(404), 'status'],
  ],
  'pages do not fit together': [
    ['a cursor leads nowhere', MARKETS, withField('page.nextCursor', NOWHERE), 'count digest link status'],
    ['the list ends early', SECOND_LIST_PAGE, withField('page.nextCursor', null), 'count digest link'],
    ['a page has other bytes than its cursor names', CLOSED_PAGE, withField('data.0.status', 'estimated'), 'digest'],
    ['a page of the list has the bytes of another', SECOND_LIST_PAGE, answerOf(LAST_LIST_PAGE), 'count digest'],
    [
      'the last page of the list leads back to the second',
      LAST_LIST_PAGE,
      withField('page.nextCursor', cursorOf(SECOND_LIST_PAGE)),
      'digest link page-size',
    ],
    ['the list names no next file', MARKETS, withField('page.next', null), 'digest link'],
    [
      'the list names a next file in another folder',
      MARKETS,
      withField('page.next', `${cursorOf(LAST_LIST_PAGE)}.json`),
      'digest link',
    ],
    [
      'the newest page of a history has another file than its cursor',
      historyOf('b'),
      withField('page.next', `history/pages/${cursorOf(OLDEST_PAGE)}.json`),
      'link',
    ],
    [
      'a closed page of a history is not full',
      OLDEST_PAGE,
      withBody((page) => page.data.pop()),
      'count digest older-than-its-link page-size unsettled',
    ],
    [
      'the newest page of a history is too long',
      historyOf('b'),
      async (response) => {
        const older = JSON.parse(Buffer.from((await reader(CLOSED_PAGE)).body).toString('utf8')) as Loose;
        return withBody((page) => {
          page.data.push(...older.data);
          page.page = { ...older.page, next: `history/pages/${older.page.next}` };
        })(response);
      },
      'page-size',
    ],
    ['a page of the list is too short', MARKETS, withBody((list) => list.data.pop()), 'count digest page-size'],
    [
      'the last page of the list is empty',
      LAST_LIST_PAGE,
      withBody((page) => page.data.pop()),
      'count digest page-size',
    ],
  ],
  'the list or the snapshot is wrong': [
    ['two markets are out of order', MARKETS, withBody((list) => list.data.reverse()), 'digest order'],
    ['a market is listed twice', MARKETS, withBody((list) => list.data.copyWithin(1, 2, 3)), 'count digest order'],
    ['the snapshot names another list', SNAPSHOT, withField('listDigest', 'a'.repeat(64)), 'digest'],
    ['it counts other markets', SNAPSHOT, withBody(({ counts }) => counts.markets++), 'count'],
    ['it counts other observations', SNAPSHOT, withBody(({ counts }) => counts.observations++), 'count'],
    ['it counts other unknown values', SNAPSHOT, withBody(({ counts }) => counts.unknownValues++), 'count'],
    ['it is of the future', SNAPSHOT, withField('publishedAt', '2026-10-01T12:06:00.000Z'), 'time'],
  ],
  'a market is wrong': [
    [
      'it is older than its list item',
      marketOf('b'),
      withBody((body) => body.revision--),
      'older-than-its-link unsettled',
    ],
    ['it differs from its list item', marketOf('b'), withField('name', 'Another name'), NOT_ITS_ITEM],
    ['it is about another market', marketOf('a'), withField('slug', 'c'), 'count digest link unsettled'],
    [
      'it names the history of another market',
      marketOf('a'),
      withField('history.href', historyOf('b')),
      'count digest link unsettled',
    ],
    [
      'it counts more observations than its history shows',
      marketOf('e'),
      withBody((body) => body.history.count++),
      'digest older-than-its-link unsettled',
    ],
    [
      'its price is not the newest observation',
      marketOf('b'),
      withField('metrics.price.amountMinor', 1),
      `count ${NOT_ITS_ITEM}`,
    ],
    [
      'it shows a second source that its history does not have',
      marketOf('b'),
      withBody((body) => {
        body.bySource = { price: [body.metrics.price, { ...body.metrics.price, sourceLabel: 'another' }] };
      }),
      `count ${NOT_ITS_ITEM}`,
    ],
    [
      'it was last changed before its newest observation was recorded',
      marketOf('b'),
      withField('updatedAt', '2026-01-01T00:00:00.000Z'),
      'digest time unsettled',
    ],
    [
      'its source expects the next value at another time than its cadence says',
      marketOf('b'),
      withField('sources', [{ ...DAILY, expectedNextAt: '2026-01-11T00:00:01Z' }]),
      `count ${NOT_ITS_ITEM}`,
    ],
    [
      'it expects the next value at the right time, but its list item has no source',
      marketOf('b'),
      withField('sources', [{ ...DAILY, expectedNextAt: '2026-01-11T00:00:00Z' }]),
      NOT_ITS_ITEM,
    ],
    ['it lacks a metric that its history has', historyOf('b'), withField('data.1.metric', 'volume'), 'count'],
  ],
  'a history is wrong': [
    [
      'it is shorter than the market counts',
      historyOf('e'),
      withBody((page) => page.data.pop()),
      'count older-than-its-link unsettled',
    ],
    ['it is out of order', historyOf('b'), withBody((page) => page.data.reverse()), 'count order'],
    ['it shows an observation twice', historyOf('b'), withBody((page) => page.data.copyWithin(1, 0, 1)), 'order'],
    ['an amount has a wrong exponent', CLOSED_PAGE, withField('data.0.minorDigits', 3), 'amount digest'],
    ['an amount has a wrong decimal', CLOSED_PAGE, withField('data.0.decimal', '36.9'), 'amount digest'],
    ['an amount has a wrong price of a unit', CLOSED_PAGE, withField('data.0.decimalPerUnit', '36.9'), 'amount digest'],
    ['the newest amount is in no currency', historyOf('b'), withField('data.0.currency', 'ZZZ'), 'amount'],
    [
      'the corrected observation does not name its correction',
      historyOf('f'),
      withField('data.1.supersededBy', null),
      'count link time',
    ],
    [
      'the corrected observation was superseded before its correction was recorded',
      historyOf('f'),
      withField('data.1.supersededAt', '2026-10-01T11:59:59.999Z'),
      'time',
    ],
    [
      'an observation that stands was superseded at some time',
      historyOf('f'),
      withField('data.0.supersededAt', '2026-10-01T12:00:00.000Z'),
      'time',
    ],
    [
      'an observation was recorded after the last change of its market',
      historyOf('e'),
      withField('data.0.recordedAt', '2027-01-01T00:00:00.000Z'),
      'time',
    ],
    [
      'the newest observation is a mistake, and the market shows it',
      historyOf('e'),
      withBody(({ data: [newest] }) => {
        const unknown = { amountMinor: null, decimal: null, decimalPerUnit: null, unknownReason: 'not-applicable' };
        Object.assign(newest, unknown, { retraction: 'mistake' });
      }),
      'count',
    ],
    [
      'an observation is a retraction, and has a value',
      historyOf('e'),
      withField('data.0.retraction', 'mistake'),
      // An unreadable history is not followed.
      'count older-than-its-link schema unsettled',
    ],
    ['the correction does not name what it corrects', historyOf('f'), withField('data.0.supersedes', null), 'link'],
    [
      'a correction names an observation that is not there',
      historyOf('e'),
      withField('data.0.supersedes', `obs_${'0'.repeat(24)}`),
      'link',
    ],
  ],
  'a body is malformed': [
    ['white space at its end', SNAPSHOT, withText((text) => `${text}\n`), 'canonical'],
    [
      'members in another order',
      SNAPSHOT,
      withText((text) => {
        const { counts, ...others } = JSON.parse(text) as Loose;
        return JSON.stringify({ ...others, counts });
      }),
      'canonical',
    ],
    ['a byte order mark', SNAPSHOT, withText((text) => `\ufeff${text}`), 'canonical'],
    ['half of a JSON text', SNAPSHOT, withText((text) => text.slice(0, -1)), 'canonical'],
    ['nothing at all', SNAPSHOT, withText(() => ''), 'canonical'],
    [
      'bytes that are not UTF-8',
      marketOf('a'),
      withBytes((bytes) => Buffer.from(bytes.toString('latin1').replace('Market', 'M\xe4rket'), 'latin1')),
      `canonical ${NOT_ITS_ITEM}`,
    ],
    ['half of a surrogate pair', MARKETS, withText((text) => text.replace('Market a', 'Market \\ud83d')), 'canonical'],
    [
      'a number beyond all range',
      SNAPSHOT,
      withText((text) => text.replace('"markets":7', '"markets":1e999')),
      'canonical',
    ],
    ['arrays 100,000 deep', SNAPSHOT, withText(() => DEEP), 'canonical'],
    ['an extra field', SNAPSHOT, withField('more', 1), 'schema'],
    // An unreadable market is not followed: its 10 observations are not counted.
    ['an amount that is text', marketOf('b'), withField('metrics.price.amountMinor', '100'), 'count schema'],
  ],
  'a document is wrong': [
    ['the waitlist is missing', WAITLIST_URL, withStatus(404), 'status'],
    ['the description is missing', OPENAPI_URL, withStatus(404), 'status'],
    ['the catalogue of problems is missing', '/problems.json', withStatus(404), 'status'],
    [
      'the link sends requests to another address',
      WAITLIST_URL,
      withField('email', 'other@tidemark.test'),
      'forbidden link',
    ],
    ['the waitlist has an internal field', WAITLIST_URL, withField('actor', 'x'), 'forbidden schema'],
    ['the description is of OpenAPI 3.0', OPENAPI_URL, withField('openapi', '3.0.3'), 'schema'],
    ['the description is not cached as promised', OPENAPI_URL, withHeader('cache-control', 'no-store'), 'headers'],
  ],
  'headers are wrong': [
    ['another time in caches', marketOf('a'), withHeader('cache-control', 'public, max-age=60'), 'headers'],
    ['no time in caches', marketOf('a'), withHeader('cache-control', null), 'headers'],
    ['another media type', marketOf('a'), withHeader('content-type', 'text/html'), 'headers'],
    ['no entity tag', marketOf('a'), withHeader('etag', null), 'headers'],
    ['an entity tag without quotes', marketOf('a'), withHeader('etag', 'unquoted'), 'headers'],
    ...[MARKETS, SNAPSHOT, marketOf('a'), historyOf('a')].map((url): Damage => {
      return [`no pages of other origins at ${url}`, url, withHeader('access-control-allow-origin', null), 'headers'];
    }),
    ['pages of one origin only', MARKETS, withHeader('access-control-allow-origin', 'https://one.example'), 'headers'],
    ['browsers may guess the type', MARKETS, withHeader('x-content-type-options', null), 'headers'],
    [
      'the entity tag changes with each request',
      marketOf('a'),
      (response) => withHeader('etag', `"${++requests}"`)({ ...response, status: 200 }),
      'conditional',
    ],
    [
      '304 to any validator',
      historyOf('a'),
      (response, headers) => (headers?.['if-none-match'] ? { ...response, status: 304, body: Buffer.of() } : response),
      'conditional',
    ],
    ['200 to its own ETag', MARKETS, answerOf(MARKETS), 'conditional'],
    ['304 with a body', MARKETS, async ({ status }) => ({ ...(await reader(MARKETS)), status }), 'conditional'],
    ['a Link to another page', MARKETS, withHeader('link', `<${MARKETS}?cursor=${NOWHERE}>; rel="next"`), 'link'],
    ['a Link on the last page', OLDEST_PAGE, withHeader('link', `<https://other.example/>; rel="next"`), 'link'],
  ],
  'a body has forbidden content': [
    ...['Write to joe.bloggs+prices@mail.example.co.uk', 'tdm_live_k3y1d_c0ffee', TOKEN, 'AKIAIOSFODNN7EXAMPLE'].map(
      (name): Damage => [`a name “${name}”`, marketOf('a'), withField('name', name), 'forbidden schema'],
    ),
    ['the address for requests on a market', marketOf('a'), withField('name', WAITLIST_EMAIL), 'forbidden schema'],
    [
      'an address in the query of a source URL',
      historyOf('e'),
      withField('data.0.sourceUrl', 'https://a.example/?for=joe@example.org'),
      'count forbidden older-than-its-link schema unsettled',
    ],
    [
      'a verification whose subject is a person',
      marketOf('a'),
      withField('sources', [{ verification: { subject: 'user:alice' } }]),
      'forbidden schema',
    ],
    ['an internal field', SNAPSHOT, withField('attemptId', 'x'), 'forbidden schema'],
    ['an address in the description of the API', OPENAPI_URL, withField('info.title', 'joe@tidemark.dev'), 'forbidden'],
    ['a token in the description of the API', OPENAPI_URL, withField('info.title', TOKEN), 'forbidden'],
    ...[`x${WAITLIST_EMAIL}`, `${WAITLIST_EMAIL}.org`, 'tdm_live_k3y1d_c0ffee'].map((text): Damage => {
      const edit = withBody((body) => body.nextSteps.push(`Or ask ${text}`));
      return [`“${text}” where it is said how to ask for a key`, WAITLIST_URL, edit, 'forbidden'];
    }),
  ],
};

describe.each(Object.entries(DAMAGES))('%s', (_, damages) => {
  test.each(damages)('%s', async (_, url, edit, rules) => {
    expect((await rulesFound(damagedReader(reader, { [url]: edit }))).join(' ')).toBe(rules);
  });
});

test('one entity tag for all bodies is a finding', async () => {
  const same = withHeader('etag', '"1"');
  expect(await rulesFound(damagedReader(reader, { [MARKETS]: same, [SNAPSHOT]: same }))).toEqual([
    'conditional',
    'digest',
  ]);
});

test('a finding names the URL that is damaged', async () => {
  const damaged = damagedReader(reader, { [CLOSED_PAGE]: withText((text) => `${text} `) });
  const { findings } = await verify(damaged, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings.map(({ url, rule }) => [url, rule])).toEqual([
    [CLOSED_PAGE, 'canonical'],
    [CLOSED_PAGE, 'digest'],
  ]);
});
