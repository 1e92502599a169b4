/** Values that the public schemas accept and refuse, one change at a time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { millisecondInstant } from '../../contract/values/instants.ts';
import {
  collectionSchema,
  cursorSchema,
  marketSchema,
  slugSchema,
  snapshotSchema,
  sourceSchema,
} from '../../contract/values/market.ts';
import {
  canonicalInstant,
  decimalSchema,
  instantSchema,
  metricNameSchema,
  metricSchema,
  observationSchema,
  sourceUrlSchema,
} from '../../contract/values/metric.ts';
import { waitlistBody, waitlistSchema } from '../../contract/values/waitlist.ts';
import { flattenIssues, pointerOf } from '../../contract/values/zod-pointers.ts';

type Fields = { readonly [name: string]: unknown };

const PROVENANCE = {
  sourceLabel: 'currency-api daily release',
  sourceUrl: 'https://cdn.example/npm/@scope/currency-api@2026-09-29/v1/xau.json',
  observedAt: '2026-09-29T00:00:00Z',
  releasedAt: null,
  confidence: 'medium',
  status: 'final',
  sourceValue: '4129.10045482',
  rounded: true,
  unknownReason: null,
};
const TEXTS = { minorDigits: 2, decimal: '4129.10', decimalPerUnit: '4129.10' };
const MONEY = { kind: 'money', amountMinor: 412910, currency: 'USD', ...TEXTS, ...PROVENANCE };
const SCALAR = { kind: 'scalar', value: '1.50', unit: 'kg', ...PROVENANCE };
const UNKNOWN = { sourceValue: null, rounded: false, unknownReason: 'not-published' };
const PLACE = {
  id: 'obs_0123456789abcdef01234567',
  metric: 'price',
  recordedAt: '2026-10-01T12:00:00.000Z',
  retraction: null,
  supersedes: null,
  supersededAt: null,
  supersededBy: null,
};
const SOURCE = { label: 'A bank', url: 'https://bank.example', publisher: null, licence: null, attribution: null };
const SHOWN_SOURCE = { ...SOURCE, cadence: null, expectedNextAt: null };
const CADENCE = {
  period: 'day',
  weekdays: ['mon'],
  holidays: [],
  releaseAfterDays: 0,
  releaseTime: '15:00',
  graceSeconds: 3600,
};
const VERIFICATION = { outcome: 'confirmed', verifiedAt: '2026-10-01T12:00:00Z', subject: 'source' };
const MARKET = {
  slug: 'gold-usd',
  name: 'Gold, US dollar',
  kind: 'metal',
  status: 'active',
  nativeCurrency: 'USD',
  unit: { quantity: 1, of: 'troy ounce' },
  metrics: { price: MONEY },
  bySource: {},
  history: {
    count: 57,
    firstObservedAt: '2024-03-02T00:00:00Z',
    lastObservedAt: '2026-09-29T00:00:00Z',
    href: '/api/v1/markets/gold-usd/history',
  },
  sources: [{ ...SHOWN_SOURCE, verification: null }],
  disputed: false,
  disputedMetrics: [],
  representedBy: null,
  representedBySalt: null,
  updatedAt: '2026-09-29T00:00:00Z',
  revision: 57,
};

/** Where it is refused, as JSON Pointers; empty when it is taken. */
function refusals(schema: z.ZodType, value: unknown): readonly string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : flattenIssues(parsed.error.issues).map(({ path }) => pointerOf(path));
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
}

/** Which fields are required, and their forms, is in the committed OpenAPI document. Here is what it cannot say. */
const METRICS = [
  { what: 'money', base: MONEY, schema: metricSchema, value: 'amountMinor' },
  { what: 'observation of a scalar', base: { ...SCALAR, ...PLACE }, schema: observationSchema, value: 'value' },
];

