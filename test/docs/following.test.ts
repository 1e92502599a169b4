/** The examples of docs/following.md follow a log, with as many requests as the page says. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { tilePath } from '../../contract/log/tiles.ts';
import { publish } from '../../publisher/publish.ts';
import { createEdgeServer } from '../../server/edge/server.ts';
import { readTexts, withLog } from '../publisher/log/test-log.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const page = await readFile(new URL('../../docs/following.md', import.meta.url), 'utf8');
const exampleIn = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

/** A service with a log of its own clock, and the requests that it gets. */
async function startService() {
  const plain = createWorld();
  const world = { ...plain, dependencies: withLog(plain.dependencies) };
  const asked: string[] = [];
  const { server } = createEdgeServer({
    objects: world.objects,
    nowMs: () => world.clock.nowMs,
    health: () => ({ healthy: true, body: {} }),
  });
  server.prependListener('request', ({ url }) => asked.push(url ?? ''));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const publishDays = async (from: number, count: number) => {
    await world.ingest([market('m'), ...Array.from({ length: count }, (_, day) => price('m', -from - day, 1))]);
    await publish(world.dependencies);
    world.clock.nowMs += 16_000;
  };
  return { world, asked, publishDays, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A cache on the way that has nothing but this checkpoint. */
async function startOlderCache(checkpoint: string) {
  const asked: string[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url ?? '');
    if (url?.endsWith('/checkpoint')) response.writeHead(200, { etag: '"older"' }).end(checkpoint);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const EXAMPLES: readonly (readonly [language: string, command: string, file: string])[] = [
  ['sh', 'sh', 'follow.sh'],
  ['ts', process.execPath, 'follow.ts'],
  ['python', 'python3', 'follow.py'],
];

test('each example reads every line once, with one request while nothing is new', async () => {
  const { world, asked, publishDays, url } = await startService();
  const followers = await Promise.all(
    EXAMPLES.map(async ([language, command, file]) => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, file), exampleIn(language).replace('https://data.example', url));
      return { language, command, file, folder, lines: '' };
    }),
  );
  const everyRoundAsksFor = async (...expected: readonly string[]) => {
    for (const follower of followers) {
      const { language, command, file, folder } = follower;
      asked.length = 0;
      const { stdout } = await promisify(execFile)(command, [file], { cwd: folder, maxBuffer: 10e6 });
      follower.lines += stdout;
      expect(
        asked.map((path) => path.replace('/api/v1/log/', '')),
        language,
      ).toEqual(expected);
    }
  };
  await publishDays(0, 260);
  await everyRoundAsksFor('checkpoint', 'ndjson/000.gz', 'ndjson/001.p/6.gz');
  await everyRoundAsksFor('checkpoint');
  await publishDays(260, 1);
  await everyRoundAsksFor('checkpoint', 'ndjson/001.p/7.gz');
  const whole = (await readTexts(world.objects)).map((text) => `${text}\n`).join('');
  for (const { language, lines } of followers) expect(lines, language).toBe(whole);
});

test('each example keeps its number when a cache has a smaller one, and repeats no line', async () => {
  const { world, publishDays, url } = await startService();
  await publishDays(0, 260);
  const older = await startOlderCache(await (await fetch(`${url}/api/v1/log/checkpoint`)).text());
  await publishDays(260, 1);
  const whole = (await readTexts(world.objects)).map((text) => `${text}\n`).join('');
  for (const [language, command, file] of EXAMPLES) {
    const folder = await temporaryFolder();
    const roundAt = async (base: string) => {
      await writeFile(join(folder, file), exampleIn(language).replace('https://data.example', base));
      return (await promisify(execFile)(command, [file], { cwd: folder, maxBuffer: 10e6 })).stdout;
    };
    expect(await roundAt(url), language).toBe(whole);
    expect([await roundAt(older.url), await roundAt(older.url), await roundAt(url)], language).toEqual(['', '', '']);
  }
  expect(new Set(older.asked)).toEqual(new Set(['/api/v1/log/checkpoint']));
});

test('the path of a far file, in the shell', async () => {
  const [part = ''] = /path=\$\(printf[\s\S]*?done/.exec(exampleIn('sh')) ?? [];
  const numbers = [7, 999, 1_000, 1_000_000, 1_234_067, 123_456_789];
  const script = `for n in ${numbers.join(' ')}; do ${part}; echo "$path"; done`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script]);
  expect(stdout.trim().split('\n')).toEqual(numbers.map((n) => tilePath(0, n, 256).replace('tile/0/', '')));
});
