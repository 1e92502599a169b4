/** infra/hosting/nginx/tidemark.conf and infra/hosting/caddy/Caddyfile, in the real programs in front of a real server. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../contract/files/page-headers.ts';
import { type ProblemCode, problem } from '../../contract/problems/problems.ts';
import { formatApiKey, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { freePort } from '../../tools/bench/free-port.ts';
import { tidemark } from '../cli/tidemark.ts';
import { type Answer, type Asked, askProxy, missingProgram } from '../hosting/proxy.ts';
import { type NginxProxy, type ReverseProxy, startCaddyProxy, startNginxProxy } from '../hosting/reverse-proxies.ts';
import { priceRecord } from '../scenario/records.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const MARKET = '/api/v1/markets/gold-usd';
const LIST = '/api/v1/markets';
const BATCHES = '/api/v1/ingest/batches';
const PROBLEM = 'application/problem+json';
const HSTS = 'max-age=31536000';
/** Refused by nginx, without a question to the service. */
const ODD = [
  `${MARKET}?utm_source=x`,
  `${LIST}?cursor=x`,
  `${LIST}?cursor=1-00&cursor=1-00`,
  '/api/v1//markets/gold-usd',
  '/api/v1/x/../markets/gold-usd',
  '/api/v1/x/%2e%2E/markets/gold-usd',
  '/api/v1/markets/Gold-USD',
];
const batch = {
  records: [priceRecord('gold-usd', 'USD', { day: '2026-11-01', amountMinor: 415_025, sourceValue: '4150.25' })],
};

const codeOf = ({ body }: Answer) => JSON.parse(body.toString()).code;

