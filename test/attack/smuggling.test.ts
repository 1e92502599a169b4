/**
 * Request smuggling: two parties see the end of one request at different places, and one of them takes the rest for a
 * request of its own. Here every request whose end is in doubt is the last of its connection.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, type Edge, parseReply, startEdge } from '../server/edge/edge-fixture.ts';
import { BODIES, putObjects } from '../server/edge/edge-objects.ts';
import { conversation, RawClient } from '../server/edge/raw-client.ts';

const GOLD = '/api/v1/markets/gold-usd';
const LIST = '/api/v1/markets';
const GET = `GET ${GOLD} HTTP/1.1\r\nHost: a\r\n`;
const POST = `POST ${GOLD} HTTP/1.1\r\nHost: a\r\n`;
/** Its answer is the only 404. */
const HIDDEN = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n';
/** In the place of a body: its length, and the length with the two bytes before it. */
const LENGTH = HIDDEN.length;
const CHUNK = `${LENGTH.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

/** Refusals are problem documents with these codes. */
const CODES: { readonly [status: number]: string } = {
  400: 'invalid-request',
  405: 'method-not-allowed',
  413: 'content-too-large',
  414: 'uri-too-long',
  431: 'header-fields-too-large',
};

type Row = readonly [title: string, bytes: string, statuses: readonly number[]];

/** Each is followed by a request that would be answered 200. Three answers: the requests in the packets of their own. */
const ROWS: readonly Row[] = [
  // Two framings.
  ['CL.TE', `${POST}Content-Length: ${5 + LENGTH}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`, [400]],
  ['TE.CL', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${CHUNK}`, [400]],
  ['CL.TE with GET', `${GET}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`, [400]],
  ['TE.CL with GET', `${GET}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${CHUNK}`, [400]],
  ['CL: 0 and TE', `${GET}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]],
  ['TE.TE, the first unknown', `${POST}Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]],
  ['TE.TE, the second unknown', `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n${CHUNK}`, [400]],
  ['TE.TE, twice chunked', `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]],
  ['a list of codings', `${GET}Transfer-Encoding: chunked, identity\r\n\r\n${CHUNK}`, [400]],
  ['the coding `identity`', `${GET}Transfer-Encoding: identity\r\n\r\n${HIDDEN}`, [400]],
  ['a coding in quotes', `${GET}Transfer-Encoding: "chunked"\r\n\r\n${CHUNK}`, [400]],
  ['a vertical tab before the coding', `${GET}Transfer-Encoding:\x0bchunked\r\n\r\n${CHUNK}`, [400]],
  ['a coding after a bare CR', `${GET}X: y\rTransfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]],
  ['a coding after a bare LF', `${GET}X: y\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]],
  ...['GET', 'POST', 'OPTIONS'].map((method): Row => {
    const head = `${method} ${GOLD} HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n`;
    return [`TE in HTTP/1.0 with ${method}`, `${head}Transfer-Encoding: chunked\r\n\r\n${CHUNK}`, [400]];
  }),
  ['an unknown coding', `${GET}Transfer-Encoding: xchunked\r\n\r\n${HIDDEN}`, [400]],
  ['gzip as coding', `${GET}Transfer-Encoding: gzip\r\n\r\n${HIDDEN}`, [400]],
  ['gzip before chunked', `${GET}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNK}`, [400]],
  ['an empty coding', `${GET}Transfer-Encoding: \r\n\r\n${CHUNK}`, [400]],
  // Bodies where none belongs.
  ['CL.0 with GET', `${GET}Content-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [413]],
  ['CL.0 with HEAD', `HEAD ${GOLD} HTTP/1.1\r\nHost: a\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [413]],
  ['CL.0 with POST', `${POST}Content-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [405]],
  ['CL.0 with OPTIONS', `OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [204]],
  ['0.CL: no body, though announced', `${GET}Content-Length: ${LENGTH}\r\n\r\n`, [413]],
  ['a body that is announced in capitals', `${GET}CONTENT-LENGTH: ${LENGTH}\r\n\r\n${HIDDEN}`, [413]],
  ['a body without a space after the colon', `${GET}Content-Length:${LENGTH}\r\n\r\n${HIDDEN}`, [413]],
  ['chunks', `${GET}Transfer-Encoding: chunked\r\n\r\n${CHUNK}`, [413]],
  ['chunks in capitals', `${GET}TRANSFER-ENCODING: CHUNKED\r\n\r\n${CHUNK}`, [413]],
  ['a chunk extension', `${GET}Transfer-Encoding: chunked\r\n\r\n${CHUNK.replace('\r\n', ';a="b"\r\n')}`, [413]],
  [
    'a chunk extension with an LF',
    `${POST}Transfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\n${HIDDEN}`,
    [405],
  ],
  ['a trailer', `${GET}Transfer-Encoding: chunked\r\nTrailer: Host\r\n\r\n0\r\nHost: b\r\n\r\n${HIDDEN}`, [413]],
  ['an expectation', `${GET}Expect: 100-continue\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [413]],
  // Lengths in doubt.
  ['two lengths', `${GET}Content-Length: 0\r\nContent-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['the same length twice', `${GET}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, [400]],
  ['a list of lengths', `${GET}Content-Length: 0, ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a negative length', `${GET}Content-Length: -${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a length with a sign', `${GET}Content-Length: +${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a length in base 16', `${GET}Content-Length: 0x${LENGTH.toString(16)}\r\n\r\n${HIDDEN}`, [400]],
  ['a length of two words', `${GET}Content-Length: 0 ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a length that is too long', `${GET}Content-Length: ${2n ** 64n}\r\n\r\n${HIDDEN}`, [400]],
  ['an empty length', `${GET}Content-Length: \r\n\r\n${HIDDEN}`, [400]],
  // Names and lines in doubt.
  ['a space after the name', `${GET}Content-Length : ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a tab after the name', `${GET}Transfer-Encoding\t: chunked\r\n\r\n${CHUNK}`, [400]],
  ['a space before the name', `${GET} Content-Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a space before the first name', `${GET.split('\r\n')[0]}\r\n Host: a\r\n\r\n${HIDDEN}`, [400]],
  ['a folded length', `${GET}Content-Length:\r\n ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a folded coding', `${GET}Transfer-Encoding:\r\n\tchunked\r\n\r\n${CHUNK}`, [400]],
  ['a field that is folded into a request', `${GET}X: y\r\n GET /nowhere HTTP/1.1\r\n\r\n`, [400]],
  ['a zero byte in a name', `${GET}Content-Length\0: ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['a zero byte in a value', `${GET}X: \0\r\n\r\n${HIDDEN}`, [400]],
  ['no colon', `${GET}Content-Length ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['an empty name', `${GET}: ${LENGTH}\r\n\r\n${HIDDEN}`, [400]],
  ['lines that end in LF', `${GET.replaceAll('\r\n', '\n')}\n${HIDDEN}`, [400]],
  ['a head that ends in LF', `${GET}\n${HIDDEN}`, [400]],
  ['an LF and a CRLF at the end', `${GET.trimEnd()}\n\r\n${HIDDEN}`, [400]],
  ['a CR too many', `${GET.trimEnd()}\r\r\n\r\n${HIDDEN}`, [400]],
  ['a request line that ends in CR', `GET ${GOLD} HTTP/1.1\rHost: a\r\n\r\n${HIDDEN}`, [400]],
  ['two versions', `GET ${GOLD} HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [400]],
  ['a target with a space', `GET ${GOLD} /nowhere HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [400]],
  ['no target', `GET HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [400]],
  ...['get', 'GETS', 'FOO', 'M-S*1', '\r\nFOO'].map((method): Row => {
    return [`the method ${JSON.stringify(method)}`, `${GET.replace('GET', method)}\r\n${HIDDEN}`, [405]];
  }),
  ['a very long method', `${GET.replace('GET', 'A'.repeat(40))}\r\n${HIDDEN}`, [400]],
  ['a URL beyond all limits', `${GET.replace(GOLD, `/${'a'.repeat(20_000)}`)}\r\n${HIDDEN}`, [414]],
  ['an answer', `HTTP/1.1 200 OK\r\nHost: a\r\n\r\n${HIDDEN}`, [400]],
  ['one word', `nonsense\r\n\r\n${HIDDEN}`, [400]],
  ['the first bytes of TLS', '\x16\x03\x01\x02\x00\x01\x00', [400]],
  ['letters after a request', `${GET}\r\nabc${HIDDEN.replace('a\r', 'b\r')}`, [200, 405]],
  ['garbage after a request', `${GET}\r\n<${HIDDEN}`, [200, 400]],
  ['one byte after a request', `${GET}\r\n\0${HIDDEN}`, [200, 400]],
  ['100 fields', `${GET}${'X: y\r\n'.repeat(99)}\r\n`, [200, 200]],
  ['101 fields', `${GET}${'X: y\r\n'.repeat(100)}\r\n${HIDDEN}`, [431]],
  ['900 fields', `${GET}${'X: y\r\n'.repeat(900)}\r\n${HIDDEN}`, [431]],
  ['a field of 16 KB', `${GET}X: ${'y'.repeat(16_384)}\r\n\r\n${HIDDEN}`, [431]],
  // Hosts in doubt.
  ['two hosts', `${GET}Host: b\r\n\r\n${HIDDEN}`, [400]],
  ['the same host twice', `${GET}Host: a\r\n\r\n${HIDDEN}`, [400]],
  ['two hosts in HTTP/1.0', `${GET.replace('1.1', '1.0')}Host: b\r\n\r\n${HIDDEN}`, [400]],
  ['no host', `GET ${GOLD} HTTP/1.1\r\n\r\n${HIDDEN}`, [400]],
  ['a list of hosts', `${GET.replace('Host: a', 'Host: a, b')}\r\n${HIDDEN}`, [400]],
  ['a host with a path', `${GET.replace('Host: a', 'Host: a/b')}\r\n${HIDDEN}`, [400]],
  // Requests that end the connection.
  ['`Connection: close`', `${GET}Connection: close\r\n\r\n${HIDDEN}`, [200]],
  ['`close` in a list', `${GET}Connection: keep-alive, close\r\n\r\n${HIDDEN}`, [200]],
  ['`close` in a second field', `${GET}Connection: keep-alive\r\nConnection: close\r\n\r\n${HIDDEN}`, [200]],
  ['HTTP/1.0', `${GET.replace('1.1', '1.0')}\r\n${HIDDEN}`, [200]],
  ['no version, which is HTTP/0.9', `GET ${GOLD}\r\nX: HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [200]],
  ['no version and no host', `GET ${GOLD}\r\n\r\n${HIDDEN}`, [400]],
  ...['1.2', '1.9', '1.12', '3.0'].map((version): Row => {
    return [`HTTP/${version}`, `${GET.replace('1.1', version)}\r\n${HIDDEN}`, [400]];
  }),
  ['an upgrade', `${GET}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${HIDDEN}`, [200]],
  ['an upgrade that is not for the connection', `${GET}Upgrade: h2c\r\n\r\n${HIDDEN}`, [200]],
  ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${HIDDEN}`, [400]],
  ['the preface of HTTP/2 and a frame', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', [400]],
  ['CONNECT', `CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [405]],
  // Requests whose end is clear: the next one is an ordinary request.
  ['an empty body', `${GET}Content-Length: 0\r\n\r\n${HIDDEN}`, [200, 404, 200]],
  ['a name that only looks like a length', `${GET}Content_Length: ${LENGTH}\r\n\r\n${HIDDEN}`, [200, 404, 200]],
  ['a name that only looks like a coding', `${GET}XTransfer-Encoding: chunked\r\n\r\n${HIDDEN}`, [200, 404, 200]],
  ['a length that only a proxy may drop', `${GET}Connection: Host\r\n\r\n${HIDDEN}`, [200, 404, 200]],
  ['HEAD', `HEAD ${LIST} HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`, [200, 404, 200]],
  ['304', `${GET}If-None-Match: *\r\n\r\n${HIDDEN}`, [304, 404, 200]],
  ['empty lines before a request', `\r\n\r\n${GET}\r\n\r\n${HIDDEN}`, [200, 404, 200]],
];

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({});
  putObjects(edge);
  for (const url of [GOLD, LIST]) await ask(edge, url);
});
afterAll(() => edge.close());

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

