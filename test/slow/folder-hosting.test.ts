/**
 * infra/hosting/nginx/folder.conf and infra/hosting/caddy/folder.Caddyfile in the real programs, and the function of
 * infra/hosting/cloudflare/, on a published folder. They answer as our own server does, but for DIFFERENCES.
 */
import { readdirSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { PROJECTIONS } from '../../contract/files/projections.ts';
import { PUBLIC_OBJECTS, parsePublicKey } from '../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { ALL_OPERATIONS } from '../../contract/operations/all-operations.ts';
import { OPERATIONS } from '../../contract/operations/operations.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import pagesFunction from '../../infra/hosting/cloudflare/worker.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';
import { makeCompat } from '../../publisher/projections/compat/make-compat.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { createEdgeServer, type EdgeServer } from '../../server/edge/server.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { freePort } from '../../tools/bench/free-port.ts';
import { type AnyOperationId, anyOperationOf } from '../any-operation.ts';
import { DIFFERENCES, FIELDS, GONE, LIST, LONG_AGO, MARKET, REQUESTS } from '../hosting/folder-requests.ts';
import { pagesFiles } from '../hosting/pages-files.ts';
import { type Answer, type Asked, askProxy, missingProgram } from '../hosting/proxy.ts';
import { type ReverseProxy, startCaddyFolder, startNginxFolder } from '../hosting/reverse-proxies.ts';
import { listening } from '../listening.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { removeMarket } from '../publisher/remove-market.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES } from '../publisher/world.ts';
import { ask } from '../server/edge/edge-fixture.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const SLUGS = ['a', 'b', 'c', 'eur-usd', 'history', 'pages', 'z'] as const;
const DAYS = 11;
const HSTS = 'max-age=31536000';
/** With so many entries, tiles of the log are full. */
const DAYS_OF_Z = 250;
/** With a source that is expected to publish. */
const EURO = {
  ...market('eur-usd'),
  unit: { quantity: 1, of: 'EUR' },
  sources: [
    {
      ...{ label: 'a test', url: 'https://example.com/', publisher: null, licence: null, attribution: null },
      cadence: { period: 'day', releaseTime: '15:00', graceSeconds: 3600 },
    },
  ],
} as IngestRecordInput;
/** Of which there are price lists in other layouts. */
const MODEL = {
  ...market('model'),
  kind: 'language-model',
  unit: { quantity: 1_000_000, of: 'token' },
} as IngestRecordInput;
const HOSTS = {
  nginx: startNginxFolder,
  caddy: startCaddyFolder,
} as const;

type Host = keyof typeof HOSTS;

const installed = (Object.keys(HOSTS) as Host[]).filter((host) => missingProgram(host) === null);

interface Compared {
  readonly status: number;
  readonly [field: string]: unknown;
}

