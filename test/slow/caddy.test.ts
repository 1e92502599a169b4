/** infra/hosting/caddy/Caddyfile, in a real Caddy in front of a real server. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problem } from '../../contract/problems/problems.ts';
import { formatApiKey, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { freePort } from '../../tools/bench/free-port.ts';
import { tidemark } from '../cli/tidemark.ts';
import { type Asked, askProxy, missingProgram } from '../hosting/proxy.ts';
import { type ReverseProxy, startCaddyProxy } from '../hosting/reverse-proxies.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const MARKET = '/api/v1/markets/gold-usd';
const LIST = '/api/v1/markets';

const reason = missingProgram('caddy');
if (reason !== null && process.env.CI === 'true') throw new Error(reason);
if (reason !== null) console.log(`Skipped: ${reason}`);

describe.skipIf(reason !== null)('Caddy in front of tidemark start', () => {
  const temporary = folderForAll();
  let origin: ServerProcess;
  let port: number;
  let proxy: ReverseProxy;
  const ask = (path: string, asked?: Asked) => askProxy(proxy, path, asked);
  const keyFile = () => join(temporary.folder, 'data/operator-key');
  const cli = (...words: readonly string[]) =>
    tidemark(['--url', proxy.url, '--key-file', keyFile(), ...words], {
      environment: { NODE_EXTRA_CA_CERTS: proxy.certificate.path },
    });

  beforeAll(async () => {
    const { folder } = temporary;
    port = await freePort();
    await copySample(join(folder, 'data'));
    origin = startServer({ PORT: String(port), TIDEMARK_DATA: join(folder, 'data'), TIDEMARK_PROXIES: '127.0.0.1' });
    await origin.started;
    await mkdir(join(folder, 'caddy'));
    proxy = await startCaddyProxy(join(folder, 'caddy'), port);
  });

  afterAll(async () => {
    await proxy?.stop();
    await origin?.end('SIGKILL');
  });

  it('passes on each field of the service once, and adds HSTS', async () => {
    const direct = await fetch(`http://127.0.0.1:${port}${LIST}`, { headers: { 'Accept-Encoding': 'br' } });
    const through = await ask(LIST, { headers: { 'Accept-Encoding': 'br' } });
    const own = ['connection', 'keep-alive', 'transfer-encoding'];
    const missing = [...direct.headers.keys()].filter((name) => !own.includes(name) && !through.names.includes(name));
    expect(missing).toEqual([]);
    expect(through.names.filter((name, index) => through.names.indexOf(name) !== index)).toEqual([]);
    for (const name of ['cache-control', 'vary', 'etag', 'content-type', 'content-encoding', 'content-length']) {
      expect(through.field(name), name).toBe(direct.headers.get(name));
    }
    expect(through.field('strict-transport-security')).toBe('max-age=31536000');
  });

  it('answers 304 with the ETag, and leaves queries and problems to the service', async () => {
    const etag = (await ask(MARKET)).field('etag') as string;
    expect((await ask(MARKET, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    for (const [path, code] of [
      [`${MARKET}?utm_source=x`, 'unknown-query-parameter'],
      ['/api/v1/markets/no-such-market', 'not-found'],
    ] as const) {
      expect(JSON.parse((await ask(path)).body.toString()).code).toBe(code);
    }
    expect((await ask('/metrics')).status).toBe(404);
  });

  it('does not let a reader ask for bytes that are not from the cache', async () => {
    await ask(MARKET);
    const { field } = await ask(MARKET, { headers: { 'Cache-Control': 'no-cache' } });
    expect(field('cache-status')).toMatch(/^Tidemark; hit; /);
  });

  it('names the sender, whatever the sender has invented', async () => {
    const guess = (host: string) => {
      const Authorization = `Bearer ${formatApiKey(newApiKey('dev', randomBytes))}`;
      const headers = { Host: 'localhost', Authorization, 'X-Forwarded-For': `203.0.113.${randomBytes(1)[0]}` };
      return askProxy({ ...proxy, url: proxy.url.replace('localhost', host) }, '/api/v1/me', { headers });
    };
    let status = 401;
    for (let failure = 0; failure < 20 * FAILURES_A_MINUTE && status === 401; failure++) {
      ({ status } = await guess('[::1]'));
    }
    expect(status).toBe(429);
    expect((await guess('127.0.0.1')).status).toBe(401);
  });

  it('takes batches and files, and tidemark verify finds nothing through it', async () => {
    const value = {
      value: '6.12',
      currency: 'USD',
      sourceLabel: 'An exchange',
      sourceUrl: 'https://exchange.example/gold',
    };
    const record = {
      type: 'observation',
      market: 'gold-usd',
      metric: 'bid',
      ...value,
      confidence: 'high',
      status: 'final',
    };
    const lines = Array.from({ length: 10_100 }, (_, minute) =>
      JSON.stringify({ ...record, observedAt: new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString() }),
    );
    const file = join(temporary.folder, 'bids.ndjson');
    await writeFile(file, `${lines.join('\n')}\n`);
    // More than ten batches: as an upload.
    expect(await cli('ingest', file, '--partial')).toMatchObject({ code: 0 });
    const { code, output, errors } = await cli('verify');
    expect([code, output], errors).toEqual([0, '']);
  });

  it('leaves a body that is too large to the service', async () => {
    const key = (await readFile(keyFile(), 'utf8')).trim();
    const headers = { Authorization: `Bearer ${key}`, 'Idempotency-Key': 'too-large-a-body-1' };
    const asked = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
    const got = await ask('/api/v1/ingest/batches', { ...asked, body: 'x'.repeat(1_500_000) });
    expect([got.status, JSON.parse(got.body.toString()).code]).toEqual([413, 'content-too-large']);
  });

  it('answers with a problem while the service is away', async () => {
    expect(await origin.end('SIGTERM')).toBe(0);
    const got = await ask(MARKET);
    const { detail: _, ...expected } = problem('service-unavailable', '');
    expect(JSON.parse(got.body.toString())).toMatchObject(expected);
    expect([got.status, got.field('retry-after'), got.field('cache-control')]).toEqual([503, '5', 'no-store']);
    expect(got.field('content-type')).toBe('application/problem+json');
    expect(got.field('strict-transport-security')).toBe('max-age=31536000');
  });
});
