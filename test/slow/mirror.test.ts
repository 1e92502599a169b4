/** `tidemark mirror` as a process, beside a running server: killed at any moment, it goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { MAIN } from '../cli/tidemark.ts';
import { market, price } from '../publisher/world.ts';
import { HONEST, hostileOrigin } from '../server/mirror/hostile-origin.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';

const temporary = folderForAll();
let data: string;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  data = join(temporary.folder, 'data');
  server = startServer({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'all' });
  url = await server.started;
  await ingest([market('old'), ...Array.from({ length: 100 }, (_, day) => price('old', day, 1 + day))]);
});

afterAll(() => server.end('SIGKILL'));

let day = 0;
const ingestSome = () => ingest([market('mirrored'), price('mirrored', day++, 100 + day)]);

async function ingest(records: readonly object[]): Promise<void> {
  const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { code, errors } = await tidemark(['ingest', '-', '--data', data], { input });
  expect(code, errors).toBe(0);
}

interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Serves on a free port. */
async function startMirror(folder: string): Promise<Serving> {
  const { PATH = '' } = process.env;
  const words = ['mirror', url, folder, '--serve', '--port', '0', '--every', '0.05'];
  const child = spawn(process.execPath, [MAIN, ...words], { env: { PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const serving = Promise.withResolvers<string>();
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    const [, address] = /serving address=(\S+)/.exec(output) ?? [];
    if (address !== undefined) serving.resolve(address);
  });
  child.once('close', () => serving.reject(new Error(`it ended:\n${output}`)));
  return { child, url: await serving.promise };
}

async function kill({ child }: Serving): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(50);
}

const bodyOf = async (base: string, path: string) => await (await fetch(new URL(path, base))).text();

test('killed at any moment, it keeps its promises, and goes on', async () => {
  const folder = join(await temporaryFolder(), 'mirror');
  for (let round = 0; round < 4; round++) {
    const mirror = await startMirror(folder);
    const ingested = ingestSome();
    await sleep(Math.random() * 700);
    await Promise.all([kill(mirror), ingested]);
  }
  const mirror = await startMirror(folder);
  await until(async () => (await bodyOf(mirror.url, '/api/v1/mirror')).includes('"current"'));
  const { generation } = JSON.parse(await bodyOf(url, '/api/v1/snapshot')) as { generation: number };
  await until(async () => (await bodyOf(mirror.url, '/api/v1/mirror')).includes(`"generation":${generation}`));
  expect((await verify(httpReader(mirror.url))).findings).toEqual([]);
  await kill(mirror);
});

describe('one round', () => {
  test('of a host that shows a price which the log does not have ends with 1, and with 0 once it is honest', async () => {
    const origin = await hostileOrigin(httpReader(url));
    origin.forge = (path, text) => {
      const next = text.replace(/"revision":(\d+)/, (_, revision) => `"revision":${Number(revision) + 1}`);
      const isHistory = path.startsWith('/api/v1/markets/old/history');
      const forged = (path === '/api/v1/markets/old' ? next : text).replaceAll(
        '"amountMinor":100,',
        '"amountMinor":7777,',
      );
      return path === '/api/v1/markets/old' || isHistory ? forged.replaceAll('"1.00"', '"77.77"') : text;
    };
    const folder = join(await temporaryFolder(), 'mirror');
    const words = ['mirror', origin.url.href, folder, '--once', '--every', '1', '--json'];
    const { code, output } = await tidemark(words);
    expect([code, JSON.parse(output)]).toMatchObject([1, { state: 'faulty', generation: null }]);
    origin.forge = HONEST;
    expect((await tidemark(words)).code).toBe(0);
  });

  test.each<[string, readonly string[], number]>([
    ['without an answer', ['http://127.0.0.1:1', '--once'], 5],
    ['over http elsewhere', ['http://data.example', '--once'], 2],
    ['of something that is no URL', ['data.example', '--once'], 2],
    ['with a limit that is no number', ['http://127.0.0.1:1', '--max-bytes', 'much'], 2],
    ['with a port that is none', ['http://127.0.0.1:1', '--port', '70000'], 2],
  ])('%s ends with its code', async (_, [of = '', ...options], code) => {
    const folder = join(await temporaryFolder(), 'mirror');
    expect(await tidemark(['mirror', of, folder, ...options])).toMatchObject({ code, output: expect.any(String) });
  });
});