describe.each(METRICS)('a metric: $what', ({ base, schema, value }) => {
  test('is taken as it is', () => {
    expect(schema.parse(base)).toEqual(base);
  });

  test.each(['sourceLabel', 'sourceUrl', 'observedAt', 'confidence'])('that is unknown still needs %s', (name) => {
    const whole: Fields = { ...base, ...UNKNOWN, [value]: null };
    expect(refusals(schema, whole)).toEqual([]);
    expect(refusals(schema, { ...whole, [name]: null })).toEqual([`/${name}`]);
    expect(refusals(schema, without(whole, name))).toEqual([`/${name}`]);
  });

  test.each<[string, Fields]>([
    ['null without a reason', { [value]: null }],
    ['a reason without null', { unknownReason: 'withheld' }],
  ])('%s is refused', (_, change) => {
    expect(refusals(schema, { ...base, ...change })).toEqual(['']);
  });

  test.each<[string, Fields]>([
    ['an unknown field', { more: 1 }],
    ['a label that is blank', { sourceLabel: '  ' }],
    ['digits with an exponent that has none', { sourceValue: '1e' }],
    ['a release in another time zone', { releasedAt: '2026-09-29T10:00:00+02:00' }],
  ])('%s is refused', (_, change) => {
    expect(refusals(schema, { ...base, ...change })).toEqual([`/${Object.keys(change)[0]}`]);
  });
});

test.each([0.5, 2 ** 53, -(2 ** 53), Number.NaN, Number.POSITIVE_INFINITY])(
  'an amount of %s is refused',
  (amountMinor) => {
    expect(refusals(metricSchema, { ...MONEY, amountMinor })).toEqual(['/amountMinor']);
  },
);

describe('a market', () => {
  test('is taken as it is, also without observations', () => {
    const history = { ...MARKET.history, count: 0, firstObservedAt: null, lastObservedAt: null };
    const change = { metrics: { price: null }, history, updatedAt: null, revision: 0 };
    for (const value of [MARKET, { ...MARKET, ...change }]) expect(marketSchema.parse(value)).toEqual(value);
  });

  test.each<[string, Fields, readonly string[]]>([
    ['an unknown field', { owner: 'x' }, ['/owner']],
    ['a blank name', { name: ' ' }, ['/name']],
    ['no price', { metrics: { volume: SCALAR } }, ['/metrics']],
    ['a metric that is no name', { metrics: { price: null, 'spot-price': null } }, ['/metrics/spot-price']],
    ['an unknown value without a reason', { metrics: { price: { ...MONEY, amountMinor: null } } }, ['/metrics/price']],
    ['a metric of one source by source', { bySource: { price: [MONEY] } }, ['/bySource/price']],
    ['a source that does not say when it was verified', { sources: [SHOWN_SOURCE] }, ['/sources/0/verification']],
  ])('with %s is refused', (_, change, where) => {
    expect(refusals(marketSchema, { ...MARKET, ...change })).toEqual(where);
  });
});

describe('the waitlist document', () => {
  const document = waitlistBody({ email: 'keys@tidemark.example' });

  test('with any plain address is accepted, and states the parts of a request', () => {
    for (const email of ['keys@tidemark.example', 'api+keys.eu@mail.tidemark-data.co.uk', 'K_1@X.IO']) {
      const value = waitlistBody({ email });
      expect(waitlistSchema.parse(value)).toEqual(value);
      expect(value).toMatchObject({ email, mailto: `mailto:${email}` });
    }
    expect(document.statements.map(({ name }) => name)).toEqual(['contact', 'use-case', 'requests-per-day', 'consent']);
  });

  test.each([
    '',
    'nobody',
    'a@b',
    '@tidemark.example',
    'a b@tidemark.example',
    'a@tidemark.example?subject=x',
    'é@x.org',
  ])('is not made for the address %j', (email) => {
    expect(() => waitlistBody({ email })).toThrow();
  });
});

describe('a collection', () => {
  const schema = collectionSchema(slugSchema, 100);
  const cursor = `12-${'0a'.repeat(16)}`;

  test.each([null, cursor])('with the next cursor %s is taken', (nextCursor) => {
    const files =
      nextCursor === null ? [null] : ['markets/pages/', 'history/pages/', ''].map((to) => `${to}${cursor}.json`);
    for (const next of files) expect(refusals(schema, { data: ['gold-usd'], page: { next, nextCursor } })).toEqual([]);
  });

  test.each<[string, unknown, readonly string[]]>([
    ['no page', { data: [] }, ['/page']],
    ['no word on the next page', { data: [], page: {} }, ['/page/next', '/page/nextCursor']],
    [
      'a link to another site',
      { data: [], page: { next: `//a.example/${cursor}.json`, nextCursor: cursor } },
      ['/page/next'],
    ],
    ['a cursor of another kind', { data: [], page: { next: null, nextCursor: '2' } }, ['/page/nextCursor']],
    ['a total', { data: [], page: { next: null, nextCursor: null, total: 1 } }, ['/page/total']],
    ['an item that does not fit', { data: ['gold-usd', 'Gold'], page: { next: null, nextCursor: null } }, ['/data/1']],
    ['an unknown field', { data: [], page: { next: null, nextCursor: null }, meta: {} }, ['/meta']],
  ])('with %s is refused', (_, value, where) => {
    expect(refusals(schema, value)).toEqual(where);
  });
});

