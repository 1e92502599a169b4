/** What a person sees who types `npm start`, and what becomes of their data whatever they do to the process. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SNAPSHOT_URL } from '../../contract/routes.ts';
import { httpReader } from '../../publisher/verify/reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite-ledger.ts';
import { makeTemporaryFolder, temporaryFolder } from '../storage/temporary-folder.ts';
import { publishedBytes } from './published-bytes.ts';
import { type ServerProcess, startServer, startServerForTest } from './server-process.ts';

const ALREADY = /in the ledger already/;

/** Started once, for all: an undisturbed run. */
let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let data: string;
let first: ServerProcess;
let firstUrl: string;
let undisturbed: Map<string, string>;

beforeAll(async () => {
  temporary = await makeTemporaryFolder();
  data = join(temporary.folder, 'not', 'there', 'yet');
  first = startServer({ TIDEMARK_DATA: data });
  firstUrl = await first.started;
  undisturbed = await publishedBytes(firstUrl);
});

afterAll(async () => {
  await first.end('SIGKILL');
  await temporary.remove();
});

async function expectUndisturbed(baseUrl: string): Promise<void> {
  const report = await verify(httpReader(baseUrl), { settled: true });
  expect(report.findings).toEqual([]);
  expect(await publishedBytes(baseUrl)).toEqual(undisturbed);
}

/** Without the names of list pages, which hold the generation that made them, and without the snapshot, which counts it. */
function withoutGenerations(bodies: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const entries = [...bodies].filter(([url]) => url !== SNAPSHOT_URL);
  return new Map(entries.map(([url, body]) => [withoutCursors(url), withoutCursors(body)]));
}

function withoutCursors(text: string): string {
  return text.replace(/\b[1-9][0-9]*-[0-9a-f]{32}\b/g, 'cursor');
}

/** It was published again since, in later generations. */
async function expectRestored(baseUrl: string): Promise<void> {
  expect((await verify(httpReader(baseUrl), { settled: true })).findings).toEqual([]);
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

  test('says where it serves, and what to try; each of it works', async () => {
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

  test('fits a small terminal, and writes plain text where nobody looks', () => {
    // The folder is as long as its owner has made it.
    const lines = first.output().replaceAll(data, '.tidemark').split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(first.output()).not.toContain('\u001b');
    expect(first.errors()).toBe('');
  });

  test('publishes what verifies', async () => {
    await expectUndisturbed(firstUrl);
  });
});

/** One line, no stack, and a code that says that it failed. */
async function expectRefusal(server: ServerProcess, part: string): Promise<void> {
  expect(await server.ended).toBe(1);
  const lines = server.errors().trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(part);
}

describe('a start that cannot be says why in one line, and fails', () => {
  test.each<[string, Record<string, string>, string]>([
    ['PORT is a word', { PORT: 'http' }, 'PORT'],
    ['PORT is too high', { PORT: '65536' }, 'PORT'],
    ['PORT is negative', { PORT: '-1' }, 'PORT'],
    ['HOST is not an address of this machine', { HOST: '192.0.2.1' }, '192.0.2.1'],
  ])('%s', async (_, environment, part) => {
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: await temporaryFolder(), ...environment }), part);
  });

  test('the port is in use; then nothing has been ingested', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const port = new URL(firstUrl).port;
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: folder, PORT: port }), port);
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'));
    expect(await ledger.get(HEAD_KEY)).toBeNull();
    expect((await ledger.query(MARKET_INDEX.partition, { limit: 1 })).items).toEqual([]);
    ledger.close();
  });

  test('the data folder belongs to a server that is running, which goes on', async () => {
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: data }), data);
    expect((await fetch(`${firstUrl}/healthz`)).status).toBe(200);
  });

  test.each<[string, (folder: string) => Promise<unknown>, string]>([
    ['the data folder is a file', (folder) => writeFile(join(folder, 'data'), 'x'), 'data'],
    ['the data folder is below a file', (folder) => writeFile(join(folder, 'data'), 'x'), 'data/below'],
    [
      'the ledger is no ledger',
      async (folder) => {
        await mkdir(join(folder, 'data'));
        await writeFile(
          join(folder, 'data', 'ledger.sqlite'),
          'not a database, and long enough to look like one'.repeat(99),
        );
      },
      'data',
    ],
    [
      'a file is where the objects should be',
      async (folder) => {
        await mkdir(join(folder, 'data'));
        await writeFile(join(folder, 'data', 'objects'), 'x');
      },
      'data',
    ],
  ])('%s', async (_, prepare, path) => {
    const folder = await temporaryFolder();
    await prepare(folder);
    const dataFolder = join(folder, path);
    await expectRefusal(startServerForTest({ TIDEMARK_DATA: dataFolder }), dataFolder);
  });
});

