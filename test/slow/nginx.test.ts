/** infra/hosting/nginx/tidemark.conf, in a real nginx in front of a real server. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../contract/files/page-headers.ts';
import { type ProblemCode, problem } from '../../contract/problems/problems.ts';
import { formatApiKey, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { freePort } from '../../tools/bench/free-port.ts';
import { tidemark } from '../cli/tidemark.ts';
import { type Asked, askProxy, missingProgram } from '../hosting/proxy.ts';
import { type NginxProxy, startNginxProxy } from '../hosting/reverse-proxies.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const MARKET = '/api/v1/markets/gold-usd';
const LIST = '/api/v1/markets';
/** Refused by nginx, without a question to the service. */
const ODD = [
  `${MARKET}?utm_source=x`,
  `${MARKET}?cursor=1-0`,
  `${LIST}?cursor=x`,
  `${LIST}?cursor=1-00&cursor=1-00`,
  '/api/v1/snapshot?_=1',
  '/api/v1//markets/gold-usd',
  '//api/v1/markets/gold-usd',
  '/api/v1/x/../markets/gold-usd',
  '/api/v1/x/%2e%2E/markets/gold-usd',
  '/api/v1/./markets/gold-usd',
  '/api/v1/markets/Gold-USD',
  '/api/v1/markets/gold-usd/../gold-usd?x=y',
];

const reason = missingProgram('nginx');
if (reason !== null && process.env.CI === 'true') throw new Error(reason);
if (reason !== null) console.log(`Skipped: ${reason}`);

