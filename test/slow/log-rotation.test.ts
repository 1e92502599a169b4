/** The key of the log of a real server: made, backed up, rotated in the documented steps, and lost. */
import { execFile } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openCheckpoint } from '../../contract/log/checkpoint.ts';
import { parseNote, verifierKey } from '../../contract/log/notes.ts';
import { startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
const ORIGIN = 'data.tidemark.test/prices';

test('a rotation is announced in the log, signed by both, and ended; a lost key is replaced by hand', async () => {
  const data = join(await temporaryFolder(), 'data');
  const backups = await temporaryFolder();
  const settings = {
    TIDEMARK_DATA: data,
    TIDEMARK_SAMPLE: 'no',
    TIDEMARK_LOG_ORIGIN: ORIGIN,
    TIDEMARK_PROXIES: '127.0.0.1',
  };
  const server = () => startServerForTest(settings);
  const tidemark = (...args: string[]) =>
    promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, TIDEMARK_DATA: data } });
  /** What a start shows once these sign, past the cache of the edge: the keys, the checkpoint, and its entries. */
  const shown = async (isThere: (signers: readonly string[]) => boolean) => {
    const running = server();
    const url = await running.started;
    const newest = { headers: { 'cache-control': 'no-cache' } };
    const read = async (path: string) => await (await fetch(`${url}/api/v1/log/${path}`, newest)).text();
    const signers = async () => parseNote(await read('checkpoint')).signatures.map(({ keyId }) => keyId.toString(16));
    await expect.poll(async () => isThere(await signers()), { timeout: 10_000, interval: 50 }).toBe(true);
    const vkeys = (await read('vkey')).trim().split('\n');
    const note = await read('checkpoint');
    const { size } = openCheckpoint(note, vkeys.map(verifierKey));
    const tile = await fetch(`${url}/api/v1/log/tile/entries/000.p/${size}`);
    const entries = size === 0 ? '' : Buffer.from(await tile.arrayBuffer()).toString('utf8');
    const output = running.output();
    await running.end('SIGTERM');
    return { vkeys, note, size, entries, output, signatures: parseNote(note).signatures.length };
  };

  const first = await shown((signers) => signers.length === 1);
  expect(first).toMatchObject({ size: 1, signatures: 1 });
  expect(first.output).toContain(`${ORIGIN}, signed by`);
  expect(first.output).not.toContain('PRIVATE');

  await tidemark('log', 'rotate');
  await expect(tidemark('log', 'end-rotation')).rejects.toMatchObject({ code: 1 });
  const during = await shown((signers) => signers.length === 2);
  expect(during).toMatchObject({ size: 2, signatures: 2, vkeys: [expect.any(String), first.vkeys[0]] });
  expect(during.entries).toContain(`{"format":1,"type":"key","vkey":"${during.vkeys[0]}"}`);
  // A reader who knows only the first key still reads it.
  openCheckpoint(during.note, first.vkeys.map(verifierKey));

  const { stdout } = await tidemark('log', 'end-rotation');
  expect(stdout).toContain(during.vkeys[0]);
  const after = await shown((signers) => signers.length === 1);
  expect(after).toMatchObject({ size: 2, signatures: 1, vkeys: [during.vkeys[0]] });

  // The backup has the key, and a folder without it does not start.
  const manifest = JSON.parse((await tidemark('backup', backups, '--json')).stdout);
  const key = join(data, 'log-key');
  expect(await readFile(join(manifest.backup, 'log-key'), 'utf8')).toBe(await readFile(key, 'utf8'));
  await rename(key, join(data, 'elsewhere'));
  const refused = server();
  expect(await refused.ended).toBe(1);
  expect(refused.errors()).toMatch(/log-key is missing[^\n]*\n$/);
  await tidemark('log', 'replace-lost-key');
  const lost = parseNote(after.note).signatures[0]?.keyId.toString(16);
  const replaced = await shown((signers) => lost !== undefined && !signers.includes(lost));
  expect(replaced).toMatchObject({ size: 3, signatures: 1 });
  expect(replaced.vkeys).not.toEqual(after.vkeys);
  await rm(join(data, 'elsewhere'));
});
