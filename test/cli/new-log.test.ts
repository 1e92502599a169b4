/** A data folder that was thrown away and made anew has another log: each command that checks logs says so, and what to do. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRunWorld, serveFiles } from '../run/run-world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const OBSERVED_AT = '2026-11-01T00:00:00Z';
const RECORDS = [
  {
    ...{ type: 'market', slug: 'tea-usd', name: 'Tea, US dollar', kind: 'food', nativeCurrency: 'USD' },
    unit: { quantity: 1, of: 'kilogram' },
  },
  {
    ...{ type: 'observation', market: 'tea-usd', metric: 'price', value: '6.12', currency: 'USD' },
    ...{ sourceLabel: 'An exchange', sourceUrl: 'https://exchange.example/tea', observedAt: OBSERVED_AT },
    ...{ confidence: 'high', status: 'final' },
  },
];

test('verify --log, receipt and mirror name both keys, and --new-log takes the new one', async () => {
  const home = await temporaryFolder();
  const run = (...words: readonly string[]) =>
    tidemark(words, { environment: { TIDEMARK_CONFIG: join(home, 'config.json') } });
  const begin = async (name: string, port: string) => {
    const data = join(home, name);
    const environment = {
      TIDEMARK_DATA: data,
      TIDEMARK_SAMPLE: 'no',
      PORT: port,
      TIDEMARK_LOG_ORIGIN: `${name}.example`,
    };
    const server = startServerForTest(environment);
    const url = await server.started;
    const file = join(home, 'tea.ndjson');
    await writeFile(file, RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''));
    expect(await run('ingest', file, '--data', data)).toMatchObject({ code: 0 });
    return { server, url };
  };
  const { server, url } = await begin('first', '0');
  const mirror = ['mirror', url, join(home, 'copy'), '--once'];
  const receipt = ['receipt', 'tea-usd', '--url', url, '--observed-at', OBSERVED_AT];
  expect(await run('verify', url, '--log')).toMatchObject({ code: 0 });
  expect(await run(...mirror)).toMatchObject({ code: 0 });
  await server.end('SIGKILL');

  await begin('second', new URL(url).port);
  const memory = join(home, 'logs.json');
  const remembered = await readFile(memory, 'utf8');
  for (const words of [['verify', url, '--log'], receipt]) {
    const { code, errors } = await run(...words);
    expect(code).toBe(1);
    for (const part of [memory, 'first.example+', 'second.example+', 'anew', 'alarm', `${url} --log --new-log`]) {
      expect(errors).toContain(part);
    }
  }
  const mirrored = await run(...mirror);
  expect(mirrored.code).toBe(1);
  for (const part of ['first.example+', 'second.example+', 'alarm', 'another folder']) {
    expect(mirrored.errors).toContain(part);
  }
  expect(await readFile(memory, 'utf8')).toBe(remembered);

  expect(await run('verify', url, '--new-log')).toMatchObject({ code: 2 });
  expect(await run('verify', url, '--log', '--new-log')).toMatchObject({ code: 0 });
  expect(await run('verify', url, '--log')).toMatchObject({ code: 0 });
  expect(await run(...receipt)).toMatchObject({ code: 0 });
}, 60_000);

test('a trial that was discarded and begun again with the same key is a fork: verify names the cause, and how to go on', async () => {
  const { records, run, data, target, folder } = await openRunWorld();
  const url = await serveFiles(target);
  const environment = { TIDEMARK_CONFIG: join(folder, 'config.json') };
  const verify = (...words: readonly string[]) => tidemark(['verify', url, '--log', ...words], { environment });
  const receipt = (...words: readonly string[]) =>
    tidemark(['receipt', 'tea', '--url', url, '--observed-at', '2025-01-01T00:00:00Z', ...words], { environment });
  const publish = async (prices: readonly number[]) =>
    await run([await records('tea.ndjson', { tea: prices }), '--to', target]);
  await publish([1000]);
  expect(await verify()).toMatchObject({ code: 0 });
  await publish([1000, 1001]);
  expect(await receipt()).toMatchObject({ code: 0 });
  for (const place of [data, target]) await rm(place, { recursive: true });
  await publish([2000, 2001]);
  const { code, errors } = await verify();
  expect(code).toBe(1);
  for (const part of ['logs.json', 'trial', 'alarm', 'new key', `tidemark verify ${url}/ --log --new-log`])
    expect(errors).toContain(part);
  // It signs for a log that this user knows to be forked.
  expect(await receipt()).toMatchObject({ code: 1, output: '' });
  expect(
    await receipt('--log-key', JSON.parse(await readFile(join(folder, 'logs.json'), 'utf8'))[`${url}/`].vkeys[0]),
  ).toMatchObject({ code: 1, output: '' });
  expect(await verify('--new-log')).toMatchObject({ code: 0 });
  expect(await verify()).toMatchObject({ code: 0 });
  expect(await receipt()).toMatchObject({ code: 0 });
});