async function answersOf(
  ...packets: string[]
): Promise<{ readonly text: string; readonly statuses: readonly number[] }> {
  const { text, isClosed } = await conversation(edge, packets);
  expect(isClosed).toBe(true);
  return { text, statuses: statusesOf(text) };
}

/** The last answer: a problem document that no cache keeps. */
function expectRefusal(text: string, status: number, isHead: boolean): void {
  const { headers, body } = parseReply(text.slice(text.search(/HTTP\/1\.1 \d{3} (?!.*HTTP\/1\.1 \d{3} )/s)));
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    date: 'now',
  });
  expect(headers.allow).toBe(status === 405 ? 'GET, HEAD, OPTIONS' : undefined);
  const code = CODES[status];
  if (isHead) expect(body).toHaveLength(0);
  else {
    expect(JSON.parse(body.toString())).toMatchObject({ status, code, type: `/problems/${code}` });
    expect(headers['content-length']).toBe(String(body.length));
  }
}

describe('a hidden request is not answered, and a refusal is a problem document', () => {
  test.each(ROWS)('%s', async (_title, bytes, statuses) => {
    // A second request of a packet comes too early.
    const inOne = statuses.length === 3 ? statuses.slice(0, 1) : statuses;
    const last = await answersOf(bytes);
    expect(last.statuses).toEqual(inOne);
    expect(last.text).toMatch(/\r\nConnection: close\r\n(?!.*\r\nConnection: keep-alive)/s);
    const end = inOne.at(-1) as number;
    if (end >= 400) expectRefusal(last.text, end, bytes.startsWith('HEAD'));
    // With a packet of its own for each request that the client has in mind.
    const hidden = bytes.lastIndexOf(HIDDEN);
    if (hidden > 0) {
      expect((await answersOf(bytes.slice(0, hidden), HIDDEN)).statuses).toEqual(statuses);
      expect((await answersOf(`${GET}\r\n`, bytes.slice(0, hidden), HIDDEN)).statuses).toEqual([200, ...statuses]);
    }
    // After requests that were answered, and with each packet cut after its first line.
    expect((await answersOf(`${GET}\r\n`, `${GET}\r\n`, bytes)).statuses).toEqual([200, 200, ...inOne]);
    const cut = bytes.indexOf('\r\n') + 2;
    expect((await answersOf(bytes.slice(0, cut), bytes.slice(cut))).statuses).toEqual(inOne);
    // In the packet of another request.
    expect((await answersOf(`${GET}\r\n${bytes}`)).statuses[0]).toBe(200);
    expect((await answersOf(`${GET}\r\n${bytes}`)).statuses).not.toContain(404);
  });
});

