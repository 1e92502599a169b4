/** Sources are asked over TLS on loopback. Only the look-up, the port and the authority are of the test. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { failureOfStatus } from '../../lambdas/sources/fetch/fetch-failure.ts';
import { type FetchRequest, fetchSource } from '../../lambdas/sources/fetch/fetch-source.ts';
import { isPublicAddress } from '../../lambdas/sources/fetch/public-address.ts';
import { type SourceServer, startSourceServer } from './source-server.ts';

const HOSTS = ['data.example.org', 'files.example.org'];
const BODY = 'Date,Price\n2026-01-02,1.5\n';

type Answer = (response: ServerResponse, url: URL) => void;
const answers = new Map<string, Answer>();
let server: SourceServer;

beforeAll(async () => {
  server = await startSourceServer([...HOSTS, 'other.example.org'], (url, response) => {
    const answer = answers.get(url.pathname);
    if (answer === undefined) response.writeHead(404).end();
    else answer(response, url);
  });
});
afterAll(() => server.end());
beforeEach(() => {
  server.requests.length = 0;
});

const request = (url: string, more: Partial<FetchRequest> = {}): FetchRequest => ({
  ...{ url, hosts: HOSTS, maxBytes: 10_000, timeoutSeconds: 10, etag: null, lastModified: null },
  ...more,
});
const ask = (url: string, more: Partial<FetchRequest> = {}) => fetchSource(request(url, more), server.network);

/** Serves an answer at a path of its own, and asks for it. */
function askFor(answer: Answer, more: Partial<FetchRequest> = {}) {
  const path = `/${randomBytes(6).toString('hex')}`;
  answers.set(path, answer);
  return ask(`https://data.example.org${path}`, more);
}

