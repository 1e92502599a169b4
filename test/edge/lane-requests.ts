/** Arbitrary requests, most of them such that the fast lane takes them, and many that are almost such. */
import fc from 'fast-check';
import { BODIES, etagOf, URLS } from './lane-world.ts';
import type { Sent } from './twin-edges.ts';

/** Requests of one connection, with what is true when it begins. */
export interface Case {
  /** URLs that are asked for first, each with a connection of its own, and the codings that are accepted then. */
  readonly warm: readonly { readonly url: string; readonly accept: string }[];
  /** The time from then to the connection. */
  readonly seconds: number;
  readonly store: 'up' | 'unavailable' | 'corrupt';
  readonly isReady: boolean;
  readonly sent: readonly Sent[];
}

const { constantFrom, constant, oneof, record, array, string, integer, double, boolean, tuple } = fc;
type Arb<Value> = fc.Arbitrary<Value>;

/** Mostly the first; one time in `n` one of the others. */
const mostly = <Value>(first: Value, n: number, ...others: Value[]): Arb<Value> =>
  oneof({ weight: n - 1, arbitrary: constant(first) }, { weight: 1, arbitrary: constantFrom(...others) });

const OBJECT_URLS = Object.keys(BODIES);
const url = oneof(
  { weight: 3, arbitrary: constantFrom(...OBJECT_URLS.slice(0, 6)) },
  { weight: 2, arbitrary: constantFrom(...OBJECT_URLS) },
  { weight: 1, arbitrary: constantFrom(...URLS) },
);
const method = oneof(
  { weight: 8, arbitrary: mostly('GET', 4, 'HEAD') },
  {
    weight: 1,
    arbitrary: constantFrom(
      'OPTIONS',
      'POST',
      'get',
      'Get',
      'GE',
      'GETS',
      'HEAD ',
      'FOO',
      'M-SEARCH',
      'CONNECT',
      'TRACE',
      'PRI',
      '',
    ),
  },
);
const version = mostly(
  'HTTP/1.1',
  12,
  ...[
    'HTTP/1.0',
    'HTTP/1.2',
    'HTTP/1.9',
    'HTTP/2.0',
    'HTTP/0.9',
    'http/1.1',
    'HTTP/1.1 ',
    'HTTP/1.10',
    'HTTP/01.1',
    'HTTP /1.1',
    '',
  ],
);

