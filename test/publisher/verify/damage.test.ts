/** `verify` is specific: each kind of damage breaks exactly these rules. */
import { describe, expect, test } from 'vitest';
import { OPENAPI_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import type { VerifyRule } from '../../../publisher/verify/report.ts';
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

let requests = 0;

interface Damage {
  readonly damage: string;
  readonly edits: { readonly [url: string]: Edit };
  /** All broken rules, in order. */
  readonly rules: readonly VerifyRule[];
}

/** A market's body that differs from its list item breaks these two. */
const NOT_ITS_ITEM: readonly VerifyRule[] = ['digest', 'unsettled'];

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

const DAMAGES: { readonly [group: string]: readonly Damage[] } = {
  'an object is missing': [
    { damage: 'a page of the list', edits: { [SECOND_LIST_PAGE]: withStatus(404) }, rules: ['count', 'status'] },
    { damage: 'a market', edits: { [marketOf('a')]: withStatus(404) }, rules: ['status'] },
    { damage: 'a history', edits: { [historyOf('a')]: withStatus(404) }, rules: ['status'] },
    {
      damage: 'a page of a history',
      edits: { [OLDEST_PAGE]: withStatus(404) },
      rules: ['count', 'older-than-its-link', 'status', 'unsettled'],
    },
    { damage: 'the snapshot', edits: { [SNAPSHOT]: withStatus(404) }, rules: ['status'] },
    { damage: 'the list, with 500', edits: { [MARKETS]: withStatus(500) }, rules: ['status'] },
    { damage: 'a market, with 503', edits: { [marketOf('a')]: withStatus(503) }, rules: ['status'] },
    {
      damage: 'a market, behind a 304',
      edits: { [marketOf('a')]: withStatus(304) },
      rules: ['conditional', 'status'],
    },
  ],
  'pages do not fit together': [
    {
      damage: 'a cursor of the list leads nowhere',
      edits: { [MARKETS]: withField('page.nextCursor', `1-${'0'.repeat(32)}`) },
      rules: ['count', 'digest', 'link', 'status'],
    },
    {
      damage: 'a cursor of a history leads nowhere',
      edits: { [CLOSED_PAGE]: withField('page.nextCursor', `1-${'0'.repeat(32)}`) },
      rules: ['count', 'digest', 'link', 'older-than-its-link', 'status', 'unsettled'],
    },
    {
      damage: 'the list ends early',
      edits: { [SECOND_LIST_PAGE]: withField('page.nextCursor', null) },
      rules: ['count', 'digest', 'link'],
    },
    {
      damage: 'a page of a history holds other bytes than its cursor names',
      edits: { [CLOSED_PAGE]: withField('data.0.status', 'estimated') },
      rules: ['digest'],
    },
    ...['minorDigits', 'decimal', 'decimalPerUnit'].map((name): Damage => {
      const wrong = name === 'minorDigits' ? 3 : '36.9';
      return {
        damage: `the ${name} of an amount is wrong`,
        edits: { [CLOSED_PAGE]: withField(`data.0.${name}`, wrong) },
        rules: ['amount', 'digest'],
      };
    }),
    {
      damage: 'an amount is in a currency that does not exist',
      edits: { [CLOSED_PAGE]: withField('data.0.currency', 'QQQ') },
      rules: ['amount', 'digest'],
    },
    {
      damage: 'the newest amount is in a currency that does not exist',
      edits: { [historyOf('b')]: withField('data.0.currency', 'ZZZ') },
      rules: ['amount'],
    },
    {
      damage: 'a page of the list holds the bytes of another',
      edits: { [SECOND_LIST_PAGE]: answerOf(LAST_LIST_PAGE) },
      rules: ['count', 'digest'],
    },
    {
      damage: 'the last page of the list leads back to the second',
      edits: { [LAST_LIST_PAGE]: withField('page.nextCursor', cursorOf(SECOND_LIST_PAGE)) },
      rules: ['digest', 'link', 'page-size'],
    },
    ...[null, `history/pages/${cursorOf(LAST_LIST_PAGE)}.json`, `${cursorOf(LAST_LIST_PAGE)}.json`].map(
      (next): Damage => ({
        damage: `the first page of the list leads to the file ${next}`,
        edits: { [MARKETS]: withField('page.next', next) },
        rules: ['digest', 'link'],
      }),
    ),
    {
      damage: 'the newest page of a history has another file than its cursor',
      edits: { [historyOf('b')]: withField('page.next', `history/pages/${cursorOf(OLDEST_PAGE)}.json`) },
      rules: ['link'],
    },
    {
      damage: 'a page of the list leads to itself',
      edits: { [SECOND_LIST_PAGE]: withField('page.nextCursor', cursorOf(SECOND_LIST_PAGE)) },
      rules: ['count', 'digest', 'link'],
    },
    {
      damage: 'the oldest page of a history leads back to the newest closed one',
      edits: { [OLDEST_PAGE]: withField('page.nextCursor', cursorOf(CLOSED_PAGE)) },
      rules: ['digest', 'link'],
    },
    {
      damage: 'a closed page of a history is not full',
      edits: { [OLDEST_PAGE]: withBody((page) => page.data.pop()) },
      rules: ['count', 'digest', 'older-than-its-link', 'page-size', 'unsettled'],
    },
    {
      damage: 'the newest page of a history is too long',
      edits: {
        [historyOf('b')]: async (response) => {
          const older = JSON.parse(Buffer.from((await reader(CLOSED_PAGE)).body).toString('utf8')) as Loose;
          return withBody((page) => {
            page.data.push(...older.data);
            page.page = { ...older.page, next: `history/pages/${older.page.next}` };
          })(response);
        },
      },
      rules: ['page-size'],
    },
    {
      damage: 'a page of the list is too short',
      edits: { [MARKETS]: withBody((list) => list.data.pop()) },
      rules: ['count', 'digest', 'page-size'],
    },
    {
      damage: 'the last page of the list is empty',
      edits: { [LAST_LIST_PAGE]: withBody((page) => page.data.pop()) },
      rules: ['count', 'digest', 'page-size'],
    },
  ],
  'the list is wrong': [
    {
      damage: 'two markets are out of order',
      edits: { [MARKETS]: withBody((list) => list.data.reverse()) },
      rules: ['digest', 'order'],
    },
    {
      damage: 'a market is listed twice',
      edits: { [MARKETS]: withBody((list) => list.data.copyWithin(1, 2, 3)) },
      rules: ['count', 'digest', 'order'],
    },
    {
      damage: 'the snapshot names another first page',
      edits: { [SNAPSHOT]: withField('listDigest', 'a'.repeat(64)) },
      rules: ['digest'],
    },
    ...(['markets', 'observations', 'unknownValues'] as const).map((name) => ({
      damage: `the snapshot counts other ${name}`,
      edits: { [SNAPSHOT]: withBody((snapshot) => snapshot.counts[name]++) },
      rules: ['count'] as const,
    })),
  ],
  'a market is wrong': [
    {
      damage: 'it is older than its list item',
      edits: { [marketOf('b')]: withBody((body) => body.revision--) },
      rules: ['older-than-its-link', 'unsettled'],
    },
    {
      damage: 'it differs from a list item of the same revision',
      edits: { [marketOf('b')]: withField('name', 'Another name') },
      rules: NOT_ITS_ITEM,
    },
    {
      damage: 'it is about another market',
      edits: { [marketOf('a')]: withField('slug', 'c') },
      rules: ['count', 'digest', 'link', 'unsettled'],
    },
    {
      damage: 'it names the history of another market',
      edits: { [marketOf('a')]: withField('history.href', historyOf('b')) },
      rules: ['count', 'digest', 'link', 'unsettled'],
    },
    {
      damage: 'it names a history under another URL',
      edits: { [marketOf('a')]: withField('history.href', 'https://other.example/history') },
      rules: ['count', 'digest', 'link', 'unsettled'],
    },
    {
      damage: 'it counts more observations than its history shows',
      edits: { [marketOf('e')]: withBody((body) => body.history.count++) },
      rules: ['digest', 'older-than-its-link', 'unsettled'],
    },
    {
      damage: 'its last observation is of another time',
      edits: { [marketOf('e')]: withField('history.lastObservedAt', '2026-01-02T00:00:00Z') },
      rules: ['count', ...NOT_ITS_ITEM],
    },
    {
      damage: 'its price is not the newest observation',
      edits: { [marketOf('b')]: withField('metrics.price.observedAt', '2026-01-02T00:00:00Z') },
      rules: ['count', ...NOT_ITS_ITEM],
    },
    {
      damage: 'its price has another amount than the newest observation',
      edits: { [marketOf('b')]: withField('metrics.price.amountMinor', 1) },
      rules: ['count', ...NOT_ITS_ITEM],
    },
    {
      damage: 'it shows a second source that its history does not have',
      edits: {
        [marketOf('b')]: withBody((body) => {
          body.bySource = { price: [body.metrics.price, { ...body.metrics.price, sourceLabel: 'another' }] };
        }),
      },
      rules: ['count', ...NOT_ITS_ITEM],
    },
    {
      damage: 'it was last changed before its newest observation was recorded',
      edits: { [marketOf('b')]: withField('updatedAt', '2026-01-01T00:00:00.000Z') },
      rules: [...NOT_ITS_ITEM, 'time'].sort() as VerifyRule[],
    },
    ...['2026-01-11T00:00:01Z', null].map((expectedNextAt): Damage => {
      return {
        damage: `its source expects the next value at ${expectedNextAt}, and not at the time of its cadence`,
        edits: { [marketOf('b')]: withField('sources', [{ ...DAILY, expectedNextAt }]) },
        rules: ['count', ...NOT_ITS_ITEM],
      };
    }),
    {
      damage: 'it expects the next value at the right time, but its list item has no source',
      edits: { [marketOf('b')]: withField('sources', [{ ...DAILY, expectedNextAt: '2026-01-11T00:00:00Z' }]) },
      rules: NOT_ITS_ITEM,
    },
    {
      damage: 'it has no verification, but its history has one',
      edits: { [marketOf('e')]: withField('metrics.price', null) },
      rules: ['count', ...NOT_ITS_ITEM],
    },
    {
      damage: 'it lacks a metric that its history has',
      edits: { [historyOf('b')]: withField('data.1.metric', 'volume') },
      rules: ['count'],
    },
  ],
  'a history is wrong': [
    {
      damage: 'it is shorter than the market counts',
      edits: { [historyOf('e')]: withBody((page) => page.data.pop()) },
      rules: ['count', 'older-than-its-link', 'unsettled'],
    },
    {
      damage: 'it is out of order',
      edits: { [historyOf('b')]: withBody((page) => page.data.reverse()) },
      rules: ['count', 'order'],
    },
    {
      damage: 'it shows an observation twice',
      edits: { [historyOf('b')]: withBody((page) => page.data.copyWithin(1, 0, 1)) },
      rules: ['order'],
    },
    {
      damage: 'the corrected observation does not name its correction',
      edits: { [historyOf('f')]: withField('data.1.supersededBy', null) },
      rules: ['count', 'link', 'time'],
    },
    ...[null, '2026-10-01T11:59:59.999Z'].map((at): Damage => {
      return {
        damage: `the corrected observation was superseded at ${at}`,
        edits: { [historyOf('f')]: withField('data.1.supersededAt', at) },
        rules: ['time'],
      };
    }),
    {
      damage: 'an observation that stands was superseded at some time',
      edits: { [historyOf('f')]: withField('data.0.supersededAt', '2026-10-01T12:00:00.000Z') },
      rules: ['time'],
    },
    {
      damage: 'an observation was recorded after the last change of its market',
      edits: { [historyOf('e')]: withField('data.0.recordedAt', '2027-01-01T00:00:00.000Z') },
      rules: ['time'],
    },
    {
      damage: 'the newest observation is a mistake, and the market shows it',
      edits: {
        [historyOf('e')]: withBody(({ data: [newest] }) => {
          const unknown = { amountMinor: null, decimal: null, decimalPerUnit: null, unknownReason: 'not-applicable' };
          Object.assign(newest, unknown, { retraction: 'mistake' });
        }),
      },
      rules: ['count'],
    },
    {
      damage: 'an observation is a retraction, and has a value',
      edits: { [historyOf('e')]: withField('data.0.retraction', 'mistake') },
      // An unreadable history is not followed.
      rules: ['count', 'older-than-its-link', 'schema', 'unsettled'],
    },
    {
      damage: 'the newest value of another source is not on the market',
      edits: { [historyOf('b')]: withField('data.1.sourceLabel', 'another') },
      rules: ['count'],
    },
    {
      damage: 'the correction does not name what it corrects',
      edits: { [historyOf('f')]: withField('data.0.supersedes', null) },
      rules: ['link'],
    },
    {
      damage: 'a correction names an observation that is not there',
      edits: { [historyOf('e')]: withField('data.0.supersedes', `obs_${'0'.repeat(24)}`) },
      rules: ['link'],
    },
  ],
  'a body is malformed': [
    { damage: 'white space at its end', edits: { [SNAPSHOT]: withText((text) => `${text}\n`) }, rules: ['canonical'] },
    {
      damage: 'white space inside',
      edits: { [SNAPSHOT]: withText((text) => text.replace(':', ': ')) },
      rules: ['canonical'],
    },
    {
      damage: 'members in another order',
      edits: {
        [SNAPSHOT]: withText((text) => {
          const { counts, ...others } = JSON.parse(text) as Loose;
          return JSON.stringify({ ...others, counts });
        }),
      },
      rules: ['canonical'],
    },
    { damage: 'a byte order mark', edits: { [SNAPSHOT]: withText((text) => `\ufeff${text}`) }, rules: ['canonical'] },
    {
      damage: 'half of a JSON text',
      edits: { [SNAPSHOT]: withText((text) => text.slice(0, -1)) },
      rules: ['canonical'],
    },
    { damage: 'nothing at all', edits: { [SNAPSHOT]: withText(() => '') }, rules: ['canonical'] },
    {
      damage: 'bytes that are not UTF-8',
      edits: {
        [marketOf('a')]: withBytes((bytes) =>
          Buffer.from(bytes.toString('latin1').replace('Market', 'M\xe4rket'), 'latin1'),
        ),
      },
      rules: ['canonical', ...NOT_ITS_ITEM],
    },
    {
      damage: 'half of a surrogate pair',
      edits: { [marketOf('a')]: withText((text) => text.replace('Market a', 'Market \\ud83d')) },
      rules: ['canonical'],
    },
    {
      damage: 'half of a surrogate pair in the list',
      edits: { [MARKETS]: withText((text) => text.replace('Market a', 'Market \\ud83d')) },
      rules: ['canonical'],
    },
    {
      damage: 'a number beyond all range',
      edits: { [SNAPSHOT]: withText((text) => text.replace('"markets":7', '"markets":1e999')) },
      rules: ['canonical'],
    },
    { damage: 'arrays 100,000 deep', edits: { [SNAPSHOT]: withText(() => DEEP) }, rules: ['canonical'] },
    { damage: 'an extra field', edits: { [SNAPSHOT]: withField('more', 1) }, rules: ['schema'] },
    { damage: 'a missing field', edits: { [marketOf('a')]: withBody((body) => delete body.unit) }, rules: ['schema'] },
    {
      damage: 'an amount that is text',
      edits: { [marketOf('b')]: withField('metrics.price.amountMinor', '100') },
      // An unreadable market is not followed: its 10 observations are not counted.
      rules: ['count', 'schema'],
    },
    { damage: 'null', edits: { [SNAPSHOT]: withText(() => 'null') }, rules: ['schema'] },
  ],
  'a document is wrong': [
    { damage: 'the waitlist is missing', edits: { [WAITLIST_URL]: withStatus(404) }, rules: ['status'] },
    { damage: 'the description is missing', edits: { [OPENAPI_URL]: withStatus(404) }, rules: ['status'] },
    {
      damage: 'the link sends requests to another address',
      edits: { [WAITLIST_URL]: withField('email', 'other@tidemark.test') },
      rules: ['forbidden', 'link'],
    },
    {
      damage: 'the address is not an e-mail address',
      edits: { [WAITLIST_URL]: withField('email', 'nobody') },
      rules: ['forbidden', 'schema'],
    },
    {
      damage: 'the waitlist has an extra field',
      edits: { [WAITLIST_URL]: withField('actor', 'x') },
      rules: ['forbidden', 'schema'],
    },
    {
      damage: 'the description is of OpenAPI 3.0',
      edits: { [OPENAPI_URL]: withField('openapi', '3.0.3') },
      rules: ['schema'],
    },
    {
      damage: 'the description is not canonical JSON',
      edits: { [OPENAPI_URL]: withText((text) => `${text}\n`) },
      rules: ['canonical'],
    },
    {
      damage: 'the description is not cached as promised',
      edits: { [OPENAPI_URL]: withHeader('cache-control', 'no-store') },
      rules: ['headers'],
    },
  ],
  'headers are wrong': [
    ...[
      ['cache-control', 'public, max-age=60'],
      ['cache-control', null],
      ['content-type', 'text/html'],
      ['content-type', null],
      ['etag', null],
      ['etag', ''],
      ['etag', 'unquoted'],
    ].map(([name, value]) => ({
      damage: `${name} is ${value === null ? 'missing' : `“${value}”`}`,
      edits: { [marketOf('a')]: withHeader(name as string, value as string | null) },
      rules: ['headers'] as const,
    })),
    ...(['access-control-allow-origin', 'x-content-type-options'] as const).flatMap((name) =>
      [MARKETS, SNAPSHOT, marketOf('a'), historyOf('a')].map(
        (url): Damage => ({
          damage: `${name} is missing at ${url}`,
          edits: { [url]: withHeader(name, null) },
          rules: ['headers'],
        }),
      ),
    ),
    {
      damage: 'pages of another origin are not allowed',
      edits: { [MARKETS]: withHeader('access-control-allow-origin', 'https://one.example') },
      rules: ['headers'],
    },
    {
      damage: 'the entity tag changes with each request',
      edits: { [marketOf('a')]: (response) => withHeader('etag', `"${++requests}"`)({ ...response, status: 200 }) },
      rules: ['conditional'],
    },
    {
      damage: 'one entity tag for all bodies',
      edits: { [MARKETS]: withHeader('etag', '"1"'), [SNAPSHOT]: withHeader('etag', '"1"') },
      rules: ['conditional', 'digest'],
    },
    {
      damage: '304 to any validator',
      edits: {
        [historyOf('a')]: (response, headers) =>
          headers?.['if-none-match'] ? { ...response, status: 304, body: Buffer.of() } : response,
      },
      rules: ['conditional'],
    },
    {
      damage: 'a Link to another page',
      edits: { [MARKETS]: withHeader('link', `<${MARKETS}?cursor=1-${'0'.repeat(32)}>; rel="next"`) },
      rules: ['link'],
    },
    {
      damage: 'a Link to another host',
      edits: { [OLDEST_PAGE]: withHeader('link', `<https://other.example/>; rel="next"`) },
      rules: ['link'],
    },
    {
      damage: 'the snapshot is of the future',
      edits: { [SNAPSHOT]: withField('publishedAt', '2026-10-01T12:06:00.000Z') },
      rules: ['time'],
    },
    {
      damage: 'the list answers its own ETag with 200',
      edits: { [MARKETS]: () => reader(MARKETS) },
      rules: ['conditional'],
    },
    {
      damage: 'the list answers its own ETag with a body',
      edits: { [MARKETS]: async ({ status }) => ({ ...(await reader(MARKETS)), status }) },
      rules: ['conditional'],
    },
  ],
  'a body has forbidden content': [
    ...[
      'joe@example.org',
      'Write to joe.bloggs+prices@mail.example.co.uk',
      'mailto:JOE@EXAMPLE.ORG',
      '<joe@example.org>, or call',
      'jürgen@example.org',
      'tdm_live_k3y1d_c0ffeec0ffeec0ffeec0ffeec0ffeec0ffee',
      'key:tdm_test_k3y1d_c0ffee',
      'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
      'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
      'AKIAIOSFODNN7EXAMPLE',
    ].map((name) => ({
      damage: `a name “${name}”`,
      edits: { [marketOf('a')]: withField('name', name) },
      rules: ['forbidden', 'schema'] as const,
    })),
    {
      damage: 'an address in the query of a source URL',
      edits: {
        [historyOf('e')]: withField('data.0.sourceUrl', 'https://a.example/?for=joe@example.org'),
      },
      rules: ['count', 'forbidden', 'older-than-its-link', 'schema', 'unsettled'],
    },
    {
      damage: 'a verification whose subject is a person',
      edits: { [marketOf('a')]: withField('sources', [{ verification: { subject: 'user:alice' } }]) },
      rules: ['forbidden', 'schema'] as const,
    },
    {
      damage: 'an address of somebody in the description of the API',
      edits: { [OPENAPI_URL]: withField('info.title', 'joe@tidemark.dev') },
      rules: ['forbidden'] as const,
    },
    {
      damage: 'the address for requests on a market',
      edits: { [marketOf('a')]: withField('name', WAITLIST_EMAIL) },
      rules: ['forbidden', 'schema'] as const,
    },
    ...[`x${WAITLIST_EMAIL}`, `${WAITLIST_EMAIL}.org`, 'joe@example.org', 'tdm_live_k3y1d_c0ffee'].map((text) => ({
      damage: `“${text}” where it is said how to ask for a key`,
      edits: { [WAITLIST_URL]: withBody((body) => body.nextSteps.push(`Or ask ${text}`)) },
      rules: ['forbidden'] as const,
    })),
    {
      damage: 'a bearer token in the description of the API',
      edits: { [OPENAPI_URL]: withField('info.title', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl') },
      rules: ['forbidden'] as const,
    },
    ...['actor', 'attemptId', 'keyId', 'userId', 'subject', 'requestId', 'email', 'contact'].map((name) => ({
      damage: `an internal field “${name}”`,
      edits: { [SNAPSHOT]: withField(name, 'x') },
      rules: ['forbidden', 'schema'] as const,
    })),
  ],
};

describe.each(Object.entries(DAMAGES))('%s', (_, damages) => {
  test.each(damages)('$damage → $rules', async ({ edits, rules }) => {
    expect(await rulesFound(damagedReader(reader, edits))).toEqual(rules);
  });
});

test('a finding names the URL that is damaged', async () => {
  const damaged = damagedReader(reader, { [CLOSED_PAGE]: withText((text) => `${text} `) });
  const { findings } = await verify(damaged, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings.map(({ url, rule }) => [url, rule])).toEqual([
    [CLOSED_PAGE, 'canonical'],
    [CLOSED_PAGE, 'digest'],
  ]);
});