describe('a published folder', async () => {
  const { folder, remove } = await makeTemporaryFolder();
  let edge: EdgeServer;
  let files: readonly string[];
  /** A few of each kind: those of the first markets, of which one is removed. */
  let some: readonly string[];
  let port: number;
  const running = new Map<string, ReverseProxy>();

  /** `servicePort`: of the service beside it. Null: it does not exist. */
  async function start(host: Host, name: string, servicePort: number | null): Promise<void> {
    const own = join(folder, `${host}-${name}`);
    await mkdir(own);
    running.set(`${host}-${name}`, await HOSTS[host](own, join(folder, 'public'), servicePort));
  }

  beforeAll(async () => {
    const umask = process.umask(0o077);
    const objects = await publishInto(folder);
    process.umask(umask);
    await mkdir(join(folder, 'public/.git'));
    await writeFile(join(folder, 'public/.git/config'), 'url = https://publish:token@host.example/');
    edge = createEdgeServer({
      objects,
      nowMs: Date.now,
      health: () => ({ healthy: true, body: { status: 'ok' } }),
      divert: (request) =>
        isWritePath((request.url as string).split('?')[0] as string)
          ? async ({ method, url }, response) => void response.writeHead(418).end(`${method} ${url}`)
          : null,
    });
    port = Number(new URL(await listening(edge.server)).port);
    const keys: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: Awaited<ReturnType<typeof objects.list>> = await objects.list(
        'public/',
        after === '' ? {} : { after },
      );
      keys.push(...page.keys);
      after = page.next;
    }
    files = keys.map((key) => key.slice('public'.length));
    const kinds = Map.groupBy(files, (path) => parsePublicKey(`public${path}`)?.kind);
    some = [...kinds.values()].flatMap((ofKind) => ofKind.slice(0, 4));
    for (const host of installed) {
      await start(host, 'beside', port);
      await start(host, 'alone', null);
      await start(host, 'deserted', await freePort());
    }
  });
  afterAll(async () => {
    for (const proxy of running.values()) await proxy.stop();
    await edge?.stop();
    await remove();
  });

  it('has a file of each kind', () => {
    const kinds = new Set(files.map((path) => parsePublicKey(`public${path}`)?.kind));
    expect(Object.keys(PUBLIC_OBJECTS).filter((kind) => !kinds.has(kind as keyof typeof PUBLIC_OBJECTS))).toEqual([]);
  });

  it('can be read by the user of a web server, whatever the umask of the service', () => {
    for (const entry of readdirSync(join(folder, 'public'), { recursive: true, withFileTypes: true })) {
      const { mode } = statSync(join(entry.parentPath, entry.name));
      expect(mode & 0o777, entry.name).toBe(entry.isDirectory() ? 0o755 : 0o644);
    }
  });

  /** The URL of each public read, by a file that is there; the later pages of lists; other spellings of a path. */
  function contractUrls(): string[] {
    const reads = (Object.keys(ALL_OPERATIONS) as AnyOperationId[]).filter((id) => !(id in OPERATIONS));
    const urls = reads.map((id) => {
      const template = anyOperationOf(id)
        .path.replaceAll('.', '\\.')
        .replaceAll(/\{\w+\}/g, '[^/]+');
      const found = files.find((path) => new RegExp(`^${template}(\\.json)?$`).test(path) && !path.startsWith(GONE));
      expect(found, `no file for ${anyOperationOf(id).path}`).toBeDefined();
      return new RegExp(`^${template}$`).test(found as string) ? (found as string) : (found as string).slice(0, -5);
    });
    const pages = some.flatMap((path) => {
      const match = /^(.+)\/pages\/([^/]+)\.json$/.exec(path);
      return match === null ? [] : [`${match[1]}?cursor=${match[2]}`];
    });
    const aliases = some.flatMap((path) => [
      path.replace('/exports/parts/', '/exports/2026-01-01/parts/'),
      path.replace('/currency-api/', '/currency-api@'),
      path.replace(/(\/currency-api\/.+)\.json$/, '$1.min.json'),
    ]);
    return [...new Set([...urls, ...pages, ...aliases])].filter((url) => !files.includes(url));
  }

  async function askService(path: string, { method, headers }: Asked = {}): Promise<Answer> {
    const { status, headers: fields, body } = await ask({ port }, path, headers, method);
    const field = (name: string) => fields[name] as string | undefined;
    return { status, field, all: () => [], names: Object.keys(fields), body };
  }

  /** What differs between our service and a host, as lines. */
  async function differences(
    host: string,
    path: string,
    asked: Asked,
    to: (path: string, asked: Asked) => Promise<Answer>,
  ): Promise<string[]> {
    const request = [asked.method ?? 'GET', path, ...Object.entries(asked.headers ?? {}).flat()].join(' ');
    const both = await Promise.all([askService(path, asked), to(path, asked)]);
    const [expected, got] = both.map(compared) as [Compared, Compared];
    const known = DIFFERENCES.filter(({ of, when }) => of.includes(host) && when(request, expected.status)).flatMap(
      ({ ignored }) => ignored,
    );
    return Object.keys(expected)
      .filter((name) => !known.includes(name))
      .filter((name) => JSON.stringify(expected[name]) !== JSON.stringify(got[name]))
      .map((name) => `${request}: ${name}: ${JSON.stringify(got[name])}, not ${JSON.stringify(expected[name])}`);
  }

  test('the function of Cloudflare Pages answers as our server does, and verify finds nothing through it', async () => {
    const ASSETS = pagesFiles(join(folder, 'public'));
    const ask = async (path: string, { method = 'GET', headers = {} }: Asked): Promise<Answer> => {
      const request = new Request(`https://data.example${path}`, { method, headers });
      const answer = await pagesFunction.fetch(request, { ASSETS });
      const field = (name: string) => answer.headers.get(name) ?? undefined;
      const body = Buffer.from(await answer.arrayBuffer());
      return { status: answer.status, field, all: () => [], names: [...answer.headers.keys()], body };
    };
    const lines: string[] = [];
    for (const [path, asked = {}] of [...[...some, ...contractUrls()].map((path) => [path] as const), ...REQUESTS]) {
      lines.push(...(await differences('cloudflare', path, asked, ask)));
    }
    expect(lines).toEqual([]);
    const reader = async (url: string, headers = {}) => {
      const { status, names, field, body } = await ask(url, { headers });
      return { status, headers: new Map(names.map((name) => [name, field(name) as string])), body };
    };
    const { findings } = await verify(reader, { pageSizes: SMALL_PAGES, settled: true, removed: ['b'] });
    // The page of any market stands in its place.
    expect(findings).toMatchObject([{ url: '/markets/c.html', rule: 'file' }]);
  });

  for (const host of installed) {
    describe(`served by ${host}`, () => {
      const to = (name: string, path: string, asked?: Asked) =>
        askProxy(running.get(`${host}-${name}`) as ReverseProxy, path, asked);

      const compare = (path: string, asked: Asked, name = 'beside') =>
        differences(host, path, asked, (path, asked) => to(name, path, asked));

      test('each file at its own path, and each public read, is as our server sends it', async () => {
        const lines: string[] = [];
        // Without a service, which could help out.
        for (const path of [...some, ...contractUrls()]) lines.push(...(await compare(path, {}, 'alone')));
        expect(lines).toEqual([]);
      });

      test('so are other requests', async () => {
        const lines: string[] = [];
        for (const [path, asked = {}] of REQUESTS) lines.push(...(await compare(path, asked)));
        expect(lines).toEqual([]);
      });

      test('no cache keeps a refused condition for other readers, and no field is sent twice', async () => {
        const refusals: Answer[] = [];
        for (const headers of [{ 'If-Match': '"x"' }, { 'If-Unmodified-Since': LONG_AGO }, { Range: 'bytes=999999-' }])
          refusals.push(await to('beside', MARKET, { headers }));
        expect(refusals.map(({ status }) => status)).toEqual(host === 'nginx' ? [412, 412, 416] : [200, 200, 416]);
        for (const { status, all, names } of refusals) {
          const twice = names.filter((name, at) => names.indexOf(name) !== at && name !== 'cache-control');
          expect(twice, `${status}`).toEqual([]);
          if (host === 'nginx') expect(all('cache-control'), `${status}`).toContain('no-store');
        }
      });

      test.skipIf(host !== 'nginx').each([
        ['/%2e%2e/markets', {}, 400, 'invalid-request'],
        [MARKET, { method: 'TRACE' }, 405, 'method-not-allowed'],
        [MARKET, { headers: { 'If-Match': '"x"' } }, 412, 'precondition-failed'],
      ])('a request that nginx itself refuses has a problem document: %s %j', async (path, asked, status, code) => {
        const got = await to('alone', path, asked);
        expect([got.status, got.field('content-type')]).toEqual([status, PROBLEM_CONTENT_TYPE]);
        expect([got.field('cache-control'), got.field('strict-transport-security')]).toEqual(['no-store', HSTS]);
        expect(JSON.parse(got.body.toString())).toMatchObject({ status, code });
      });

      test('operations of the write API reach the service, with their method and query', async () => {
        for (const { method, path } of Object.values(OPERATIONS)) {
          const url = `${path.replaceAll(/\{\w+\}/g, 'x')}${method === 'GET' ? '?limit=1' : ''}`;
          expect((await to('beside', url, { method })).body.toString(), url).toBe(`${method} ${url}`);
        }
      });

      test('without a service, all else is 404 or 405', async () => {
        for (const [path, asked, status] of [
          ['/api/v1/me', {}, 404],
          ['/healthz', {}, 404],
          [MARKET, { method: 'POST' }, 405],
          ['/api/v1/ingest/batches', { method: 'POST' }, 405],
        ] as const) {
          const got = await to('alone', path, asked);
          expect([got.status, got.field('content-type')], path).toEqual([status, PROBLEM_CONTENT_TYPE]);
          expect(got.field('access-control-allow-origin'), path).toBe('*');
          expect(JSON.parse(got.body.toString()).status).toBe(status);
        }
      });

      test('while the service is away, reads go on, and writes get a problem', async () => {
        expect((await to('deserted', MARKET)).status).toBe(200);
        const got = await to('deserted', '/api/v1/ingest/batches', { method: 'POST', body: '{}' });
        expect([got.status, got.field('retry-after'), got.field('cache-control')]).toEqual([503, '5', 'no-store']);
        expect(got.field('content-type')).toBe(PROBLEM_CONTENT_TYPE);
        expect(JSON.parse(got.body.toString()).code).toBe('service-unavailable');
      });

      test('an entity tag gives 304, and with gzip, too', async () => {
        for (const path of [MARKET, LIST, '/', '/api/v1/log/checkpoint']) {
          for (const coding of ['identity', 'gzip']) {
            const headers = { 'Accept-Encoding': coding };
            const tag = (await to('beside', path, { headers })).field('etag') as string;
            const known = await to('beside', path, { headers: { ...headers, 'If-None-Match': tag } });
            expect([known.status, known.body.length], `${path} ${coding}`).toEqual([304, 0]);
          }
        }
      });
    });
  }
});