const CODINGS = [
  ...['br', 'gzip', 'identity', '*', 'gzip, deflate, br, zstd', 'br;q=0.5, gzip;q=0.9', 'gzip;q=0', 'br;q=0, *;q=0.1'],
  ...[
    'identity;q=0',
    '*;q=0',
    'identity;q=0, *;q=0',
    'identity;q=0, br',
    '',
    ',',
    'BR',
    'gzip;Q=0.3',
    'gzip ; q=1',
    'x-gzip',
  ],
  ...[
    'gzip;q=1.5',
    'gzip;q=abc',
    'gzip,,br',
    ' gzip',
    'deflate',
    'br;q=1.000, gzip;q=1.000',
    'br\t,gzip',
    `br${',x'.repeat(200)}`,
  ],
];
/** Stands for the entity tag of the object that is asked for. */
const ETAG = 'ETAG';
const tag = mostly(ETAG, 5, ...OBJECT_URLS.slice(0, 3).map(etagOf));
const ifNoneMatch = oneof(
  ...[tag, tag.map((it) => `W/${it}`), tuple(tag, tag).map(([a, b]) => `${a}, W/${b}`), tag.map((it) => `"x", ${it}`)],
  constantFrom(
    '*',
    '"no"',
    '',
    '"',
    'W/',
    'w/"a"',
    '*, "a"',
    '"a" "b"',
    '"a\xff"',
    `"x",\t ,${ETAG} ,`,
    `bad, ${ETAG}`,
  ),
  constantFrom(`${'"y", '.repeat(300)}${ETAG}`, `${ETAG}${ETAG}`, `${ETAG}, *`, `w/${ETAG}`, `"${ETAG}`, `${ETAG}x`),
);
const withTags = (bytes: string, target: string): string => bytes.replaceAll(ETAG, etagOf(target));
const text = string({
  unit: integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

type Field = readonly [name: string, value: string];
const field = (name: string, value: Arb<string>): Arb<Field> => value.map((it) => [name, it] as const);

/** Fields that change nothing, or only the choice between the codings and 304. */
const PLAIN_FIELDS: readonly Arb<Field>[] = [
  field('Accept-Encoding', constantFrom(...CODINGS)),
  field('If-None-Match', ifNoneMatch),
  field('Accept-Encoding', constantFrom(...CODINGS.slice(0, 5))),
  field('If-None-Match', constantFrom(ETAG, `W/${ETAG}`)),
  field('Connection', constantFrom('keep-alive', 'Keep-Alive')),
  field('User-Agent', text),
  field('Accept', constantFrom('*/*', 'application/json', '')),
  field('Cookie', text),
  field('X-Forwarded-For', constantFrom('127.0.0.1', '::1, 10.0.0.1')),
  field('If-Modified-Since', constantFrom('Fri, 20 Nov 2026 12:00:00 GMT', 'x')),
  field('Keep-Alive', constantFrom('timeout=5', 'max=1')),
  field('X', text),
  field('Referer', constantFrom('http://a/?b=c:d')),
];

/** Fields that the lane must leave to node:http, or that one of both could understand differently. */
const ODD_FIELDS: readonly Arb<Field>[] = [
  field(
    'Connection',
    constantFrom('close', 'Close', 'keep-alive, close', 'close, keep-alive', 'upgrade', 'x', '', 'keep-alive ,x'),
  ),
  field('Host', constantFrom('a', 'b', '', 'a b', '[::1]', 'a@b')),
  field(
    'Content-Length',
    constantFrom('0', '00', '3', '-1', '+0', '0, 0', '', '99999999999999999999', ' 0', '0x0', '5'),
  ),
  field(
    'Transfer-Encoding',
    constantFrom('chunked', 'Chunked', 'gzip, chunked', 'identity', 'xchunked', '', 'chunked, chunked', '\x0bchunked'),
  ),
  field('Range', constantFrom('bytes=0-3', 'bytes=2-', 'bytes=-5', 'bytes=999999-', 'bytes=0-1,3-4', 'x', '')),
  field('If-Range', oneof(tag, constantFrom('"x"', 'W/"x"'))),
  field('Expect', constantFrom('100-continue', '100-Continue', 'x', '')),
  field('Upgrade', constantFrom('h2c', 'websocket', '')),
  field('Cache-Control', constantFrom('no-cache', 'max-age=0', 'only-if-cached', '')),
  field('Pragma', constant('no-cache')),
  field('Authorization', constantFrom('Bearer x', '')),
  field('TE', constantFrom('trailers', 'chunked')),
  field('Trailer', constant('Host')),
  field('HTTP2-Settings', constant('AAMAAABkAAQCAAAAAAIAAAAA')),
  field('Proxy-Connection', constantFrom('close', 'keep-alive')),
  field('If-Match', tag),
  field('X', constantFrom('a\0b', 'a\x01b', '\x7f', 'h\xf6st', 'a\r\n b', 'a\r\n\tb', 'a\nb', 'a\rb', '\t', 'a\t')),
  field(
    'X',
    integer({ min: 0, max: 17_000 }).map((length) => 'y'.repeat(length)),
  ),
  field('X-Method-Override', constant('POST')),
  field('Ho st', constant('a')),
  field('', constantFrom('', 'a')),
  field('X\0', constant('a')),
  field(' X', constant('a')),
  field('X(', constant('a')),
  field('constructor', constant('a')),
  field('__proto__', constant('a')),
  field('h\xf6st', constant('a')),
];

const spelled = (name: string, how: number): string =>
  how === 0
    ? name
    : how === 1
      ? name.toLowerCase()
      : how === 2
        ? name.toUpperCase()
        : name.replace(/.$/, (end) => end.toUpperCase());

const line = (fields: Arb<Field>): Arb<string> =>
  tuple(
    ...([
      fields,
      mostly(0, 3, 1, 2, 3),
      mostly(': ', 8, ':', ':  ', ':\t', ' : ', '\t:', ''),
      mostly('', 10, ' ', '\t', ' \t '),
    ] as const),
    mostly('\r\n', 60, '\n', '\r', '\r\r\n', '\n\r', '', '\0\r\n'),
  ).map(([[name, value], how, colon, after, end]) => `${spelled(name, how)}${colon}${value}${after}${end}`);

const host = mostly(
  'Host: a\r\n',
  15,
  '',
  'host:a\r\n',
  'HOST: [::1]:80\r\n',
  'Host: a b\r\n',
  'Host: \r\n',
  'Host:\ta\r\n',
  'Host: a:\r\n',
  'Host: a\r\nHost: a\r\n',
);

/** What the lane takes: requests of one client, which sends the same header fields again and again. */
const cleanSeries: Arb<readonly string[]> = record({
  lines: array(line(oneof(...PLAIN_FIELDS)), { maxLength: 4 }),
  isHostLast: boolean(),
  asked: array(tuple(mostly('GET', 5, 'HEAD'), url), { minLength: 1, maxLength: 4 }),
}).map(({ lines, isHostLast, asked }) => {
  const block = isHostLast ? `${lines.join('')}Host: a\r\n\r\n` : `Host: a\r\n${lines.join('')}\r\n`;
  return asked.map(([verb, target]) => withTags(`${verb} ${target} HTTP/1.1\r\n${block}`, target));
});
const cleanRequest: Arb<string> = cleanSeries.map(([first]) => first as string);

const oddRequest: Arb<string> = record({
  before: mostly('', 15, '\r\n', '\n', '\r\n\r\n', ' ', '\0'),
  method,
  space: mostly(' ', 20, '  ', '\t'),
  target: url,
  version,
  lineEnd: mostly('\r\n', 30, '\n', '\r', '\r\r\n', ' \r\n'),
  host,
  fields: array(line(oneof(...PLAIN_FIELDS, ...ODD_FIELDS)), { maxLength: 4 }),
  many: mostly(0, 20, 90, 97, 98, 99, 100, 101, 1_999, 2_100),
  end: mostly('\r\n', 20, '\n', '\r', '', '\r\n\r\n', '\r\nabc', '\r\n0\r\n\r\n', '\r\n5\r\nabcde\r\n0\r\n\r\n'),
}).map((it) =>
  withTags(
    `${it.before}${it.method}${it.space}${it.target} ${it.version}${it.lineEnd}${it.host}${it.fields.join('')}${'X: y\r\n'.repeat(it.many)}${it.end}`,
    it.target,
  ),
);

const place = double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const at = (bytes: string, where: number): number => Math.floor(where * bytes.length);

/** One small damage to a request. */
const damagedRequest: Arb<string> = tuple(
  cleanRequest,
  constantFrom('insert', 'remove', 'replace', 'repeat', 'cut'),
  place,
  constantFrom('\r', '\n', '\r\n', '\0', ' ', '\t', ':', '\x80', '\xff', ',', 'A', 'GET / HTTP/1.1\r\n', '\r\n\r\n'),
).map(([bytes, kind, where, what]) => {
  const [head, tail] = [bytes.slice(0, at(bytes, where)), bytes.slice(at(bytes, where))];
  if (kind === 'insert') return head + what + tail;
  if (kind === 'remove') return head + tail.slice(1);
  if (kind === 'replace') return head + what + tail.slice(what.length);
  return kind === 'repeat' ? head + tail.slice(0, 20) + tail : head;
});

const requests: Arb<readonly string[]> = oneof(
  { weight: 5, arbitrary: cleanSeries },
  { weight: 3, arbitrary: oddRequest.map((bytes) => [bytes]) },
  { weight: 2, arbitrary: damagedRequest.map((bytes) => [bytes]) },
);

/** Requests in packets that may hold several requests, or parts of them. */
const mixed: Arb<readonly Sent[]> = array(
  record({
    requests,
    cuts: oneof(constant<number[]>([]), constant<number[]>([]), array(place, { maxLength: 3 })),
    joined: mostly(false, 3, true),
    pauses: boolean(),
  }),
  { maxLength: 4 },
).map((groups) => {
  const packets: Sent[] = [];
  let rest = '';
  for (const { bytes, cuts, joined, pauses } of groups.flatMap(({ requests, ...how }) =>
    requests.map((bytes) => ({ bytes, ...how })),
  )) {
    const whole = rest + bytes;
    const places = cuts.map((cut) => at(whole, cut)).sort((a, b) => a - b);
    const pieces = [0, ...places].map((from, index) => whole.slice(from, places[index]));
    rest = joined ? (pieces.pop() as string) : '';
    packets.push(...pieces.filter((piece) => piece !== '').map((piece) => ({ bytes: piece, pauses })));
  }
  return rest === '' ? packets : [...packets, { bytes: rest, pauses: false }];
});

/** The lane first has some packets that it takes, because nothing comes back to it from node:http. */
const sent: Arb<readonly Sent[]> = tuple(
  array(tuple(cleanSeries, boolean()), { maxLength: 4 }),
  oneof(constant([]), mixed),
).map(([taken, rest]) => [...taken.flatMap(([all, pauses]) => all.map((bytes) => ({ bytes, pauses }))), ...rest]);

export const laneCase: Arb<Case> = record({
  warm: oneof(
    constant([]),
    constant(OBJECT_URLS.slice(0, 6).map((it) => ({ url: it, accept: 'br' }))),
    array(record({ url: constantFrom(...OBJECT_URLS), accept: constantFrom('br', 'gzip', 'identity') }), {
      maxLength: 3,
    }),
  ),
  seconds: oneof(constant(0), constantFrom(0, 1, 14, 14.999, 15, 16, 314, 315, 316, -1)),
  store: mostly<Case['store']>('up', 6, 'unavailable', 'corrupt'),
  isReady: mostly<boolean>(true, 20, false),
  sent,
});