/** The value with a member more in each of its objects in turn. */
function* withOneMore(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { ...value, more: 1 };
  for (const [key, inner] of Object.entries(value)) {
    for (const more of withOneMore(inner)) {
      yield Array.isArray(value) ? value.with(Number(key), more) : { ...value, [key]: more };
    }
  }
}

// Of an object that drops what it does not know, the OpenAPI document says the same.
describe('no object of a public body takes a member more', () => {
  const digest = 'a'.repeat(64);
  const counts = { markets: 0, observations: 0, unknownValues: 0 };
  const source = {
    ...SHOWN_SOURCE,
    cadence: CADENCE,
    expectedNextAt: '2026-10-01T15:00:00Z',
    verification: VERIFICATION,
  };
  test.each<[string, z.ZodType, unknown]>([
    ['market', marketSchema, { ...MARKET, sources: [source] }],
    ['observation', observationSchema, { ...MONEY, ...PLACE }],
    ['list', collectionSchema(marketSchema, 100), { data: [MARKET], page: { next: null, nextCursor: null } }],
    [
      'snapshot',
      snapshotSchema,
      { generation: 1, publishedAt: PLACE.recordedAt, counts, listDigest: digest, listGeneration: 1 },
    ],
    ['waitlist', waitlistSchema, waitlistBody({ email: 'keys@tidemark.example' })],
  ])('%s', (_, schema, body) => {
    expect(refusals(schema, body)).toEqual([]);
    for (const more of withOneMore(body)) expect(schema.safeParse(more).success, JSON.stringify(more)).toBe(false);
  });
});