function compared({ status, field, body }: Answer): Compared {
  const coding = field('content-encoding');
  const plain = coding === 'gzip' ? gunzipSync(body) : coding === 'zstd' ? zstdDecompressSync(body) : body;
  return {
    status,
    ...Object.fromEntries(FIELDS.map((name) => [name, field(name)])),
    compressed: coding !== undefined,
    body: plain.toString('latin1'),
  };
}

async function publishInto(folder: string): Promise<Awaited<ReturnType<typeof openDirectoryObjects>>> {
  const world = createWorld();
  const objects = await openDirectoryObjects(folder);
  const dependencies = {
    ...withLog(dependenciesOn(world.ledger, objects, world.clock)),
    projections: new Set(PROJECTIONS),
    readBaseUrl: 'https://data.example',
    site: await readSite(),
  };
  await world.ingest(SLUGS.map((slug) => (slug === 'eur-usd' ? EURO : market(slug))));
  for (const slug of SLUGS) {
    const days = slug === 'z' ? DAYS_OF_Z : DAYS;
    await world.ingest(Array.from({ length: days }, (_, day) => price(slug, day, 100 + day)));
  }
  await world.ingest([MODEL, { ...price('model', 0, 150), metric: 'inputPrice' } as IngestRecordInput]);
  await publish(dependencies);
  await removeMarket(world, 'b', 'c');
  await publish(dependencies);
  await makeExport({ storage: dependencies });
  world.clock.nowMs += 24 * 60 * 60 * 1000;
  await makeCompat({ storage: dependencies });
  // As while its page is not made yet.
  await rm(join(folder, 'public/markets/c.html'));
  return objects;
}
