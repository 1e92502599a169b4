/** `npm start` as a user sees it: its output, its errors, and the data after any kind of stop. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PAGE_HEADERS } from '../../contract/files/page-headers.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { SITE_FOLDER } from '../../tools/build/build-site.ts';
import { folderForAll, makeTemporaryFolder, temporaryFolder } from '../storage/temporary-folder.ts';
import { publishedBytes } from './published-bytes.ts';
import { type ServerProcess, startServer, startServerForTest, watchServer } from './server-process.ts';

const ALREADY = /in the ledger already/;

/** An undisturbed first start, shared by all tests. */
const temporary = folderForAll();
let data: string;
let first: ServerProcess;
let firstUrl: string;
let undisturbed: Map<string, string>;

beforeAll(async () => {
  data = join(temporary.folder, 'not', 'there', 'yet');
  first = startServer({ TIDEMARK_DATA: data });
  firstUrl = await first.started;
  undisturbed = await publishedBytes(firstUrl);
});

afterAll(() => first.end('SIGKILL'));

/** Without the names of list pages, which hold a generation, and without the snapshot. */
function withoutGenerations(bodies: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const entries = [...bodies].filter(([url]) => url !== SNAPSHOT_URL);
  return new Map(entries.map(([url, body]) => [withoutCursors(url), withoutCursors(body)]));
}

function withoutCursors(text: string): string {
  return text.replace(/\b[1-9][0-9]*-[0-9a-f]{32}\b/g, 'cursor');
}

/** The pages are those that were built. */
async function expectPages(baseUrl: string): Promise<void> {
  for (const [path, file] of [
    ['/', 'index.html'],
    ['/market/index.html', 'market/index.html'],
    ['/docs/', 'docs/index.html'],
    ['/status/', 'status/index.html'],
  ]) {
    const page = await fetch(`${baseUrl}${path}`);
    const built = assetsOf(await readFile(join(SITE_FOLDER, file as string), 'utf8'));
    expect(built.length).toBeGreaterThan(0);
    expect(assetsOf(await page.text())).toEqual(built);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) expect(page.headers.get(name)).toBe(value);
  }
}

/** The names have digests of what the files hold. */
const assetsOf = (page: string) => page.match(/assets\/[^"]+/g) ?? [];

/** The bodies are those of the first start, published by a later generation. */
async function expectSameBodies(baseUrl: string): Promise<void> {
  expect(withoutGenerations(await publishedBytes(baseUrl))).toEqual(withoutGenerations(undisturbed));
}

function curlsIn(output: string): string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('curl '));
}

describe('the first start', () => {
  test.each(['175 markets', '9,975 observations', '56 unknown values', 'generation 1'])('says %s', (part) => {
    expect(first.output()).toContain(part);
  });

  test('prints its address and commands, which all work', async () => {
    expect(firstUrl).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    const commands = curlsIn(first.output());
    expect(new Set(commands).size).toBe(4);
    const authorization = `Bearer ${(await readFile(join(data, 'operator-key'), 'utf8')).trim()}`;
    for (const command of commands) {
      const url = /http:[^\s']+/.exec(command)?.[0] ?? '';
      const response = await fetch(url, { headers: command.includes('operator-key') ? { authorization } : {} });
      expect(response.status).toBe(200);
      expect(await response.json()).toBeTypeOf('object');
    }
  });

  test('fits a small terminal, and writes plain text to a pipe', () => {
    // The length of the folder is not ours to choose. Lines with a time are events, which may follow at any
    // moment; on a busy machine there are lines about the progress.
    const all = first.output().replaceAll(data, '.tidemark').split('\n');
    const lines = all.filter((line) => !/^\d{4}-|^(?:Ingesting|Publishing) /.test(line));
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(first.output()).not.toContain('\u001b');
    expect(first.errors()).toBe('');
  });

  test('publishes a sound world', async () => {
    expect((await verify(httpReader(firstUrl), { settled: true })).findings).toEqual([]);
  });

  test('shows the pages for people', async () => {
    await expectPages(firstUrl);
  });
});

/** One line without a stack, and exit code 1. */
async function expectRefusal(server: ServerProcess, part: string): Promise<void> {
  expect(await server.ended).toBe(1);
  const lines = server.errors().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(part);
}

// More causes: config.test.ts and data-folder.test.ts.
describe('an impossible start fails with one line that names the cause', () => {
  test('HOST is not an address of this machine', async () => {
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: await temporaryFolder(), HOST: '192.0.2.1' }), '192.0.2.1');
  });

  test('TIDEMARK_LOG_KEY is garbage, which is as wrong the next time', async () => {
    const server = startServerForTest({ TIDEMARK_DATA: await temporaryFolder(), TIDEMARK_LOG_KEY: '999.1.1.1' });
    expect(await server.ended).toBe(2);
  });

  test('the port is in use; no data folder is made', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const port = new URL(firstUrl).port;
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: folder, PORT: port }), port);
    expect(existsSync(folder)).toBe(false);
  });

  test('the data folder belongs to a running server, which continues', async () => {
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: data }), data);
    expect((await fetch(`${firstUrl}/healthz`)).status).toBe(200);
  });
});

