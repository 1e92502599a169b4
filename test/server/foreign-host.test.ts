/** A published folder, served by a program that knows nothing of it: Python's file server. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { PROJECTIONS } from '../../contract/files/projections.ts';
import { historyPageSchema, marketPageSchema } from '../../contract/operations/public-reads.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { publish } from '../../publisher/publish.ts';
import { readSite } from '../../server/folder/site-folder.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { readPackage, readResource } from '../publisher/exports/exported.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

/** One is called as the folder of the list's pages is, one as the file of a history. */
const SLUGS = ['a', 'b', 'c', 'history', 'markets', 'pages', 'z'] as const;
const DAYS = 11;

const version = spawnSync('python3', ['--version']);
if (version.status !== 0) console.warn('python3 is missing: the tests of a foreign host are skipped');

describe.skipIf(version.status !== 0)('with python3 -m http.server, a reader', async () => {
  if (version.status !== 0) return;
  const { folder, remove } = await makeTemporaryFolder();
  afterAll(remove);
  await publishInto(folder);
  const { base, end } = await serve(join(folder, 'public'));
  afterAll(end);

  const read = async (path: string) => {
    const response = await fetch(new URL(path, base));
    expect(response.status, path).toBe(200);
    return response;
  };
  const textOf = async (path: string) => await (await read(path)).text();

  /** Every page, by `page.next` alone. */
  async function walk<Page extends { data: unknown[]; page: { next: string | null } }>(
    first: string,
    parse: (json: unknown) => Page,
  ): Promise<Page['data'][]> {
    const pages: Page['data'][] = [];
    for (let path: string | null = first; path !== null; ) {
      const { data, page } = parse(JSON.parse(await textOf(path)));
      pages.push(data);
      path = page.next === null ? null : new URL(page.next, new URL(path, base)).pathname;
    }
    return pages;
  }

  test('walks the list to its end, and each history', async () => {
    const list = await walk('/api/v1/markets.json', (json) => marketPageSchema.parse(json));
    expect(list.map((page) => page.length)).toEqual([3, 3, 1]);
    const markets = list.flat() as { slug: string; history: { count: number } }[];
    expect(markets.map(({ slug }) => slug)).toEqual([...SLUGS]);
    for (const item of markets) {
      const { slug } = item;
      expect(JSON.parse(await textOf(`/api/v1/markets/${slug}.json`))).toEqual(item);
      const history = await walk(`/api/v1/markets/${slug}/history.json`, (json) => historyPageSchema.parse(json));
      expect(history.map((page) => page.length)).toEqual([3, 4, 4]);
      const csv = await textOf(`/api/v1/markets/${slug}/history.csv`);
      expect(csv.trim().split('\n')).toHaveLength(1 + DAYS);
      expect(JSON.parse(await textOf(`/api/v1/markets/${slug}/history/index.json`)).closedPages).toHaveLength(2);
    }
  });

  test('gets each file with the type that its extension says', async () => {
    const typed = [
      ['/api/v1/snapshot.json', 'application/json'],
      ['/api/v1/latest.json', 'application/json'],
      ['/api/v1/latest.csv', 'text/csv'],
      ['/api/v1/recent.json', 'application/json'],
      ['/api/v1/openapi.json', 'application/json'],
      ['/index.html', 'text/html'],
    ] as const;
    for (const [path, type] of typed) expect((await read(path)).headers.get('content-type'), path).toContain(type);
  });

  test('reads the checkpoint of the log, and a tile', async () => {
    const [origin, size] = (await textOf('/api/v1/log/checkpoint')).split('\n');
    expect(origin).toBe('tidemark.test/log');
    await read(`/api/v1/log/tile/entries/000.p/${size}`);
  });

  test('reads an export by its manifest', async () => {
    const reader = async (path: string) => {
      const response = await read(path);
      return { status: response.status, headers: new Map(), body: new Uint8Array(await response.arrayBuffer()) };
    };
    const latest = '/api/v1/exports/latest.json';
    const { resources } = await readPackage(reader, latest);
    expect(resources.length).toBeGreaterThan(0);
    for (const resource of resources) await readResource(reader, resource, latest);
  });

  test('sees the pages for people, with what they load', async () => {
    for (const page of ['/', '/docs/', '/status/', '/markets/market.html', '/docs/guides/paging.html']) {
      const assets = [...(await textOf(page)).matchAll(/\b(?:src|href)="([^"]*assets\/[^"]+)"/g)];
      expect(assets.length, page).toBeGreaterThan(0);
      for (const [, asset = ''] of assets) await read(new URL(asset, new URL(page, base)).pathname);
    }
  });
});

async function publishInto(folder: string): Promise<void> {
  const world = createWorld();
  const objects = await openDirectoryObjects(folder);
  const dependencies = {
    ...withLog(dependenciesOn(world.ledger, objects, world.clock)),
    projections: new Set(PROJECTIONS),
    site: await readSite(),
  };
  await world.ingest(SLUGS.map((slug) => market(slug)));
  for (const slug of SLUGS) {
    await world.ingest(Array.from({ length: DAYS }, (_, day) => price(slug, day, 100 + day)));
  }
  await publish(dependencies);
  await makeExport({ storage: dependencies });
}

async function serve(folder: string): Promise<{ readonly base: URL; readonly end: () => void }> {
  const child = spawn('python3', ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /port (\d+)/.exec(line)?.[1];
    if (port !== undefined) return { base: new URL(`http://127.0.0.1:${port}/`), end: () => child.kill() };
  }
  throw new Error('python3 -m http.server ended before it served');
}