interface Spelling {
  readonly what: string;
  readonly schema: z.ZodType;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const SPELLINGS: readonly Spelling[] = [
  {
    what: 'instant',
    schema: instantSchema,
    good: ['2026-09-29T00:00:00Z', '2026-09-29T23:59:59.999Z', '2026-09-29T00:00:00.5Z', '2024-02-29T00:00:00Z'],
    bad: [
      '2026-09-29',
      '2026-09-29T00:00Z',
      '2026-09-29T00:00:00',
      '2026-09-29T00:00:00+02:00',
      '2026-09-29T00:00:00-00:00',
      '2026-09-29T00:00:00+00',
      '2026-09-29T00:00+00:00',
      '2026-09-29 00:00:00Z',
      '2026-09-29t00:00:00z',
      '2026-09-29T00:00:00.1234Z',
      '2026-02-29T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-09-29T24:00:00Z',
      '2026-09-29T00:00:60Z',
      '+02026-09-29T00:00:00Z',
      ' 2026-09-29T00:00:00Z',
      '2026-09-29T00:00:00Z\n',
      1_790_000_000,
      '',
      null,
    ],
  },
  {
    what: 'source URL',
    schema: sourceUrlSchema,
    good: [
      'https://example.com',
      'http://example.com:8080/a?b=c#d',
      'HTTPS://EXAMPLE.COM/',
      'https://cdn.example/npm/@scope/package@2026-09-29/v1/xau.json',
      'https://xn--exmple-cua.com/%E2%82%AC',
      "https://example.com/it's;a=(b),c*d!e~f",
      'https://medium.example/@jo.smith',
      'http://192.0.2.1/',
      'http://[2001:db8::1]/',
      `https://example.com/${'a'.repeat(2048 - 20)}`,
    ],
    bad: [
      '',
      'example.com',
      '/relative',
      '//example.com',
      'ftp://example.com',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/plain,1',
      'https://',
      'https:example.com',
      'https://exa mple.com',
      'https://example.com/a b',
      'https://exämple.com/',
      'https://example.com/€',
      'http://127.0.0.1/a"><b>',
      'https://example.com/<b>',
      'https://example.com\\a',
      'https://example.com/{a}|^`',
      'https://example.com/100%',
      'https://example.com/%E2%8',
      'https://example.com/\u202e',
      'https://example.com/\r\nSet-Cookie: x=1',
      'https://example.com/\ud83d',
      'https://example.com/?for=joe@example.org',
      'https://example.com/?for=joe%40example.org',
      'https://example.com/?%40@example.org',
      'https://example.com/?key=tdm_live_k3y1d_c0ffee',
      'https://example.com/#eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl',
      ' https://example.com',
      'https://example.com\n',
      'https://user@example.com',
      'https://user:secret@example.com',
      'https://:secret@example.com',
      'https://example.com:99999',
      `https://example.com/${'a'.repeat(2048 - 19)}`,
      null,
    ],
  },
  {
    what: 'slug',
    schema: slugSchema,
    good: ['a', '0', 'gold-usd', 'a-b-c', '404', 'a'.repeat(80)],
    bad: ['', '-', '-a', 'a-', 'a--b', 'A', 'a_b', 'a.b', 'a/b', 'ä', 'a b', 'a\n', 'a'.repeat(81)],
  },
  {
    what: 'metric name',
    schema: metricNameSchema,
    good: ['price', 'tradingVolume', 'x1', 'a'.repeat(40)],
    bad: ['', 'Price', '1x', 'spot-price', 'spot_price', 'a'.repeat(41), 'price\n', '__proto__', 'email', 'subject'],
  },
  {
    what: 'decimal',
    schema: decimalSchema,
    good: ['0', '-0', '-36.98', '0.1', '00.10'],
    bad: ['', '-', '.', '1.', '.1', '+1', '1e3', '0x10', '１', '1 000', '1\n', 'Infinity'],
  },
  {
    what: 'cursor',
    schema: cursorSchema,
    good: [`1-${'0'.repeat(32)}`, `999999999999999-${'f'.repeat(32)}`],
    bad: ['', '1', `0-${'0'.repeat(32)}`, `1-${'0'.repeat(31)}`, `1-${'F'.repeat(32)}`, `1-${'0'.repeat(32)}\n`],
  },
  {
    what: 'source',
    schema: sourceSchema,
    good: [
      SOURCE,
      { ...SOURCE, cadence: null },
      { ...SOURCE, cadence: CADENCE },
      { ...SOURCE, publisher: 'A bank', licence: 'CC0-1.0', attribution: '© A bank' },
    ],
    bad: [without(SOURCE, 'licence'), { ...SOURCE, label: '' }, { ...SOURCE, licence: '' }, { ...SOURCE, email: 'x' }],
  },
];

describe.each(SPELLINGS)('$what', ({ schema, good, bad }) => {
  test.each(good.map((value) => ({ value })))('$value is taken', ({ value }) => {
    expect(schema.parse(value)).toEqual(value);
  });

  test.each(bad.map((value) => ({ value })))('$value is refused', ({ value }) => {
    expect(schema.safeParse(value).success).toBe(false);
  });
});

test.each([
  ['2026-09-29T00:00:00Z', '2026-09-29T00:00:00Z'],
  ['2026-09-29T00:00:00.000Z', '2026-09-29T00:00:00Z'],
  ['2026-09-29T00:00:00.5Z', '2026-09-29T00:00:00.500Z'],
  ['2026-09-29T00:00:00.050Z', '2026-09-29T00:00:00.050Z'],
])('the one spelling of %s is %s', (instant, expected) => {
  expect(canonicalInstant(instant)).toBe(expected);
});

test('the spellings of an instant, with milliseconds and without, say the same moment as a date does', () => {
  const text = fc
    .tuple(
      fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
      fc.integer({ min: 0, max: 3 }),
    )
    .map(([date, digits]) => date.toISOString().slice(0, digits === 0 ? 19 : 20 + digits))
    .map((text) => `${text}Z`);
  fc.assert(
    fc.property(text, (instant) => {
      expect(instantSchema.safeParse(instant).success).toBe(true);
      const date = new Date(instant).toISOString();
      expect(millisecondInstant(instant)).toBe(date);
      expect(canonicalInstant(instant)).toBe(date.replace('.000Z', 'Z'));
    }),
  );
});

test('+00:00 is another way to write Z, which generated clients for Python have', () => {
  expect(instantSchema.parse('2026-09-29T00:00:00+00:00')).toBe('2026-09-29T00:00:00Z');
  expect(instantSchema.parse('2026-09-29T00:00:00.5+00:00')).toBe('2026-09-29T00:00:00.5Z');
});