describe.skipIf(reason !== null)('nginx in front of tidemark start', () => {
  const temporary = folderForAll();
  let environment: Record<string, string>;
  let origin: ServerProcess;
  let proxy: NginxProxy;
  let key: string;
  const ask = (path: string, asked?: Asked) => askProxy(proxy, path, asked);
  /** A write, with the operator's key. */
  const write = (path: string, body: object | string, name: string, more: Asked['headers'] = {}) =>
    ask(path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Idempotency-Key': name,
        'Content-Type': 'application/json',
        ...more,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const cli = (...words: readonly string[]) =>
    tidemark(['--url', proxy.url, '--key-file', join(temporary.folder, 'data/operator-key'), ...words], {
      environment: { NODE_EXTRA_CA_CERTS: proxy.certificate.path },
    });

  beforeAll(async () => {
    const { folder } = temporary;
    const port = await freePort();
    environment = { PORT: String(port), TIDEMARK_DATA: join(folder, 'data'), TIDEMARK_PROXIES: '127.0.0.1' };
    await copySample(join(folder, 'data'));
    origin = startServer(environment);
    await origin.started;
    key = (await readFile(join(folder, 'data/operator-key'), 'utf8')).trim();
    await mkdir(join(folder, 'nginx'));
    proxy = await startNginxProxy(join(folder, 'nginx'), port);
  });

  afterAll(async () => {
    await proxy?.stop();
    await origin?.end('SIGKILL');
  });

  it('keeps an answer for as long as the service says, and clients learn its age', async () => {
    const first = await ask(MARKET);
    expect([first.status, first.field('age')]).toEqual([200, '0']);
    expect(first.field('cache-status')).toMatch(/^Tidemark; .*, nginx; fwd=uri-miss; stored$/);
    await sleep(1_100);
    const second = await ask(MARKET);
    expect(second.field('cache-status')).toMatch(/, nginx; hit$/);
    expect(second.body).toEqual(first.body);
    // The age is what has passed since this Date.
    expect(second.field('date')).toBe(first.field('date'));
  });

  it('asks for bytes of age 0, whatever is in the memory of the service', async () => {
    const direct = `http://127.0.0.1:${environment.PORT}`;
    await (await fetch(`${direct}/api/v1/markets/silver-usd`)).arrayBuffer();
    await sleep(2_100);
    const before = await fetch(`${direct}/api/v1/markets/silver-usd`);
    expect(Number(before.headers.get('age'))).toBeGreaterThan(0);
    expect((await ask('/api/v1/markets/silver-usd')).field('age')).toBe('0');
  });

  it('passes on each field of the service once, and adds HSTS', async () => {
    const direct = `http://127.0.0.1:${environment.PORT}${MARKET}`;
    const { headers } = await fetch(direct, { headers: { 'Accept-Encoding': 'identity' } });
    const through = await ask(MARKET);
    const own = ['keep-alive'];
    expect([...headers.keys()].filter((name) => !own.includes(name) && !through.names.includes(name))).toEqual([]);
    expect(through.names.filter((name, index) => through.names.indexOf(name) !== index)).toEqual([]);
    for (const name of ['cache-control', 'vary', 'etag', 'content-type', 'x-content-type-options']) {
      expect(through.field(name), name).toBe(headers.get(name));
    }
    expect(through.field('strict-transport-security')).toBe('max-age=31536000');
    expect(through.field('server')).toBe('nginx');
  });

  it.each(['GET', 'HEAD'])('answers 304 to %s with the ETag, from the cache', async (method) => {
    const etag = (await ask(MARKET)).field('etag') as string;
    const again = await ask(MARKET, { method, headers: { 'If-None-Match': etag } });
    expect([again.status, again.body.length, again.field('etag')]).toEqual([304, 0, etag]);
    expect(again.field('cache-control')).toContain('max-age=15');
    expect(again.field('vary')).toBe('Accept-Encoding');
    expect((await ask(MARKET, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it.each<[string, string | undefined, (body: Buffer) => Buffer]>([
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
    ['GZIP', 'gzip', gunzipSync],
    ['gzip;q=0.5', 'gzip', gunzipSync],
    ['deflate', undefined, (body) => body],
    ['gzip;q=0, br;q=0.0', undefined, (body) => body],
    ['', undefined, (body) => body],
  ])('with Accept-Encoding %j sends %s, compressed once, twice', async (accepted, coding, decode) => {
    const plain = await ask(LIST);
    for (let time = 0; time < 2; time++) {
      const got = await ask(LIST, { headers: { 'Accept-Encoding': accepted } });
      expect(got.field('content-encoding')).toBe(coding);
      expect(decode(got.body)).toEqual(plain.body);
      const etag = got.field('etag') as string;
      expect(etag.replace('W/', '')).toBe(plain.field('etag'));
      const headers = { 'Accept-Encoding': accepted, 'If-None-Match': etag };
      expect((await ask(LIST, { headers })).status).toBe(304);
    }
  });

  it('speaks HTTP/2', async () => {
    const session = connect(proxy.url, { ca: proxy.certificate.pem });
    const stream = session.request({ ':path': MARKET });
    const [headers] = await once(stream, 'response');
    stream.close();
    session.close();
    expect(headers[':status']).toBe(200);
  });

  it('leads readers of http to https, and nothing else', async () => {
    const sent = request({ port: proxy.httpPort, path: `${LIST}?cursor=1`, headers: { Host: 'evil.example' } });
    const location = await new Promise((resolve) => {
      sent.once('response', ({ statusCode, headers }) => resolve([statusCode, headers.location])).end();
    });
    expect(location).toEqual([308, `https://data.example${LIST}?cursor=1`]);
  });

  it.each<[string, number, ProblemCode]>([
    ['/api/v1/markets/no-such-market', 404, 'not-found'],
    ['/api/v1/markets/Gold-USD', 404, 'not-found'],
    [`${MARKET}?utm_source=x`, 400, 'unknown-query-parameter'],
    [`${LIST}?cursor=x`, 400, 'invalid-cursor'],
    [`${LIST}?cursor=1-${'0'.repeat(32)}`, 404, 'not-found'],
    [`/api/v1//markets/gold-usd`, 404, 'not-found'],
    [`/api/v1/x/../markets/gold-usd`, 404, 'not-found'],
    [`/api/v1/markets/${'x'.repeat(3_000)}`, 414, 'uri-too-long'],
  ])('passes on the refusal of %s', async (path, status, code) => {
    await ask(MARKET);
    const got = await ask(path);
    expect([got.status, got.field('content-type'), JSON.parse(got.body.toString()).code]).toEqual([
      status,
      'application/problem+json',
      code,
    ]);
  });

  it.each([
    '/api/v1/markets/gold%2Dusd',
    '/api/v1/markets/%67old-usd',
    '/api/v1/markets/gold-usd?',
    '/docs/?utm_source=x',
    '/?a=1&b=2',
  ])('answers %s from what it has', async (path) => {
    await ask(decodeURIComponent(path).replace(/\?.*/, ''));
    expect((await ask(path)).field('cache-status')).toMatch(/nginx; hit$/);
  });

  it.each(ODD)('refuses %s as the service would', async (path) => {
    const direct = await new Promise<number | undefined>((resolve) => {
      const sent = request({ port: Number(environment.PORT), path });
      sent.once('response', (response) => resolve(response.resume().statusCode)).end();
    });
    const refused = await ask(path);
    expect([refused.status, refused.field('content-type')]).toEqual([direct, 'application/problem+json']);
    expect(refused.field('cache-control')).toBe('no-store');
  });

  it.each(['/', '/docs/', '/status/', '/markets/gold-usd', '/problems/not-found'])(
    'keeps the page %s with its security headers',
    async (path) => {
      await ask(path);
      const page = await ask(path);
      expect([page.status, page.field('content-type')]).toEqual([200, PAGE_CONTENT_TYPE]);
      expect(page.field('cache-status')).toMatch(/nginx; hit$/);
      for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(page.all(name)).toEqual([value]);
    },
  );

  it('has no /metrics, and shows /healthz uncached', async () => {
    expect((await ask('/metrics')).status).toBe(404);
    const health = await ask('/healthz');
    expect([health.status, health.field('cache-control')]).toEqual([200, 'no-store']);
  });

  const batch = {
    records: [{ type: 'observation', market: 'gold-usd', metric: 'price', value: '4150.25', currency: 'USD' }].map(
      (record) => ({
        ...record,
        sourceLabel: 'An exchange',
        sourceUrl: 'https://exchange.example/gold',
        observedAt: '2026-11-01T00:00:00Z',
        confidence: 'high',
        status: 'final',
      }),
    ),
  };

  it('passes on writes, never from a cache, and a repeated one is replayed by the service', async () => {
    const first = await write('/api/v1/ingest/batches', batch, 'through-a-proxy-1');
    const again = await write('/api/v1/ingest/batches', batch, 'through-a-proxy-1');
    expect([first.status, first.field('idempotency-replayed')]).toEqual([202, undefined]);
    expect([again.status, again.field('idempotency-replayed')]).toEqual([202, 'true']);
    expect(again.body).toEqual(first.body);
    expect([first.field('cache-control'), first.field('cache-status')]).toEqual(['no-store', undefined]);
    expect(first.field('strict-transport-security')).toBe('max-age=31536000');
  });

  it('passes on the reads of the write API, and keeps none of them', async () => {
    const asked = { headers: { Authorization: `Bearer ${key}` } };
    expect((await ask('/api/v1/me', asked)).status).toBe(200);
    expect((await ask('/api/v1/me')).status).toBe(401);
    expect((await ask('/api/v1/me', asked)).field('cache-status')).toBeUndefined();
  });

  it('lets the service answer a body that is too large for an operation, and itself one that is too large for any', async () => {
    const own = await write('/api/v1/ingest/batches', 'x'.repeat(1_500_000), 'too-large-a-body-1');
    const nginx = await write('/api/v1/ingest/batches', 'x'.repeat(3_000_000), 'too-large-a-body-2');
    for (const { status, field, body } of [own, nginx]) {
      expect([status, field('content-type')]).toEqual([413, 'application/problem+json']);
      const { type, title, code } = problem('content-too-large', '');
      expect(JSON.parse(body.toString())).toMatchObject({ type, title, code, status });
    }
  });

  it('passes on a large file as it comes, and the refusal of another one', async () => {
    const line = (market: number) =>
      JSON.stringify({ type: 'market', slug: `m-${market}`, name: 'M', kind: 'food', nativeCurrency: 'USD' });
    // With blanks: 12 MB in few records.
    const text = `${line(1)}${' '.repeat(12_000_000)}\n${line(2)}\n`;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const announced = { sha256, bytes: text.length, records: 2 };
    const { put, id } = JSON.parse(
      (await write('/api/v1/ingest/uploads', announced, 'a-large-upload-1')).body.toString(),
    );
    const headers = { 'If-None-Match': '*', 'Content-Length': String(text.length) };
    const forged = await ask(put.url.replace(/.$/, '!'), { method: 'PUT', headers, body: text }).catch(() => null);
    // The service answers at once. The client may be cut off while it still sends.
    if (forged !== null) expect(forged.status).toBe(403);
    expect((await ask(put.url, { method: 'PUT', headers, body: text })).status).toBe(204);
    const asked = { headers: { Authorization: `Bearer ${key}` } };
    expect(JSON.parse((await ask(`/api/v1/ingest/uploads/${id}`, asked)).body.toString()).state).not.toBe('announced');
    // Its signature is a credential.
    expect(proxy.accessLog()).toContain(`PUT /api/v1/ingest/uploads/${id}/content 204`);
    expect(proxy.accessLog()).not.toContain(put.url.split('?')[1]);
  });

  it('names the sender: failures of one do not stop the others, and nobody can invent an address', async () => {
    const guess = (host: string) => {
      const Authorization = `Bearer ${formatApiKey(newApiKey('dev', randomBytes))}`;
      const headers = { Authorization, 'X-Forwarded-For': `203.0.113.${randomBytes(1)[0]}` };
      return askProxy({ ...proxy, url: proxy.url.replace('localhost', host) }, '/api/v1/me', { headers });
    };
    // Failures run out with time.
    const limited = async (): Promise<number> => {
      for (let failure = 0; failure < 20 * FAILURES_A_MINUTE; failure++) {
        if ((await guess('[::1]')).status === 429) return 429;
      }
      return 401;
    };
    expect(await limited()).toBe(429);
    expect((await guess('127.0.0.1')).status).toBe(401);
  });

  test('tidemark verify finds nothing through it, nor does ingest', async () => {
    const file = join(temporary.folder, 'batch.json');
    await writeFile(file, JSON.stringify(batch.records));
    expect(await cli('ingest', file)).toMatchObject({ code: 0 });
    const { code, output, errors } = await cli('verify');
    expect([code, output], errors).toEqual([0, '']);
  });

  it('answers 410 for a removed market, from the cache too', async () => {
    const removal = { reason: 'It was a mistake.', replacedBy: null };
    expect((await write('/api/v1/markets/aave-eur/removal', removal, 'a-removal-of-one-1')).status).toBe(200);
    let got = await ask('/api/v1/markets/aave-eur');
    for (let tries = 0; got.status === 200 && tries < 100; tries++) {
      await sleep(200);
      got = await ask('/api/v1/markets/aave-eur');
    }
    expect([got.status, got.field('content-type')]).toEqual([410, 'application/problem+json']);
    expect((await ask('/api/v1/markets/aave-eur')).field('cache-status')).toMatch(/nginx; hit$/);
  });

  it('goes on with what it has while the service is away, and says so; writes get a problem', async () => {
    const fresh = await ask(MARKET);
    expect(await origin.end('SIGTERM')).toBe(0);
    await sleep((FRESH_SECONDS + 1) * 1000);
    for (const path of ODD) expect((await ask(path)).status, path).toBeLessThan(500);
    const stale = await ask(MARKET);
    expect([stale.status, stale.body]).toEqual([200, fresh.body]);
    expect(stale.field('cache-status')).toMatch(/nginx; hit; detail=stale-if-error$/);
    expect((await ask(MARKET, { headers: { 'If-None-Match': stale.field('etag') as string } })).status).toBe(304);
    for (const [got, code] of [
      [await ask('/api/v1/markets/aave-usd/history'), 'origin-unavailable'],
      [await write('/api/v1/ingest/batches', batch, 'while-it-is-away-1'), 'service-unavailable'],
    ] as const) {
      const { detail: _, ...expected } = problem(code, '');
      expect(JSON.parse(got.body.toString())).toMatchObject(expected);
      expect([got.status, got.field('retry-after'), got.field('cache-control')]).toEqual([503, '5', 'no-store']);
      expect(got.field('content-type')).toBe('application/problem+json');
      expect(got.field('strict-transport-security')).toBe('max-age=31536000');
    }
    origin = startServer(environment);
    await origin.started;
    expect((await ask(MARKET)).field('cache-status')).toMatch(/nginx; fwd=stale; stored$/);
    expect((await write('/api/v1/ingest/batches', batch, 'while-it-is-away-1')).status).toBe(202);
  });
});