describe('the packets of a request change nothing', () => {
  const request = `GET ${LIST} HTTP/1.1\r\nHost: localhost:8787\r\nAccept-Encoding: gzip;q=0\r\nX: y\r\n\r\n`;
  const two = request + HIDDEN;

  test('cut at every byte', async () => {
    const whole = await answersOf(request);
    expect(whole.statuses).toEqual([200, 200]);
    expect(whole.text).toContain(Buffer.from(BODIES[LIST] as string).toString('latin1'));
    for (let cut = 1; cut < request.length; cut++) {
      const { text } = await answersOf(request.slice(0, cut), request.slice(cut));
      expect(text, `cut at ${cut}`).toBe(whole.text);
    }
  });

  test('cut at every byte after a request in a packet of its own', async () => {
    const whole = await answersOf(request, request);
    for (let cut = 1; cut < request.length; cut++) {
      const { text } = await answersOf(request, request.slice(0, cut), request.slice(cut));
      expect(text, `cut at ${cut}`).toBe(whole.text);
    }
  });

  test('two requests, cut at every byte', async () => {
    const apart = await answersOf(request, HIDDEN);
    expect(apart.statuses).toEqual([200, 404, 200]);
    const together = await answersOf(two);
    expect(together.statuses).toEqual([200]);
    for (let cut = 1; cut < two.length; cut++) {
      const { text } = await answersOf(two.slice(0, cut), two.slice(cut));
      expect(text, `cut at ${cut}`).toBe((cut < request.length ? together : apart).text);
    }
  });

  test('byte by byte', async () => {
    expect((await answersOf(...two)).text).toBe((await answersOf(request, HIDDEN)).text);
  });
});

test('a request that breaks off at any byte is answered 400', async () => {
  const request = `GET ${LIST} HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n`;
  for (let cut = 0; cut < request.length; cut++) {
    const client = await RawClient.open(edge);
    await client.send(request.slice(0, cut));
    client.socket.end();
    await client.waitFor(() => false);
    expect(statusesOf(client.text), `broken off at ${cut}`).toEqual(cut === 0 ? [] : [400]);
  }
});
