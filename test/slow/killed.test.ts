/** `tidemark mirror` and `tidemark backup` as processes beside a server: what SIGKILL leaves can be used, or is not taken. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { MAIN, spawnTidemark, tidemark } from '../cli/tidemark.ts';
import { market, price } from '../publisher/world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const namesIn = async (folder: string) => await readdir(folder).catch(() => [] as string[]);

const until = (holds: () => Promise<boolean>) => expect.poll(holds, { interval: 2 }).toBe(true);

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

test('a mirror that is killed at any moment of a round goes on, and its copy verifies', async () => {
  const data = join(await temporaryFolder(), 'data');
  const url = await startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'all' })
    .started;
  const ingest = async (...records: readonly object[]) => {
    const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    expect(await tidemark(['ingest', '-', '--data', data], { input })).toMatchObject({ code: 0 });
  };
  await ingest(market('old'), ...Array.from({ length: 100 }, (_, day) => price('old', day, 1 + day)));
  const folder = join(await temporaryFolder(), 'mirror');
  const start = async () => {
    const words = ['mirror', url, folder, '--serve', '--port', '0', '--every', '0.05'];
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [MAIN, ...words], { env: { PATH }, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      output += chunk;
      const [, address] = /serving address=(\S+)/.exec(output) ?? [];
      if (address === undefined) continue;
      child.stdout.resume();
      return { child, url: address };
    }
    throw new Error(`it ended:\n${output}`);
  };
  // Later in each round: the first kills find the first copy half made, the last ones the round of a new price.
  for (const [day, delayMs] of [20, 150, 400, 700].entries()) {
    const { child } = await start();
    const ingested = ingest(market('mirrored'), price('mirrored', day, 100 + day));
    await sleep(delayMs);
    await Promise.all([kill(child), ingested]);
  }
  const mirror = await start();
  const { generation } = (await (await fetch(`${url}/api/v1/snapshot`)).json()) as { generation: number };
  const state = async () => (await fetch(`${mirror.url}/api/v1/mirror`)).text();
  await expect.poll(state).toMatch(new RegExp(`"generation":${generation},.*"current"`));
  expect((await verify(httpReader(mirror.url))).findings).toEqual([]);
});

test('a command or a server that is killed in the middle of a backup leaves no half of one that a restore takes', async () => {
  const folder = await temporaryFolder();
  const [data, dir, restored] = ['data', 'backups', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await copySample(data);
  // 80 MB of records that nobody reads, so that a copy takes a while.
  const database = new DatabaseSync(join(data, 'ledger.sqlite'));
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO items SELECT 'filler', printf('%09d', i), 0, 'filler', NULL, '"' || hex(randomblob(1900)) || '"' FROM n`);
  database.close();
  const begin = async () => {
    const started = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
    await started.started;
    return started;
  };
  const backUp = () => tidemark(['backup', dir, '--data', data, '--json']);
  const restore = () => tidemark(['restore', dir, '--data', restored, '--keep-keys']);
  const snapshots = async () => (await namesIn(data)).filter((name) => name.startsWith('snapshot-'));
  const partial = async () => (await namesIn(dir)).filter((name) => name.endsWith('.partial'));
  const isSnapshotBegun = async () => (await snapshots()).length > 0;
  const isCopyBegun = async () => {
    const [name] = await partial();
    return name !== undefined && (await namesIn(join(dir, name))).length > 0;
  };
  const expectNone = async () => {
    expect((await namesIn(dir)).filter((name) => name.endsWith('Z'))).toEqual([]);
    expect(await restore()).toMatchObject({ code: 1, errors: expect.stringMatching(/holds no complete backup/) });
    expect(await namesIn(restored)).toEqual([]);
  };

  let server = await begin();
  for (const isBegun of [isSnapshotBegun, isCopyBegun]) {
    const command = spawnTidemark(['backup', dir, '--data', data]);
    await until(isBegun);
    await kill(command);
    await expectNone();
    await until(async () => !(await isSnapshotBegun()));
  }
  const command = backUp();
  await until(isSnapshotBegun);
  await server.end('SIGKILL');
  expect(await command).toMatchObject({ code: 1, output: '', errors: expect.stringMatching(/^error .*server.*\n$/) });
  await expectNone();
  server = await begin();
  expect(await snapshots()).toEqual([]);
  expect(await backUp()).toMatchObject({ code: 0, errors: '' });
  expect(await partial()).toEqual([]);
  expect((await restore()).code).toBe(0);
  expect(await server.end('SIGTERM')).toBe(0);
});