describe('stopping and starting again', () => {
  test('Ctrl-C ends it at once and cleanly, and the next start continues', async () => {
    // Two signals of one Ctrl-C: from the terminal and from npm.
    expect(await Promise.all([first.end('SIGINT'), first.end('SIGINT')])).toEqual([0, 0]);
    expect(first.errors()).toBe('');

    const second = startServerForTest({ TIDEMARK_DATA: data, HOST: '0.0.0.0', TIDEMARK_SAMPEL: 'no' });
    const baseUrl = await second.started;
    expect(new URL(baseUrl).hostname).toBe('127.0.0.1');
    expect(second.output()).toMatch(ALREADY);
    expect(second.output()).toContain('generation 1');
    expect(await publishedBytes(baseUrl)).toEqual(undisturbed);
    expect(await second.end('SIGTERM')).toBe(0);
    expect(second.errors().split('Did you mean TIDEMARK_SAMPLE?')).toHaveLength(2);
    expect(second.errors()).toMatch(/clear text.*\n.*TIDEMARK_LOCAL_ISSUER/);
    expect(second.output()).not.toContain('tidemark token');
  });

  test('on all IPv6 addresses, it prints one that can be opened', async ({ skip }) => {
    if (!hasIPv6()) skip('this machine has no IPv6');
    const server = startServerForTest({ TIDEMARK_DATA: data, HOST: '::' });
    const baseUrl = await server.started;
    expect(new URL(baseUrl).hostname).toBe('[::1]');
    expect((await fetch(`${baseUrl}/api/v1/snapshot`)).status).toBe(200);
    expect(await server.end('SIGINT')).toBe(0);
  });

  test('if all objects are deleted, it makes them again before it serves', async () => {
    await rm(join(data, 'public'), { recursive: true });
    const server = startServerForTest({ TIDEMARK_DATA: data });
    const url = await server.started;
    await expectSameBodies(url);
    await expectPages(url);
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.errors()).toBe('');
  });

  test('if some objects are deleted, it serves, reports it, and makes them again', async () => {
    const markets = join(data, 'public', 'api', 'v1', 'markets');
    const made = async () =>
      (await readdir(markets, { recursive: true })).filter((path) => /\/history\.json$/.test(path));
    for (const path of await made()) await rm(join(markets, path));
    const server = startServerForTest({ TIDEMARK_DATA: data });
    const url = await server.started;
    await expect.poll(() => server.errors()).toContain('175 objects are lost');
    await expect.poll(made).toHaveLength(175);
    await expectSameBodies(url);
    expect(await server.end('SIGINT')).toBe(0);
  });

  test('a signal during the start ends it cleanly too', async () => {
    const folder = await temporaryFolder();
    const server = startServerForTest({ TIDEMARK_DATA: folder });
    await server.begun;
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.errors()).toBe('');
  });
});

test('after kill -9 at any moment of the first start, the next start completes it', async () => {
  const delaysMs = fc.array(fc.integer({ min: 100, max: 2000 }), { minLength: 1, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(delaysMs, async (delays) => {
      const { folder, remove } = await makeTemporaryFolder();
      for (const delayMs of delays) {
        const killed = startServer({ TIDEMARK_DATA: folder });
        await setTimeout(delayMs);
        expect(await killed.end('SIGKILL')).toBe('SIGKILL');
      }
      const server = startServer({ TIDEMARK_DATA: folder });
      try {
        expect(await publishedBytes(await server.started)).toEqual(undisturbed);
      } finally {
        await server.end('SIGKILL');
        await remove();
      }
    }),
    { numRuns: 1 },
  );
}, 300_000);

function hasIPv6(): boolean {
  return Object.values(networkInterfaces())
    .flat()
    .some((entry) => entry?.family === 'IPv6');
}

test('starts with few file descriptors, and reads its pages one after the other', async () => {
  const { PATH = '' } = process.env;
  const folder = await temporaryFolder();
  const command = ['-c', 'ulimit -n 80 && exec "$0" cli/main.ts start', process.execPath];
  const env = {
    PATH,
    PORT: '0',
    TIDEMARK_DATA: join(folder, 'data'),
    TIDEMARK_SAMPLE: 'no',
    TIDEMARK_PROJECTIONS: 'log',
  };
  const server = watchServer(spawn('sh', command, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  onTestFinished(async () => void (await server.end('SIGKILL')));
  expect((await fetch(`${await server.started}${SNAPSHOT_URL}`)).status).toBe(200);
});
