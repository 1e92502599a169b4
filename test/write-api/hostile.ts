/** Malformed events: valid ones of every operation, damaged in one or more places. */
import fc from 'fast-check';
import type { HttpEvent } from '../../lambdas/http/event.ts';

/** One place of an event, and its damage. `at` counts the places modulo their number. */
export type Damage =
  | { readonly to: 'method'; readonly text: string }
  | { readonly to: 'path'; readonly at: number; readonly removed: number; readonly text: string }
  | { readonly to: 'query'; readonly text: string }
  | { readonly to: 'field'; readonly name: string; readonly text: string | undefined }
  /** Replaces a value of the JSON with another text. */
  | { readonly to: 'value'; readonly at: number; readonly text: string }
  /** Adds a member to an object of the JSON. */
  | { readonly to: 'member'; readonly at: number; readonly name: string; readonly text: string }
  | { readonly to: 'characters'; readonly at: number; readonly removed: number; readonly text: string }
  | { readonly to: 'body'; readonly text: string }
  /** A field that API Gateway leaves out if it is empty. */
  | { readonly to: 'no-body' }
  /** As API Gateway sends binary bodies; also if the body is not binary, or not Base64. */
  | { readonly to: 'base64'; readonly how: 'flag-alone' | 'encoded' | 'damaged' };

/** A text in bodies that must not appear in a refusal. */
export const BODY_SECRET = 'sEcReT-OF-THE-BODY-7Yq';

/** They come beside any text: decoders, routers and prototypes stumble over them. */
const PARTS = `. .. % %00 %ff %2e%2e %2F %E0%A4%A %ED%A0%80 __proto__ constructor wl_01JD8N5W5XQ6M4T0VZ8R2K7C3A
  wl_81JD8N5W5XQ6M4T0VZ8R2K7C3A user: user:a/b user%3A%00 operator gold-usd \ud800 é ${'x'.repeat(5_000)}`.split(/\s+/);

/** They come beside any JSON: each is at an edge of a schema, or of JSON. */
const VALUES =
  String.raw`-0 -1 1e400 9007199254740993 1e-7 "\ud800" "\u0000" "2026-11-31T00:00:00Z" "-000001-01-01T00:00:00Z"
  "9999-12-31T23:59:59.999Z" "2026-11-20T00:00:00+00:00" "http://" "javascript:alert(1)" "https://user:password@host.example/"
  "XXX" "gold-usd" "__proto__" ["gold-usd","gold-usd"] {"__proto__":{"polluted":1}} {"a":1,"a":2} [[]] [null]
  {"constructor":{"prototype":{"polluted":1}}} "${BODY_SECRET}" ["${BODY_SECRET}"] {"type":"${BODY_SECRET}"}
  "${'x'.repeat(70_000)}" ${'['.repeat(40) + ']'.repeat(40)} [${'0,'.repeat(1_500)}0]`.split(/\s+/);

/** They come beside any text. */
const BODIES =
  String.raw`{ } null [] {} {"a":1}{"b":2} {"a":1,} {'a':1} NaN "\ud800" [1e999] ${BODY_SECRET} {"name":"${BODY_SECRET}"
  ${'['.repeat(100_000)} ${'{"a":'.repeat(5_000)} "${'x'.repeat(1_100_000)}"`.split(/\s+/);

const FIELDS =
  `authorization content-type content-encoding content-length idempotency-key if-match if-none-match origin cookie
  __proto__`.split(/\s+/);

const FIELD_VALUES = [
  ...`* "1" W/"1" "NaN" "-1" "1.5" "1e+21" "9007199254740993" "${'1'.repeat(9_000)}" ${','.repeat(5_000)} application/json
  application/x-ndjson text/plain gzip identity a-usable-key-0123456789 "a-usable-key-0123456789" short Bearer`.split(
    /\s+/,
  ),
  ...['', ' ', '"1", "2", "3"', 'application/json; charset=latin1', 'application/x-ndjson, application/json'],
  ...['Basic dXNlcjpwYXNzd29yZA==', 'Bearer ', 'Bearer a b', 'Bearer tdm_test_x_y'],
  ...['Bearer eyJhbGciOiJub25lIn0.e30.', `Bearer ${'x'.repeat(9_000)}`],
];