describe('stopping and starting again', () => {
  test('Ctrl-C ends it at once and cleanly, and the next start resumes where it was', async () => {
    expect(await first.end('SIGINT')).toBe(0);
    expect(first.errors()).toBe('');

    const second = startServerForTest({ TIDEMARK_DATA: data });
    const baseUrl = await second.started;
    expect(second.output()).toMatch(ALREADY);
    expect(second.output()).toContain('generation 1');
    await expectUndisturbed(baseUrl);
    expect(await second.end('SIGTERM')).toBe(0);
    expect(second.errors()).toBe('');
  });

  test.each([
    { host: '0.0.0.0', shown: '127.0.0.1', works: true },
    { host: '::', shown: '[::1]', works: hasIPv6() },
  ])('listening on $host, what is printed can be typed', async ({ host, shown, works }) => {
    if (!works) return;
    const server = startServerForTest({ TIDEMARK_DATA: data, HOST: host });
    const baseUrl = await server.started;
    expect(new URL(baseUrl).hostname).toBe(shown);
    expect((await fetch(`${baseUrl}/api/v1/snapshot`)).status).toBe(200);
    expect(await server.end('SIGINT')).toBe(0);
  });

  test('where all objects were deleted, they are made again before anybody is served', async () => {
    await rm(join(data, 'objects'), { recursive: true });
    const server = startServerForTest({ TIDEMARK_DATA: data });
    await expectRestored(await server.started);
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.errors()).toBe('');
  });

  test('where some objects were deleted, it serves, says so, and makes them again', async () => {
    const histories = join(data, 'objects', 'objects', 'public', 'api', 'v1', 'histories');
    await rm(histories, { recursive: true });
    const server = startServerForTest({ TIDEMARK_DATA: data });
    await server.started;
    await expect.poll(() => server.errors(), { timeout: 20_000 }).toContain('175 objects are lost');
    const made = () => readdir(histories).catch(() => []);
    await expect.poll(made, { timeout: 20_000 }).toHaveLength(175);
    expect(await server.end('SIGINT')).toBe(0);

    const next = startServerForTest({ TIDEMARK_DATA: data });
    await expectRestored(await next.started);
    expect(await next.end('SIGINT')).toBe(0);
    expect(next.errors()).toBe('');
  });

  test('one Ctrl-C that arrives twice, from the terminal and from npm, is one', async () => {
    const server = startServerForTest({ TIDEMARK_DATA: data });
    await server.started;
    const once = server.end('SIGINT');
    expect(await server.end('SIGINT')).toBe(0);
    expect(await once).toBe(0);
  });

  test('a signal while it starts ends it cleanly too', async () => {
    const folder = await temporaryFolder();
    const server = startServerForTest({ TIDEMARK_DATA: folder });
    await server.begun;
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.errors()).toBe('');
  });
});

test('kill -9 at any moment of the first start, again and again: the next start completes it', async () => {
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
        await expectUndisturbed(await server.started);
        expect(await readdir(folder)).toContain('ledger.sqlite');
      } finally {
        await server.end('SIGKILL');
        await remove();
      }
    }),
    { numRuns: 3, endOnFailure: true },
  );
}, 120_000);

function hasIPv6(): boolean {
  return Object.values(networkInterfaces())
    .flat()
    .some((entry) => entry?.family === 'IPv6');
}