describe.each(['nginx', 'caddy'])('%s in front of tidemark start', (program) => {
  const reason = missingProgram(program);
  const own = it.skipIf(reason !== null);
  const isNginx = program === 'nginx';
  /** Caddy passes everything on: it has no cache. */
  const asCache = (tests: () => void) => {
    if (isNginx) describe.skipIf(reason !== null)('as a cache', tests);
  };
  const temporary = folderForAll();
  let environment: Record<string, string>;
  let origin: ServerProcess;
  let proxy: ReverseProxy;
  let key: string;
  const ask = (path: string, asked?: Asked) => askProxy(proxy, path, asked);
  /** A write, with the operator's key. */
  const write = (path: string, body: object | string, name: string) => {
    const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': name, 'Content-Type': 'application/json' };
    return ask(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  };
  const cli = (...words: readonly string[]) =>
    tidemark(['--url', proxy.url, '--key-file', join(temporary.folder, 'data/operator-key'), ...words], {
      environment: { NODE_EXTRA_CA_CERTS: proxy.certificate.path },
    });

  beforeAll(async () => {
    if (reason !== null) return;
    const { folder } = temporary;
    const port = await freePort();
    environment = { PORT: String(port), TIDEMARK_DATA: join(folder, 'data'), TIDEMARK_PROXIES: '127.0.0.1' };
    await copySample(join(folder, 'data'));
    origin = startServer(environment);
    await origin.started;
    key = (await readFile(join(folder, 'data/operator-key'), 'utf8')).trim();
    await mkdir(join(folder, 'own'));
    proxy = await (isNginx ? startNginxProxy : startCaddyProxy)(join(folder, 'own'), port);
  });

  afterAll(async () => {
    await proxy?.stop();
    await origin?.end('SIGKILL');
  });

  own('passes on each field of the service once, and adds HSTS; it has no /metrics', async () => {
    const headers = { 'Accept-Encoding': 'identity' };
    const direct = await fetch(`http://127.0.0.1:${environment.PORT}${LIST}`, { headers });
    const through = await ask(LIST, { headers });
    const hops = ['connection', 'keep-alive', 'transfer-encoding'];
    expect([...direct.headers.keys()].filter((name) => !hops.includes(name) && !through.names.includes(name))).toEqual(
      [],
    );
    expect(through.names.filter((name, index) => through.names.indexOf(name) !== index)).toEqual([]);
    for (const name of ['cache-control', 'vary', 'etag', 'content-type', 'x-content-type-options']) {
      expect(through.field(name), name).toBe(direct.headers.get(name));
    }
    expect(through.field('strict-transport-security')).toBe(HSTS);
    expect((await ask('/metrics')).status).toBe(404);
  });

  own.each(['GET', 'HEAD'])('answers 304 to %s with the ETag', async (method) => {
    const etag = (await ask(MARKET)).field('etag') as string;
    const again = await ask(MARKET, { method, headers: { 'If-None-Match': etag } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(again.field('etag')?.replace('W/', '')).toBe(etag.replace('W/', ''));
    expect(again.field('cache-control')).toContain('max-age=15');
    expect((await ask(MARKET, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  own.each<[string, number, ProblemCode]>([
    ['/api/v1/markets/no-such-market', 404, 'not-found'],
    [`${MARKET}?utm_source=x`, 400, 'unknown-query-parameter'],
    [`${LIST}?cursor=x`, 400, 'invalid-cursor'],
    [`${LIST}?cursor=1-${'0'.repeat(32)}`, 404, 'not-found'],
    [`/api/v1/x/../markets/gold-usd`, 404, 'not-found'],
    [`/api/v1/markets/${'x'.repeat(3_000)}`, 414, 'uri-too-long'],
  ])('passes on the refusal of %s', async (path, status, code) => {
    const got = await ask(path);
    expect([got.status, got.field('content-type'), codeOf(got)]).toEqual([status, PROBLEM, code]);
  });

  it.skipIf(!isNginx || reason !== null).each<[string, Asked, number, ProblemCode]>([
    [MARKET, { method: 'TRACE' }, 405, 'method-not-allowed'],
    ['/%2e%2e/markets', {}, 400, 'invalid-request'],
    [MARKET, { headers: { 'If-Match': '"other"' } }, 412, 'precondition-failed'],
  ])('has a problem document for a request that nginx itself refuses: %s %j', async (path, asked, status, code) => {
    const got = await ask(path, asked);
    expect([got.status, got.field('content-type'), codeOf(got)]).toEqual([status, PROBLEM, code]);
    expect([got.field('cache-control'), got.field('strict-transport-security')]).toEqual(['no-store', HSTS]);
  });

  own('passes on writes and reads of the write API, none from a cache; a repeated one is replayed', async () => {
    const first = await write(BATCHES, batch, 'through-a-proxy-1');
    const again = await write(BATCHES, batch, 'through-a-proxy-1');
    expect([first.status, first.field('idempotency-replayed')]).toEqual([202, undefined]);
    expect([again.status, again.field('idempotency-replayed')]).toEqual([202, 'true']);
    expect(again.body).toEqual(first.body);
    expect([first.field('cache-control'), first.field('cache-status')]).toEqual(['no-store', undefined]);
    const asked = { headers: { Authorization: `Bearer ${key}` } };
    expect((await ask('/api/v1/me', asked)).status).toBe(200);
    expect((await ask('/api/v1/me')).status).toBe(401);
    expect((await ask('/healthz')).field('cache-control')).toBe('no-store');
  });

  own('answers a body that is too large with a problem', async () => {
    // The service itself refuses the first; nginx refuses the other, which is too large for any operation.
    for (const characters of isNginx ? [1_500_000, 3_000_000] : [1_500_000]) {
      const got = await write(BATCHES, 'x'.repeat(characters), `too-large-a-body-${characters}`);
      expect([got.status, got.field('content-type'), codeOf(got)]).toEqual([413, PROBLEM, 'content-too-large']);
    }
  });

  own('passes on a large file as it comes, and the refusal of another one', async () => {
    const line = (market: number) =>
      JSON.stringify({ type: 'market', slug: `m-${market}`, name: 'M', kind: 'food', nativeCurrency: 'USD' });
    // With blanks: 12 MB in few records.
    const text = `${line(1)}${' '.repeat(12_000_000)}\n${line(2)}\n`;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const announced = await write(
      '/api/v1/ingest/uploads',
      { sha256, bytes: text.length, records: 2 },
      'a-large-upload-1',
    );
    const { put, id } = JSON.parse(announced.body.toString());
    const url = new URL(put.url, proxy.url);
    const path = `${url.pathname}${url.search}`;
    const headers = { 'If-None-Match': '*', 'Content-Length': String(text.length) };
    if (isNginx) {
      const forged = await ask(path.replace(/.$/, '!'), { method: 'PUT', headers, body: text }).catch(() => null);
      // The service answers at once. The client may be cut off while it still sends.
      if (forged !== null) expect(forged.status).toBe(403);
    }
    expect((await ask(path, { method: 'PUT', headers, body: text })).status).toBe(204);
    if (!isNginx) return;
    // Its signature is a credential.
    const log = () => (proxy as NginxProxy).accessLog();
    await expect.poll(log).toContain(`PUT /api/v1/ingest/uploads/${id}/content 204`);
    expect(log()).not.toContain(url.search.slice(1));
  });

  own('names the sender: failures of one do not stop the others, and nobody can invent an address', async () => {
    const guess = (host: string) => {
      const Authorization = `Bearer ${formatApiKey(newApiKey('dev', randomBytes))}`;
      const headers = { Host: 'localhost', Authorization, 'X-Forwarded-For': `203.0.113.${randomBytes(1)[0]}` };
      return askProxy({ ...proxy, url: proxy.url.replace('localhost', host) }, '/api/v1/me', { headers });
    };
    let status = 401;
    // Failures run out with time.
    for (let failure = 0; failure < 20 * FAILURES_A_MINUTE && status === 401; failure++) {
      ({ status } = await guess('[::1]'));
    }
    expect([status, (await guess('127.0.0.1')).status]).toEqual([429, 401]);
  });

  own('tidemark ingest and verify find nothing through it', async () => {
    const file = join(temporary.folder, 'batch.json');
    await writeFile(file, JSON.stringify(batch.records));
    expect(await cli('ingest', file)).toMatchObject({ code: 0 });
    const { code, output, errors } = await cli('verify');
    expect([code, output], errors).toEqual([0, '']);
  });

  asCache(() => {
    it('keeps an answer for as long as the service says; clients learn its age, and cannot ask past it', async () => {
      const history = `${MARKET}/history`;
      const first = await ask(history);
      expect([first.status, first.field('age')]).toEqual([200, '0']);
      expect(first.field('cache-status')).toMatch(/^Tidemark; .*, nginx; fwd=uri-miss; stored$/);
      await sleep(1_100);
      const second = await ask(history, { headers: { 'Cache-Control': 'no-cache' } });
      expect(second.field('cache-status')).toMatch(/, nginx; hit$/);
      // The age is what has passed since this Date.
      expect([second.body, second.field('date')]).toEqual([first.body, first.field('date')]);
    });

    it('asks for bytes of age 0, whatever is in the memory of the service', async () => {
      const silver = `${LIST}/silver-usd`;
      const direct = async () => await fetch(`http://127.0.0.1:${environment.PORT}${silver}`);
      await direct();
      await sleep(2_100);
      expect(Number((await direct()).headers.get('age'))).toBeGreaterThan(0);
      expect((await ask(silver)).field('age')).toBe('0');
    });

    it.each<[string, string | undefined, (body: Buffer) => Buffer]>([
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
      ['GZIP', 'gzip', gunzipSync],
      ['gzip;q=0, br;q=0.0', undefined, (body) => body],
    ])('with Accept-Encoding %j sends %s, compressed once, twice', async (accepted, coding, decode) => {
      // No test writes to this market. Of a body that is replaced meanwhile, the cache may have another version in each coding.
      const path = `${LIST}/silver-usd/history`;
      const plain = await ask(path);
      for (let time = 0; time < 2; time++) {
        const got = await ask(path, { headers: { 'Accept-Encoding': accepted } });
        expect([got.field('content-encoding'), decode(got.body)]).toEqual([coding, plain.body]);
        const etag = got.field('etag') as string;
        expect(etag.replace('W/', '')).toBe(plain.field('etag'));
        const headers = { 'Accept-Encoding': accepted, 'If-None-Match': etag };
        expect((await ask(path, { headers })).status).toBe(304);
      }
    });

    it('speaks HTTP/2, and leads readers of http to https and nowhere else', async () => {
      const session = connect(proxy.url, { ca: proxy.certificate.pem });
      const stream = session.request({ ':path': MARKET });
      const [headers] = await once(stream, 'response');
      stream.close();
      session.close();
      expect(headers[':status']).toBe(200);
      const { httpPort } = proxy as NginxProxy;
      const sent = request({ port: httpPort, path: `${LIST}?cursor=1`, headers: { Host: 'evil.example' } });
      const location = await new Promise((resolve) => {
        sent.once('response', ({ statusCode, headers: { location } }) => resolve([statusCode, location])).end();
      });
      expect(location).toEqual([308, `https://data.example${LIST}?cursor=1`]);
    });

    it.each(['/api/v1/markets/%67old-usd', `${MARKET}?`, '/docs/?utm_source=x'])(
      'answers %s from what it has',
      async (path) => {
        await ask(decodeURIComponent(path).replace(/\?.*/, ''));
        expect((await ask(path)).field('cache-status')).toMatch(/nginx; hit$/);
      },
    );

    it.each(ODD)('refuses %s as the service would', async (path) => {
      const direct = await new Promise<number | undefined>((resolve) => {
        const sent = request({ port: Number(environment.PORT), path });
        sent.once('response', (response) => resolve(response.resume().statusCode)).end();
      });
      const refused = await ask(path);
      expect([refused.status, refused.field('content-type')]).toEqual([direct, PROBLEM]);
      expect(refused.field('cache-control')).toBe('no-store');
    });

    it.each(['/docs/', '/markets/gold-usd'])('keeps the page %s with its security headers', async (path) => {
      await ask(path);
      const page = await ask(path);
      expect([page.status, page.field('content-type')]).toEqual([200, PAGE_CONTENT_TYPE]);
      expect(page.field('cache-status')).toMatch(/nginx; hit$/);
      for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(page.all(name)).toEqual([value]);
    });

    it('answers 410 for a removed market, from the cache too', async () => {
      const removal = { reason: 'It was a mistake.', replacedBy: null };
      const market = `${LIST}/aave-eur`;
      expect((await write(`${market}/removal`, removal, 'a-removal-of-one-1')).status).toBe(200);
      await expect.poll(async () => (await ask(market)).status).toBe(410);
      const got = await ask(market);
      expect([got.status, got.field('content-type')]).toEqual([410, PROBLEM]);
      expect(got.field('cache-status')).toMatch(/nginx; hit$/);
    });
  });

  own('while the service is away, writes get a problem; nginx goes on with what it has, and says so', async () => {
    const fresh = await ask(MARKET);
    expect(await origin.end('SIGTERM')).toBe(0);
    if (isNginx) {
      await sleep((FRESH_SECONDS + 1) * 1000);
      for (const path of ODD) expect((await ask(path)).status, path).toBeLessThan(500);
      const stale = await ask(MARKET);
      expect([stale.status, stale.body]).toEqual([200, fresh.body]);
      expect(stale.field('cache-status')).toMatch(/nginx; hit; detail=stale-if-error$/);
      expect((await ask(MARKET, { headers: { 'If-None-Match': stale.field('etag') as string } })).status).toBe(304);
    }
    for (const [got, code] of [
      [await ask('/api/v1/markets/aave-usd/history'), isNginx ? 'origin-unavailable' : 'service-unavailable'],
      [await write(BATCHES, batch, 'while-it-is-away-1'), 'service-unavailable'],
    ] as const) {
      const { detail: _, ...expected } = problem(code, '');
      expect(JSON.parse(got.body.toString())).toMatchObject(expected);
      expect([got.status, got.field('retry-after'), got.field('cache-control')]).toEqual([503, '5', 'no-store']);
      expect([got.field('content-type'), got.field('strict-transport-security')]).toEqual([PROBLEM, HSTS]);
    }
    origin = startServer(environment);
    await origin.started;
    if (isNginx) expect((await ask(MARKET)).field('cache-status')).toMatch(/nginx; fwd=stale; stored$/);
    expect((await write(BATCHES, batch, 'while-it-is-away-1')).status).toBe(202);
  });
});