describe('an answer', () => {
  test('has its bytes and its validators', async () => {
    const answer = await askFor((response) => {
      response.writeHead(200, { etag: '"v1"', 'last-modified': 'Fri, 02 Jan 2026 15:00:00 GMT' }).end(BODY);
    });
    expect(answer).toMatchObject({ kind: 'answer', etag: '"v1"', lastModified: 'Fri, 02 Jan 2026 15:00:00 GMT' });
    expect('bytes' in answer && Buffer.from(answer.bytes).toString()).toBe(BODY);
  });

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(BODY)],
    ['br', brotliCompressSync(BODY)],
    ['X-Gzip', gzipSync(BODY)],
    ['identity', Buffer.from(BODY)],
    ['', Buffer.from(BODY)],
  ])('is decoded from %j', async (coding, bytes) => {
    const answer = await askFor((response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes));
    expect('bytes' in answer && Buffer.from(answer.bytes).toString()).toBe(BODY);
  });

  test('comes for a request without a cookie, a credential or a name of the operator', async () => {
    await askFor((response) => response.end(BODY));
    expect(Object.keys(server.requests[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  test('is not sent again if it is known', async () => {
    const known = { etag: '"v1"', lastModified: 'Fri, 02 Jan 2026 15:00:00 GMT' };
    const answer = await askFor((response) => response.writeHead(304).end(), known);
    expect(answer).toEqual({ kind: 'not-modified' });
    expect(server.requests[0]?.headers).toMatchObject({
      'if-none-match': known.etag,
      'if-modified-since': known.lastModified,
    });
  });

  test('has no validators that are too long to be sent back', async () => {
    const answer = await askFor((response) => response.writeHead(200, { etag: `"${'a'.repeat(2000)}"` }).end(BODY));
    expect(answer).toMatchObject({ kind: 'answer', etag: null, lastModified: null });
  });

  test('may be as large as the limit', async () => {
    const answer = await askFor((response) => response.end(Buffer.alloc(10_000)));
    expect(answer).toMatchObject({ kind: 'answer' });
  });
});

describe('an internal host', () => {
  let inside: Server;
  let origin: string;
  const asked: string[] = [];
  beforeAll(async () => {
    inside = createServer((incoming, response) => {
      asked.push(incoming.url ?? '');
      if (incoming.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
      else if (incoming.url === '/on') response.writeHead(302, { location: '/prices' }).end();
      else response.end(BODY);
    });
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    origin = `http://localhost:${(inside.address() as AddressInfo).port}`;
  });
  afterAll(() => void inside.close());
  beforeEach(() => {
    asked.length = 0;
  });

  const askInside = (path: string, named = [origin], allowed = [origin]) =>
    fetchSource(request(path.replace('INSIDE', origin), { hosts: [...HOSTS, ...named] }), {
      ...server.network,
      internal: new Set(allowed),
    });

  test.each(['INSIDE/prices', 'INSIDE/on'])('is asked by http and at its port: %s', async (url) => {
    expect(await askInside(url)).toMatchObject({ kind: 'answer' });
  });

  test('is not asked unless the recipe and the operator both name it as it is', async () => {
    const refused = { code: 'not-allowed', isRetryable: false };
    expect(await askInside('INSIDE/prices', [], [origin])).toMatchObject(refused);
    expect(await askInside('INSIDE/prices', [origin], [])).toMatchObject(refused);
    expect(await askInside('INSIDE/prices', [origin], ['http://localhost:1', 'http://localhost'])).toMatchObject(
      refused,
    );
    expect(await askInside(`${origin.replace('http:', 'https:')}/prices`)).toMatchObject(refused);
    expect(await askInside(`${origin.replace('localhost', '127.0.0.1')}/prices`)).toMatchObject(refused);
    expect(asked).toEqual([]);
  });

  test('sends nobody elsewhere, and no public host sends anybody to it', async () => {
    expect(await askInside('INSIDE/away')).toMatchObject({ code: 'not-allowed' });
    answers.set('/to-inside', (response) => response.writeHead(302, { location: `${origin}/prices` }).end());
    expect(await askInside('https://data.example.org/to-inside')).toMatchObject({ code: 'not-allowed' });
    expect(asked).toEqual(['/away']);
  });
});

describe('a redirect', () => {
  const to =
    (location: string): Answer =>
    (response) =>
      response.writeHead(302, { location }).end(BODY);

  test('to an allowed host is followed', async () => {
    answers.set('/target', (response, url) => response.end(url.hostname));
    const answer = await askFor(to('https://files.example.org/target'));
    expect('bytes' in answer && Buffer.from(answer.bytes).toString()).toBe('files.example.org');
  });

  test('is followed five times, and not six', async () => {
    for (let step = 1; step <= 6; step++) answers.set(`/step${step}`, to(`/step${step - 1}`));
    answers.set('/step0', (response) => response.end(BODY));
    expect(await ask('https://data.example.org/step5')).toMatchObject({ kind: 'answer' });
    expect(await ask('https://data.example.org/step6')).toMatchObject({ code: 'not-allowed', isRetryable: false });
  });

  test.each<[string, string | undefined]>([
    ['to another host', 'https://other.example.org/target'],
    ['in the clear', 'http://data.example.org/target'],
    ['to another port', 'https://data.example.org:8443/target'],
    ['with a password', 'https://me:secret@data.example.org/target'],
    ['to an address', 'https://127.0.0.1/target'],
    ['to an address of version 6', 'https://[::1]/target'],
    ['to an address in another notation', 'https://2130706433/target'],
    ['to a file', 'file:///etc/passwd'],
    ['to no URL', 'https://'],
    ['to nothing', undefined],
  ])('%s is not followed', async (_, location) => {
    const answer = await askFor((response) =>
      response.writeHead(301, location === undefined ? {} : { location }).end(),
    );
    expect(answer).toMatchObject({ kind: 'failed', code: 'not-allowed', isRetryable: false });
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  test('looks the host up again, and checks its addresses again', async () => {
    let lookups = 0;
    const lookup: LookupFunction = (host, options, callback) => {
      lookups += 1;
      // The second host, or a name server that has changed its mind.
      if (lookups === 2) return callback(null, [{ address: '10.0.0.7', family: 4 }]);
      server.network.lookup(host, options, callback);
    };
    answers.set('/again', to('https://data.example.org/target'));
    const answer = await fetchSource(request('https://data.example.org/again'), { ...server.network, lookup });
    expect(answer).toMatchObject({ code: 'not-allowed', detail: expect.stringContaining('10.0.0.7') });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a host', () => {
  test.each(['http://data.example.org/', 'https://other.example.org/', 'https://data.example.org:80/', 'data', ''])(
    'of %j is not asked',
    async (url) => {
      expect(await ask(url)).toMatchObject({ kind: 'failed', code: 'not-allowed' });
      expect(server.requests).toEqual([]);
    },
  );

  test('that is an address is not asked, even if the recipe lists it', async () => {
    const answer = await ask('https://127.0.0.1/', { hosts: ['127.0.0.1'] });
    expect(answer).toMatchObject({ kind: 'failed', code: 'not-allowed' });
  });

  test('on loopback is not asked by the service, which has no other network than the internet', async () => {
    const lookups: string[] = [];
    const lookup: LookupFunction = (host, _options, callback) => {
      lookups.push(host);
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const answer = await fetchSource(request('https://data.example.org/'), {
      ...server.network,
      lookup,
      mayConnect: isPublicAddress,
    });
    expect(answer).toMatchObject({ kind: 'failed', code: 'not-allowed', isRetryable: false });
    expect([lookups, server.requests]).toEqual([['data.example.org'], []]);
    // The default network: this name is loopback on every machine (RFC 6761, section 6.3).
    const local = await fetchSource(request('https://localhost/', { hosts: ['localhost'] }));
    expect(local).toMatchObject({ kind: 'failed', code: 'not-allowed' });
  });

  test('with one private address among public ones is not asked', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '192.168.0.1', family: 4 },
      ]);
    const answer = await fetchSource(request('https://data.example.org/'), { ...server.network, lookup });
    expect(answer).toMatchObject({ code: 'not-allowed', detail: expect.stringContaining('192.168.0.1') });
    expect(server.requests).toEqual([]);
  });

  test.each<[string, string, boolean]>([
    ['ENOTFOUND', 'no-such-host', true],
    ['ENOMEM', 'no-connection', true],
  ])('whose look-up fails by %s', async (errno, code, isRetryable) => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error('no'), { code: errno }), '');
    const answer = await fetchSource(request('https://data.example.org/'), { ...server.network, lookup });
    expect(answer).toMatchObject({ kind: 'failed', code, isRetryable });
  });

  test('without an address', async () => {
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, []);
    const answer = await fetchSource(request('https://data.example.org/'), { ...server.network, lookup });
    expect(answer).toMatchObject({ kind: 'failed', code: 'not-allowed' });
  });

  test('with a certificate for another name is not trusted', async () => {
    const answer = await ask('https://third.example.org/', { hosts: ['third.example.org'] });
    expect(answer).toMatchObject({ code: 'bad-certificate', isRetryable: false });
    expect(server.requests).toEqual([]);
  });

  test('with a certificate that Node does not trust is not trusted', async () => {
    const { ca: _, ...network } = server.network;
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const answer = await fetchSource(request('https://data.example.org/'), network);
      expect(answer).toMatchObject({ code: 'bad-certificate' });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
    expect(server.requests).toEqual([]);
  });

  test('with a certificate that has expired is not trusted', async () => {
    const past = [new Date('2020-01-01'), new Date('2020-02-01')] as const;
    const expired = await startSourceServer(HOSTS, (_, response) => response.end(BODY), past);
    try {
      const answer = await fetchSource(request('https://data.example.org/'), expired.network);
      expect(answer).toMatchObject({ code: 'bad-certificate' });
    } finally {
      await expired.end();
    }
  });

  test('where nothing listens', async () => {
    const gone = await startSourceServer(HOSTS, () => {});
    await gone.end();
    const answer = await fetchSource(request('https://data.example.org/'), gone.network);
    expect(answer).toMatchObject({ kind: 'failed', code: 'no-connection', isRetryable: true });
  });
});

describe('a failure', () => {
  const zeros = Buffer.alloc(1_000_000);

  const coded = (coding: string, body: string | Uint8Array): Answer => {
    return (response) => response.writeHead(200, { 'content-encoding': coding }).end(body);
  };
  const status = (code: number, body = '', fields: Readonly<Record<string, string>> = {}): Answer => {
    return (response) => response.writeHead(code, fields).end(body);
  };
  const inChunks: Answer = (response) => {
    for (let chunk = 0; chunk < 2; chunk++) response.write(zeros.subarray(0, 9_000));
  };
  const endsEarly: Answer = (response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('a', () => response.destroy());
  };
  const otherProtocol: Answer = ({ socket }) => {
    socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  };
  const emptyParts = Buffer.concat(Array(1000).fill(gzipSync('')));

  test.each<[string, Answer, string, (number | null)?]>([
    [
      'of a body above the limit, announced',
      (to) => to.writeHead(200, { 'content-length': 10_001 }).write('a'),
      'too-large',
    ],
    ['of a body above the limit, in chunks', inChunks, 'too-large'],
    ['of a body that becomes too large', coded('gzip', gzipSync(zeros)), 'too-large'],
    ['of a body of brotli that becomes too large', coded('br', brotliCompressSync(zeros)), 'too-large'],
    ['of a body of many parts that become nothing', coded('gzip', emptyParts), 'too-large'],
    ['of a coding that was not asked for', coded('zstd', 'x'), 'bad-coding'],
    ['of damaged gzip', coded('gzip', BODY), 'bad-coding, again'],
    ['of damaged brotli', coded('br', Buffer.alloc(40, 0xff)), 'bad-coding, again'],
    ['of gzip that ends early', coded('gzip', gzipSync(BODY).subarray(0, 20)), 'bad-coding, again'],
    ['of a body that ends early', endsEarly, 'no-connection, again'],
    ['of a source that says nothing', () => {}, 'timeout, again'],
    ['of a source that does not end', (response) => response.write('a'), 'timeout, again'],
    ['of another protocol', otherProtocol, 'http-101'],
    ['of no content', status(204), 'http-204'],
    ['of a part', status(206, BODY), 'http-206'],
    ['of 304 that nobody asked for', status(304), 'http-304'],
    ['of a file that is not there yet', status(404), 'http-404, again'],
    ['of a file that is gone', status(410), 'http-410'],
    ['of too many requests', status(429, '', { 'retry-after': '120' }), 'http-429, again', 120],
    ['of a server that is not well', status(503, '<h1>secret</h1>'), 'http-503, again', null],
  ])('%s is told', async (_, answer, expected, retryAfterSeconds) => {
    const failure = await askFor(answer, expected.startsWith('timeout') ? { timeoutSeconds: 1 } : {});
    const [code, again] = expected.split(', ');
    expect(failure).toMatchObject({ kind: 'failed', code, isRetryable: again !== undefined });
    if (retryAfterSeconds !== undefined) expect(failure).toHaveProperty('retryAfterSeconds', retryAfterSeconds);
    expect('detail' in failure && failure.detail).toMatch(/^[A-Z].*\.$/);
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  test.each<[string | undefined, number | null]>([
    ['0', 0],
    [' 90 ', 90],
    ['Fri, 02 Jan 2026 15:01:00 GMT', 60],
    ['Fri, 02 Jan 2026 14:00:00 GMT', 0],
    ['Fri, 99 Jan 2026 14:00:00 GMT', null],
    ['-1', null],
    ['1.5', null],
    ['9999999999999', null],
    ['tomorrow', null],
    ['2027', 2027],
    [undefined, null],
  ])('may name its end: Retry-After %j', (header, seconds) => {
    const nowMs = Date.parse('2026-01-02T15:00:00Z');
    expect(failureOfStatus(503, header, nowMs).retryAfterSeconds).toBe(seconds);
  });
});

describe('a public address is', () => {
  test.each(['1.1.1.1', '8.8.8.8', '172.15.255.255', '172.32.0.0', '100.63.255.255', '100.128.0.0', '192.0.1.1'])(
    '%s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
  test.each(['2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '2001:200::1', '2400::1'])('%s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

describe('no public address is', () => {
  test.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.8.8.8'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.1.1'],
    ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
    ...['255.255.255.255', '::', '::1', '::ffff:1.1.1.1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::127.0.0.1'],
    ...['64:ff9b::1.1.1.1', '64:ff9b:1::1', '100::1', '2001::1', '2001:0:7f00:1::', '2001:20::1', '2001:db8::1'],
    ...['2002:7f00:1::1', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
    ...['ff02::1', '4000::1', '2606:4700::1%1', 'localhost', '', '1.1.1', '01.1.1.1', '0x7f.1', '2130706433'],
  ])('%j', (address) => expect(isPublicAddress(address)).toBe(false));
});
