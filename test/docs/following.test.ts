/** The script of docs/following.md follows a log, with as many requests as the page says. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tilePath } from '../../contract/log/tiles.ts';
import { serveWorldForTest } from '../clients/typescript/served-world.ts';
import { listeningForTest } from '../listening.ts';
import { readTexts } from '../publisher/log/test-log.ts';
import { market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const page = await readFile(new URL('../../docs/following.md', import.meta.url), 'utf8');
const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];

async function startService() {
  const served = await serveWorldForTest();
  const publishDays = (from: number, count: number) =>
    served.publish([market('m'), ...Array.from({ length: count }, (_, day) => price('m', -from - day, 1))]);
  return { ...served, publishDays };
}

/** A cache on the way that has nothing but this checkpoint. */
async function startOlderCache(checkpoint: string) {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '');
    if (url?.endsWith('/checkpoint')) response.writeHead(200, { etag: '"older"' }).end(checkpoint);
    else response.writeHead(404).end();
  });
  return { asked, url: await listeningForTest(server) };
}

/** One round, from where the last one in this folder ended. */
async function round(folder: string, url: string): Promise<string> {
  await writeFile(join(folder, 'follow.sh'), script.replace('https://data.example', url));
  return (await promisify(execFile)('sh', ['follow.sh'], { cwd: folder, maxBuffer: 10e6 })).stdout;
}

test('the script reads every line once, with one request while nothing is new', async () => {
  const { world, asked, publishDays, url } = await startService();
  const folder = await temporaryFolder();
  let lines = '';
  const roundAsksFor = async (...expected: readonly string[]) => {
    asked.length = 0;
    lines += await round(folder, url);
    expect(asked.map((path) => path.replace('log/', ''))).toEqual(expected);
  };
  await publishDays(0, 260);
  await roundAsksFor('checkpoint', 'ndjson/000.gz', 'ndjson/001.p/6.gz');
  await roundAsksFor('checkpoint');
  await publishDays(260, 1);
  await roundAsksFor('checkpoint', 'ndjson/001.p/7.gz');
  expect(lines).toBe((await readTexts(world.objects)).map((text) => `${text}\n`).join(''));
});

test('the script keeps its number when a cache has a smaller one, and repeats no line', async () => {
  const { world, publishDays, url } = await startService();
  await publishDays(0, 260);
  const older = await startOlderCache(await (await fetch(`${url}/api/v1/log/checkpoint`)).text());
  await publishDays(260, 1);
  const folder = await temporaryFolder();
  const whole = (await readTexts(world.objects)).map((text) => `${text}\n`).join('');
  expect(await round(folder, url)).toBe(whole);
  expect([await round(folder, older.url), await round(folder, older.url), await round(folder, url)]).toEqual([
    '',
    '',
    '',
  ]);
  expect(new Set(older.asked)).toEqual(new Set(['/api/v1/log/checkpoint']));
});

test('the path of a far file, in the shell', async () => {
  const [part = ''] = /path=\$\(printf[\s\S]*?done/.exec(script) ?? [];
  const numbers = [7, 999, 1_000, 1_000_000, 1_234_067, 123_456_789];
  const loop = `for n in ${numbers.join(' ')}; do ${part}; echo "$path"; done`;
  const { stdout } = await promisify(execFile)('sh', ['-c', loop]);
  expect(stdout.trim().split('\n')).toEqual(numbers.map((n) => tilePath(0, n, 256).replace('tile/0/', '')));
});
