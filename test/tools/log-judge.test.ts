/** The log, judged by Go's sumdb/note and sumdb/tlog, Tessera's fsck and torchwood: see log-judge/main.go. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ed25519Signer, privateNoteKey } from '../../contract/log/notes.ts';
import { tidemark } from '../cli/tidemark.ts';
import { growLog, type LogFiles, NEXT_SIGNER, ORIGIN, SIGNER } from '../contract/log/sample-log.ts';
import { price } from '../publisher/world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const JUDGE = join(toolFolder('log-tools'), 'judge');
const GOLDEN = join(import.meta.dirname, '../contract/log/golden');

/** Of several tiles, in three steps; the checkpoint of the second one is among the files. */
async function writeLog(): Promise<string> {
  const folder = await temporaryFolder();
  const files: LogFiles = new Map();
  const texts = Array.from({ length: 700 }, (_, index) => `{"entry":${index}}`);
  await growLog(files, 0, texts.slice(0, 1));
  await growLog(files, 1, texts.slice(0, 300));
  files.set('older', files.get('checkpoint') as Buffer);
  await growLog(files, 300, texts);
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  return folder;
}

const judge = (args: readonly string[], vkey = SIGNER.vkey) => runTool(JUDGE, [vkey, ...args], { cwd: GOLDEN });

describe('the judge of the log', () => {
  test('accepts the log that a running server publishes, as it grows, and a receipt of it', async () => {
    const data = await temporaryFolder();
    await copySample(data);
    const url = await startServerForTest({ TIDEMARK_DATA: data }).started;
    const { vkey } = ed25519Signer((await readFile(join(data, 'log-key'), 'utf8')).split('\n')[0] as string);
    const log = `${url}/api/v1/log`;
    const checkpoint = async () => (await fetch(`${log}/checkpoint`)).text();
    const older = join(data, 'older');
    await writeFile(older, await checkpoint());
    const input = JSON.stringify(price('gold-usd', 280, 400_000));
    expect((await tidemark(['ingest', '-', '--data', data], { input })).code).toBe(0);
    // The edge keeps a checkpoint for 15 s.
    while ((await checkpoint()) === (await readFile(older, 'utf8'))) await sleep(1000);
    const { exitCode, stdout, output } = await judge([log, older], vkey);
    expect([exitCode, stdout], output).toEqual([0, expect.stringMatching(/^103\d\d entries, 4\d tiles, 1 older/)]);
    const receipt = join(data, 'gold.tlog-proof');
    const words = ['receipt', 'gold-usd', '--observed-at', '2026-09-29T00:00:00Z', '--data', data, '-o', receipt];
    expect(await tidemark([...words, '--log-key', vkey])).toMatchObject({ code: 0 });
    expect((await judge(['proof', receipt], vkey)).stdout).toContain('"amountMinor":412910');
  });

  test('accepts the golden files', async () => {
    const { exitCode, stdout } = await judge(['.', 'checkpoint-of-12']);
    expect([exitCode, stdout]).toEqual([0, '262 entries, 3 tiles, 1 older checkpoints\n']);
    const proof = await judge(['proof', 'entry-8.tlog-proof']);
    expect([proof.exitCode, proof.stdout]).toEqual([0, expect.stringContaining('proven: {"amountMinor":412910')]);
  });

  test('accepts a log of several tiles that has grown', async () => {
    const folder = await writeLog();
    const { exitCode, stdout } = await judge([folder, join(folder, 'older')]);
    expect([exitCode, stdout]).toEqual([0, '700 entries, 4 tiles, 1 older checkpoints\n']);
  });

  test.each(['older', 'tile/1/000.p/2', 'tile/entries/001'])('would find a changed byte of %s', async (path) => {
    const folder = await writeLog();
    const bytes = await readFile(join(folder, path));
    const at = path.startsWith('tile') ? 5 : bytes.indexOf('\n') + 1;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    await writeFile(join(folder, path), bytes);
    expect((await judge([folder, join(folder, 'older')])).exitCode).toBe(1);
  });

  test('would find the key of another log', async () => {
    expect((await judge(['.'], NEXT_SIGNER.vkey)).exitCode).toBe(1);
    // The receipt is signed by two keys; this is another one of the same name.
    const { vkey } = ed25519Signer(privateNoteKey(ORIGIN, Buffer.alloc(32, 9)));
    expect((await judge(['proof', 'entry-8.tlog-proof'], vkey)).exitCode).toBe(1);
  });

  test.each<[string, string | RegExp, string]>([
    ['another entry', 'extra eyJhb', 'extra eyJhc'],
    ['a hash less', /(?<=index 8\n).*\n/, ''],
    ['no signature', /\n\n— .*$/s, '\n'],
  ])('would find a receipt with %s', async (_, from, to) => {
    const right = await readFile(join(GOLDEN, 'entry-8.tlog-proof'), 'utf8');
    const wrong = right.replace(from, to);
    expect(wrong).not.toBe(right);
    const file = join(await temporaryFolder(), 'wrong.tlog-proof');
    await writeFile(file, wrong);
    expect((await judge(['proof', file])).exitCode).toBe(1);
  });
});