const QUERIES =
  `& = a a=1&a=2 cursor= cursor=AQ cursor=%ff cursor=${'A'.repeat(2_000)} __proto__=1 state=submitted state=nothing
  market=gold-usd subject=user:alice subject=user: actor=user:alice&target=x actor=%00 dryRun=true dryRun=yes token=abc
  x=tdm_test_abc x=eyJhbGciOiJub25lIn0.e30.`.split(/\s+/);

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'get', ''];
const NAMES = ['__proto__', 'constructor', 'unknown', 'name', 'type', ''];

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const at = fc.nat({ max: 1_000 });
const oneOf = (texts: readonly string[], any: fc.Arbitrary<string>) => fc.oneof(fc.constantFrom(...texts), any);
const value = oneOf(VALUES, fc.json());

/** How often each place is damaged, and the fields of such a damage. */
const KINDS: {
  readonly [Place in Damage['to']]: readonly [
    weight: number,
    fields: { readonly [Name in Exclude<keyof Extract<Damage, { to: Place }>, 'to'>]: fc.Arbitrary<unknown> },
  ];
} = {
  method: [1, { text: fc.constantFrom(...METHODS) }],
  path: [2, { at, removed: fc.nat({ max: 1 }), text: oneOf(PARTS, anyText) }],
  query: [2, { text: oneOf(QUERIES, anyText) }],
  field: [
    3,
    { name: fc.constantFrom(...FIELDS), text: fc.oneof(oneOf(FIELD_VALUES, anyText), fc.constant(undefined)) },
  ],
  value: [6, { at, text: value }],
  member: [2, { at, name: fc.constantFrom(...NAMES), text: value }],
  characters: [2, { at, removed: fc.nat({ max: 3 }), text: anyText }],
  body: [1, { text: oneOf(BODIES, anyText) }],
  'no-body': [1, {}],
  base64: [1, { how: fc.constantFrom('flag-alone', 'encoded', 'damaged') }],
};

export const damage = fc.oneof(
  ...Object.entries(KINDS).map(([to, [weight, fields]]) => ({
    weight,
    arbitrary: fc.record({ to: fc.constant(to), ...fields }),
  })),
) as fc.Arbitrary<unknown> as fc.Arbitrary<Damage>;

export function damaged(event: HttpEvent, done: Damage): HttpEvent {
  const { body = '', ...rest } = event;
  switch (done.to) {
    case 'method':
      return {
        ...event,
        requestContext: { ...event.requestContext, http: { ...event.requestContext.http, method: done.text } },
      };
    case 'path': {
      const parts = event.rawPath.split('/');
      const rawPath = parts.toSpliced(done.at % (parts.length + 1), done.removed, done.text).join('/');
      return { ...event, rawPath };
    }
    case 'query':
      return { ...event, rawQueryString: done.text };
    case 'field':
      return { ...event, headers: Object.fromEntries([...Object.entries(event.headers), [done.name, done.text]]) };
    case 'value': {
      const spot = pick(body, /"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.e+-]*|true|false|null/gi, done.at);
      return spot === null ? event : { ...event, body: spliced(body, spot.index, spot[0].length, done.text) };
    }
    case 'member': {
      const spot = pick(body, /\{(?!\})/g, done.at);
      const member = `${JSON.stringify(done.name)}:${done.text},`;
      return spot === null ? event : { ...event, body: spliced(body, spot.index + 1, 0, member) };
    }
    case 'characters':
      return { ...event, body: spliced(body, done.at % (body.length + 1), done.removed, done.text) };
    case 'body':
      return { ...event, body: done.text };
    case 'no-body':
      return rest;
    case 'base64': {
      const encoded = Buffer.from(body).toString('base64');
      const texts = { 'flag-alone': body, encoded, damaged: `${encoded}!` };
      return { ...event, body: texts[done.how], isBase64Encoded: true };
    }
  }
}

function pick(text: string, pattern: RegExp, at: number): RegExpExecArray | null {
  const spots = [...text.matchAll(pattern)];
  return spots[at % Math.max(1, spots.length)] ?? null;
}

function spliced(text: string, at: number, removed: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at + removed);
}
