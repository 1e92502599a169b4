/**
 * Backups of a ledger that takes a while to copy: processes are killed in the middle. A backup is complete or does not exist,
 * and the service goes on. Full disks and restores that are killed: test/server/backup-faults.test.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finished, MAIN, spawnTidemark, tidemark } from '../cli/tidemark.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const FILLER_ROWS = 20_000;

const temporary = folderForAll();
let data: string;
let dir: string;
let server: ServerProcess;
let url: string;

beforeAll(async () => {
  data = join(temporary.folder, 'data');
  dir = join(temporary.folder, 'backups');
  await copySample(data);
  // 80 MB of records that nobody reads.
  const database = new DatabaseSync(join(data, 'ledger.sqlite'));
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${FILLER_ROWS})
    INSERT INTO items SELECT 'filler', printf('%09d', i), 0, 'filler', NULL, '"' || hex(randomblob(1900)) || '"' FROM n`);
  database.close();
  await begin();
});

afterAll(() => server.end('SIGKILL'));

async function begin(): Promise<void> {
  server = startServer({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
  url = await server.started;
}

const namesIn = async (folder: string) => await readdir(folder).catch(() => [] as string[]);
const snapshots = async () => (await namesIn(data)).filter((name) => name.startsWith('snapshot-'));
const complete = async () => (await namesIn(dir)).filter((name) => name.endsWith('Z'));
const backUp = (...words: readonly string[]) => tidemark(['backup', dir, '--data', data, '--json', ...words]);

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(2);
}

const isSnapshotBegun = async () => (await snapshots()).length > 0;
const isCopyBegun = async () => {
  const partial = (await namesIn(dir)).find((name) => name.endsWith('.partial'));
  return partial !== undefined && (await namesIn(join(dir, partial))).length > 0;
};

test.each([
  ['the server copies its ledger', isSnapshotBegun],
  ['it copies the snapshot', isCopyBegun],
])('if the command is killed while %s, nothing stays behind', async (_, isBegun) => {
  const before = await complete();
  const command = spawnTidemark(['backup', dir, '--data', data]);
  await until(isBegun);
  command.kill('SIGKILL');
  await once(command, 'close');
  expect(await complete()).toEqual(before);
  await until(async () => !(await isSnapshotBegun()));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await backUp()).toMatchObject({ code: 0, errors: '' });
  expect((await namesIn(dir)).filter((name) => name.endsWith('.partial'))).toEqual([]);
});

test('readers are served while the ledger is copied', async () => {
  const command = backUp();
  let isRunning = true;
  void command.finally(() => {
    isRunning = false;
  });
  const seen: number[] = [];
  await until(isSnapshotBegun);
  while (isRunning) seen.push((await fetch(`${url}/api/v1/markets/gold-usd?n=${seen.length}`)).status);
  expect(await command).toMatchObject({ code: 0 });
  expect(seen.length).toBeGreaterThan(20);
});

test('if the server is killed meanwhile, the command says so, and the next start removes the snapshot', async () => {
  const before = await complete();
  const command = backUp();
  await until(isSnapshotBegun);
  await server.end('SIGKILL');
  expect(await command).toMatchObject({ code: 1, output: '', errors: expect.stringMatching(/^error .*server.*\n$/) });
  expect(await complete()).toEqual(before);
  await begin();
  expect(await snapshots()).toEqual([]);
  expect(await backUp('--keep', '1')).toMatchObject({ code: 0 });
});

test('if the server is stopped meanwhile, it stops cleanly; the backup is complete or is none', async () => {
  const before = await complete();
  const command = backUp();
  await until(isSnapshotBegun);
  expect(await server.end('SIGTERM')).toBe(0);
  const { code, errors } = await command;
  expect(errors).toMatch(code === 0 ? /^$/ : /^error .*\n$/);
  expect(await complete()).toHaveLength(before.length + (code === 0 ? 1 : 0));
  await begin();
});

test('if the disk of the backup is full, it fails in one line, and the backup before stays', async () => {
  expect(await backUp()).toMatchObject({ code: 0 });
  const before = await complete();
  // No file may become larger than 8 MB.
  const script = `ulimit -f 8192; exec '${process.execPath}' '${MAIN}' backup '${dir}' --data '${data}'`;
  const { code, errors } = await finished(spawn('sh', ['-c', script], { env: { PATH: process.env.PATH } }));
  expect([code, errors]).toEqual([1, expect.stringMatching(/^error .*ledger.sqlite cannot be used .*\n$/)]);
  expect(await complete()).toEqual(before);
});
